"""Each kind of weight by hand, and the format it is stored in."""

from __future__ import annotations

from typing import Any

import pytest

import kvplan
from kvplan.architecture import Source
from kvplan.loading import read
from kvplan.sources import Document
from kvplan.weights.records import Parameters

DENSE = {
    "architectures": ["Qwen3ForCausalLM"],
    "model_type": "qwen3",
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 10,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 32,
    "vocab_size": 1000,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
}
MOE = {
    **DENSE,
    "architectures": ["Qwen3MoeForCausalLM"],
    "model_type": "qwen3_moe",
    "num_experts": 8,
    "moe_intermediate_size": 16,
    "decoder_sparse_step": 2,
    "mlp_only_layers": [1],
}
# Nemotron-H: the pattern says which layers have experts.
PATTERN = {
    **DENSE,
    "architectures": ["NemotronHForCausalLM"],
    "model_type": "nemotron_h",
    "hybrid_override_pattern": "ME*E",
    "num_hidden_layers": 4,
    "mamba_num_heads": 4,
    "mamba_head_dim": 16,
    "ssm_state_size": 8,
    "n_groups": 1,
    "conv_kernel": 4,
    "moe_intermediate_size": 16,
    "num_experts_per_tok": 2,
}
FP8 = {"quant_method": "fp8", "weight_block_size": [128, 128]}


def parameters(config: dict[str, Any], beside: dict[str, Any] | None = None) -> Parameters | None:
    document = Document(
        data=config,
        file="config.json",
        source=Source(kind="file", location="config.json"),
        model_id="some/model",
        quantization=beside,
    )
    return read(document, []).parameters


def counts(config: dict[str, Any]) -> dict[str, int]:
    found = parameters(config)
    assert found is not None
    return {kind: tensors.count for kind, tensors in found.kinds()}


def formats(config: dict[str, Any], beside: dict[str, Any] | None = None) -> dict[str, str]:
    found = parameters(config, beside)
    assert found is not None
    return {kind: tensors.format for kind, tensors in found.kinds() if tensors.format != "bfloat16"}


def test_a_dense_model_by_hand() -> None:
    assert counts(DENSE) == {
        "embedding": 64_000,  # 1000 x 64
        "head": 64_000,
        "attention": 163_840,  # 10 x (64 x 4 x 32 + 4 x 32 x 64)
        "attention_kv": 81_920,  # 10 x 64 x 2 x (32 + 32)
        "mlp": 245_760,  # 10 x 3 x 64 x 128
        "norms": 1_344,  # 64 x (2 x 10 + 1)
    }


def test_experts_stand_where_the_config_says() -> None:
    found = parameters(MOE)
    assert found is not None
    # Layers 1, 3, 5, 7, 9 by the step of 2, less layer 1, which mlp_only_layers takes out.
    assert (found.moe_layers, found.dense_layers) == (4, 6)
    assert counts(MOE)["experts"] == 98_304  # 4 x 8 x 3 x 64 x 16
    assert counts(MOE)["router"] == 2_048  # 4 x 64 x 8
    assert counts(MOE)["mlp"] == 147_456  # 6 x 3 x 64 x 128


@pytest.mark.parametrize(
    ("config", "held", "picked"),
    [
        ({**MOE, "num_experts_per_tok": 2}, 8, 2),
        ({**MOE, "num_experts_per_token": 2}, 8, 2),  # Kimi Linear
        ({**MOE, "experts_per_token": 2}, 8, 2),  # gpt-oss
        ({**MOE, "top_k_experts": 2}, 8, 2),  # Gemma 4
        ({**MOE, "moe_topk": [2] * 10}, 8, 2),  # Hunyuan, a number for each layer
        ({**MOE, "moe_topk": [2, 2, 4, 4]}, 8, None),
        ({**MOE, "moe_num_active_primary_experts": 2}, 8, 2),  # SmallThinker
        ({**MOE, "moe_k": 2}, 8, 2),  # ERNIE 4.5
        ({**MOE, "num_experts_per_tok": 9}, 8, None),
        # LongCat: some of the experts that are picked do nothing
        ({**MOE, "num_experts_per_tok": 2, "zero_expert_num": 4}, 8, None),
        (MOE, 8, None),
        ({**PATTERN, "n_routed_experts": 8}, 8, 2),
        ({**PATTERN, "n_routed_experts": 0}, None, None),
        ({**DENSE, "num_experts_per_tok": 2}, None, None),
    ],
)
def test_how_many_experts_a_token_uses_is_read_and_never_guessed(
    config: dict[str, Any], held: int | None, picked: int | None
) -> None:
    found = parameters(config)
    assert found is not None
    assert (found.routed_experts, found.experts_per_token) == (held, picked)


