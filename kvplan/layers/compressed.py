"""DeepSeek-V4 attention: a window of raw tokens plus one compressed entry per `ratio` tokens.

ratio 0: the window alone. 4: CSA, overlapping blocks with an indexer. 128: HCA, without one.
1 and 2: CSA2, where only source layers keep compressed entries and the others read theirs.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from kvplan.dtypes import element_bytes
from kvplan.layers.base import Storage
from kvplan.layers.latent import index_key_bytes

RATIOS = (0, 1, 2, 4, 128)
CSA_RATIO = 4
HCA_RATIO = 128
# RoPE dimensions stay bfloat16; the rest is FP8 with one scale byte per 64 elements, and a byte of
# padding (SGLang: mem_cache/deepseek_v4_memory_pool.py, DeepSeekV4SingleKVPool).
_ROPE_BYTES = 2
_NOPE_SCALE_BLOCK = 64
_SCALE_PADDING_BYTES = 1
# CSA2 index keys are FP4 with a scale byte per 32 elements (SGLang: get_dsv4_indexer_bytes_per_token).
_FP4_SCALE_BLOCK = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressedAttention:
    """One layer of DeepSeek-V4 (`head_dim` is the width of the one K = V vector that all heads share)."""

    kind: ClassVar[str] = "compressed"
    ratio: int
    head_dim: int
    qk_rope_head_dim: int
    window: int
    index_head_dim: int = 0
    index_topk: int = 0
    source: bool = True
    state_dtype: str = "float32"

    @property
    def entry_bytes(self) -> int:
        """448 FP8 + 64 BF16 + 7 scales + 1 = 584 bytes for V4, whatever the KV dtype."""
        nope = self.head_dim - self.qk_rope_head_dim
        return nope + self.qk_rope_head_dim * _ROPE_BYTES + nope // _NOPE_SCALE_BLOCK + _SCALE_PADDING_BYTES

    @property
    def keeps_compressed(self) -> bool:
        """Whether the layer stores compressed entries of its own."""
        return self.ratio in (CSA_RATIO, HCA_RATIO) or (self.ratio in (1, 2) and self.source)

    @property
    def index_entry_bytes(self) -> int:
        """Index key bytes beside each compressed entry."""
        if self.ratio == CSA_RATIO:
            return index_key_bytes(self.index_head_dim)
        if self.ratio in (1, 2):
            return self.index_head_dim // 2 + self.index_head_dim // _FP4_SCALE_BLOCK
        return 0

    @property
    def state_bytes(self) -> int:
        """Tokens of an unfinished block: 2m slots of 4 vectors (CSA), m slots of 2 (HCA, CSA2 at m = 2)."""
        width = element_bytes(self.state_dtype)
        if not self.keeps_compressed or self.ratio == 1:
            return 0
        if self.ratio == CSA_RATIO:
            return 2 * self.ratio * 4 * (self.head_dim + self.index_head_dim) * width
        return self.ratio * 2 * self.head_dim * width

    def token_bytes(self, storage: Storage) -> Fraction:
        """Alpha of one layer: an entry and its index key per `ratio` tokens."""
        if not self.keeps_compressed:
            return Fraction(0)
        return Fraction(self.entry_bytes + self.index_entry_bytes, self.ratio)

    def fixed_bytes(self, storage: Storage) -> int:
        """A full window of raw entries and the state of the unfinished block."""
        return self.window * self.entry_bytes + self.state_bytes

    def request_bytes(self, tokens: int, storage: Storage) -> int:
        """Window, complete blocks, state."""
        blocks = tokens // self.ratio if self.keeps_compressed else 0
        compressed = blocks * (self.entry_bytes + self.index_entry_bytes)
        return min(tokens, self.window) * self.entry_bytes + compressed + self.state_bytes
