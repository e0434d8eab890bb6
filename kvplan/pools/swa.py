"""SWA: full and sliding layers in two pools, the sliding one a fixed share of the full one.

SGLang computes this in double precision; the operations below are the same in the same order
(model_executor/pool_configurator.py, HybridSWAPoolConfigurator and SWARequestCapPoolConfigurator).
"""

from __future__ import annotations

from kvplan.dtypes import element_bytes
from kvplan.errors import DoesNotFitError, refused
from kvplan.frozen import dataclass
from kvplan.layers import CompressedAttention, SlidingAttention
from kvplan.pools.base import Price, Sizes, nothing_fits, too_little
from kvplan.pools.mha import MXFP8_BLOCK
from kvplan.records import Number, Term
from kvplan.sglang.families import EXCLUSIVE_WINDOW
from kvplan.sglang.model import EngineModel, HeadShape, Stage, head_shape
from kvplan.sglang.settings import Settings
from kvplan.sglang.speculation import NGRAM
from kvplan.units import ceil_to_page, floor_to_page

# environ.py, SGLANG_SWA_EVICTION_INTERVAL.
EVICTION_INTERVAL = 128
# Prefill chunks in flight under the overlap scheduler.
CHUNKS_IN_FLIGHT = 2


def verdict(model: EngineModel) -> tuple[bool, str]:
    """A listed class with sliding layers, and hybrid SWA memory not disabled."""
    if model.hybrid_swa and not model.dsv4:
        return True, f"{model.name} keeps full and sliding layers in two pools"
    if "sliding" in model.architecture.kinds:
        return False, f"SGLang does not split the layers of {model.name}"
    return False, "no sliding layers"


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerSplit:
    """Bytes of one token in one full and one sliding layer on one GPU, and how many layers there are.

    Draft layers are full, sliding, or local: of a sliding layer's shape, but as long as the full pool.
    """

    full_bytes: int
    sliding_bytes: int
    full_layers: int
    sliding_layers: int
    draft_full: int
    draft_sliding: int
    draft_local: int


def layer_split(settings: Settings, stage: Stage) -> LayerSplit:
    """Costs and counts of both kinds of layers."""
    shapes = [shape for layer, _ in settings.model.groups if (shape := head_shape(layer)) is not None]
    sliding = next(shape for shape in shapes if isinstance(shape, SlidingAttention))
    full = next((shape for shape in shapes if not isinstance(shape, SlidingAttention)), sliding)
    drafts, draft_local, draft_sliding = _draft_kinds(settings)
    # The engine splits the whole model on every pipeline stage that keeps no range of its own.
    return LayerSplit(
        full_bytes=_token_bytes(settings, full),
        sliding_bytes=_token_bytes(settings, sliding),
        full_layers=stage.full,
        sliding_layers=stage.sliding,
        draft_full=drafts - draft_local - draft_sliding,
        draft_sliding=draft_sliding,
        draft_local=draft_local,
    )


def _draft_kinds(settings: Settings) -> tuple[int, int, int]:
    """(all, local, sliding) draft layers; the target's sliding layers say how many may slide."""
    drafts = settings.draft_layers if settings.rules.draft_in_swa_cell else 0
    local = settings.model.architecture.draft_local_layers
    if local is not None:
        return drafts, min(local, drafts), 0
    if not settings.rules.drafts_slide:
        return drafts, 0, 0
    groups = settings.model.groups
    windowed = sum(count for layer, count in groups if isinstance(head_shape(layer), SlidingAttention))
    return drafts, 0, min(windowed, drafts)


