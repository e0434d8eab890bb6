"""Where the memory of a GPU goes, line by line, in the order in which the engine subtracts it."""

from __future__ import annotations

from kvplan.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """Bytes that are known within bounds; all three are the same where they are exact."""

    low: int
    value: int
    high: int

    @property
    def is_exact(self) -> bool:
        """Whether there is nothing to doubt."""
        return self.low == self.high


def exactly(value: int) -> Range:
    """A given or measured figure."""
    return Range(low=value, value=value, high=value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """One end of an estimate: what is left, and what fits in it, if memory turns out so.

    `context_at_concurrency`: the longest context of the asked requests, None where no number is asked.
    """

    free_before_bytes: int
    weights_bytes: int
    available_bytes: int
    max_total_num_tokens: int
    requests_at_context: int
    context_at_concurrency: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Bytes per GPU from its memory down to the pools; None for lines that nobody gave or worked out.

    `memory_bytes` less `overhead_bytes` is `free_before_bytes`; less `weights_bytes` that is
    `free_after_bytes`; less `slack_bytes` (the share that is not static) and the reserve for multimodal
    inputs it is `available_bytes`, which states and KV share. `gpus`: of the whole deployment.
    `weights_bytes_total`: the checkpoint. `weights_source`: given, metadata, yaml or estimate.
    `weights`: bytes by kind, where they are known. `estimated`: names of the lines that are no exact
    figures; `low` and `high` say what they come to. `shortfall_bytes`: what is missing for a single page.
    """

    gpu: str
    gpus: int
    memory_bytes: int | None = None
    overhead_bytes: int | None = None
    free_before_bytes: int | None = None
    weights_bytes: int | None = None
    weights_bytes_total: int | None = None
    weights_source: str | None = None
    free_after_bytes: int | None = None
    mem_fraction_static: float | None = None
    slack_bytes: int | None = None
    multimodal_reserve_bytes: int | None = None
    available_bytes: int | None = None
    state_pool_bytes: int = 0
    kv_pool_bytes: int | None = None
    weights: tuple[tuple[str, int], ...] = ()
    estimated: tuple[str, ...] = ()
    low: Bound | None = None
    high: Bound | None = None
    shortfall_bytes: int = 0
