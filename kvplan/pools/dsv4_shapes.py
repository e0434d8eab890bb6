"""Shapes of DeepSeek-V4 pools that both versions share."""

from __future__ import annotations

from kvplan.layers import CompressedAttention
from kvplan.sglang.settings import Settings
from kvplan.units import ceil_div

# Pages of packed rows are padded to a multiple of 576 bytes (layers/attention/dsv4/kv_layout.py, V4).
PAGE_ALIGN_BYTES = 576
# C4 states overlap two blocks: 2 x 2 vectors per slot; C128 states hold 2 (CompressStatePool).
C4_VECTORS = 4
C128_VECTORS = 2
STATE_BYTES = 4


def any_layer(settings: Settings) -> CompressedAttention:
    """A layer of the model; entry width and window are the same on all."""
    return next(layer for layer, _ in settings.model.groups if isinstance(layer, CompressedAttention))


def index_head_dim(settings: Settings) -> int:
    """Width of an index key; window-only layers have none."""
    dims = [
        layer.index_head_dim for layer, _ in settings.model.groups if isinstance(layer, CompressedAttention)
    ]
    return max(dims)


def ring_slots(ratio: int, draft_tokens: int) -> int:
    """State slots per ring (deepseek_v4_memory_pool.py, get_compress_state_ring_size)."""
    if ratio == 2:
        return 1 << (draft_tokens + 1).bit_length() if draft_tokens else 2
    plain, speculative = (8, 16) if ratio == 4 else (128, 256)
    return speculative if draft_tokens else plain


def padded_page_bytes(row_bytes: int, rows: int) -> int:
    """Bytes of one page of `rows` packed rows."""
    return ceil_div(row_bytes * rows, PAGE_ALIGN_BYTES) * PAGE_ALIGN_BYTES
