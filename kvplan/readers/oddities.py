"""Entries of a config that versions of an engine trip over or read in ways of their own."""

from __future__ import annotations

import json

from kvplan.config import MAX_NAME
from kvplan.readers.context import ROPE_REMOTE
from kvplan.readers.reading import Reading, text_type_of

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
        found.append(f"llm_config.architectures: {inner[0]:.{MAX_NAME}}")
    return tuple(found)


def _unnamed_yarn(reading: Reading) -> list[str]:
    """YaRN without the length that it stretches, which today's base class of remote configs stops at."""
    scaling = reading.config.mapping("rope_scaling") or reading.config.mapping("rope_parameters")
    if scaling is None or reading.model_type not in ROPE_REMOTE:
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
