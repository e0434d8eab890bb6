"""Buffers of DeepSeek-V4: pages of packed rows, index keys, and rings of block states.

Source: mem_cache/deepseek_v4_memory_pool.py, DeepSeekV4TokenToKVPool and its pools;
mem_cache/deepseek_v4_compress_state.py, CompressStatePool.
"""

from __future__ import annotations

from kvplan.layers.latent import index_key_bytes
from kvplan.pools.base import Sizes
from kvplan.pools.dsv4_shapes import (
    C4_VECTORS,
    C128_VECTORS,
    any_layer,
    index_head_dim,
    page_bytes,
    ring_slots,
)
from kvplan.pools.dsv4_slots import INDEX_PAGE, INDEX_PAGE_SM100, index_fp4_bytes
from kvplan.pools.parts import tensors
from kvplan.records import Buffer
from kvplan.sglang.settings import Settings
from kvplan.units import ceil_div

_STATE_DTYPE = "float32"
# C4 index keys are counted from the C128 entries, so HiSparse does not shrink them (c4_logical_size).
C4_PER_C128 = 128 // 4

Buffers = tuple[Buffer, ...]


def window_buffers(settings: Settings, slots: int, layers: int, prefix: str = "swa_kv_pool.") -> Buffers:
    """Rows of the window on every layer."""
    shape = (_pool_pages(settings, slots, settings.page), page_bytes(settings, 0))
    return (tensors(f"{prefix}kv_buffer", shape, "uint8", layers),)


def compressed_buffers(settings: Settings, sizes: Sizes, ratio: int, layers: int) -> Buffers:
    """Compressed rows of the layers that own them."""
    size = {4: sizes.c4, 128: sizes.c128}.get(ratio, (sizes.full or 0) // ratio)
    shape = (_pool_pages(settings, size, settings.page // ratio), page_bytes(settings, ratio))
    return (tensors(f"c{ratio}_kv_pool.kv_buffer", shape, "uint8", layers),)


def index_buffers(settings: Settings, sizes: Sizes, ratio: int, layers: int) -> Buffers:
    """Index keys beside compressed rows: FP8 for ratio 4, FP4 for ratios 1 and 2, none for 128."""
    if ratio == 4:
        page = settings.page // ratio
        padded = settings.rules.dsv4_padded_index_pages
        pages = _pages(settings, sizes.c128 * C4_PER_C128, page, padded=padded)
        width = page * index_key_bytes(index_head_dim(settings))
    elif ratio in (1, 2):
        page = INDEX_PAGE_SM100 if settings.gpu.is_sm100 else INDEX_PAGE
        pages = ceil_div(((sizes.full or 0) + settings.page) // ratio + page, page)
        width = page * index_fp4_bytes(settings)
    else:
        return ()
    return (tensors(f"c{ratio}_indexer_kv_pool.index_k_with_scale_buffer", (pages, width), "uint8", layers),)


def state_buffers(settings: Settings, slots: int, ratio: int, layers: int) -> Buffers:
    """Rings of unfinished blocks: per sliding page for ratio 4, per request for 128 and 2 (0.5.12: per
    window for both).
    """
    width = any_layer(settings).head_dim
    rows = _state_rows(settings, ratio, slots)
    vectors = C4_VECTORS if ratio == 4 else C128_VECTORS
    name = "compress_state_pools.kv_score_buffer"
    return (tensors(name, (rows, vectors * width), _STATE_DTYPE, layers),)


def index_state_buffers(settings: Settings, slots: int, layers: int) -> Buffers:
    """The same rings for index keys of ratio 4."""
    name = "indexer_compress_state_pools.kv_score_buffer"
    shape = (_state_rows(settings, 4, slots), C4_VECTORS * index_head_dim(settings))
    return (tensors(name, shape, _STATE_DTYPE, layers),)


def state_slots(settings: Settings, sizes: Sizes, running: int, ratio: int) -> int:
    """Slots of the rings of one ratio, before the ring and the row that pad them."""
    if ratio != 4 and settings.rules.dsv4_states_per_request:
        return (running + 1) * ring_slots(ratio, settings.draft_tokens)
    return {4: sizes.c4_state, 128: sizes.c128_state}.get(ratio, 0)


def _state_rows(settings: Settings, ratio: int, slots: int) -> int:
    return ceil_div(slots + ring_slots(ratio, settings.draft_tokens) + 1, ratio) * ratio


def _pool_pages(settings: Settings, slots: int, page: int) -> int:
    return _pages(settings, slots, page, padded=settings.rules.dsv4_padded_pages)


def _pages(settings: Settings, slots: int, page: int, *, padded: bool) -> int:
    """Since 0.5.21 every pool has room for one page of 256 full tokens more, before for one of its own.

    Source: _num_dsv4_physical_kv_pages; DeepSeekV4SingleKVPool._create_buffers (0.5.12).
    """
    if padded:
        return ceil_div(slots + settings.page, page)
    return (slots + page + 1) // page