GEMMA_E = {
    **DENSE,
    "architectures": ["Gemma4ForCausalLM"],
    "model_type": "gemma4_text",
    "tie_word_embeddings": True,
    "layer_types": ["full_attention"] * 10,
    "hidden_size_per_layer_input": 8,
    "vocab_size_per_layer_input": 500,
}


def test_embeddings_of_each_layer_are_no_part_of_the_head() -> None:
    found = counts(GEMMA_E)
    # 1000 x 64; 10 x 8 x (500 + 3 x 64)
    assert (found["embedding"], found["lookup_tables"]) == (64_000, 55_360)
    assert "head" not in found


def test_learned_positions_are_no_part_of_the_head() -> None:
    gpt2 = {
        "architectures": ["GPT2LMHeadModel"],
        "model_type": "gpt2",
        "n_embd": 64,
        "n_layer": 10,
        "n_head": 4,
    }
    found = counts({**gpt2, "vocab_size": 1000, "n_positions": 32})
    assert (found["embedding"], found["lookup_tables"]) == (64_000, 2_048)  # 1000 x 64, 32 x 64


@pytest.mark.parametrize(
    ("parts", "assumed"),
    [
        ({}, ()),
        (
            {"talker_config": {"hidden_size": 8}, "code2wav_config": {}},
            (
                "weights: an estimate leaves out the parts for speech (talker_config, code2wav_config), the "
                "size of a checkpoint has them",
            ),
        ),
    ],
)
def test_parts_that_make_speech_are_named(parts: dict[str, Any], assumed: tuple[str, ...]) -> None:
    config = {
        **parts,
        "architectures": ["Qwen3OmniMoeForConditionalGeneration"],
        "model_type": "qwen3_omni_moe",
        "thinker_config": {"text_config": {**MOE, "model_type": "qwen3_omni_moe_text"}},
    }
    document = Document(
        data=config,
        file="config.json",
        source=Source(kind="file", location="config.json"),
        model_id="some/model",
    )
    assert tuple(text for text in read(document, []).assumed if text.startswith("weights")) == assumed


@pytest.mark.parametrize(
    ("change", "kind", "count"),
    [
        ({"tie_word_embeddings": True}, "head", None),
        ({"architectures": ["Starcoder2ForCausalLM"], "model_type": "starcoder2"}, "mlp", 163_840),
        ({"num_nextn_predict_layers": 1}, "draft", 57_344),
    ],
)
def test_what_a_config_adds_or_leaves_out(change: dict[str, Any], kind: str, count: int | None) -> None:
    # starcoder2 has no gate: 10 x 2 x 64 x 128. An MTP layer: 16,384 + 8,192 + 24,576 + 2 x 64 x 64.
    assert counts({**DENSE, **change}).get(kind) == count


