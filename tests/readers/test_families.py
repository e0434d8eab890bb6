"""Model classes: which reader they get, what it makes of their layers, and which are refused by name."""

from __future__ import annotations

from typing import Any

import pytest

from kvplan import InputError
from kvplan.layers import GatedDeltaNet, LatentAttention, LightningAttention
from tests.readers.hf import GDN, MAMBA, config, placed, read

_MLA = {"kv_lora_rank": 512, "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "v_head_dim": 128}


@pytest.mark.parametrize(
    ("architecture", "model_type", "facts", "expected"),
    [
        ("Qwen3NextForCausalLM", "qwen3_next", {**GDN, "full_attention_interval": 4}, "RRRF" * 3),
        (
            "GigaChat35ForCausalLM",
            "gigachat3_5",
            {**GDN, **_MLA, "full_attention_layers": [0, 11]},
            "LRRRRRRRRRRL",
        ),
        ("MiniCPMSALAForCausalLM", "minicpm_sala", {"mixer_types": ["lightning", "attn"]}, "RF" * 6),
        ("MiniCPMSALAForCausalLM", "minicpm_sala", {}, "F" * 12),
        ("BailingMoeLinearV2ForCausalLM", "bailing_moe_linear", {"layer_group_size": 6}, "RRRRRF" * 2),
        (
            "NemotronHPuzzleForCausalLM",
            "nemotron_h_puzzle",
            {**MAMBA, "hybrid_override_pattern": "MEM*" * 3},
            "R-RF" * 3,
        ),
        ("Lfm2ForCausalLM", "lfm2", {"conv_L_cache": 3, "full_attn_idxs": [2, 5]}, "RRFRRFRRRRRR"),
        ("LongcatFlashNgramForCausalLM", "longcat_flash", {**_MLA, "num_layers": 6}, "L" * 12),
        ("K2HorizonForCausalLM", "k2_horizon", {}, "F" * 12),
    ],
)
def test_layers_of_a_family(architecture: str, model_type: str, facts: dict[str, Any], expected: str) -> None:
    assert placed(read(config(architecture, model_type, **facts))) == expected


def test_gigachat_mixes_latents_and_delta_nets() -> None:
    """GigaChat-3.5: MLA on `attention` layers, the delta net of Qwen3-Next on the others."""
    layers = ["linear_attention", "linear_attention", "attention"] * 4
    read_layers = read(
        config("GigaChat35ForCausalLM", "gigachat3_5", **GDN, **_MLA, layer_types=layers)
    ).layers
    assert read_layers[0] == GatedDeltaNet(
        k_heads=16, v_heads=32, k_head_dim=128, v_head_dim=128, conv_kernel=4
    )
    assert isinstance(read_layers[2], LatentAttention)
    assert read_layers[2].latent_dim == 512 + 64


def test_lightning_heads_of_minicpm_sala_are_its_own() -> None:
    """lightning_nkv and lightning_head_dim, not the KV heads of its attention layers."""
    facts = {"mixer_types": ["lightning"], "lightning_nkv": 32, "lightning_head_dim": 64}
    assert read(config("MiniCPMSALAForCausalLM", "minicpm_sala", **facts)).layers[0] == LightningAttention(
        heads=32, head_dim=64
    )


@pytest.mark.parametrize(
    ("architecture", "model_type", "facts", "words"),
    [
        (
            "ZayaForCausalLM",
            "zaya",
            {},
            "ZayaForCausalLM is not planned: convolution states inside attention",
        ),
        ("Dots3NoteForCausalLM", "dots3_note", {}, "not planned: windows over latents"),
        ("DeepseekV3ForCausalLMNextN", "deepseek_v3", {}, "is a draft model"),
        ("LlamaForCausalLMEagle3", "llama", {}, "is a draft model"),
        ("FooForCausalLM", "foo", {}, "unknown model class 'FooForCausalLM'"),
        ("T5ForConditionalGeneration", "t5", {}, "is an encoder-decoder"),
        # keys of other cache designs in a class of plain attention
        ("LlamaForCausalLM", "llama", {"kv_lora_rank": 512}, "kv_lora_rank: .* plain attention"),
        ("Qwen3ForCausalLM", "qwen3", {"mixer_types": ["lightning"]}, "mixer_types: .* plain attention"),
        (
            "LlamaForCausalLM",
            "llama",
            {"full_attention_interval": 4},
            "full_attention_interval: .* plain attention",
        ),
        ("LlamaForCausalLM", "llama", {"loop_num": 2}, "loop_num: .* looped stack"),
        (
            "Qwen3ForCausalLM",
            "qwen3",
            {"layer_types": ["linear_attention"] * 12, "sliding_window": 4},
            "unknown layer type",
        ),
        # values that the engine needs and no class fills in
        (
            "Mamba2ForCausalLM",
            "mamba2",
            {"state_size": 128, "num_heads": 64},
            "intermediate_size: is missing",
        ),
        (
            "NemotronHForCausalLM",
            "nemotron_h",
            {**MAMBA, "n_groups": "absent", "mamba_n_groups": 8},
            "n_groups: is missing",
        ),
        ("Lfm2ForCausalLM", "lfm2", {"layer_types": ["full_attention"] * 12}, "has no conv layer"),
        ("Qwen3NextForCausalLM", "qwen3_next", GDN, "full_attention_interval: is missing"),
        (
            "Qwen3NextForCausalLM",
            "qwen3_next",
            {**GDN, "full_attention_interval": 4, "layer_types": ["full_attention"] * 12},
            "every 4th place",
        ),
        ("MiniCPMSALAForCausalLM", "minicpm_sala", {"sparse_config": {"block_size": 64}}, "sparse_config"),
        (
            "NemotronHPuzzleForCausalLM",
            "nemotron_h_puzzle",
            {**MAMBA, "hybrid_override_pattern": "M*" * 6, "block_configs": [{"num_key_value_heads": 2}]},
            "differs from that of the whole model",
        ),
    ],
)
def test_what_can_not_be_read_is_refused_by_name(
    architecture: str, model_type: str, facts: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        read(config(architecture, model_type, **facts))


def test_index_layers_of_hy_v4_where_the_config_lists_none() -> None:
    """Layer 0 and every fourth from layer 1 have an indexer of their own: 0, 1, 5, 9 of 12."""
    layers = read(config("HYV4ForCausalLM", "hy_v4", **_MLA, index_topk=2048, index_head_dim=128)).layers
    own = [
        i for i, layer in enumerate(layers) if isinstance(layer, LatentAttention) and not layer.index_shared
    ]
    assert own == [0, 1, 5, 9]
