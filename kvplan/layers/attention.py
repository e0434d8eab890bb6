"""Full and sliding-window attention: K and V of every KV head, for every token or for a window."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from kvplan.layers.base import Storage


@dataclass(frozen=True, slots=True, kw_only=True)
class FullAttention:
    """MHA, GQA or MQA: `K * (D + Dv) * e` bytes a token, for all S tokens."""

    kind: ClassVar[str] = "full"
    kv_heads: int
    head_dim: int
    v_head_dim: int

    def token_elements(self, storage: Storage) -> int:
        """Elements of K and V that one token keeps on one GPU."""
        return storage.heads(self.kv_heads) * (self.head_dim + self.v_head_dim)

    def token_bytes(self, storage: Storage) -> Fraction:
        """Alpha of one layer."""
        return Fraction(storage.kv.bytes_for(self.token_elements(storage)))

    def fixed_bytes(self, storage: Storage) -> int:
        """Nothing is kept per request."""
        return 0

    def request_bytes(self, tokens: int, storage: Storage) -> int:
        """All tokens are kept."""
        return tokens * storage.kv.bytes_for(self.token_elements(storage))


@dataclass(frozen=True, slots=True, kw_only=True)
class SlidingAttention:
    """The same heads, but only the last `window` tokens: `min(S, W)` entries."""

    kind: ClassVar[str] = "sliding"
    kv_heads: int
    head_dim: int
    v_head_dim: int
    window: int

    def token_elements(self, storage: Storage) -> int:
        """Elements of K and V that one token keeps on one GPU."""
        return storage.heads(self.kv_heads) * (self.head_dim + self.v_head_dim)

    def token_bytes(self, storage: Storage) -> Fraction:
        """Nothing grows above the window."""
        return Fraction(0)

    def fixed_bytes(self, storage: Storage) -> int:
        """A full window."""
        return self.window * storage.kv.bytes_for(self.token_elements(storage))

    def request_bytes(self, tokens: int, storage: Storage) -> int:
        """The window, or the request where it is shorter."""
        return min(tokens, self.window) * storage.kv.bytes_for(self.token_elements(storage))