@pytest.mark.parametrize(
    ("config", "beside", "found"),
    [
        (DENSE, None, {}),
        (
            {**DENSE, "quantization_config": FP8},
            None,
            dict.fromkeys(("attention", "attention_kv", "mlp"), "fp8, block 128 x 128"),
        ),
        (
            {**DENSE, "quantization_config": {**FP8, "modules_to_not_convert": ["model.layers.5.self_attn"]}},
            None,
            {"mlp": "fp8, block 128 x 128"},
        ),
        (
            {**MOE, "quantization_config": {"quant_method": "mxfp4"}},
            None,
            {"experts": "mxfp4"},
        ),
        (
            {**DENSE, "quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 128}},
            None,
            dict.fromkeys(("attention", "attention_kv", "mlp"), "int4, group 128"),
        ),
        (
            {
                **MOE,
                "quantization_config": {
                    "quant_method": "compressed-tensors",
                    "ignore": ["re:.*self_attn.*", "re:.*mlp\\.(gate|up|down)_proj.*"],
                    "config_groups": {
                        "group_0": {
                            "targets": ["Linear"],
                            "weights": {"num_bits": 4, "type": "int", "group_size": 32, "symmetric": True},
                        }
                    },
                },
            },
            None,
            {"experts": "int4, group 32"},
        ),
        (
            DENSE,
            {"quantization": {"quant_algo": "NVFP4", "exclude_modules": ["model.layers.5.self_attn*"]}},
            {"mlp": "nvfp4"},
        ),
        (
            {
                **DENSE,
                "quantization_config": {
                    "quant_method": "modelopt",
                    "quant_algo": "MIXED_PRECISION",
                    "quantized_layers": {
                        "model.layers.0.self_attn.q_proj": {"quant_algo": "FP8"},
                        "model.layers.0.mlp.gate_proj": {"quant_algo": "W4A16_NVFP4"},
                    },
                },
            },
            None,
            {"attention": "fp8", "mlp": "nvfp4"},
        ),
    ],
)
def test_each_kind_has_the_format_that_the_quantisation_config_gives_it(
    config: dict[str, Any], beside: dict[str, Any] | None, found: dict[str, str]
) -> None:
    assert formats(config, beside) == found


def test_scales_are_part_of_the_bytes() -> None:
    found = parameters({**DENSE, "quantization_config": FP8})
    assert found is not None
    assert found.mlp is not None
    assert found.mlp.stored_bytes == 245_820  # 245,760 + 245,760 / 16,384 x 4


@pytest.mark.parametrize(
    "config",
    [
        {**DENSE, "quantization_config": {"quant_method": "of_tomorrow"}},
        {key: value for key, value in DENSE.items() if key != "vocab_size"} | {"model_type": "of_tomorrow"},
    ],
)
def test_what_can_t_be_estimated_is_left_out_and_the_model_loads_all_the_same(config: dict[str, Any]) -> None:
    assert parameters(config) is None


def test_a_model_yaml_carries_the_kinds() -> None:
    """DeepSeek-V3: 58 x 256 x 3 x 7168 x 2048 in the experts, FP8 with a float32 scale per 128 x 128."""
    found = kvplan.load("deepseek-ai/DeepSeek-V3", source="bundled").parameters
    assert found is not None
    assert found.experts is not None
    assert found.experts.count == 653_908_770_816
    assert found.experts.stored_bytes == 654_068_416_512
    assert (found.moe_layers, found.dense_layers) == (58, 3)


_GROUPS = {"quant_method": "awq", "bits": 4, "group_size": 128}
_CT = {
    "quant_method": "compressed-tensors",
    "config_groups": {
        "g": {"targets": ["Linear"], "weights": {"num_bits": 4, "type": "int", "group_size": 32}}
    },
}


@pytest.mark.parametrize(
    ("config", "kind", "found"),
    [
        # intermediate_size 128, moe_intermediate_size 16
        ({**DENSE, "quantization_config": FP8}, "mlp", (128, 128, 128)),
        ({**MOE, "quantization_config": FP8}, "experts", (16, 128, 128)),
        ({**DENSE, "quantization_config": _GROUPS}, "mlp", (128, 1, 128)),
        # kernels of experts take parts of a group
        ({**MOE, "quantization_config": _CT}, "experts", (None, None, None)),
        ({**MOE, "quantization_config": _CT}, "mlp", (128, 1, 32)),
        # nothing shares a scale
        (DENSE, "mlp", (None, None, None)),
        ({**DENSE, "quantization_config": FP8}, "attention", (None, None, None)),
    ],
)
def test_what_must_not_be_cut_is_known_of_feed_forward_parts(
    config: dict[str, Any], kind: str, found: tuple[int | None, int | None, int | None]
) -> None:
    tensors = getattr(parameters(config), kind)
    assert (tensors.width, tensors.block_rows, tensors.block_columns) == found


NO_SIZES: tuple[Any, ...] = ("x", "128", -1, 0.5, True, {}, ["x"], float("nan"), float("inf"), 10**30)
TOWER = {"depth": 2, "embed_dim": 16, "mlp_ratio": 4, "patch_size": 14, "spatial_merge_size": 2}
VISION = {
    **DENSE,
    "architectures": ["Qwen2VLForConditionalGeneration"],
    "model_type": "qwen2_vl",
    "vision_config": TOWER,
}
MAMBA = {
    "architectures": ["FalconMambaForCausalLM"],
    "model_type": "falcon_mamba",
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "intermediate_size": 128,
    "state_size": 16,
    "conv_kernel": 4,
    "vocab_size": 1000,
}


@pytest.mark.parametrize(
    "config",
    [
        *({**DENSE, "intermediate_size": value} for value in NO_SIZES),
        {**DENSE, "vocab_size": "x"},
        {**MOE, "num_experts": "x"},
        {**MOE, "moe_intermediate_size": -16},
        {**MOE, "n_shared_experts": 1.5},
        {**DENSE, "intermediate_size": None, "expansion_ratio": "x"},
        {**MAMBA, "time_step_rank": "x"},
        *(
            {**VISION, "vision_config": {**TOWER, **change}}
            for change in (
                {"depth": "x"},
                {"embed_dim": -16},
                {"mlp_ratio": "x"},
                {"mlp_ratio": -4},
                {"patch_size": 1.5},
            )
        ),
    ],
)
def test_what_can_be_no_size_gives_no_estimate(config: dict[str, Any]) -> None:
    assert parameters(config) is None


@pytest.mark.parametrize(
    ("change", "count"),
    [
        ({"intermediate_size": [128] * 10}, 245_760),  # of a list, the first: 10 x 3 x 64 x 128
        ({"intermediate_size": 128.0}, 245_760),
        ({"intermediate_size": None}, 491_520),  # four times the model's width: 10 x 3 x 64 x 256
        ({"intermediate_size": 0}, 491_520),
        ({"intermediate_size": []}, 491_520),
        ({"num_experts": 0, "n_shared_experts": None}, 245_760),
    ],
)
def test_lists_null_and_0_stand_in_published_configs(change: dict[str, Any], count: int) -> None:
    assert counts({**DENSE, **change})["mlp"] == count


def test_a_rank_left_to_the_class_is_one_for_16_channels() -> None:
    # 2 x 128 x (3 x 64 + 2 x 4 + 3 x 16)
    assert counts({**MAMBA, "time_step_rank": "auto"})["attention"] == 63_488


def group_of(**weights: object) -> dict[str, Any]:
    return {"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": weights}}}


