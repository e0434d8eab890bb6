"""The models that kvplan ships: complete, traceable, and the same as the configs they come from."""

from __future__ import annotations

import json
import re
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from kvplan import Architecture, Deployment, load, plan
from kvplan.catalog import BundledModel, bundled
from kvplan.cli.compare import FLAGSHIPS
from kvplan.export import to_yaml
from kvplan.plain_yaml import parse

MODELS = bundled()

# The models that stand for their designs wherever KV caches are written about, and one or two of each
# family that is served today.
EXPECTED = """
huggyllama/llama-7b meta-llama/Llama-3.1-8B meta-llama/Llama-3.1-70B meta-llama/Llama-3.1-405B
deepseek-ai/DeepSeek-V2 deepseek-ai/DeepSeek-V3 deepseek-ai/DeepSeek-V4-Flash deepseek-ai/DeepSeek-V4-Pro
deepseek-ai/DeepSeek-V4.1-Flash moonshotai/Kimi-K2-Instruct moonshotai/Kimi-K3
moonshotai/Kimi-Linear-48B-A3B-Instruct google/gemma-2-9b-it google/gemma-3-27b-it google/gemma-4-26B-A4B
CohereForAI/c4ai-command-r-v01 XiaomiMiMo/MiMo-V2-Flash Qwen/Qwen2.5-7B-Instruct Qwen/Qwen3-8B
Qwen/Qwen3-Next-80B-A3B-Instruct Qwen/Qwen3.8-2.4T-A95B openai/gpt-oss-20b openai/gpt-oss-120b
meta-llama/Llama-4-Scout-17B-16E-Instruct mistralai/Mistral-7B-Instruct-v0.3 mistralai/Mixtral-8x7B-v0.1
microsoft/phi-4 zai-org/GLM-4.5 zai-org/GLM-5.2 zai-org/GLM-5.3-Flash MiniMaxAI/MiniMax-M2
nvidia/Nemotron-H-56B-Base-8K nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16 LiquidAI/LFM2-1.2B
tiiuae/Falcon-H1-0.5B-Base ibm-granite/granite-3.1-1b-a400m-instruct
""".split()

# Keys of published configs that decide the cache; the rest of these files does not matter to it.
PUBLISHED: dict[str, dict[str, Any]] = {
    "meta-llama/Llama-3.1-8B": {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": 4096,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "max_position_embeddings": 131072,
        "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "original_max_position_embeddings": 8192},
        "torch_dtype": "bfloat16",
    },
    "deepseek-ai/DeepSeek-V3.2": {
        "architectures": ["DeepseekV32ForCausalLM"],
        "model_type": "deepseek_v32",
        "hidden_size": 7168,
        "num_hidden_layers": 61,
        "num_attention_heads": 128,
        "num_key_value_heads": 128,
        "num_nextn_predict_layers": 1,
        "kv_lora_rank": 512,
        "qk_rope_head_dim": 64,
        "qk_nope_head_dim": 128,
        "v_head_dim": 128,
        "index_head_dim": 128,
        "index_n_heads": 64,
        "index_topk": 2048,
        "max_position_embeddings": 163840,
        "rope_scaling": {"type": "yarn", "factor": 40, "original_max_position_embeddings": 4096},
        "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]},
        "torch_dtype": "bfloat16",
    },
    "Qwen/Qwen3.5-397B-A17B": {
        "architectures": ["Qwen3_5MoeForConditionalGeneration"],
        "model_type": "qwen3_5_moe",
        "text_config": {
            "model_type": "qwen3_5_moe_text",
            "hidden_size": 4096,
            "num_hidden_layers": 60,
            "layer_types": (["linear_attention"] * 3 + ["full_attention"]) * 15,
            "num_attention_heads": 32,
            "num_key_value_heads": 2,
            "head_dim": 256,
            "linear_num_key_heads": 16,
            "linear_num_value_heads": 64,
            "linear_key_head_dim": 128,
            "linear_value_head_dim": 128,
            "linear_conv_kernel_dim": 4,
            "mamba_ssm_dtype": "float32",
            "max_position_embeddings": 262144,
            "dtype": "bfloat16",
        },
        "vision_config": {"hidden_size": 1152, "depth": 27},
    },
    "openai/gpt-oss-120b": {
        "architectures": ["GptOssForCausalLM"],
        "model_type": "gpt_oss",
        "hidden_size": 2880,
        "num_hidden_layers": 36,
        "layer_types": ["sliding_attention", "full_attention"] * 18,
        "sliding_window": 128,
        "num_attention_heads": 64,
        "num_key_value_heads": 8,
        "head_dim": 64,
        "max_position_embeddings": 131072,
        "rope_scaling": {"rope_type": "yarn", "factor": 32.0, "original_max_position_embeddings": 4096},
        "quantization_config": {"quant_method": "mxfp4"},
    },
    "google/gemma-2-9b-it": {
        "architectures": ["Gemma2ForCausalLM"],
        "model_type": "gemma2",
        "hidden_size": 3584,
        "num_hidden_layers": 42,
        "num_attention_heads": 16,
        "num_key_value_heads": 8,
        "head_dim": 256,
        "sliding_window": 4096,
        "max_position_embeddings": 8192,
        "torch_dtype": "bfloat16",
    },
    "moonshotai/Kimi-Linear-48B-A3B-Instruct": {
        "architectures": ["KimiLinearForCausalLM"],
        "model_type": "kimi_linear",
        "hidden_size": 2304,
        "num_hidden_layers": 27,
        "num_attention_heads": 32,
        "num_key_value_heads": 32,
        "head_dim": 72,
        "num_nextn_predict_layers": 0,
        "kv_lora_rank": 512,
        "qk_rope_head_dim": 64,
        "qk_nope_head_dim": 128,
        "v_head_dim": 128,
        "linear_attn_config": {
            "full_attn_layers": [4, 8, 12, 16, 20, 24, 27],
            "kda_layers": [n for n in range(1, 28) if n not in (4, 8, 12, 16, 20, 24, 27)],
            "head_dim": 128,
            "num_heads": 32,
            "short_conv_kernel_size": 4,
        },
        "model_max_length": 1048576,
        "dtype": "bfloat16",
    },
}
# What does not come from these keys.
ASIDE = ("source", "weights_bytes", "parameters")


