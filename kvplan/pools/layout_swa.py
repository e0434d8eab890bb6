"""Buffers of the two pools of hybrid sliding-window models.

Source: mem_cache/swa_memory_pool.py, SWAKVPool, and the builders of it: kv_cache_configurator.py,
_build_hybrid_swa_kv_pool (0.5.23); model_runner_kv_cache_mixin.py, _init_pools (0.5.12).
"""

from __future__ import annotations

from kvplan.layers import SlidingAttention
from kvplan.pools.base import Sizes
from kvplan.pools.layout_heads import GpuHeads, mxfp8, plain
from kvplan.pools.mha import heads_on_gpu
from kvplan.pools.parts import Part, part
from kvplan.pools.swa import LayerSplit, is_capped, layer_split
from kvplan.records import Buffer
from kvplan.sglang.model import HeadShape, Stage, head_shape
from kvplan.sglang.settings import Settings

# configs/model_config.py, is_hybrid_swa_compress: the only classes whose pools are built with V's own
# width and with the sliding layers' own heads.
OWN_SHAPES = frozenset(
    """
    DiffusionGemmaForBlockDiffusion EmbeddingGemma2Model Gemma4ForCausalLM Gemma4ForConditionalGeneration
    Gemma4UnifiedForConditionalGeneration InklingForConditionalGeneration
    InklingForConditionalGenerationMTP MiMoV2FlashForCausalLM MiMoV2ForCausalLM MiMoV2MTP
    """.split()
)


def swa_parts(settings: Settings, stage: Stage, sizes: Sizes) -> list[Part]:
    """The full and the sliding pool, and full layers of a draft."""
    split = layer_split(settings, stage)
    full, sliding = _shapes(settings)
    tokens, slots = sizes.full or 0, sizes.swa or 0
    sliding_row = split.sliding_bytes * split.sliding_layers
    found = [
        part(
            "sliding layers",
            _buffers(settings, sliding, slots, split.sliding_layers, "swa_kv_pool."),
            layers=split.sliding_layers,
            tokens=slots,
            bytes_per_token=sliding_row,
            charged=_charged_sliding(settings, split, sizes, sliding_row),
        )
    ]
    if split.full_layers:
        row = split.full_bytes * split.full_layers
        buffers = _buffers(settings, full, tokens, split.full_layers, "full_kv_pool.")
        found.insert(0, _tokens("full layers", buffers, split.full_layers, tokens, row))
    if settings.draft_layers:
        found.append(_draft_part(settings, split, sizes, (full, sliding)))
    return found


def _draft_part(
    settings: Settings, split: LayerSplit, sizes: Sizes, shapes: tuple[GpuHeads, GpuHeads]
) -> Part:
    """Draft layers, as long as the target's pool of their kind: read from the source alone."""
    full, sliding = shapes
    kinds = (
        (full, sizes.max_total, settings.draft_layers - split.draft_local - split.draft_sliding),
        (sliding, sizes.max_total, split.draft_local),
        (sliding, sizes.swa or 0, split.draft_sliding),
    )
    built = [_buffers(settings, shape, tokens, layers, "") for shape, tokens, layers in kinds if layers]
    row = split.full_bytes * split.draft_full + split.sliding_bytes * split.draft_local
    sliding_row = split.sliding_bytes * split.draft_sliding
    windows = _charged_sliding(settings, split, sizes, sliding_row) if sliding_row else 0
    return part(
        "draft layers",
        tuple(buffer for buffers in built for buffer in buffers),
        layers=settings.draft_layers,
        tokens=sizes.max_total,
        bytes_per_token=row + sliding_row,
        charged=row * sizes.max_total + windows,
        draft=True,
    )


def _tokens(name: str, buffers: tuple[Buffer, ...], layers: int, tokens: int, row: int) -> Part:
    return part(name, buffers, layers=layers, tokens=tokens, bytes_per_token=row, charged=row * tokens)


def _charged_sliding(settings: Settings, split: LayerSplit, sizes: Sizes, row: int) -> int:
    """By the ratio the cell charges a share of each full token, before the slots are cut to pages."""
    if split.full_layers == 0 or is_capped(settings, split):
        return row * (sizes.swa or 0)
    return round(settings.swa_ratio * row * (sizes.full or 0))


def _shapes(settings: Settings) -> tuple[GpuHeads, GpuHeads]:
    shapes = [shape for layer, _ in settings.model.groups if (shape := head_shape(layer)) is not None]
    sliding = next(shape for shape in shapes if isinstance(shape, SlidingAttention))
    full = next((shape for shape in shapes if not isinstance(shape, SlidingAttention)), sliding)
    if settings.model.name in OWN_SHAPES:
        return _heads(settings, full), _heads(settings, sliding)
    same = _heads(settings, full, same_v=True)
    return same, same


def _heads(settings: Settings, shape: HeadShape, *, same_v: bool = False) -> GpuHeads:
    return GpuHeads(
        heads=heads_on_gpu(settings, shape.kv_heads),
        head_dim=shape.head_dim,
        v_head_dim=shape.head_dim if same_v else shape.v_head_dim,
    )


def _buffers(
    settings: Settings, heads: GpuHeads, tokens: int, layers: int, prefix: str
) -> tuple[Buffer, ...]:
    """A page more than the slots; FP4 has no packed form here, mxfp8 has."""
    rows = tokens + settings.page
    build = mxfp8 if settings.flag == "mxfp8" else plain
    return build(settings, heads, rows=rows, layers=layers, prefix=prefix)
