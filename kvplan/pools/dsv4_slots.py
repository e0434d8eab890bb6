"""DSV4 since 0.5.21: sliding slots carry the C4 states, C128 and ratio-2 states are fixed per request.

Source: model_executor/pool_configurator.py of 0.5.23, DSV4PoolConfigurator, with the V4 row layout
(SGLANG_DSV4_KV_LAYOUT=v4, the default) and paged pools.
"""

from __future__ import annotations

from math import ceil

from kvplan.errors import DoesNotFitError, refused
from kvplan.layers.latent import index_key_bytes
from kvplan.pools.base import Sizes, too_little
from kvplan.pools.dsv4_shapes import (
    C4_VECTORS,
    C128_VECTORS,
    STATE_BYTES,
    any_layer,
    index_head_dim,
    owner_counts,
    page_bytes,
    request_slots,
    ring_slots,
    state_rows,
)
from kvplan.pools.swa import fewest_full_tokens, refuse_small_window, request_cap
from kvplan.records import Term
from kvplan.sglang.model import Stage
from kvplan.sglang.settings import Settings
from kvplan.units import ceil_div, ceil_to_page, floor_to_page, format_gib

# Cached prefixes per running request that keep their window addressable (_resolve_swa_prefix_tails).
PREFIX_TAILS_PER_REQUEST = 4
# Pages of the ratio-1/2 index; SM100 has DeepGEMM's sparse paged logits (deepseek_v4_memory_pool.py,
# dsv41_index_page_size).
INDEX_PAGE = 64
INDEX_PAGE_SM100 = 128