def _token_bytes(settings: Settings, shape: HeadShape) -> int:
    # FP4 is not split off here: one byte per element (two values fill half of it).
    elements = max(1, shape.kv_heads // settings.attention_tp) * (shape.head_dim + shape.v_head_dim)
    scales = elements // MXFP8_BLOCK if settings.flag == "mxfp8" else 0
    return elements * element_bytes(settings.kv.dtype) + scales


def _cell(settings: Settings, split: LayerSplit) -> Number:
    local = split.sliding_bytes * split.draft_local
    full = split.full_bytes * (split.full_layers + split.draft_full) + local
    layers = split.sliding_layers + split.draft_sliding
    if split.full_layers == 0:
        return full + split.sliding_bytes * layers
    # Double precision, in the engine's own order.
    if settings.rules.swa_layers_before_ratio:
        return full + settings.swa_ratio * (split.sliding_bytes * layers)
    return full + settings.swa_ratio * split.sliding_bytes * layers


def request_cap(settings: Settings, window: int) -> int:
    """Sliding slots that the scheduler can hold live (compute_swa_request_cap)."""
    deployment = settings.deployment
    trailing = window + EVICTION_INTERVAL * (settings.draft_tokens or 1) + settings.page
    per_request = trailing + (outstanding_draft_tokens(settings) if settings.draft_tokens else settings.page)
    requests = max(1, (settings.requests or 0) // settings.attention_dp)
    chunks = CHUNKS_IN_FLIGHT if settings.states.overlap and deployment.pp == 1 else 1
    return per_request * requests + chunks * settings.chunk + settings.page


def outstanding_draft_tokens(settings: Settings) -> int:
    """Two allocations outstanding per request (allocation_sizing.get_alloc_len_per_decode)."""
    topk = settings.deployment.speculative_eagle_topk or 1
    steps = settings.deployment.speculative_num_steps or 1
    has_draft_kv = settings.deployment.speculative_algorithm != NGRAM
    if settings.page == 1 or topk == 1 or not has_draft_kv:
        return 2 * max(steps * topk, settings.draft_tokens)
    pages = (2 * (settings.page - 1) + steps) // settings.page
    return 2 * max(pages * settings.page * topk, settings.draft_tokens)


def engine_window(settings: Settings) -> int | None:
    """The window as the engine counts it: some classes take the config's as inclusive."""
    shapes = [head_shape(layer) or layer for layer, _ in settings.model.groups]
    windowed = SlidingAttention | CompressedAttention
    window = next((shape.window for shape in shapes if isinstance(shape, windowed)), None)
    if window is not None and settings.model.name in EXCLUSIVE_WINDOW:
        return window - 1
    return window


class SwaLink:
    """Two pools; the cap of --max-running-requests replaces the ratio where the radix cache is off."""

    name = "SWA"

    def verdict(self, model: EngineModel) -> tuple[bool, str]:
        """See `verdict`."""
        return verdict(model)

    def price(self, settings: Settings, stage: Stage) -> Price:
        """Full layers whole, sliding layers by the ratio, draft layers as full."""
        split = layer_split(settings, stage)
        ratio = settings.swa_ratio if split.full_layers else 1
        terms = [
            Term(
                name="full layers",
                bytes_per_token=split.full_bytes * split.full_layers,
                formula=f"{split.full_bytes} B x {split.full_layers} layers",
            ),
            Term(
                name="sliding layers",
                bytes_per_token=ratio * (split.sliding_bytes * split.sliding_layers),
                formula=f"{ratio:g} x {split.sliding_bytes} B x {split.sliding_layers} layers",
            ),
        ]
        terms += _draft_terms(split, ratio)
        return Price(cell=_cell(settings, split), terms=tuple(terms))

    def from_bytes(self, settings: Settings, stage: Stage, price: Price, kv_bytes: int) -> Sizes:
        """Full tokens by the cell, sliding tokens by the ratio or by the request cap."""
        split = layer_split(settings, stage)
        if is_capped(settings, split):
            return self._capped_sizes(settings, split, kv_bytes)
        cell = price.cell
        tokens = int(kv_bytes // cell)
        fewest = settings.fewest_tokens
        if split.full_layers:
            fewest = fewest_full_tokens(settings, engine_window(settings))
        if floor_to_page(tokens, settings.page) < fewest:
            raise _small_pool(settings, cell, kv_bytes, fewest)
        return self._ratio_sizes(settings, split, tokens)

    def from_tokens(self, settings: Settings, stage: Stage, price: Price, tokens: int) -> Sizes:
        """The cap on full tokens; the sliding pool follows by the ratio, or stays at the request cap."""
        split = layer_split(settings, stage)
        if is_capped(settings, split):
            swa = ceil_to_page(request_cap(settings, engine_window(settings) or 0), settings.page)
            full = floor_to_page(tokens, settings.page)
            return Sizes(max_total=full, full=full, swa=min(swa, tokens))
        return self._ratio_sizes(settings, split, tokens)

    def _ratio_sizes(self, settings: Settings, split: LayerSplit, tokens: int) -> Sizes:
        full = floor_to_page(tokens, settings.page)
        if split.full_layers == 0:
            return Sizes(max_total=full, full=0, swa=full)
        swa = floor_to_page(int(full * settings.swa_ratio), settings.page)
        refuse_small_window(settings, swa, engine_window(settings))
        return Sizes(max_total=full, full=full, swa=swa)

    def _capped_sizes(self, settings: Settings, split: LayerSplit, kv_bytes: int) -> Sizes:
        swa = ceil_to_page(request_cap(settings, engine_window(settings) or 0), settings.page)
        fixed = swa * split.sliding_bytes * (split.sliding_layers + split.draft_sliding)
        local = split.sliding_bytes * split.draft_local
        cell = split.full_bytes * (split.full_layers + split.draft_full) + local
        full = floor_to_page(int((kv_bytes - fixed) // cell), settings.page)
        if full < settings.fewest_tokens:
            needed = cell * settings.fewest_tokens
            what = (
                f"not enough memory: {kv_bytes:,} bytes per GPU for KV; {swa:,} sliding tokens for the "
                f"requests that may run take {fixed:,}, {settings.fewest_tokens} full tokens {needed:,}"
            )
            hint = "a smaller --max-running-requests, a larger --mem-fraction-static or a higher --tp"
            raise too_little(what, fixed + needed - kv_bytes, hint)
        return Sizes(max_total=full, full=full, swa=swa)


def _draft_terms(split: LayerSplit, ratio: float) -> list[Term]:
    """Draft layers by what a token of each costs."""
    kinds = (
        (split.full_bytes, split.draft_full, 1),
        (split.sliding_bytes, split.draft_local, 1),
        (split.sliding_bytes, split.draft_sliding, ratio),
    )
    counted = [(each, layers, share) for each, layers, share in kinds if layers]
    formulas = [
        f"{each} B x {layers} layers" if share == 1 else f"{share:g} x {each} B x {layers} layers"
        for each, layers, share in counted
    ]
    drafts = sum(each * layers * share for each, layers, share in counted)
    return (
        [Term(name="draft layers", bytes_per_token=drafts, formula=" + ".join(formulas))] if counted else []
    )


def fewest_full_tokens(settings: Settings, window: int | None) -> int:
    """Full tokens, in whole pages, whose sliding pool holds more than a window and a page."""
    page = settings.page
    if not settings.rules.checks_swa_floor or window is None:
        return settings.fewest_tokens
    sliding = floor_to_page(window + page, page) + page
    full = floor_to_page(int(sliding / settings.swa_ratio), page)
    while floor_to_page(int(full * settings.swa_ratio), page) < sliding:
        full += page
    return full


def _small_pool(settings: Settings, cell: Number, kv_bytes: int, fewest: int) -> DoesNotFitError:
    """Too few bytes for `fewest` tokens of the full pool, which the sliding pool or a request asks for."""
    needed = int(cell * fewest)
    while needed // cell < fewest:
        needed += 1
    window = engine_window(settings)
    if fewest == settings.fewest_tokens or window is None:
        return nothing_fits(kv_bytes, needed, fewest)
    full = max(0, floor_to_page(int(kv_bytes // cell), settings.page))
    sliding = floor_to_page(int(full * settings.swa_ratio), settings.page)
    reason = small_window(settings, sliding, window)
    what = f"{reason}; {fewest:,} full tokens give that and take {needed:,} bytes per GPU"
    hint = "a larger --swa-full-tokens-ratio, a larger --mem-fraction-static or a higher --tp"
    return too_little(what, needed - kv_bytes, hint)


def small_window(settings: Settings, swa_tokens: int, window: int) -> str:
    """Why the engine stops with so small a sliding pool (validate_swa_pool_size)."""
    return (
        f"the sliding-window pool of {swa_tokens} tokens can't hold one request: it needs more than the "
        f"window of {window} and a page of {settings.page}"
    )


def refuse_small_window(settings: Settings, swa_tokens: int, window: int | None) -> None:
    """A sliding pool that --max-total-tokens makes too small for one request."""
    if not settings.rules.checks_swa_floor or window is None:
        return
    if window + settings.page >= swa_tokens:
        hint = "a larger --max-total-tokens or --swa-full-tokens-ratio"
        raise refused(small_window(settings, swa_tokens, window), hint)


def is_capped(settings: Settings, split: LayerSplit) -> bool:
    """Whether requests, and not the ratio, decide the sliding pool."""
    return (
        settings.rules.request_cap_for_swa
        and settings.requests is not None  # drafts set it where the user does not
        and settings.deployment.disable_radix_cache
        and settings.memory.chunked_prefill_size > 0
        and split.full_layers > 0
    )


LINK = SwaLink()