BY_ID = [pytest.param(model, id=model.id) for model in MODELS]


def the_model(model: BundledModel) -> Architecture:
    return load(model.id, source="bundled")


def test_the_models_of_every_family_are_there() -> None:
    ids = {model.id for model in MODELS}
    assert [name for name in (*FLAGSHIPS, *EXPECTED) if name not in ids] == []
    assert len(ids) >= 55


def test_short_names_lead_to_one_model_each() -> None:
    names = [model.name.lower() for model in MODELS]
    assert sorted(set(names)) == sorted(names)


@pytest.mark.parametrize("model", BY_ID)
def test_a_file_names_its_model_and_where_the_figures_come_from(model: BundledModel) -> None:
    text = model.path.read_text(encoding="utf-8")
    data = parse(text, file=model.path.name, problems=[])
    assert text.startswith(f"# {model.id}: ")
    assert data["id"] == model.id
    note = data["source"]["note"]
    if data["source"].get("file") == "config.json":
        assert note.startswith(f"published config.json of {model.id}")
    else:
        assert note.startswith("written by hand")


@pytest.mark.parametrize("model", BY_ID)
def test_a_file_names_no_path_or_address(model: BundledModel) -> None:
    text = model.path.read_text(encoding="utf-8")
    assert re.findall(r"https?:|/(?:home|root|tmp|work|Users)/|\.\./|\\", text) == []


@pytest.mark.parametrize("model", BY_ID)
def test_a_model_loads_under_its_name_and_plans(model: BundledModel) -> None:
    found = load(model.name.lower(), source="bundled")
    assert (found.id, found.source.kind) == (model.id, "bundled")
    assert found.source.location == f"configs/{model.path.name}"
    # MiMo-V2.5's fused projections are laid out for one TP alone.
    made = plan(found, Deployment(tp=found.fused_qkv_tp or 1, available_bytes=200 << 30))
    assert made.capacity.max_total_num_tokens
    assert made.pool.cell_size or made.pool.state_bytes_per_request


@pytest.mark.parametrize("model", BY_ID)
def test_exporting_a_model_again_changes_nothing(model: BundledModel, tmp_path: Path) -> None:
    found = the_model(model)
    path = tmp_path / model.path.name
    path.write_text(to_yaml(found), encoding="utf-8")
    assert replace(load(path), source=found.source) == found


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_model_is_what_its_published_config_says(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name.replace('/', '__')}.json"
    path.write_text(json.dumps(PUBLISHED[name]), encoding="utf-8")
    from_config, from_yaml = load(path), load(name, source="bundled")
    for field in fields(Architecture):
        if field.name not in ASIDE:
            assert getattr(from_yaml, field.name) == getattr(from_config, field.name), field.name


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # metadata.total_size of the checkpoint's index
        ("mistralai/Devstral-Small-2507", 47_144_806_400),
        ("google/medgemma-27b-it", 54_864_813_280),
        ("meta-llama/Llama-3.1-8B", None),
    ],
)
def test_weights_are_told_where_the_checkpoint_is_known(name: str, expected: int | None) -> None:
    assert load(name, source="bundled").weights_bytes == expected


@pytest.mark.parametrize(
    ("name", "assumed"),
    [
        ("meta-llama/Llama-3.1-8B", ()),
        (
            "google/gemma-3-4b-it",
            (
                "head_dim 256: the config leaves it out, default of gemma3_text",
                "num_key_value_heads 4: the config leaves it out, default of gemma3_text",
                "max_position_embeddings 131072: the config leaves it out, default of gemma3_text",
            ),
        ),
        (
            "Qwen/Qwen3-Next-80B-A3B-Instruct",
            ("recurrent state in float32: the config names no mamba_ssm_dtype",),
        ),
    ],
)
def test_what_the_config_leaves_out_is_listed_as_assumed(name: str, assumed: tuple[str, ...]) -> None:
    assert load(name, source="bundled").assumed == assumed
