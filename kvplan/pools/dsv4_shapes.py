"""Shapes of DeepSeek-V4 pools that all versions share."""

from __future__ import annotations

from kvplan.layers import CompressedAttention
from kvplan.sglang.model import Stage
from kvplan.sglang.settings import Settings
from kvplan.units import ceil_div

# Row and page layouts (kernels/ops/attention/dsv4/kv_layout.py): pages are padded to the alignment.
# V4.1 keeps 512 FP8 values with 16 scales, its ratio-1/2 rows 512 FP4 values with 32 scales.
PAGE_ALIGN_BYTES = 576
V41_ROW_BYTES, V41_ALIGN_BYTES = 512 + 16, 512
V41_FP4_ROW_BYTES, V41_FP4_ALIGN_BYTES = 256 + 32, 256
# C4 states overlap two blocks: 2 x 2 vectors per slot; C128 states hold 2 (CompressStatePool).
C4_VECTORS = 4
C128_VECTORS = 2
STATE_BYTES = 4
_RATIO_ORDER = (4, 128, 1, 2)


def any_layer(settings: Settings) -> CompressedAttention:
    """A layer of the model; entry width and window are the same on all."""
    return next(layer for layer, _ in settings.model.groups if isinstance(layer, CompressedAttention))


def index_head_dim(settings: Settings) -> int:
    """Width of an index key; window-only layers have none."""
    dims = [
        layer.index_head_dim for layer, _ in settings.model.groups if isinstance(layer, CompressedAttention)
    ]
    return max(dims)


def owner_counts(stage: Stage) -> dict[int, int]:
    """Layers of the stage that own compressed storage, by ratio, in the engine's order."""
    counts: dict[int, int] = {}
    for layer, count in stage.compressed:
        if layer.keeps_compressed:
            counts[layer.ratio] = counts.get(layer.ratio, 0) + count
    return {ratio: counts[ratio] for ratio in _RATIO_ORDER if ratio in counts}


def ring_slots(ratio: int, draft_tokens: int) -> int:
    """State slots per ring (deepseek_v4_memory_pool.py, get_compress_state_ring_size)."""
    if ratio == 2:
        return 1 << (draft_tokens + 1).bit_length() if draft_tokens else 2
    plain, speculative = (8, 16) if ratio == 4 else (128, 256)
    return speculative if draft_tokens else plain


def state_rows(settings: Settings, ratio: int, slots: int) -> int:
    """Rows of a state buffer with a ring for each of `slots` requests."""
    ring = ring_slots(ratio, settings.draft_tokens)
    return ceil_div(slots * ring + ring + 1, ratio) * ratio


def c128_state_slots(settings: Settings, stage: Stage, running_requests: int) -> int:
    """C128 state slots once the running requests are known (finalize_with_max_running_requests)."""
    ring = ring_slots(128, settings.draft_tokens) if 128 in owner_counts(stage) else 0
    return (running_requests + 1) * ring


def request_slots(settings: Settings) -> int:
    """Requests that fixed states are charged for, the padding row included.

    Their number is always given: deepseek_v4_hook.py sets it where the user does not.
    """
    return (settings.requests_per_rank or 1) + 1


def padded_page_bytes(row_bytes: int, rows: int, align_bytes: int = PAGE_ALIGN_BYTES) -> int:
    """Bytes of one page of `rows` packed rows."""
    return ceil_div(row_bytes * rows, align_bytes) * align_bytes


def page_bytes(settings: Settings, ratio: int) -> int:
    """Bytes of one page of a ratio's rows (0: the window) in the layout of the attention kernel.

    MegaAttention's V4.1 layouts serve DeepSeek-V4.1 on SM100 without attention TP; all others read V4
    rows (deepseek_v4_hook.py, _default_dsv4_attention_backend; select_dsv4_kv_layout).
    """
    rows = settings.page // (ratio or 1)
    v41 = settings.rules.dsv4_mega_kernel and settings.model.architecture.model_type == "deepseek_v41"
    if v41 and settings.gpu.is_sm100 and settings.attention_tp == 1 and settings.flag == "fp8_e4m3":
        if ratio in (1, 2):
            return padded_page_bytes(V41_FP4_ROW_BYTES, rows, V41_FP4_ALIGN_BYTES)
        return padded_page_bytes(V41_ROW_BYTES, rows, V41_ALIGN_BYTES)
    return padded_page_bytes(any_layer(settings).entry_bytes, rows)
