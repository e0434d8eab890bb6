"""Full and sliding-window attention: K and V of every KV head, for every token or for a window."""

from __future__ import annotations

from typing import ClassVar, Protocol

from kvplan.frozen import dataclass
from kvplan.layers.base import ALL_TOKENS, Part, Span, Storage, window


class HasHeads(Protocol):
    """A layer that keeps K and V of KV heads."""

    @property
    def kv_heads(self) -> int:
        """KV heads of the whole model."""
        ...

    @property
    def head_dim(self) -> int:
        """Width of one key."""
        ...

    @property
    def v_head_dim(self) -> int:
        """Width of one value."""
        ...

    def token_elements(self, storage: Storage) -> int:
        """Elements of K and V that one token keeps on one GPU."""
        ...


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

    def parts(self, storage: Storage) -> tuple[Part, ...]:
        """K and V of all tokens, all read at each step."""
        return (keys_and_values(self, storage, entries=ALL_TOKENS, reads=ALL_TOKENS),)


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

    def parts(self, storage: Storage) -> tuple[Part, ...]:
        """K and V of the window, or of the request where it is shorter."""
        last = window(self.window)
        return (keys_and_values(self, storage, entries=last, reads=last),)


def keys_and_values(layer: HasHeads, storage: Storage, *, entries: Span, reads: Span) -> Part:
    """K and V of the heads on one GPU; `K` is `max(1, K // TP)` there."""
    heads, elements = storage.heads(layer.kv_heads), layer.token_elements(storage)
    return Part(
        name="K and V",
        entry_bytes=storage.kv.bytes_for(elements),
        elements=elements,
        symbols="K (D + Dv) e",
        numbers=f"{heads} x ({layer.head_dim} + {layer.v_head_dim}) x {storage.kv.bytes_per_element}",
        entries=entries,
        reads=reads,
    )
