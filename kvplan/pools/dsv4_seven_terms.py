"""DSV4 to 0.5.20: one full token costs seven terms, shares of the full tokens, without page padding.

Source: model_executor/pool_configurator.py of 0.5.12 to 0.5.20, DSV4PoolConfigurator. The ring slots are
counted per window (128 tokens). 0.5.12 counts the layers by compress_ratios, whose last entry may belong
to MTP. Since 0.5.15 C128 states are a fixed part per request.
"""

from __future__ import annotations

from kvplan.pools.base import Sizes, nothing_fits, too_little
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
from kvplan.pools.swa import refuse_small_window
from kvplan.records import Term
from kvplan.sglang.model import Stage
from kvplan.sglang.settings import Settings
from kvplan.units import floor_to_page


def _counts(settings: Settings, stage: Stage) -> tuple[int, int, int]:
    """(all, ratio 4, ratio 128): layers of the stage, or entries of compress_ratios with the MTP tail."""
    if settings.rules.dsv4_stage_layers:
        owners = owner_counts(stage)
        return stage.total, owners.get(4, 0), owners.get(128, 0)
    ratios = settings.model.architecture.listed_ratios
    return len(ratios), ratios.count(4), ratios.count(128)


def _term_values(settings: Settings, stage: Stage) -> list[tuple[str, float, str]]:
    layer = any_layer(settings)
    kv, index_dim, width = layer.entry_bytes, index_head_dim(settings), layer.head_dim
    index = index_dim + index_dim // 128 * 4
    total, c4, c128 = _counts(settings, stage)
    ratio = settings.swa_ratio
    ring4 = ring_slots(4, settings.draft_tokens) / layer.window
    ring128 = ring_slots(128, settings.draft_tokens) / layer.window
    state4 = C4_VECTORS * width * STATE_BYTES
    state128 = C128_VECTORS * width * STATE_BYTES
    index_state = C4_VECTORS * index_dim * STATE_BYTES
    shrunk = 1 / (4 * settings.hisparse_ratio)
    values = [
        ("window KV", ratio * kv * total, f"{ratio:g} x {kv} B x {total} layers"),
        ("C4 KV", shrunk * kv * c4, f"{shrunk:g} x {kv} B x {c4} layers"),
        ("C128 KV", 1 / 128 * kv * c128, f"1/128 x {kv} B x {c128} layers"),
        ("C4 index keys", 1 / 4 * index * c4, f"1/4 x {index} B x {c4} layers"),
        ("C4 states", ratio * ring4 * state4 * c4, f"{ratio:g} x {ring4:g} x {state4} B x {c4} layers"),
        (
            "C128 states",
            ratio * ring128 * state128 * c128,
            f"{ratio:g} x {ring128:g} x {state128} B x {c128} layers",
        ),
        (
            "C4 index states",
            ratio * ring4 * index_state * c4,
            f"{ratio:g} x {ring4:g} x {index_state} B x {c4} layers",
        ),
    ]
    return [row for row in values if row[0] != "C128 states" or not settings.rules.dsv4_states_per_request]


def _inflation(settings: Settings, stage: Stage) -> float:
    """A speculative draft is charged as one more layer."""
    total = _counts(settings, stage)[0]
    return (total + 1) / total if settings.deployment.speculative_algorithm is not None else 1.0


def terms(settings: Settings, stage: Stage) -> tuple[Term, ...]:
    """The seven terms, and the draft's share."""
    values = _term_values(settings, stage)
    rows = [Term(name=name, bytes_per_token=value, formula=formula) for name, value, formula in values]
    extra = bytes_per_full_token(settings, stage) - sum(value for _, value, _ in values)
    if settings.deployment.speculative_algorithm is not None:
        rows.append(Term(name="draft layer", bytes_per_token=extra, formula="one layer more"))
    return tuple(rows)


def bytes_per_full_token(settings: Settings, stage: Stage) -> float:
    """The sum of the terms, times (T + 1) / T under speculative decoding."""
    return sum(value for _, value, _ in _term_values(settings, stage)) * _inflation(settings, stage)


def fixed_bytes(settings: Settings, stage: Stage) -> int:
    """C128 states of the requests that may run, where they are no share of the tokens; 0 elsewhere."""
    layers = owner_counts(stage).get(128, 0)
    if not settings.rules.dsv4_states_per_request or layers == 0:
        return 0
    row = C128_VECTORS * any_layer(settings).head_dim * STATE_BYTES
    return state_rows(settings, 128, request_slots(settings)) * row * layers


def from_bytes(settings: Settings, stage: Stage, kv_bytes: int) -> Sizes:
    """Full tokens: bytes over the sum, less the fixed part."""
    cell = bytes_per_full_token(settings, stage)
    fixed = fixed_bytes(settings, stage)
    tokens = int(max(kv_bytes - fixed, 0) / cell)
    if floor_to_page(tokens, settings.page) > 0:
        return from_tokens(settings, tokens)
    page = int(cell * settings.page) + 1
    if fixed == 0:
        raise nothing_fits(kv_bytes, page, settings.page)
    what = (
        f"not enough memory: {kv_bytes:,} bytes per GPU for KV; C128 states of the requests that may run "
        f"take {fixed:,}, the smallest pool, {settings.page} full tokens, {page:,}"
    )
    hint = "a smaller --max-running-requests, a larger --mem-fraction-static or a higher --tp"
    raise too_little(what, fixed + page - kv_bytes, hint)


def from_tokens(settings: Settings, tokens: int) -> Sizes:
    """Window, compressed and state slots for a number of full tokens."""
    full = floor_to_page(tokens, settings.page)
    swa = floor_to_page(int(full * settings.swa_ratio), settings.page)
    if settings.rules.dsv4_checks_window:
        refuse_small_window(settings, swa, any_layer(settings).window)
    windows = swa // any_layer(settings).window
    fixed = settings.rules.dsv4_states_per_request
    return Sizes(
        max_total=full,
        full=full,
        swa=swa,
        c4=full // (4 * settings.hisparse_ratio),
        c128=full // 128,
        c4_state=windows * ring_slots(4, settings.draft_tokens),
        c128_state=0 if fixed else windows * ring_slots(128, settings.draft_tokens),
    )
