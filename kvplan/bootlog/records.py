"""What a server says about its memory while it starts. Sizes are the GiB that SGLang prints as "GB"."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from kvplan.frozen import dataclass

Scalar = str | int | float | bool | None
# Every size in these lines is printed with two decimals.
ROUNDING_GIB = 0.005


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """`KV Cache is allocated`: one pool of K and V (two sizes) or of latents (one).

    `virtual`: an address range that is given its memory later.
    """

    tokens: int | None
    sizes_gib: tuple[float, ...]
    dtype: str | None = None
    virtual: bool = False

    @property
    def gib(self) -> float:
        """All of it."""
        return sum(self.sizes_gib)

    @property
    def rounding_gib(self) -> float:
        """By how much the printed sizes may be off together."""
        return ROUNDING_GIB * len(self.sizes_gib)


@dataclass(frozen=True, slots=True, kw_only=True)
class States:
    """`Mamba Cache is allocated`: slots without the padding slot, sizes with it."""

    slots: int
    conv_gib: float
    ssm_gib: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """`Load weight end`: the class that was loaded, what it took, and what is free after it."""

    model_class: str
    gib: float | None
    free_after_gib: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Rank:
    """One process, `DP1 TP0` or an empty text where the log names none.

    `weights` and `pools` of the target come first, those of a draft after it (`draft_*`).
    `drafts_before_pools`: the draft was loaded before the pools were sized.
    `sizing`: figures of the sizing lines (`full_layer_tokens`, DeepSeek-V4's terms in bytes or GiB).
    """

    name: str
    free_before_gib: float | None = None
    weights: Weights | None = None
    draft_weights: Weights | None = None
    drafts_before_pools: bool = False
    pools: tuple[Tokens, ...] = ()
    draft_pools: tuple[Tokens, ...] = ()
    states: States | None = None
    sizing: Mapping[str, float] = field(default_factory=dict)
    totals: Mapping[str, int] = field(default_factory=dict)

    @property
    def free_after_gib(self) -> float | None:
        """Free memory when the pools were sized."""
        if self.drafts_before_pools and self.draft_weights is not None:
            return self.draft_weights.free_after_gib
        return None if self.weights is None else self.weights.free_after_gib


@dataclass(frozen=True, slots=True, kw_only=True)
class BootLog:
    """The last start in a log that made pools.

    `server_args`: plain values of the server's arguments after its own rules. `newer`: the lines have the
    form of the late 0.5 versions. `starts`: how many starts the log holds, `later_starts` of them after
    this one.
    """

    ranks: tuple[Rank, ...]
    server_args: Mapping[str, Scalar] = field(default_factory=dict)
    newer: bool = False
    starts: int = 1
    later_starts: int = 0

    @property
    def free_before_gib(self) -> float | None:
        """Free memory before loading on the GPU that has least, as the engine takes it."""
        return min(
            (one.free_before_gib for one in self.ranks if one.free_before_gib is not None), default=None
        )

    @property
    def free_after_gib(self) -> float | None:
        """The same after loading."""
        return min((free for one in self.ranks if (free := one.free_after_gib) is not None), default=None)

    @property
    def max_total_num_tokens(self) -> int | None:
        """Tokens of the smallest attention-DP rank."""
        named = [one.totals["max_total_num_tokens"] for one in self.ranks if one.totals]
        return min(named, default=None)
