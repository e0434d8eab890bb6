"""Which layers slide, where the config has a list and where its class decides."""

from __future__ import annotations

from typing import Any

import pytest

from kvplan import InputError
from kvplan.layers import FullAttention, SlidingAttention
from tests.readers.hf import config, placed, read

_S, _F = "sliding_attention", "full_attention"


@pytest.mark.parametrize(
    ("architecture", "model_type", "facts", "expected"),
    [
        # transformers, configuration_gemma2.py: every second layer is full
        ("Gemma2ForCausalLM", "gemma2", {}, "SFSFSFSFSFSF"),
        ("Gemma3ForCausalLM", "gemma3_text", {}, "SSSSSFSSSSSF"),
        # Gemma-3n: every fifth; the last 4 read the K and V of earlier layers
        ("Gemma3nForCausalLM", "gemma3n_text", {"num_kv_shared_layers": 4}, "SSSSFSSSssss"),
        ("GraniteSWAForCausalLM", "granite_swa", {}, "FSSSFSSSFSSS"),
        ("Spark2_5ForCausalLM", "spark2_5", {}, "SSSFSSSFSSSF"),
        # the last layer is full whatever the pattern says
        ("BeamForCausalLM", "beam", {"num_hidden_layers": 8}, "SSSSSFSF"),
        ("Gemma4ForCausalLM", "gemma4_text", {"num_hidden_layers": 8}, "SSSSSFSF"),
        ("Gemma4ForCausalLM", "gemma4_text", {"num_hidden_layers": 2, "layer_types": [_F, _S]}, "FF"),
        # 1 + 4 x blocks + 3; layer_types is not read
        (
            "IQuestQ1ForCausalLM",
            "iquest_q1",
            {"num_hidden_layers": 8, "num_hybrid_layers_block": 1, "layer_types": [_S] * 8},
            "FFSSSFFF",
        ),
        (
            "Qwen2ForCausalLM",
            "qwen2",
            {"use_sliding_window": True, "sliding_window": 64, "max_window_layers": 9},
            "F" * 9 + "SSS",
        ),
        ("Qwen2ForCausalLM", "qwen2", {"use_sliding_window": False, "sliding_window": 64}, "F" * 12),
        ("MistralForCausalLM", "mistral", {"sliding_window": 64}, "S" * 12),
        (
            "Exaone4ForCausalLM",
            "exaone4",
            {"sliding_window": 64, "sliding_window_pattern": "LLG"},
            "SSFSSFSSFSSF",
        ),
        # a config without a window's length has the class's
        ("LagunaForCausalLM", "laguna", {"num_hidden_layers": 2, "layer_types": [_F, _S]}, "FS"),
    ],
)
def test_layers_slide_where_the_class_slides(
    architecture: str, model_type: str, facts: dict[str, Any], expected: str
) -> None:
    assert placed(read(config(architecture, model_type, **facts))) == expected


@pytest.mark.parametrize(
    ("architecture", "model_type", "facts", "words"),
    [
        ("Step3p5ForCausalLM", "step3p5", {"sliding_window": 64}, "layer_types: is missing"),
        (
            "MiMoV2FlashForCausalLM",
            "mimo_v2_flash",
            {"layer_types": [_S] * 12},
            "hybrid_layer_pattern: is missing",
        ),
        (
            "LagunaForCausalLM",
            "laguna",
            {"sliding_window": 64, "layer_types": [_F] * 12},
            "has no sliding layer",
        ),
        (
            "IQuestQ1ForCausalLM",
            "iquest_q1",
            {"num_hybrid_layers_block": 3},
            "gives 16 layer types for 12 layers",
        ),
        ("GptOssForCausalLM", "gpt_oss", {"layer_types": ["linear_attention"] * 12}, "unknown layer type"),
    ],
)
def test_a_class_without_a_schedule_needs_a_list(
    architecture: str, model_type: str, facts: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        read(config(architecture, model_type, **facts))


def test_sliding_heads_of_their_own_are_read_in_any_class() -> None:
    """swa_* keys shape the sliding layers; without swa_v_head_dim the sliding K and V are equally wide."""
    facts = {"layer_types": [_F, *[_S] * 3] * 3, "sliding_window": 64, "swa_num_key_value_heads": 4}
    first, second = read(config("LagunaForCausalLM", "laguna", **facts, swa_head_dim=192)).layers[:2]
    assert first == FullAttention(kv_heads=8, head_dim=128, v_head_dim=128)
    assert second == SlidingAttention(kv_heads=4, head_dim=192, v_head_dim=192, window=64)


def test_gemma_4_takes_its_global_heads_with_equal_keys_and_values_alone() -> None:
    """num_global_key_value_heads counts under attention_k_eq_v; global_head_dim is 512 if it is missing."""
    facts = {"num_global_key_value_heads": 2, "head_dim": 256}
    wide = [
        read(config("Gemma4ForCausalLM", "gemma4_text", **facts, attention_k_eq_v=equal)).layers[5]
        for equal in (True, False)
    ]
    assert wide == [
        FullAttention(kv_heads=2, head_dim=512, v_head_dim=512),
        FullAttention(kv_heads=8, head_dim=512, v_head_dim=512),
    ]
