"""What every link of the chain answers, and the token counts that they pass on."""

from __future__ import annotations

from typing import Protocol

from kvplan.errors import DoesNotFitError, Problem
from kvplan.frozen import dataclass
from kvplan.records import Number, Term
from kvplan.sglang.model import EngineModel, Stage
from kvplan.sglang.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Slots of each pool on one GPU; names as SGLang's MemoryPoolConfig has them."""

    max_total: int
    full: int | None = None
    swa: int | None = None
    c4: int = 0
    c128: int = 0
    c4_state: int = 0
    c128_state: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """The cell: bytes that one token of max_total_num_tokens costs on one GPU, and its terms.

    Where the engine computes in double precision, the sum of the terms may differ in the last digit.
    """

    cell: Number
    terms: tuple[Term, ...]


class Link(Protocol):
    """One link of the chain; stateless, all state is in `Settings` and `Stage`."""

    @property
    def name(self) -> str:
        """The link's name in the chain."""
        ...

    def verdict(self, model: EngineModel) -> tuple[bool, str]:
        """Whether the link takes the model, and why."""
        ...

    def price(self, settings: Settings, stage: Stage) -> Price:
        """What one token costs."""
        ...

    def from_bytes(self, settings: Settings, stage: Stage, price: Price, kv_bytes: int) -> Sizes:
        """Slots that a budget gives at the price of that stage."""
        ...

    def from_tokens(self, settings: Settings, stage: Stage, price: Price, tokens: int) -> Sizes:
        """Slots under a cap on tokens (--max-total-tokens, or another pipeline stage)."""
        ...


def states_exceed(shortfall: int) -> DoesNotFitError:
    """The slots that were asked for take more than there is, and no token pool notices."""
    return DoesNotFitError(
        Problem(
            file="",
            key="",
            what=f"the recurrent states take {shortfall:,} bytes per GPU more than there are for them",
            hint="a smaller --max-mamba-cache-size or --max-running-requests, or a higher --tp",
        ),
        shortfall_bytes=shortfall,
    )


def nothing_fits(kv_bytes: int, needed_bytes: int, tokens: int) -> DoesNotFitError:
    """Not even the smallest pool fits, of `tokens`; says how many bytes per GPU are missing."""
    what = (
        f"not enough memory: {kv_bytes:,} bytes per GPU for KV, "
        f"the smallest pool, {tokens} tokens, takes {needed_bytes:,}"
    )
    hint = "a larger --mem-fraction-static, a higher --tp or a smaller --kv-cache-dtype"
    return too_little(what, max(1, needed_bytes - kv_bytes), hint)


def too_little(what: str, shortfall_bytes: int, hint: str) -> DoesNotFitError:
    """The engine's reason with the bytes per GPU that are missing."""
    told = f"SGLang would stop: {what}; {shortfall_bytes:,} bytes are missing"
    return DoesNotFitError(Problem(file="", key="", what=told, hint=hint), shortfall_bytes=shortfall_bytes)
