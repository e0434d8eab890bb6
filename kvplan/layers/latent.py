"""Multi-head latent attention (MLA) and its sparse form with an indexer (DSA)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from kvplan.layers.base import Storage
from kvplan.units import ceil_div

# One float32 scale for 128 index dimensions (SGLang: DSATokenToKVPool.quant_block_size).
INDEX_SCALE_BLOCK = 128
INDEX_SCALE_BYTES = 4


def index_key_bytes(index_head_dim: int) -> int:
    """FP8 index key with its float32 scales: 128 + 128 / 128 * 4 = 132 bytes."""
    return index_head_dim + index_head_dim // INDEX_SCALE_BLOCK * INDEX_SCALE_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class LatentAttention:
    """One latent and one shared RoPE key a token, `(R + Dr) * e`; no heads, so every GPU keeps all of it.

    `index_head_dim` is 0 without an indexer (plain MLA). `index_topk`: latents read per decode step.
    `index_kpool` tokens share one pooled index key. `index_shared`: the layer reuses the top-k of an
    earlier layer and keeps no index keys of its own. `window`: only the last tokens are kept.
    """

    kind: ClassVar[str] = "latent"
    kv_lora_rank: int
    qk_rope_head_dim: int
    index_head_dim: int = 0
    index_topk: int = 0
    index_kpool: int = 1
    index_shared: bool = False
    window: int = 0

    @property
    def latent_dim(self) -> int:
        """Elements of one latent with its RoPE key."""
        return self.kv_lora_rank + self.qk_rope_head_dim

    @property
    def pooled_index_bytes(self) -> int:
        """Index key bytes that one token keeps on a layer with its own indexer."""
        return ceil_div(index_key_bytes(self.index_head_dim), self.index_kpool) if self.index_head_dim else 0

    def entry_bytes(self, storage: Storage) -> int:
        """Bytes one token keeps on one GPU: latent, RoPE key and index key."""
        index = 0 if self.index_shared else self.pooled_index_bytes
        return storage.kv.bytes_for(self.latent_dim) + index

    def token_bytes(self, storage: Storage) -> Fraction:
        """Alpha of one layer."""
        return Fraction(0 if self.window else self.entry_bytes(storage))

    def fixed_bytes(self, storage: Storage) -> int:
        """A full window, where the layer has one."""
        return self.window * self.entry_bytes(storage)

    def request_bytes(self, tokens: int, storage: Storage) -> int:
        """All tokens, or the window."""
        return (min(tokens, self.window) if self.window else tokens) * self.entry_bytes(storage)
