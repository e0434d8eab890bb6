"""What a version makes of a config that it reads in another way than the model means."""

from __future__ import annotations

from typing import Any

import pytest

from kvplan import Deployment, RefusedError, plan
from tests.readers.hf import config, read

OLD: dict[str, Any] = {"engine_version": "0.5.12", "gpu": "h200"}
QWEN_35_TEXT = config(
    "Qwen3_5MoeForConditionalGeneration",
    "qwen3_5_moe_text",
    full_attention_interval=4,
    linear_num_key_heads=16,
    linear_num_value_heads=32,
    linear_key_head_dim=128,
    linear_value_head_dim=128,
    linear_conv_kernel_dim=4,
)


def cell(model: dict[str, Any], **options: Any) -> float:
    return plan(read(model), Deployment(**options)).pool.cell_size


def test_the_text_part_of_qwen_35_alone_has_no_states_in_0_5_12() -> None:
    """transformers' own class reads it there, which SGLang does not take for a hybrid."""
    # 8 KV heads x (128 + 128) x 2 bytes = 4,096 for each of 12 layers; of 3 where states are known
    assert cell(QWEN_35_TEXT, **OLD) == 12 * 4096
    assert cell(QWEN_35_TEXT, gpu="h200") == 3 * 4096
    assert plan(read(QWEN_35_TEXT), Deployment(**OLD)).pool.state_bytes_per_request == 0


def test_a_value_head_of_no_width_counts_in_0_5_12() -> None:
    """DeepSeek-OCR-2 says v_head_dim 0: later versions take the key's width instead."""
    model = config("LlamaForCausalLM", "llama", v_head_dim=0)
    # 8 heads x (128 + 0) x 2 bytes x 12 layers, and 8 x (128 + 128) x 2 x 12
    assert cell(model, **OLD) == 24576
    assert cell(model, gpu="h200") == 49152
    # FP4: half a byte each, and a scale for 16 elements of K, twice: 8 x 12 x (64 + 16)
    assert cell(model, **OLD, kv_cache_dtype="fp4_e2m1", attention_backend="triton") == 7680


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (config("HunYuanMoEV1ForCausalLM", "hunyuan", v_head_dim=None), "v_head_dim: null"),
        (config("Qwen3ForCausalLM", "qwen3", head_dim=None), "head_dim: null"),
        (
            config("Qwen3ForCausalLM", "qwen3", layer_types=["deepseek_sparse_attention"] * 12),
            "layer_types: deepseek_sparse_attention",
        ),
    ],
)
def test_entries_that_0_5_12_stops_at(model: dict[str, Any], words: str) -> None:
    with pytest.raises(RefusedError, match=rf"0\.5\.12 can't load a config with {words}"):
        plan(read(model), Deployment(**OLD))


def test_null_head_sizes_are_worked_out_by_some_classes_and_by_later_versions() -> None:
    # 8 heads x (128 + 128) x 2 bytes x 12 layers, 128 = 4096 / 32
    assert cell(config("LlamaForCausalLM", "llama", head_dim=None), **OLD) == 49152
    assert cell(config("Qwen3ForCausalLM", "qwen3", head_dim=None), gpu="h200") == 49152


def test_internvl_has_classes_for_some_text_models() -> None:
    text = config("Phi3ForCausalLM", "phi3")
    model = {"architectures": ["InternVLChatModel"], "model_type": "internvl_chat", "llm_config": text}
    for options in ({"gpu": "h200"}, OLD):
        with pytest.raises(RefusedError, match=r"llm_config\.architectures: Phi3ForCausalLM"):
            plan(read(model), Deployment(**options))


@pytest.mark.parametrize(
    ("algo", "gpu", "options", "words"),
    [
        ("NVFP4", "h200", OLD, "loads NVFP4 weights on SM 100 and later"),
        ("FP8", "a100", {}, "loads FP8 weights on SM 89 and later"),
    ],
)
def test_weights_without_kernels(algo: str, gpu: str, options: dict[str, Any], words: str) -> None:
    """layers/quantization/modelopt_quant.py, get_min_capability."""
    scheme = {"quant_method": "modelopt", "quant_algo": algo}
    model = read(config("LlamaForCausalLM", "llama", quantization_config=scheme))
    with pytest.raises(RefusedError, match=words):
        plan(model, Deployment(**{**options, "gpu": gpu}))


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (QWEN_35_TEXT, "does not read this config as a hybrid"),
        (config("LlamaForCausalLM", "llama", v_head_dim=0), "keeps no room for V"),
    ],
)
def test_a_plan_says_what_the_version_misread(model: dict[str, Any], words: str) -> None:
    assert any(words in warning for warning in plan(read(model), Deployment(**OLD)).warnings)
    assert not any(words in warning for warning in plan(read(model), Deployment(gpu="h200")).warnings)


def test_global_heads_of_gemma_4_count_by_themselves_in_0_5_12() -> None:
    """Later versions ask for attention_k_eq_v, as transformers does."""
    text = config(
        "Gemma4ForCausalLM",
        "gemma4_text",
        num_hidden_layers=2,
        head_dim=256,
        global_head_dim=512,
        num_global_key_value_heads=2,
        sliding_window=1024,
        layer_types=["sliding_attention", "full_attention"],
    )
    model = {"architectures": ["Gemma4ForConditionalGeneration"], "model_type": "gemma4", "text_config": text}
    # sliding: 0.8 x 8 x (256 + 256) x 2 = 6,553.6; full: 2 x (512 + 512) x 2 = 4,096, or 8 heads of them
    assert cell(model, **OLD) == pytest.approx(6553.6 + 4096)
    assert cell(model, gpu="h200") == pytest.approx(6553.6 + 16384)


def test_yarn_without_its_length_stops_remote_configs_in_0_5_23() -> None:
    model = config("BaichuanForCausalLM", "baichuan", rope_scaling={"type": "yarn", "factor": 4.0})
    with pytest.raises(RefusedError, match=r"rope_scaling: yarn without original_max_position_embeddings"):
        plan(read(model), Deployment(gpu="h200"))
    assert plan(read(model), Deployment(**OLD)).resolved.context_length == 131_072
