"""Layers that combine, borrow or lack a cache."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from kvplan.dtypes import element_bytes
from kvplan.layers.attention import FullAttention, SlidingAttention
from kvplan.layers.base import Storage
from kvplan.layers.recurrent import KimiDeltaAttention, Mamba1, Mamba2, ShortConv

Attention = FullAttention | SlidingAttention
State = Mamba2 | Mamba1 | ShortConv | KimiDeltaAttention


@dataclass(frozen=True, slots=True, kw_only=True)
class ParallelLayer:
    """Attention and a recurrent state side by side in one layer (Falcon-H1)."""

    kind: ClassVar[str] = "parallel"
    attention: Attention
    state: State

    def token_bytes(self, storage: Storage) -> Fraction:
        """Alpha of the attention part."""
        return self.attention.token_bytes(storage)

    def fixed_bytes(self, storage: Storage) -> int:
        """Both fixed parts."""
        return self.attention.fixed_bytes(storage) + self.state.fixed_bytes(storage)

    def request_bytes(self, tokens: int, storage: Storage) -> int:
        """Both parts."""
        return self.attention.request_bytes(tokens, storage) + self.state.request_bytes(tokens, storage)


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedAttention:
    """Reads the cache of an earlier layer shaped like `reads` and keeps none of its own (copies = 0)."""

    kind: ClassVar[str] = "shared"
    reads: Attention

    def token_bytes(self, storage: Storage) -> Fraction:
        """No copy, no bytes."""
        return Fraction(0)

    def fixed_bytes(self, storage: Storage) -> int:
        """No copy, no bytes."""
        return 0

    def request_bytes(self, tokens: int, storage: Storage) -> int:
        """No copy, no bytes."""
        return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NoCache:
    """An MLP, an expert layer or a removed attention: nothing is kept."""

    kind: ClassVar[str] = "none"

    def token_bytes(self, storage: Storage) -> Fraction:
        """Nothing."""
        return Fraction(0)

    def fixed_bytes(self, storage: Storage) -> int:
        """Nothing."""
        return 0

    def request_bytes(self, tokens: int, storage: Storage) -> int:
        """Nothing."""
        return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedAttention:
    """Full attention that picks blocks through an index of one head (MiniMax-M3).

    Each token keeps K and V of the KV heads, and an index key (and value, unless `index_value` is
    off) of `index_dim` elements in `index_dtype`, on every GPU.
    """

    kind: ClassVar[str] = "indexed"
    kv_heads: int
    head_dim: int
    v_head_dim: int
    index_dim: int
    index_value: bool = False
    index_dtype: str = "bfloat16"

    def token_elements(self, storage: Storage) -> int:
        """Elements of K and V that one token keeps on one GPU."""
        return storage.heads(self.kv_heads) * (self.head_dim + self.v_head_dim)

    @property
    def index_elements(self) -> int:
        """Index elements of one token."""
        return self.index_dim * (2 if self.index_value else 1)

    def entry_bytes(self, storage: Storage) -> int:
        """K, V and index of one token on one GPU."""
        index = self.index_elements * element_bytes(self.index_dtype)
        return storage.kv.bytes_for(self.token_elements(storage)) + index

    def token_bytes(self, storage: Storage) -> Fraction:
        """Alpha of one layer."""
        return Fraction(self.entry_bytes(storage))

    def fixed_bytes(self, storage: Storage) -> int:
        """Nothing is kept per request."""
        return 0

    def request_bytes(self, tokens: int, storage: Storage) -> int:
        """All tokens are kept."""
        return tokens * self.entry_bytes(storage)
