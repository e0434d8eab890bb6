"""Model facts beside the layers: context length, dtype, quantisation, vision tower, draft layers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kvplan.architecture import ConfigHeads, Quantization, Vision
from kvplan.config import MAX_LAYERS, MAX_NAME, Config, shown
from kvplan.dtypes import canonical
from kvplan.layers import (
    FullAttention,
    IndexedAttention,
    Layer,
    ParallelLayer,
    SharedAttention,
    SlidingAttention,
)
from kvplan.readers.reading import Reading

# In the order in which SGLang looks for them (utils/hf_transformers/common.py, CONTEXT_LENGTH_KEYS);
# n_positions and n_ctx are what transformers maps to max_position_embeddings.
_CONTEXT_KEYS = (
    "max_sequence_length",
    "seq_length",
    "max_seq_len",
    "model_max_length",
    "max_position_embeddings",
    "n_positions",
    "n_ctx",
)
_MAX_CONTEXT = 1 << 40
_MIXED = "MIXED_PRECISION"
# Types whose vision part stays a plain mapping, so that its sizes are never found by attribute
# (SGLang, configs/minimax_vl.py).
_UNTYPED_VISION = frozenset({"minimax_m3_vl"})
# RoPE kinds for which transformers takes the config's own length as the original one where none is named,
# so that the length is not stretched (modeling_rope_utils.py, standardize_rope_params).
_ROPE_FROM_LENGTH = frozenset({"llama3", "longrope", "yarn"})
# Text types whose RoPE parameters stand per layer type, where SGLang's look-up of a factor finds none
# (transformers, configuration_*.py).
_ROPE_BY_LAYER_TYPE = frozenset(
    """
    beam deepseek_v4 gemma3_text gemma3n_text gemma4_text gemma4_unified_text laguna mellum mimo_v2_flash
    olmo3 spark2_5 step3p5
    """.split()
)


def context_length(reading: Reading) -> int | None:
    """The model's longest context, stretched by RoPE scaling where the config's length is the short one.

    Source: SGLang, utils/hf_transformers/common.py, get_context_length.
    """
    config = reading.config
    key = config.first(*_context_keys(reading))
    if key is None:
        length = reading.optional(*_context_keys(reading))
    else:
        length = config.integer(key, most=_MAX_CONTEXT)
    scaling = config.mapping("rope_scaling") or config.mapping("rope_parameters")
    if length is None or scaling is None or reading.model_type in _ROPE_BY_LAYER_TYPE:
        return length
    kind = scaling.text("rope_type") or scaling.text("type")
    if "original_max_position_embeddings" in scaling or kind in _ROPE_FROM_LENGTH:
        return length
    stretched = int(scaling.ratio("factor", default=1.0) * length)
    if not 1 <= stretched <= _MAX_CONTEXT:
        scaling.problem("factor", f"makes {length} positions {stretched}, which no model has")
    return stretched


def _context_keys(reading: Reading) -> tuple[str, ...]:
    """The names up to the first for which the config class has a value of its own."""
    for index, key in enumerate(_CONTEXT_KEYS):
        if key in reading.class_defaults and key != "max_position_embeddings":
            return _CONTEXT_KEYS[: index + 1]
    return _CONTEXT_KEYS


def dtype(reading: Reading) -> str | None:
    """The published dtype as torch names it, looked for in the text part and then in the whole file."""
    for config in reversed(reading.parts):
        for key in ("dtype", "torch_dtype"):
            name = config.text(key)
            if name is not None and name != "auto":
                found = canonical(name)
                if found is None:
                    config.problem(key, f"unknown dtype {shown(name)}", "bfloat16, float16 or float32")
                return found
    return None


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


def quantization(reading: Reading, beside: Mapping[str, Any] | None) -> Quantization | None:
    """How the checkpoint stores K and V, from quantization_config or the hf_quant_config.json beside it."""
    if beside is not None:
        inner = beside.get("quantization", beside)
        algo = inner.get("kv_cache_quant_algo") if isinstance(inner, Mapping) else None
        mixed = isinstance(inner, Mapping) and inner.get("quant_algo") == _MIXED
        return Quantization(method="modelopt", kv_cache_algo=_algo(algo), mixed=mixed)
    config = reading.outer.mapping("quantization_config") or reading.config.mapping("quantization_config")
    if config is None:
        return None
    method = config.name("quant_method") or ""
    if method.startswith("modelopt"):
        mixed = config.get("quant_algo") == _MIXED
        return Quantization(method="modelopt", kv_cache_algo=_modelopt_algo(config), mixed=mixed)
    if method == "compressed-tensors":
        return Quantization(method=method, kv_cache_algo="FP8" if _fp8_scheme(config, strict=True) else None)
    return Quantization(method=method, kv_cache_algo=_algo(config.get("kv_cache_quant_algo")))


def _modelopt_algo(config: Config) -> str | None:
    inner = config.mapping("quantization") or config
    scheme = inner.get("kv_cache_scheme")
    if isinstance(scheme, Mapping) and scheme.get("type") == "float":
        bits = scheme.get("num_bits")
        return {8: "FP8", 4: "NVFP4"}.get(bits) if isinstance(bits, int) else None
    return _algo(inner.get("kv_cache_quant_algo"))


def _algo(value: object) -> str | None:
    return value if isinstance(value, str) and len(value) <= MAX_NAME else None


def _fp8_scheme(config: Config, *, strict: bool) -> bool:
    scheme = config.get("kv_cache_scheme")
    return (
        isinstance(scheme, Mapping)
        and scheme.get("type") == "float"
        and scheme.get("num_bits") == 8
        and (not strict or scheme.get("strategy") == "tensor")
        and scheme.get("symmetric", True) is True
        and not scheme.get("dynamic")
    )


def draft_layers(reading: Reading) -> int | None:
    """MTP layers that ship with the model, under the one key that SGLang counts."""
    return reading.optional("num_nextn_predict_layers", least=0, most=MAX_LAYERS)


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
