"""Values of the wrong type, shape or size wherever a reader looks: named, never a crash or a hang."""

from __future__ import annotations

import time
from typing import Any

import pytest

from kvplan import InputError
from tests.readers.hf import GDN, MAMBA, config, read

_MLA = {"kv_lora_rank": 512, "qk_rope_head_dim": 64, "index_topk": 2048, "index_head_dim": 128}
_LLAMA, _DEEPSEEK = ("LlamaForCausalLM", "llama"), ("DeepseekV32ForCausalLM", "deepseek_v32")
LONG = "x" * 1_000_000
CUT = f"'{'x' * 59}"  # 60 characters with the quote
NESTED: dict[str, Any] = {}  # too deeply for Python to write it as text
for _ in range(5_000):
    NESTED = {"a": NESTED}

REFUSED: dict[str, tuple[tuple[str, str], dict[str, Any], list[str]]] = {
    "a list as model_type": (
        _LLAMA,
        {"model_type": ["llama"]},
        ["model_type: a list is not a string"],
    ),
    "a nested mapping as model_type": (
        ("Qwen2VLForConditionalGeneration", "qwen2_vl"),
        {"model_type": NESTED, "vision_config": {"depth": 32, "embed_dim": 1280}},
        ["model_type: a mapping is not a string"],
    ),
    "a mapping as model_type of the vision part": (
        ("Qwen2VLForConditionalGeneration", "qwen2_vl"),
        {"vision_config": {"model_type": {}}},
        ["vision_config.model_type: a mapping is not a string"],
    ),
    "a list as kind of RoPE": (
        _LLAMA,
        {"rope_scaling": {"rope_type": ["yarn"], "factor": 2.0}},
        ["rope_scaling.rope_type: a list is not a string"],
    ),
    "a negative RoPE factor": (
        _LLAMA,
        {"rope_scaling": {"rope_type": "dynamic", "factor": -3.0}},
        ["rope_scaling.factor: -3.0 is not above 0 and at most 16777216"],
    ),
    "an infinite RoPE factor": (
        _LLAMA,
        {"rope_scaling": {"rope_type": "dynamic", "factor": float("inf")}},
        ["rope_scaling.factor: inf is not above 0 and at most 16777216"],
    ),
    "a RoPE factor that leaves no position": (
        _LLAMA,
        {"rope_scaling": {"rope_type": "dynamic", "factor": 1e-9}},
        ["rope_scaling.factor: makes 32768 positions 0, which no model has"],
    ),
    "a number as pattern of indexers": (
        _DEEPSEEK,
        {**_MLA, "index_topk_pattern": 7},
        ["index_topk_pattern: 7 is not a string"],
    ),
    "a dtype of a megabyte": (
        _LLAMA,
        {"torch_dtype": LONG},
        [f"torch_dtype: unknown dtype {CUT} (bfloat16, float16 or float32)"],
    ),
    "a layer type of a megabyte": (
        ("Qwen3NextForCausalLM", "qwen3_next"),
        {**GDN, "layer_types": [LONG] * 12, "full_attention_interval": 4},
        [f"layer_types: unknown layer type {CUT} (known: linear_attention, full_attention)"],
    ),
    "a text part that names no layers, in a config that does": (
        ("LlavaForConditionalGeneration", "llava"),
        {"text_config": {"model_type": "llama"}},
        ["text_config.num_hidden_layers: is missing, though the config outside has it"],
    ),
    "an encoder with a name of a megabyte": (
        (LONG, "bert"),
        {},
        [f"architectures: {'x' * 256} is an encoder: it decodes nothing and keeps no KV cache"],
    ),
    "more layers than any model has": (
        _LLAMA,
        {"num_hidden_layers": 10_001},
        ["num_hidden_layers: 10001 is not between 1 and 10000"],
    ),
    "more layers of two blocks": (
        ("LongcatFlashForCausalLM", "longcat_flash"),
        {**_MLA, "num_layers": 1 << 24},
        ["num_layers: 16777216 is not between 1 and 10000"],
    ),
    "more decoder layers": (
        ("WhisperForConditionalGeneration", "whisper"),
        {"decoder_layers": 1 << 24, "encoder_layers": 1 << 24, "num_hidden_layers": "absent"},
        [
            "encoder_layers: 16777216 is not between 0 and 10000",
            "decoder_layers: 16777216 is not between 1 and 10000",
        ],
    ),
    "more draft layers": (
        _LLAMA,
        {"num_nextn_predict_layers": 1 << 24},
        ["num_nextn_predict_layers: 16777216 is not between 0 and 10000"],
    ),
    "more loops": (
        ("IQuestLoopCoderForCausalLM", "iquestloopcoder"),
        {"loop_num": 1 << 24},
        ["loop_num: 16777216 is not between 1 and 10000"],
    ),
    "a pattern of ten million letters": (
        ("NemotronHForCausalLM", "nemotron_h"),
        {**MAMBA, "num_hidden_layers": "absent", "hybrid_override_pattern": "M" * 10_000_000},
        ["hybrid_override_pattern: has 10000000 entries, far more than any model has layers"],
    ),
    "a block repeated ten thousand times": (
        ("IQuestQ1ForCausalLM", "iquest_q1"),
        {
            "sliding_window": 128,
            "num_hybrid_layers_block": 10_000,
            "hybrid_layers_types_block": ["full_attention"] * 100_000,
        },
        ["num_hybrid_layers_block: gives 1000000004 layer types for 12 layers"],
    ),
}


