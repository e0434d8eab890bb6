"""What every layer kind answers: the parts that it stores on one GPU, and how many entries each has.

The ledger (engine-neutral): a layer keeps `copies x entries(S) x bytes per entry + fixed state`, so a
request of S tokens costs `alpha * S + gamma` once S is above every window. What one decode step reads
is told apart from what is stored: sparse attention stores all entries and reads few.
"""

from __future__ import annotations

from dataclasses import field
from fractions import Fraction
from typing import ClassVar, Protocol, runtime_checkable

from kvplan.dtypes import KvFormat
from kvplan.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Storage:
    """How a deployment stores a layer on one GPU.

    `attention_tp`: GPUs that share one request's attention heads. `kv`: format of K, V and latents.
    `state_dtype`: replaces the dtype of recurrent states where the user set one.
    """

    attention_tp: int = 1
    kv: KvFormat = field(default_factory=lambda: KvFormat(dtype="bfloat16"))
    state_dtype: str | None = None

    def heads(self, total: int) -> int:
        """KV heads on one GPU: they are split, and copied once there are more GPUs than heads."""
        return max(1, total // self.attention_tp)


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A number of entries: one for every `ratio` tokens, `at_most` so many; or `fixed`, at any length.

    `limit` is the symbol of `at_most`: W for a window, k_top for what an indexer picks, P for candidates.
    """

    ratio: int = 1
    at_most: int | None = None
    fixed: int | None = None
    limit: str = "W"

    def count(self, tokens: int) -> int:
        """Entries of a request of `tokens` tokens; only complete blocks have one."""
        if self.fixed is not None:
            return self.fixed
        entries = tokens // self.ratio
        return entries if self.at_most is None else min(entries, self.at_most)

    @property
    def slope(self) -> Fraction:
        """Entries that one more token adds, above every limit."""
        grows = self.fixed is None and self.at_most is None
        return Fraction(1, self.ratio) if grows else Fraction(0)

    @property
    def intercept(self) -> int:
        """Entries whatever the length, above every limit."""
        return self.at_most or 0 if self.fixed is None else self.fixed


ALL_TOKENS = Span()
ONCE = Span(fixed=1)
NEVER = Span(fixed=0)


def window(tokens: int) -> Span:
    """`min(S, W)`."""
    return Span(at_most=tokens)


def picked(k_top: int, ratio: int = 1) -> Span:
    """`min(k_top, S // m)`: what an indexer leaves to be read."""
    return Span(ratio=ratio, at_most=k_top, limit="k_top")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One thing that a layer stores on one GPU: `copies x entries(S) x entry_bytes`.

    `symbols` and `numbers`: the formula of one entry's bytes, and the same with the values put in.
    `reads`: entries that one decode step reads. `copies` is 0 where the layer reads another's cache.
    `elements` of one entry; `is_index` for what is only read to pick other entries, `is_state` for a
    recurrent state, which stands for one position and can't be cut back to an earlier one.
    """

    name: str
    entry_bytes: int
    elements: int
    symbols: str
    numbers: str
    entries: Span = ALL_TOKENS
    reads: Span = ALL_TOKENS
    copies: int = 1
    is_index: bool = False
    is_state: bool = False

    def stored_bytes(self, tokens: int) -> int:
        """Bytes that a request of `tokens` tokens keeps."""
        return self.copies * self.entries.count(tokens) * self.entry_bytes

    def read_bytes(self, tokens: int) -> int:
        """Bytes that one decode step reads at a context of `tokens` tokens."""
        return self.reads.count(tokens) * self.entry_bytes

    @property
    def token_bytes(self) -> Fraction:
        """The part's share of alpha."""
        return self.copies * self.entries.slope * self.entry_bytes

    @property
    def fixed_bytes(self) -> int:
        """The part's share of gamma."""
        return self.copies * self.entries.intercept * self.entry_bytes


@runtime_checkable
class LayerKind(Protocol):
    """One frozen record per attention design; `kind` is its name in YAML and JSON."""

    kind: ClassVar[str]

    def parts(self, storage: Storage) -> tuple[Part, ...]:
        """Everything that the layer stores or reads on one GPU."""
        ...


@runtime_checkable
class StateKind(LayerKind, Protocol):
    """A layer kind whose cache is a recurrent state, kept per request and split over the heads."""

    @property
    def state_dtype(self) -> str:
        """Dtype of the recurrent state."""
        ...

    @property
    def conv_dtype(self) -> str:
        """Dtype of the convolution state."""
        ...

    def state_elements(self, attention_tp: int) -> tuple[int, int]:
        """Elements on one GPU of (convolution state, recurrent state)."""
        ...

    def undivided(self, attention_tp: int) -> str | None:
        """What can't be split over `attention_tp` GPUs, or None when everything can."""
        ...
