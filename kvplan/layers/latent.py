"""Multi-head latent attention (MLA) and its sparse form with an indexer (DSA)."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from kvplan.frozen import dataclass
from kvplan.layers.base import ALL_TOKENS, NEVER, Part, Span, Storage, picked, window
from kvplan.units import ceil_div

# One float32 scale for 128 index dimensions (SGLang: DSATokenToKVPool.quant_block_size).
INDEX_SCALE_BLOCK = 128
INDEX_SCALE_BYTES = 4


def index_key_bytes(index_head_dim: int) -> int:
    """FP8 index key with its float32 scales: 128 + 128 / 128 * 4 = 132 bytes."""
    return index_head_dim + index_head_dim // INDEX_SCALE_BLOCK * INDEX_SCALE_BYTES


def index_key_numbers(index_head_dim: int) -> str:
    """The multiplication behind `index_key_bytes`."""
    return f"{index_head_dim} + {index_head_dim} / {INDEX_SCALE_BLOCK} x {INDEX_SCALE_BYTES}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LatentAttention:
    """One latent and one shared RoPE key a token, `(R + Dr) * e`; no heads, so every GPU keeps all of it.

    `index_head_dim` is 0 without an indexer (plain MLA). `index_topk`: latents read per decode step.
    `index_kpool` tokens share one pooled index key. `index_shared`: the layer reuses the top-k of an
    earlier layer and keeps no index keys of its own. `window`: only the last tokens are kept.
    `head_dim` and `v_head_dim` are those of the heads behind the latent, without RoPE; nothing of that
    width is stored, they say how many KV heads the latent stands for. 0 where they are not known.
    """

    kind: ClassVar[str] = "latent"
    kv_lora_rank: int
    qk_rope_head_dim: int
    index_head_dim: int = 0
    index_topk: int = 0
    index_kpool: int = 1
    index_shared: bool = False
    window: int = 0
    head_dim: int = 0
    v_head_dim: int = 0

    @property
    def latent_dim(self) -> int:
        """Elements of one latent with its RoPE key."""
        return self.kv_lora_rank + self.qk_rope_head_dim

    @property
    def pooled_index_bytes(self) -> int:
        """Index key bytes that one token keeps on a layer with its own indexer."""
        return ceil_div(index_key_bytes(self.index_head_dim), self.index_kpool) if self.index_head_dim else 0

    @property
    def equivalent_kv_heads(self) -> Fraction | None:
        """KV heads of a GQA layer with a cache of the same width, (R + Dr) / (D + Dv); None if unknown."""
        width = self.head_dim + self.v_head_dim
        return Fraction(self.latent_dim, width) if width else None

    def parts(self, storage: Storage) -> tuple[Part, ...]:
        """The latents of all tokens (or of the window), and the index keys that pick among them."""
        entries = window(self.window) if self.window else ALL_TOKENS
        latent = Part(
            name="latent and RoPE key",
            entry_bytes=storage.kv.bytes_for(self.latent_dim),
            elements=self.latent_dim,
            symbols="(R + Dr) e",
            numbers=f"({self.kv_lora_rank} + {self.qk_rope_head_dim}) x {storage.kv.bytes_per_element}",
            entries=entries,
            reads=picked(self.index_topk) if self.index_topk and not self.window else entries,
        )
        return (latent, self._index(entries)) if self.index_head_dim else (latent,)

    def _index(self, entries: Span) -> Part:
        pooled = f"ceil(({index_key_numbers(self.index_head_dim)}) / {self.index_kpool})"
        return Part(
            name="index key",
            entry_bytes=self.pooled_index_bytes,
            elements=self.index_head_dim,
            symbols="d_I + d_I / 128 x 4",
            numbers=pooled if self.index_kpool > 1 else index_key_numbers(self.index_head_dim),
            entries=entries,
            reads=NEVER if self.index_shared else entries,
            copies=0 if self.index_shared else 1,
            is_index=True,
        )
