"""DeepSeek-V4 attention: a window of raw tokens plus one compressed entry per `ratio` tokens.

ratio 0: the window alone. 4: CSA, overlapping blocks with an indexer. 128: HCA, without one.
1 and 2: CSA2, where only source layers keep compressed entries and the others read theirs.
"""

from __future__ import annotations

from typing import ClassVar

from kvplan.dtypes import element_bytes
from kvplan.frozen import dataclass
from kvplan.layers.base import NEVER, ONCE, Part, Span, Storage, picked, window
from kvplan.layers.latent import index_key_bytes, index_key_numbers

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
    """One layer of DeepSeek-V4 (`head_dim` is the width of the one K = V vector that all heads share).

    `source` is off for a CSA2 layer that reads an earlier layer's entries. Such a layer reads index keys
    only where it scores `index_candidates` of them again; else it takes its source's choice.
    """

    kind: ClassVar[str] = "compressed"
    ratio: int
    head_dim: int
    qk_rope_head_dim: int
    window: int
    index_head_dim: int = 0
    index_topk: int = 0
    source: bool = True
    index_candidates: int = 0
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
    def _index_key_bytes(self) -> int:
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

    def parts(self, storage: Storage) -> tuple[Part, ...]:
        """The raw window, compressed entries with their index keys, and the unfinished block."""
        last = window(self.window)
        raw = self._entry("window entry", entries=last, reads=last, copies=1)
        if self.ratio == 0:
            return (raw,)
        copies = 1 if self.keeps_compressed else 0
        blocks = Span(ratio=self.ratio)
        reads = picked(self.index_topk, self.ratio) if self.index_topk else blocks
        compressed = self._entry("compressed entry", entries=blocks, reads=reads, copies=copies)
        index = (self._index(blocks, copies),) if self._index_key_bytes else ()
        return (raw, compressed, *index, *self._states())

    def _entry(self, name: str, *, entries: Span, reads: Span, copies: int) -> Part:
        nope, rope = self.head_dim - self.qk_rope_head_dim, self.qk_rope_head_dim
        scales = f"{nope} / {_NOPE_SCALE_BLOCK} + {_SCALE_PADDING_BYTES}"
        return Part(
            name=name,
            entry_bytes=self.entry_bytes,
            elements=self.head_dim,
            symbols="d_kv e",
            numbers=f"{nope} + {rope} x {_ROPE_BYTES} + {scales}",
            entries=entries,
            reads=reads,
            copies=copies,
        )

    def _index(self, blocks: Span, copies: int) -> Part:
        csa = self.ratio == CSA_RATIO
        dim = self.index_head_dim
        return Part(
            name="index key",
            entry_bytes=self._index_key_bytes,
            elements=dim,
            symbols="d_I + d_I / 128 x 4" if csa else "d_I / 2 + d_I / 32",
            numbers=index_key_numbers(dim) if csa else f"{dim} / 2 + {dim} / {_FP4_SCALE_BLOCK}",
            entries=blocks,
            reads=blocks if copies else self._rescored,
            copies=copies,
            is_index=True,
        )

    @property
    def _rescored(self) -> Span:
        """Index keys of its source that a layer without its own entries reads: its candidates or none."""
        if not self.index_candidates:
            return NEVER
        return Span(ratio=self.ratio, at_most=self.index_candidates, limit="P")

    def _states(self) -> tuple[Part, ...]:
        """Raw material of an unfinished block. It is written at each step; reads of it are not counted."""
        if not self.state_bytes:
            return ()
        vectors, slots = (4, 2 * self.ratio) if self.ratio == CSA_RATIO else (2, self.ratio)
        width = element_bytes(self.state_dtype)
        dims = [("block state", "d_kv", self.head_dim)]
        if self.ratio == CSA_RATIO:
            dims.append(("index block state", "d_I", self.index_head_dim))
        return tuple(
            Part(
                name=name,
                entry_bytes=slots * vectors * dim * width,
                elements=slots * vectors * dim,
                symbols=f"{'2m' if self.ratio == CSA_RATIO else 'm'} x {vectors} {symbol} e_s",
                numbers=f"{slots} x {vectors} x {dim} x {width}",
                entries=ONCE,
                reads=NEVER,
                is_index=symbol == "d_I",
            )
            for name, symbol, dim in dims
        )