def row_bytes(settings: Settings, ratio: int = 0) -> float:
    """Bytes of one packed row, its share of the page padding included."""
    return page_bytes(settings, ratio) / (settings.page // (ratio or 1))


def index_fp4_bytes(settings: Settings) -> int:
    """One index key of ratio 1 or 2: FP4 values, a scale byte for 32 of them."""
    dim = index_head_dim(settings)
    return dim // 2 + dim // 32


def window_slot_bytes(settings: Settings, stage: Stage) -> float:
    """One sliding slot: a row on every layer, and its share of the C4 states."""
    owners = owner_counts(stage)
    width = any_layer(settings).head_dim
    ring = ring_slots(4, settings.draft_tokens) if 4 in owners else 0
    states = C4_VECTORS * width * STATE_BYTES + C4_VECTORS * index_head_dim(settings) * STATE_BYTES
    return row_bytes(settings) * stage.total + (ring / settings.page * states * owners.get(4, 0))


def _compressed(settings: Settings, ratio: int) -> float:
    if ratio in (1, 2):
        padded = settings.rules.dsv4_pads_low_ratios
        row = row_bytes(settings, ratio) if padded else any_layer(settings).entry_bytes
        return (row + index_fp4_bytes(settings)) / ratio
    if ratio == 4:
        shrunk = 1 / (4 * settings.hisparse_ratio)
        return shrunk * row_bytes(settings, 4) + 1 / 4 * index_key_bytes(index_head_dim(settings))
    return 1 / 128 * row_bytes(settings, 128)


def window_cap(settings: Settings) -> int | None:
    """Sliding slots from the request cap, or None where the ratio decides."""
    requests = settings.requests_per_rank
    if settings.swa_ratio_given or requests is None or settings.memory.chunked_prefill_size <= 0:
        return None
    window = any_layer(settings).window
    tails = 0 if settings.deployment.disable_radix_cache else PREFIX_TAILS_PER_REQUEST * requests
    return ceil_to_page(request_cap(settings, window) + tails * (window + settings.page), settings.page)


def inflation(settings: Settings, stage: Stage) -> float:
    """A speculative draft is charged as one more layer."""
    speculative = settings.deployment.speculative_algorithm is not None
    return (stage.total + 1) / stage.total if speculative else 1.0


def bytes_per_full_token(settings: Settings, stage: Stage) -> float:
    """Sliding slot by the ratio (0 where it is capped) plus compressed rows."""
    ratio = 0 if window_cap(settings) is not None else settings.swa_ratio
    total = ratio * window_slot_bytes(settings, stage) + sum(
        _compressed(settings, r) * count for r, count in owner_counts(stage).items()
    )
    return total * inflation(settings, stage)


def terms(settings: Settings, stage: Stage) -> tuple[Term, ...]:
    """Sliding slots and compressed rows of one full token."""
    rows = []
    if window_cap(settings) is None:
        slot = window_slot_bytes(settings, stage)
        rows.append(
            Term(
                name="window slots",
                bytes_per_token=settings.swa_ratio * slot,
                formula=f"{settings.swa_ratio:g} x {slot:g} B (KV of {stage.total} layers and C4 states)",
            )
        )
    for ratio, count in owner_counts(stage).items():
        each = _compressed(settings, ratio)
        rows.append(
            Term(
                name=f"ratio-{ratio} KV", bytes_per_token=each * count, formula=f"{each:g} B x {count} layers"
            )
        )
    if settings.deployment.speculative_algorithm is not None:
        extra = bytes_per_full_token(settings, stage) - sum(row.bytes_per_token for row in rows)
        rows.append(Term(name="draft layer", bytes_per_token=extra, formula="one layer more"))
    return tuple(rows)


def _fixed_bytes(settings: Settings, stage: Stage) -> float:
    """C128 and ratio-2 states per request slot, and the capped sliding pool."""
    owners = owner_counts(stage)
    slots = request_slots(settings)
    width = any_layer(settings).head_dim
    fixed: float = 0
    for ratio in (128, 2):
        if ratio in owners:
            fixed += state_rows(settings, ratio, slots) * C128_VECTORS * width * STATE_BYTES * owners[ratio]
    cap = window_cap(settings)
    if cap is not None:
        fixed += cap * (window_slot_bytes(settings, stage) * inflation(settings, stage))
    return fixed


def _padding_bytes(settings: Settings, stage: Stage, full: int) -> float:
    """Reserved pages of ratio-1/2 pools beyond the bytes per token."""
    padding: float = 0
    for ratio in (1, 2) if settings.rules.dsv4_pads_low_ratios else ():
        layers = owner_counts(stage).get(ratio, 0)
        if layers:
            main, index = layer_padding(settings, full, ratio)
            padding += (main + index) * layers
    return padding


def layer_padding(settings: Settings, full: int, ratio: int) -> tuple[float, int]:
    """Bytes of the reserved pages of one layer of ratio 1 or 2: (rows, index keys)."""
    index_page = INDEX_PAGE_SM100 if settings.gpu.is_sm100 else INDEX_PAGE
    index_size = (full + settings.page) // ratio
    index_slots = ceil_div(index_size + index_page, index_page) * index_page
    main = settings.page * row_bytes(settings, ratio)
    return main, (index_slots - full // ratio) * index_fp4_bytes(settings)


def from_bytes(settings: Settings, stage: Stage, kv_bytes: int) -> Sizes:
    """Fixed parts first, then full tokens in whole pages."""
    full = _full_tokens(settings, stage, kv_bytes)
    fewest = settings.page
    if window_cap(settings) is None:
        fewest = fewest_full_tokens(settings, any_layer(settings).window)
    if full < fewest:
        raise _too_small(settings, stage, kv_bytes, fewest)
    return from_tokens(settings, stage, full)


def _full_tokens(settings: Settings, stage: Stage, kv_bytes: int) -> int:
    cell = bytes_per_full_token(settings, stage)
    if cell <= 0:  # the engine divides by it
        raise refused(
            "no layer of the model keeps anything of a full token", "another model or compress_ratios"
        )
    left = max(kv_bytes - _fixed_bytes(settings, stage), 0)
    full = floor_to_page(int(left / cell), settings.page)
    while full > 0 and full * cell + _padding_bytes(settings, stage, full) > left:
        full -= settings.page
    return full


def _too_small(settings: Settings, stage: Stage, kv_bytes: int, fewest: int) -> DoesNotFitError:
    """Not even `fewest` full tokens beside the fixed parts."""
    fixed, cell = _fixed_bytes(settings, stage), bytes_per_full_token(settings, stage)
    pool = ceil(fewest * cell + _padding_bytes(settings, stage, fewest))
    needed = ceil(fixed) + pool
    while _full_tokens(settings, stage, needed) < fewest:  # rounding of double precision
        needed += 1
    cap = window_cap(settings)
    if cap is None:
        reason = f"not enough memory: {kv_bytes:,} bytes per GPU for KV"
    else:
        reason = (
            f"the sliding-window pool of {cap} tokens leaves no room for full tokens in "
            f"{format_gib(kv_bytes)} per GPU"
        )
    reserved = "states" if cap is None else "windows and states"
    what = (
        f"{reason}; {reserved} of {request_slots(settings):,} slots take {ceil(fixed):,}, "
        f"the fewest full tokens, {fewest:,}, take {pool:,}"
    )
    hint = "a smaller --max-running-requests, a larger --mem-fraction-static or a higher --tp"
    return too_little(what, needed - kv_bytes, hint)


def from_tokens(settings: Settings, stage: Stage, tokens: int) -> Sizes:
    """Sliding, compressed and C4 state slots for a number of full tokens."""
    full = floor_to_page(tokens, settings.page)
    swa = window_cap(settings)
    if swa is None:
        swa = floor_to_page(int(full * settings.swa_ratio), settings.page)
        refuse_small_window(settings, swa, any_layer(settings).window)
    ring = ring_slots(4, settings.draft_tokens) if 4 in owner_counts(stage) else 0
    return Sizes(
        max_total=full,
        full=full,
        swa=swa,
        c4=full // (4 * settings.hisparse_ratio),
        c128=full // 128,
        c4_state=swa // settings.page * ring,
    )
