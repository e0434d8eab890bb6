"""DeepSeek-V4's pools: what the sizing charges for each, beside the buffers that are allocated.

The charges are the terms of `dsv4_seven_terms` (to 0.5.20) and `dsv4_slots` (later), so in double
precision and rounded to bytes here; together they are what the sizing takes off the budget.
"""

from __future__ import annotations

from collections.abc import Iterator

from kvplan.layers.latent import index_key_bytes
from kvplan.pools import dsv4_seven_terms
from kvplan.pools import layout_dsv4 as layout
from kvplan.pools.base import Sizes
from kvplan.pools.dsv4_shapes import (
    C4_VECTORS,
    C128_VECTORS,
    STATE_BYTES,
    any_layer,
    index_head_dim,
    owner_counts,
    request_slots,
    ring_slots,
    state_rows,
)
from kvplan.pools.dsv4_slots import (
    index_fp4_bytes,
    inflation,
    layer_padding,
    row_bytes,
    window_cap,
)
from kvplan.pools.parts import Part, part
from kvplan.records import Buffer, Number, Term
from kvplan.sglang.model import Stage
from kvplan.sglang.settings import Settings

DRAFT = "draft layer"
# Names of the seven terms that differ from those of their pools.
_TERM_POOLS = {"window KV": "window", "C4 KV": "C4", "C128 KV": "C128"}


def dsv4_parts(
    settings: Settings, stage: Stage, terms: tuple[Term, ...], sizes: Sizes, running: int
) -> list[Part]:
    """Window, compressed rows, index keys and states, and the window of a draft."""
    if settings.rules.dsv4_padded_pages:
        charges = dict(_slot_charges(settings, stage, sizes))
        charges[DRAFT] = sum(charges.values()) * (inflation(settings, stage) - 1)
        for name, fixed in _fixed_charges(settings, stage, sizes):
            charges[name] = charges.get(name, 0) + fixed
    else:
        full = sizes.full or 0
        charges = {_TERM_POOLS.get(term.name, term.name): term.bytes_per_token * full for term in terms}
        charges.setdefault("C128 states", dsv4_seven_terms.fixed_bytes(settings, stage))
    return [
        part(
            name,
            buffers,
            layers=buffers[0].count,
            tokens=slots,
            bytes_per_token=_whole(slot * buffers[0].count),
            charged=round(charges[name]),
            draft=name == DRAFT,
        )
        for name, buffers, slots, slot in _pools(settings, stage, sizes, running)
    ]


def _pools(
    settings: Settings, stage: Stage, sizes: Sizes, running: int
) -> Iterator[tuple[str, tuple[Buffer, ...], int, float]]:
    """(name, buffers, slots, bytes of a slot on one layer) of every pool."""
    window = sizes.swa or 0
    yield "window", layout.window_buffers(settings, window, stage.total), window, _row(settings, 0)
    for ratio, layers in owner_counts(stage).items():
        buffers = layout.compressed_buffers(settings, sizes, ratio, layers)
        slots = {4: sizes.c4, 128: sizes.c128}.get(ratio, (sizes.full or 0) // ratio)
        yield f"C{ratio}", buffers, slots, _row(settings, ratio)
        keys = layout.index_buffers(settings, sizes, ratio, layers)
        if keys:
            slots = sizes.c128 * layout.C4_PER_C128 if ratio == 4 else slots
            yield f"C{ratio} index keys", keys, slots, _index_bytes(settings, ratio)
        if ratio != 1:
            slots = layout.state_slots(settings, sizes, running, ratio)
            states = layout.state_buffers(settings, slots, ratio, layers)
            yield f"C{ratio} states", states, slots, states[0].shape[1] * STATE_BYTES
        if ratio == 4:
            states = layout.index_state_buffers(settings, slots, layers)
            yield "C4 index states", states, slots, states[0].shape[1] * STATE_BYTES
    if settings.deployment.speculative_algorithm is not None:
        # Draft layers keep a window alone, as long as the target's (deepseek_v4_nextn.py).
        drafts = layout.window_buffers(settings, window, max(1, settings.draft_layers), "")
        yield DRAFT, drafts, window, _row(settings, 0)


def _slot_charges(settings: Settings, stage: Stage, sizes: Sizes) -> Iterator[tuple[str, float]]:
    """0.5.23: window slots by the ratio or the request cap, and shares of full tokens."""
    full, cap = sizes.full or 0, window_cap(settings)
    window: float = settings.swa_ratio * full if cap is None else cap
    yield "window", window * _row(settings, 0) * stage.total
    ring = ring_slots(4, settings.draft_tokens) / settings.page
    for ratio, layers in owner_counts(stage).items():
        shrunk = settings.hisparse_ratio if ratio == 4 else 1
        yield f"C{ratio}", full / (ratio * shrunk) * _row(settings, ratio) * layers
        if ratio != 128:
            yield f"C{ratio} index keys", full / ratio * _index_bytes(settings, ratio) * layers
        if ratio == 4:
            state = window * ring * C4_VECTORS * STATE_BYTES * layers
            yield "C4 states", state * any_layer(settings).head_dim
            yield "C4 index states", state * index_head_dim(settings)


def _fixed_charges(settings: Settings, stage: Stage, sizes: Sizes) -> Iterator[tuple[str, float]]:
    """Since 0.5.21: rings for every request, and the reserved pages of ratios 1 and 2."""
    width = any_layer(settings).head_dim
    for ratio, layers in owner_counts(stage).items():
        if ratio in (2, 128):
            rows = state_rows(settings, ratio, request_slots(settings))
            yield f"C{ratio} states", rows * C128_VECTORS * width * STATE_BYTES * layers
        if ratio in (1, 2):
            rows_padding, index_padding = layer_padding(settings, sizes.full or 0, ratio)
            yield f"C{ratio}", rows_padding * layers
            yield f"C{ratio} index keys", index_padding * layers


def _row(settings: Settings, ratio: int) -> float:
    """0.5.12 charges bare rows, 0.5.23 their share of the page padding too."""
    return row_bytes(settings, ratio) if settings.rules.dsv4_padded_pages else any_layer(settings).entry_bytes


def _index_bytes(settings: Settings, ratio: int) -> int:
    return index_key_bytes(index_head_dim(settings)) if ratio == 4 else index_fp4_bytes(settings)


def _whole(value: float) -> Number:
    return int(value) if value == int(value) else value
