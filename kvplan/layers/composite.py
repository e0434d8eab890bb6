"""Layers that combine, borrow or lack a cache."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from kvplan.dtypes import element_bytes
from kvplan.frozen import dataclass
from kvplan.layers.attention import FullAttention, SlidingAttention, keys_and_values
from kvplan.layers.base import ALL_TOKENS, Part, Storage, picked
from kvplan.layers.recurrent import KimiDeltaAttention, Mamba1, Mamba2, ShortConv

Attention = FullAttention | SlidingAttention
State = Mamba2 | Mamba1 | ShortConv | KimiDeltaAttention


@dataclass(frozen=True, slots=True, kw_only=True)
class ParallelLayer:
    """Attention and a recurrent state side by side in one layer (Falcon-H1)."""

    kind: ClassVar[str] = "parallel"
    attention: Attention
    state: State

    def parts(self, storage: Storage) -> tuple[Part, ...]:
        """Those of the attention, then those of the state."""
        return (*self.attention.parts(storage), *self.state.parts(storage))


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedAttention:
    """Reads the cache of an earlier layer shaped like `reads` and keeps none of its own (copies = 0)."""

    kind: ClassVar[str] = "shared"
    reads: Attention

    def parts(self, storage: Storage) -> tuple[Part, ...]:
        """What it reads, without a copy of its own."""
        return tuple(replace(part, copies=0) for part in self.reads.parts(storage))


@dataclass(frozen=True, slots=True, kw_only=True)
class NoCache:
    """An MLP, an expert layer or a removed attention: nothing is kept."""

    kind: ClassVar[str] = "none"

    def parts(self, storage: Storage) -> tuple[Part, ...]:
        """Nothing."""
        return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedAttention:
    """Full attention that picks blocks through an index of one head (MiniMax-M3).

    Each token keeps K and V of the KV heads, and an index key (and value, unless `index_value` is
    off) of `index_dim` elements in `index_dtype`, on every GPU. `index_topk`: tokens whose K and V one
    decode step reads for each head, 0 for all of them; the index is read whole.
    """

    kind: ClassVar[str] = "indexed"
    kv_heads: int
    head_dim: int
    v_head_dim: int
    index_dim: int
    index_value: bool = False
    index_dtype: str = "bfloat16"
    index_topk: int = 0

    def token_elements(self, storage: Storage) -> int:
        """Elements of K and V that one token keeps on one GPU."""
        return storage.heads(self.kv_heads) * (self.head_dim + self.v_head_dim)

    @property
    def index_elements(self) -> int:
        """Index elements of one token."""
        return self.index_dim * (2 if self.index_value else 1)

    def parts(self, storage: Storage) -> tuple[Part, ...]:
        """K and V of all tokens, of which few are read, and the index."""
        reads = picked(self.index_topk) if self.index_topk else ALL_TOKENS
        size, vectors = element_bytes(self.index_dtype), 2 if self.index_value else 1
        index = Part(
            name="index key and value" if self.index_value else "index key",
            entry_bytes=self.index_elements * size,
            elements=self.index_elements,
            symbols="2 d_I e_I" if self.index_value else "d_I e_I",
            numbers=" x ".join(str(factor) for factor in (vectors, self.index_dim, size) if factor != 1),
            is_index=True,
        )
        return (keys_and_values(self, storage, entries=ALL_TOKENS, reads=reads), index)