@pytest.mark.parametrize(("model", "facts", "lines"), REFUSED.values(), ids=REFUSED)
def test_an_impossible_value_is_named(
    model: tuple[str, str], facts: dict[str, Any], lines: list[str]
) -> None:
    with pytest.raises(InputError) as caught:
        read(changed(model, facts))
    found = [str(problem).removeprefix("config.json: ") for problem in caught.value.problems]
    assert found == lines


def changed(model: tuple[str, str], facts: dict[str, Any]) -> dict[str, Any]:
    merged = config(*model) | facts
    return {key: value for key, value in merged.items() if value != "absent"}


def test_a_list_in_a_kv_cache_scheme_is_no_scheme() -> None:
    scheme = {"type": "float", "num_bits": [8]}
    facts: dict[str, Any] = {"quantization_config": {"quant_method": "modelopt", "kv_cache_scheme": scheme}}
    quantization = read(config(*_LLAMA, **facts)).quantization
    assert quantization is not None
    assert quantization.kv_cache_algo is None


def test_a_list_as_name_of_a_vision_tower_is_no_name() -> None:
    vision = {"model_name": ["siglip_so400m_patch14_384"], "layers": 27, "width": 1152}
    facts: dict[str, Any] = {"vision_config": vision, "intermediate_size": 11_008, "vocab_size": 102_400}
    assert read(config("DeepseekVLV2ForCausalLM", "deepseek_vl_v2", **facts)).parameters


@pytest.mark.parametrize(("depth", "words"), [(15, ""), (5_000, "is nested in too many text parts")])
def test_parts_nested_in_parts_are_followed_to_a_depth_that_no_model_has(depth: int, words: str) -> None:
    nested = config(*_LLAMA)
    for _ in range(depth):
        nested = {"architectures": ["LlamaForCausalLM"], "text_config": nested}
    if not words:
        assert len(read(nested).layers) == 12
        return
    with pytest.raises(InputError, match=words):
        read(nested)


@pytest.mark.parametrize(
    ("model", "facts"),
    [
        (_DEEPSEEK, {**_MLA, "indexer_types": ["shared"] * 100_000}),
        (("Lfm2ForCausalLM", "lfm2"), {"conv_L_cache": 3, "full_attn_idxs": list(range(5_000, 105_000))}),
        (
            ("GigaChat35ForCausalLM", "gigachat3_5"),
            {**GDN, **_MLA, "full_attention_layers": list(range(5_000, 105_000))},
        ),
    ],
    ids=["indexers", "short convolutions", "delta nets"],
)
def test_long_lists_for_many_layers_are_read_once(model: tuple[str, str], facts: dict[str, Any]) -> None:
    """10,000 layers x 100,000 entries would be a thousand million comparisons."""
    started = time.process_time()
    assert len(read(config(*model, num_hidden_layers=10_000, **facts)).layers) == 10_000
    assert time.process_time() - started < 2


def test_an_expression_that_would_backtrack_for_years_is_left_out() -> None:
    ignored = ["re:(([a-z._]|[a-z._N])+)+!", "re:(.|.)*(.|.)*(.|.)*x", "re:.*self_attn.*"]
    facts: dict[str, Any] = {"quantization_config": {"quant_method": "compressed-tensors", "ignore": ignored}}
    started = time.process_time()
    assert read(config(*_LLAMA, **facts)).parameters
    assert time.process_time() - started < 2


def test_a_layer_number_of_five_thousand_digits_is_no_layer() -> None:
    """Python converts no more than 4,300 digits."""
    ignored = [f"model.layers.{'9' * 5_000}.mlp"]
    facts: dict[str, Any] = {"quantization_config": {"quant_method": "compressed-tensors", "ignore": ignored}}
    assert read(config(*_LLAMA, **facts)).parameters


@pytest.mark.parametrize("targets", [7, {"a": 1}, "Linear", None])
def test_targets_of_a_scheme_that_are_no_list_name_nothing(targets: Any) -> None:
    group = {"weights": {"num_bits": 8, "type": "float"}, "targets": targets}
    facts: dict[str, Any] = {
        "quantization_config": {"quant_method": "compressed-tensors", "config_groups": {"group_0": group}}
    }
    assert read(config(*_LLAMA, **facts)).parameters


_GLOBS = [f"a{number}*" for number in range(5_000, 105_000)]
_NUMBERS = list(range(5_000, 105_000))
_GROUP = {"weights": {"num_bits": 8, "type": "float"}, "targets": ["re:.*experts.*"]}


@pytest.mark.parametrize(
    "facts",
    [
        {"mlp_only_layers": _NUMBERS},
        {"moe_layers_enum": ",".join(map(str, _NUMBERS))},
        {
            "quantization_config": {
                "quant_method": "awq",
                "modules_to_not_convert": _GLOBS,
            }
        },
        {
            "quantization_config": {
                "quant_method": "compressed-tensors",
                "ignore": [f"a{n}" for n in _NUMBERS],
                "config_groups": {f"group_{n}": _GROUP for n in range(10_000)},
            }
        },
    ],
    ids=["dense layers", "MoE layers", "globs", "groups of weights"],
)
def test_the_estimate_of_weights_takes_no_longer_for_lists_without_end(facts: dict[str, Any]) -> None:
    started = time.process_time()
    read(config(*_LLAMA, num_hidden_layers=10_000, num_experts=8, **facts))
    assert time.process_time() - started < 2
