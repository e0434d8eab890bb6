"""What a planner can do: a flag with its effect, and a set of GPUs with what fits on it."""

from __future__ import annotations

from kvplan.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """A change that helps, computed by planning with it: `flag` as the server takes it.

    `why` says what it changes; `requests` of the asked context run at once then, `tokens` fit then, both
    over all ranks and replicas. `context`: the longest of the asked requests, where they come without one.
    """

    flag: str
    why: str
    requests: int
    tokens: int
    context: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One way to serve the model: GPUs, layout and KV dtype, and what then fits.

    Bytes and `tokens` per GPU and rank; `requests` of the asked context over all ranks. `tokens_low` and
    `requests_low` are the careful ends of the estimate. `headroom`: share of the requests that fit above
    those that are asked for, None where none are; `tight` where the careful end does not hold them all.
    `memory_total_bytes`: of all GPUs. `weights_source`: given, metadata, yaml or estimate, of the whole
    checkpoint `weights_bytes_total`. `command`: a launch line.
    """

    gpu: str
    gpus: int
    tp: int
    dp: int
    pp: int
    ep: int
    enable_dp_attention: bool
    kv_cache_dtype: str
    memory_total_bytes: int
    weights_bytes: int
    weights_bytes_total: int | None
    weights_source: str
    kv_pool_bytes: int
    state_pool_bytes: int
    tokens: int
    tokens_low: int
    tokens_high: int
    requests: int
    requests_low: int
    requests_high: int
    limited_by: str | None
    headroom: float | None
    tight: bool
    command: str

    @property
    def layout(self) -> str:
        """`TP8 DP2`: sizes above 1, and TP."""
        sizes = (("TP", self.tp), ("DP", self.dp), ("PP", self.pp), ("EP", self.ep))
        return " ".join(f"{name}{size}" for name, size in sizes if size > 1 or name == "TP")
