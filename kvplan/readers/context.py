"""The longest context of a model, stretched by RoPE scaling where the config's length is the short one."""

from __future__ import annotations

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
# RoPE kinds for which transformers takes the config's own length as the original one where none is named,
# so that the length is not stretched (modeling_rope_utils.py, standardize_rope_params).
_ROPE_FROM_LENGTH = frozenset({"llama3", "longrope", "yarn"})
# Types whose classes come with the checkpoint, and types that SGLang brings classes of its own for
# (configs/*.py): nothing fills an original length in there, so the factor stretches what the config names.
ROPE_REMOTE = frozenset(
    """
    PanguEmbedded baichuan bailing_moe bailing_moe_v2 deepseek grok-1 internlm internlm3 iquestcoder
    iquestloopcoder llada2_moe logics mimo minicpm minicpmv minimax_m1 molmo nemotron_h_puzzle orion phi3_v
    phi3small phi4mm qwen sarvam_moe sdar sdar_moe solar teleflm xverse
    """.split()
)
_ROPE_AS_WRITTEN = ROPE_REMOTE | frozenset(
    "k2_horizon longcat_flash qwen3_5_moe_text qwen3_5_text qwen3_next xllm".split()
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
    kind = scaling.text("rope_type") or scaling.text("type")
    filled_in = kind in _ROPE_FROM_LENGTH and reading.model_type not in _ROPE_AS_WRITTEN
    if "original_max_position_embeddings" in scaling or filled_in or scaling.get("rope_type") == "llama3":
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
