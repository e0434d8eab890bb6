"""Vision and audio towers: transformer encoders of usual make, and a few that configs only name.

Good to about a tenth of a tower; a tower is a few hundredths of all but the smallest models.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kvplan.frozen import dataclass
from kvplan.readers.parameters.sizes import NoSizeError, Sizes, as_size, as_text, class_defaults

# Where configs keep the sizes of their vision tower.
_VISION_PARTS = ("vision_config", "visual", "siglip_config", "vision_tower_cfg")
_LAYERS = ("depth", "num_hidden_layers", "vt_num_hidden_layers", "layers", "encoder_layers")
_WIDTH = ("vt_hidden_size", "hidden_size", "width", "d_model")
_INNER = ("intermediate_size", "vt_intermediate_size", "encoder_ffn_dim")
# A gate beside the up-projection (transformers, modeling_*.py).
_GATED = frozenset(
    """
    gemma4 glm4v glm4v_moe glm5_next glm_ocr mistral3 ministral3 pixtral qwen2_5_omni qwen2_5_vl mimo_v2
    """.split()
)
# Blocks as wide inside as the text model, not as intermediate_size says (transformers, modeling_glm4v.py).
_INNER_IS_OUTPUT = frozenset({"glm4v", "glm4v_moe"})
_USUAL_FACTOR = 4
# Far wider than the inner part of any encoder.
_MOST_RATIO = 100
_COLOURS = 3
# Layers of gemma-4's audio tower, in squares of their width: two feed-forward parts of 8, attention 5,
# convolution 3 (transformers, modeling_gemma4.py).
_CONFORMER_SQUARES = 24

# Towers that a config only names: parameters by their published checkpoints.
NAMED_TOWERS = {
    "siglip2-384": 428_225_600,  # google/siglip2-so400m-patch14-384, vision part
    "convnext-1024": 846_000_000,  # laion/CLIP-convnext_xxlarge, vision part
    "clip-l-336": 303_507_456,  # openai/clip-vit-large-patch14-336, vision part
    "molmo": 391_000_000,  # allenai/Molmo-7B-D-0924: CLIP ViT-L/14-336 and its pooling and projector
    # deepseek-ai/DeepSeek-OCR-2: SAM ViT-B with its compressor, and an encoder of Qwen2-0.5B's layers
    "deepencoderv2": 454_000_000,
}
_NAMED_BY_TYPE = {"molmo": "molmo", "phi3_v": "clip-l-336"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Encoder:
    """A stack of `layers` blocks of `width`, `inner` wide inside, with `projections` in the inner part."""

    layers: int
    width: int
    inner: int
    projections: int

    @property
    def count(self) -> int:
        """Attention and feed-forward parts of all blocks."""
        return self.layers * self.width * (4 * self.width + self.projections * self.inner)


def towers(sizes: Sizes, hidden: int) -> int:
    """Parameters of everything that is not text; 0 for a text model."""
    return _vision(sizes, hidden) + _audio(sizes, hidden)


def _vision(sizes: Sizes, hidden: int) -> int:
    outer = sizes.reading.outer
    model_type = as_text(outer.get("model_type"))
    named = _NAMED_BY_TYPE.get(model_type)
    if named is not None and outer.get("vision_config") is None:
        return NAMED_TOWERS[named]
    listed = outer.get("mm_vision_tower")
    if isinstance(listed, str) and any(name in NAMED_TOWERS for name in listed.split(",")):
        found = [NAMED_TOWERS[name] for name in listed.split(",") if name in NAMED_TOWERS]
        return sum(found) + _count(outer.get("mm_hidden_size")) * hidden + hidden * hidden
    part = _part(sizes, _VISION_PARTS)
    if part is None:
        return 0
    name = part.get("model_name")
    if isinstance(name, str) and name in NAMED_TOWERS:
        return NAMED_TOWERS[name]
    # Vision parts without blocks of their own (gemma4_unified) project patches straight into the text.
    return _tower(part, class_defaults()["vision"].get(model_type, {}), model_type, hidden)


def _tower(part: Mapping[str, Any], defaults: Mapping[str, Any], model_type: str, hidden: int) -> int:
    layers = _first(part, defaults, _LAYERS)
    # First, as hidden_size beside it is the width of the text model (qwen2_vl).
    width = _first(part, defaults, ("embed_dim",)) or _first(part, defaults, _WIDTH)
    if not layers or not width:
        return 0
    output = _count(part.get("out_hidden_size") or part.get("output_dim")) or hidden
    inner = output if model_type in _INNER_IS_OUTPUT else _inner(part, defaults, width)
    gated = model_type in _GATED
    layers += _count(part.get("num_global_layers"))
    encoder = _Encoder(layers=layers, width=width, inner=inner, projections=3 if gated else 2)
    patch = _count(part.get("patch_size")) or _count(defaults.get("patch_size"))
    squares = patch * patch * (_count(part.get("temporal_patch_size")) or 1)
    gate = _count(part.get("projection_intermediate_size")) or (
        _first(part, {}, _INNER) if model_type in _INNER_IS_OUTPUT else 0
    )
    merger = _merger(part, defaults, width, output) + 3 * output * gate
    return encoder.count + _COLOURS * squares * width + merger


def _merger(part: Mapping[str, Any], defaults: Mapping[str, Any], width: int, output: int) -> int:
    """Projection into the text model: of merged patches (with one more for each deepstack), or two layers."""
    merge = _count(part.get("spatial_merge_size")) or _count(defaults.get("spatial_merge_size"))
    if not merge:
        return width * output + output * output
    merged = width * merge * merge
    deep = part.get("deepstack_visual_indexes")
    copies = 1 + (len(deep) if isinstance(deep, list) else 0)
    return copies * merged * (merged + output)


def _inner(part: Mapping[str, Any], defaults: Mapping[str, Any], width: int) -> int:
    inner = _first(part, {}, _INNER)
    if inner:
        return inner
    ratio = part.get("mlp_ratio", defaults.get("mlp_ratio"))
    if ratio is not None:
        if isinstance(ratio, bool) or not isinstance(ratio, (int, float)) or not 0 < ratio < _MOST_RATIO:
            raise NoSizeError(ratio, "mlp_ratio")
        return int(ratio * width)
    return _first(part, defaults, _INNER) or _USUAL_FACTOR * width


def _audio(sizes: Sizes, hidden: int) -> int:
    part = _part(sizes, ("audio_config",))
    if part is None:
        return 0
    layers, width = _first(part, {}, _LAYERS), _first(part, {}, _WIDTH)
    if not layers or not width:
        return 0
    if "encoder_layers" not in part:
        return layers * _CONFORMER_SQUARES * width * width + width * hidden
    inner = _first(part, {}, _INNER) or _USUAL_FACTOR * width
    return _Encoder(layers=layers, width=width, inner=inner, projections=2).count + width * hidden


def _part(sizes: Sizes, keys: tuple[str, ...]) -> Mapping[str, Any] | None:
    """The mapping under the first of `keys`, wherever the config nests it."""
    for config in sizes.reading.parts:
        for key in keys:
            value = config.get(key)
            if isinstance(value, Mapping):
                return value
    return None


def _first(part: Mapping[str, Any], defaults: Mapping[str, Any], keys: tuple[str, ...]) -> int:
    """The first of `keys` that has a size, in the part before the defaults; 0 without one."""
    for values in (part, defaults):
        found = next((size for key in keys if (size := _count(values.get(key)))), 0)
        if found:
            return found
    return 0


def _count(value: object) -> int:
    """A whole number, 0 for null."""
    return as_size(value) or 0
