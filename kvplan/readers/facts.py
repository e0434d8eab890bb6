"""Model facts beside the layers: context length, dtype, quantisation, vision tower, draft layers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from kvplan.architecture import ConfigHeads, Quantization, Vision
from kvplan.config import Config
from kvplan.dtypes import canonical
from kvplan.layers import (
    FullAttention,
    IndexedAttention,
    Layer,
    ParallelLayer,
    SharedAttention,
    SlidingAttention,
)
from kvplan.readers.reading import Reading, is_flat_llava, text_type_of

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
# Types whose class takes over the quantization_config of its text part (SGLang, configs/kimi_k25.py,
# kimi_k3.py, glm5_next.py); everywhere else the engine looks at the top of the file alone.
_LIFTS_QUANTIZATION = frozenset({"glm5_next", "kimi_k25", "kimi_k3"})
# Types whose vision part stays a plain mapping, so that its sizes are never found by attribute
# (SGLang, configs/minimax_vl.py).
_UNTYPED_VISION = frozenset({"minimax_m3_vl"})
# RoPE kinds for which transformers takes the config's own length as the original one where none is named,
# so that the length is not stretched (modeling_rope_utils.py, standardize_rope_params).
_ROPE_FROM_LENGTH = frozenset({"llama3", "longrope", "yarn"})
# Types whose classes come with the checkpoint, and types that SGLang brings classes of its own for
# (configs/*.py): nothing fills an original length in there, so the factor stretches what the config names.
_ROPE_REMOTE = frozenset(
    """
    PanguEmbedded baichuan bailing_moe bailing_moe_v2 deepseek grok-1 internlm internlm3 iquestcoder
    iquestloopcoder llada2_moe logics mimo minicpm minicpmv minimax_m1 molmo nemotron_h_puzzle orion phi3_v
    phi3small phi4mm qwen sarvam_moe sdar sdar_moe solar teleflm xverse
    """.split()
)
_ROPE_AS_WRITTEN = _ROPE_REMOTE | frozenset(
    "k2_horizon longcat_flash qwen3_5_moe_text qwen3_5_text qwen3_next xllm".split()
)
# Names that transformers allows in layer_types since it is newer than 5.6 (configuration_utils.py).
_YOUNG_LAYER_TYPES = frozenset(
    """
    compressed_sparse_attention deepseek_sparse_attention heavily_compressed_attention hybrid_sliding
    indexed_attention minimax_m3_sparse window_attention
    """.split()
)
# Types whose class works a null head_dim out (transformers, configuration_*.py, __post_init__; SGLang,
# configs/afmoe.py).
_FILLS_HEAD_DIM = frozenset(
    """
    afmoe arcee ernie4_5 llama minimax ministral mistral mixtral nemotron qwen3_vl_moe_text seed_oss
    """.split()
)
# Text models that SGLang's InternVLChatConfig has a class for (configs/internvl.py).
_INTERNVL_TEXTS = frozenset(
    """
    GptOssForCausalLM InternLM2ForCausalLM LlamaForCausalLM Qwen2ForCausalLM Qwen3ForCausalLM
    Qwen3MoeForCausalLM
    """.split()
)
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
    kind = scaling.get("rope_type") or scaling.get("type")
    filled_in = kind in _ROPE_FROM_LENGTH and reading.model_type not in _ROPE_AS_WRITTEN
    if "original_max_position_embeddings" in scaling or filled_in or scaling.get("rope_type") == "llama3":
        return length
    return int(scaling.number("factor", default=1.0) * length)


def _context_keys(reading: Reading) -> tuple[str, ...]:
    """The names up to the first for which the config class has a value of its own."""
    for index, key in enumerate(_CONTEXT_KEYS):
        if key in reading.class_defaults and key != "max_position_embeddings":
            return _CONTEXT_KEYS[: index + 1]
    return _CONTEXT_KEYS


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
                    config.problem(key, f"unknown dtype {name!r}", "bfloat16, float16 or float32")
                return found
    return None


def vision(reading: Reading) -> Vision | None:
    """Size of the vision tower, None without one; Kimi-K3 names it vt_*, and V4.1 has no such part.

    A config without vision_config gets the tower that its class builds by itself.
    """
    config = reading.outer.mapping("vision_config")
    defaults = reading.vision_defaults
    if reading.outer.get("model_type") == "deepseek_v41" or (config is None and defaults is None):
        return None
    if reading.outer.get("model_type") in _UNTYPED_VISION:
        return Vision()
    return Vision(
        layers=_vision_size(config, defaults or {}, "num_hidden_layers", "vt_num_hidden_layers"),
        hidden_size=_vision_size(config, defaults or {}, "hidden_size", "vt_hidden_size"),
    )


def _vision_size(config: Config | None, defaults: Mapping[str, int], *keys: str) -> int | None:
    size = None if config is None else config.optional_integer(*keys, least=0)
    return defaults.get(keys[0]) if size is None else size


def quantization(reading: Reading, beside: Mapping[str, Any] | None) -> Quantization | None:
    """How the checkpoint stores K and V, from quantization_config or the hf_quant_config.json beside it.

    The file beside counts where config.json is silent, or names mixed layers without their formats.
    Source: SGLang, configs/model_config.py, _parse_quant_hf_config, and model_loader/weight_utils.py,
    get_quant_config.
    """
    config = _quantization_config(reading)
    if beside is not None and (config is None or _incomplete(config)):
        return _quantization_beside(beside)
    if config is None:
        return None
    method = config.text("quant_method")
    if (method or "modelopt").startswith("modelopt"):
        weights = config.text("quant_algo")
        algo, bare = _modelopt_algo(config)
        return _modelopt(weights, algo, bare=bare)
    if method == "compressed-tensors":
        return Quantization(method=method, kv_cache_algo="FP8" if _fp8_scheme(config) else None)
    return Quantization(method=method or "", kv_cache_algo=_kv_algo(config))


def _quantization_config(reading: Reading) -> Config | None:
    """The part of the file that says how weights are stored: at the top, where a class does not lift it."""
    found = reading.outer.mapping("quantization_config") or reading.outer.mapping("compression_config")
    if found is None and reading.outer.get("model_type") in _LIFTS_QUANTIZATION:
        return reading.config.mapping("quantization_config")
    return found


def _quantization_beside(beside: Mapping[str, Any]) -> Quantization:
    inner = beside.get("quantization", beside)
    found = inner if isinstance(inner, Mapping) else {}
    weights, algo = (found.get(key) for key in ("quant_algo", "kv_cache_quant_algo"))
    texts = (name if isinstance(name, str) else None for name in (weights, algo))
    return _modelopt(*texts, bare=False)


def _modelopt(weights: str | None, kv: str | None, *, bare: bool) -> Quantization:
    return Quantization(
        method="modelopt",
        kv_cache_algo=kv,
        bare_kv_algo=bare and kv is not None,
        weights_algo=weights,
        mixed=weights == _MIXED,
    )


def _incomplete(config: Config) -> bool:
    if config.get("quant_algo") != _MIXED:
        return False
    named = "kv_cache_quant_algo" in config or "kv_cache_scheme" in config
    return "quantized_layers" not in config or not named


def _modelopt_algo(config: Config) -> tuple[str | None, bool]:
    """The format of K and V, and whether it is a bare key beside the weights' format.

    Source: layers/quantization/modelopt_quant.py, from_config of the FP8 and FP4 classes.
    """
    algo = config.text("quant_algo")
    nested = config.mapping("quantization") if algo is None else None
    if nested is not None:
        return _kv_algo(nested), False
    scheme = config.get("kv_cache_scheme")
    if isinstance(scheme, Mapping):
        return ("FP8" if (scheme.get("type"), scheme.get("num_bits")) == ("float", 8) else None), False
    if isinstance(scheme, str) and "FP4" in (algo or ""):
        return ("FP8" if scheme.strip().upper() in ("FP8", "FLOAT8") else None), False
    return _kv_algo(config), True


def _kv_algo(config: Config) -> str | None:
    algo = config.get("kv_cache_quant_algo")
    return algo if isinstance(algo, str) else None


def _fp8_scheme(config: Config) -> bool:
    scheme = config.get("kv_cache_scheme")
    return (
        isinstance(scheme, Mapping)
        and scheme.get("type") == "float"
        and scheme.get("num_bits") == 8
        and scheme.get("strategy") == "tensor"
        and scheme.get("symmetric", True) is True
        and not scheme.get("dynamic")
    )


def oddities(reading: Reading) -> tuple[str, ...]:
    """Entries that engines trip over: blank value heads, names of new layer types, unknown text models."""
    config = reading.config
    found = _blank_heads(reading)
    names = config.get("layer_types")
    known = {name for name in names if isinstance(name, str)} if isinstance(names, list) else set()
    found += [f"layer_types: {name}" for name in sorted(known & _YOUNG_LAYER_TYPES)]
    found += _unnamed_yarn(reading)
    heads = config.optional_integer("num_global_key_value_heads")
    if (
        heads is not None
        and not config.flag("attention_k_eq_v")
        and reading.outer.get("model_type") == "gemma4"
    ):
        found.append(f"num_global_key_value_heads: {heads}")
    inner = config.items("architectures", str) if reading.architecture == "InternVLChatModel" else None
    if inner and inner[0] not in _INTERNVL_TEXTS:
        found.append(f"llm_config.architectures: {inner[0]}")
    return tuple(found)


def _unnamed_yarn(reading: Reading) -> list[str]:
    """YaRN without the length that it stretches, which today's base class of remote configs stops at."""
    scaling = reading.config.mapping("rope_scaling") or reading.config.mapping("rope_parameters")
    if scaling is None or reading.model_type not in _ROPE_REMOTE:
        return []
    yarn = "yarn" in (scaling.get("rope_type"), scaling.get("type"))
    named = "original_max_position_embeddings" in scaling
    return ["rope_scaling: yarn without original_max_position_embeddings"] if yarn and not named else []


def _blank_heads(reading: Reading) -> list[str]:
    """Head sizes that the config leaves blank; a flat multimodal config keeps them from its text part."""
    config, outer_type = reading.config, reading.outer.text("model_type", default="") or ""
    if config is reading.outer and text_type_of(outer_type) != outer_type:
        return []
    v_head_dim = config.get("v_head_dim")
    found = [f"v_head_dim: {json.dumps(v_head_dim)}"] if "v_head_dim" in config and not v_head_dim else []
    unfilled = "head_dim" in config and config.get("head_dim") is None
    if unfilled and reading.model_type not in _FILLS_HEAD_DIM:
        found.append("head_dim: null")
    return found


def draft_layers(reading: Reading) -> int | None:
    """MTP layers that ship with the model, under the one key that SGLang counts."""
    return reading.optional("num_nextn_predict_layers", least=0)


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