@pytest.mark.parametrize(
    "quantization",
    [
        *({"quant_method": "awq", "bits": value} for value in (-4, 0, 4.5, "x", True, 17)),
        *({"quant_method": "awq", "bits": 4, "group_size": value} for value in (-2, "x", 0.5)),
        *(
            {"quant_method": "fp8", "weight_block_size": value}
            for value in ([0, 128], [128], [], "x", 128, [128, -1], [128, None], [128] * 3)
        ),
        group_of(type="int", num_bits=-4),
        group_of(type="int", num_bits=4, group_size="x"),
        group_of(type="float", num_bits=8, block_structure=[128, 0]),
        {"quant_method": "modelopt", "quant_algo": "W4A16_AWQ", "group_size": -128},
    ],
)
def test_impossible_sizes_of_a_quantisation_give_no_estimate(quantization: dict[str, Any]) -> None:
    assert parameters({**DENSE, "quantization_config": quantization}) is None


@pytest.mark.parametrize(
    ("quantization", "name"),
    [
        ({"quant_method": "gptq", "bits": 4, "group_size": -1}, "int4"),
        ({"quant_method": "gptq", "bits": None, "group_size": None}, "int4"),
        ({"quant_method": "fp8", "weight_block_size": None}, "fp8"),
        (group_of(type="float", num_bits=8, group_size=None, block_structure="24:1"), "fp8"),
        (group_of(type="float", num_bits=8, block_structure=[64, 128]), "fp8, block 64 x 128"),
    ],
)
def test_sizes_that_a_quantisation_leaves_open_are_its_methods_own(
    quantization: dict[str, Any], name: str
) -> None:
    assert formats({**DENSE, "quantization_config": quantization})["mlp"] == name
