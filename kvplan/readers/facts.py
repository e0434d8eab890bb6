"""Model facts beside the layers: context length, dtype, quantisation, vision tower, draft layers."""

from __future__ import annotations

from collections.abc import Mapping

from kvplan.architecture import ConfigHeads, Vision
from kvplan.config import MAX_LAYERS, Config, shown
from kvplan.dtypes import canonical
from kvplan.layers import (
    FullAttention,
    IndexedAttention,
    Layer,
    ParallelLayer,
    SharedAttention,
    SlidingAttention,
)
from kvplan.readers.reading import Reading, is_flat_llava

# Types whose vision part stays a plain mapping, so that its sizes are never found by attribute
# (SGLang, configs/minimax_vl.py).
_UNTYPED_VISION = frozenset({"minimax_m3_vl"})


def dtype(reading: Reading) -> str | None:
    """The published dtype as torch names it, looked for in the text part and then in the whole file.

    Source: SGLang, utils/hf_transformers/common.py, get_hf_text_config: what stands in thinker_config
    counts for the text inside it, and LLaVA's own classes always run in float16.
    """
    if is_flat_llava(reading.architecture):
        return "float16"
    inside_thinker = reading.outer.mapping("thinker_config") is not None
    parts = reading.parts[:2] if inside_thinker else reading.parts
    for config in reversed(parts):
        for key in ("dtype", "torch_dtype"):
            name = config.text(key)
            if name is not None and name != "auto":
                found = canonical(name)
                if found is None:
                    config.problem(key, f"unknown dtype {shown(name)}", "bfloat16, float16 or float32")
                return found
    return None


# Far more than any draft proposes at once.
MAX_DRAFT_TOKENS = 1024


def vision(reading: Reading) -> Vision | None:
    """Size of the vision tower, None without one; Kimi-K3 names it vt_*, and V4.1 has no such part.

    A config without vision_config gets the tower that its class builds by itself.
    """
    config = reading.outer.mapping("vision_config")
    defaults = reading.vision_defaults
    outer_type = reading.outer.text("model_type")
    if outer_type == "deepseek_v41" or (config is None and defaults is None):
        return None
    if outer_type in _UNTYPED_VISION:
        return Vision()
    return Vision(
        layers=_vision_size(config, defaults or {}, "num_hidden_layers", "vt_num_hidden_layers"),
        hidden_size=_vision_size(config, defaults or {}, "hidden_size", "vt_hidden_size"),
    )


def _vision_size(config: Config | None, defaults: Mapping[str, int], *keys: str) -> int | None:
    size = None if config is None else config.optional_integer(*keys, least=0)
    return defaults.get(keys[0]) if size is None else size


def draft_layers(reading: Reading) -> int | None:
    """MTP layers that ship with the model, under the one key that SGLang counts."""
    return reading.optional("num_nextn_predict_layers", least=0, most=MAX_LAYERS)


def dspark_block(reading: Reading) -> int | None:
    """Tokens a step of the DSpark draft that the checkpoint bundles (SGLang, dspark_config.py)."""
    return reading.optional("dspark_block_size", least=1, most=MAX_DRAFT_TOKENS)


def draft_local_layers(reading: Reading) -> int | None:
    """MTP layers listed as local (Inkling); None where the config has no such list."""
    listed = reading.config.items("mtp_local_layer_ids", int)
    if listed is None:
        return None
    return len(set(listed) & set(range(draft_layers(reading) or 0)))


def config_heads(reading: Reading, layers: tuple[Layer, ...]) -> ConfigHeads | None:
    """The generic head fields, where no layer says the same: an engine without a rule reads these."""
    if any(_has_heads(layer) for layer in layers):
        return None
    config = reading.config
    if config.first("num_attention_heads") is None or config.first("hidden_size") is None:
        return None
    heads = config.integer("num_attention_heads")
    head_dim = reading.optional("head_dim", least=0) or config.integer("hidden_size") // heads
    return ConfigHeads(
        kv_heads=config.optional_integer("num_key_value_heads") or heads,
        head_dim=head_dim,
        v_head_dim=config.optional_integer("v_head_dim", least=0) or head_dim,
    )


def _has_heads(layer: Layer) -> bool:
    heads = FullAttention | SlidingAttention | IndexedAttention | ParallelLayer | SharedAttention
    return isinstance(layer, heads)


def fused_qkv_tp(reading: Reading) -> int | None:
    """The one TP that fused projections are laid out for (MiMo-V2.5)."""
    layout = reading.config.text("attention_projection_layout", choices=("split", "fused_qkv"))
    return reading.integer("num_key_value_heads") if layout == "fused_qkv" else None


def attention_sinks(reading: Reading) -> bool:
    """Learned sinks, by the flags that configs carry."""
    flags = ("add_swa_attention_sink_bias", "add_full_attention_sink_bias")
    learned = reading.config.flag("learnable_sink", default=reading.model_type == "hy_v4")
    return learned or any(reading.config.flag(flag) for flag in flags)
