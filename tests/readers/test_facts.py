"""Context length, dtype, vision tower and defaults of a config class."""

from __future__ import annotations

from typing import Any

import pytest

from kvplan.architecture import Vision
from kvplan.layers import FullAttention
from tests.readers.hf import config, read


@pytest.mark.parametrize(
    ("scaling", "expected"),
    [
        (None, 32_768),
        ({"type": "linear", "factor": 4.0}, 131_072),
        ({"rope_type": "dynamic", "factor": 2.0}, 65_536),
        # transformers takes the config's own length as the original one
        ({"type": "yarn", "factor": 4.0}, 32_768),
        ({"rope_type": "longrope", "factor": 32.0}, 32_768),
        ({"rope_type": "llama3", "factor": 8.0}, 32_768),
        ({"rope_type": "linear", "factor": 4.0, "original_max_position_embeddings": 8192}, 32_768),
    ],
)
def test_rope_scaling_stretches_the_context(scaling: dict[str, Any] | None, expected: int) -> None:
    """As SGLang 0.5.23 derived it for a Llama of 32,768 positions."""
    assert read(config("LlamaForCausalLM", "llama", rope_scaling=scaling)).context_length == expected


@pytest.mark.parametrize(
    ("architecture", "model_type", "expected"),
    [
        # transformers fills the config's own length in as the original one
        ("Qwen3ForCausalLM", "qwen3", 32_768),
        # classes that come with the checkpoint, and SGLang's own, do not: 4 x 32,768
        ("BaichuanForCausalLM", "baichuan", 131_072),
        ("XllmForCausalLM", "xllm", 131_072),
    ],
)
def test_yarn_without_its_length_goes_by_the_class(architecture: str, model_type: str, expected: int) -> None:
    found = read(config(architecture, model_type, rope_scaling={"type": "yarn", "factor": 4.0}))
    assert found.context_length == expected


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"seq_length": 2048}, 2_048),
        ({"model_max_length": 8192}, 8_192),
        ({"max_position_embeddings": "absent"}, 2_048),  # LlamaConfig's own
    ],
)
def test_context_length_goes_by_the_first_key(facts: dict[str, Any], expected: int) -> None:
    assert read(config("LlamaForCausalLM", "llama", **facts)).context_length == expected


def test_a_class_value_stands_before_a_later_key() -> None:
    """Step3p5Config has max_seq_len 128,000, which SGLang reads before max_position_embeddings."""
    facts = {"layer_types": ["full_attention"] * 12, "num_attention_groups": 8}
    assert read(config("Step3p5ForCausalLM", "step3p5", **facts)).context_length == 128_000


@pytest.mark.parametrize(
    ("outer", "vision", "expected"),
    [
        # sizes as the config gives them, else the class's own
        ("llava", {"num_hidden_layers": 4, "hidden_size": 64}, Vision(layers=4, hidden_size=64)),
        ("llava", {"model_type": "clip_vision_model"}, Vision(layers=12, hidden_size=768)),
        ("dots_ocr", {"model_type": "dots_vit"}, Vision(layers=42, hidden_size=1536)),
        # without vision_config: towers that the class builds, and none where it builds none
        ("kimi_k25", None, Vision(layers=27, hidden_size=1152)),
        ("gemma4", None, None),
    ],
)
def test_vision_tower(outer: str, vision: dict[str, Any] | None, expected: Vision | None) -> None:
    found = read(config("Qwen2VLForConditionalGeneration", outer, vision_config=vision)).vision
    assert found == expected


@pytest.mark.parametrize(
    ("outer", "text", "expected"),
    [
        # VoxtralConfig builds its Llama with 8 KV heads of 128, LlamaConfig alone with none
        ("voxtral", {"model_type": "llama"}, (30, FullAttention(kv_heads=8, head_dim=128, v_head_dim=128))),
        (
            "mistral3",
            {"model_type": "mistral", "num_hidden_layers": 3, "head_dim": 64},
            (3, FullAttention(kv_heads=8, head_dim=64, v_head_dim=64)),
        ),
        # SGLang's own class: 61 layers with one group
        (
            "step3_vl",
            {"model_type": "step3_text"},
            (61, FullAttention(kv_heads=1, head_dim=256, v_head_dim=256)),
        ),
    ],
)
def test_sparse_text_configs_take_the_defaults_of_their_class(
    outer: str, text: dict[str, Any], expected: tuple[int, FullAttention]
) -> None:
    whole = {"architectures": ["VoxtralForConditionalGeneration"], "model_type": outer, "text_config": text}
    architecture = read(whole)
    assert (len(architecture.layers), architecture.layers[0]) == expected
    assert architecture.assumed
