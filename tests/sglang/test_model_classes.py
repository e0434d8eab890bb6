"""Rules that go by a model's class; each figure as SGLang 0.5.23 computed it for a config like this."""

from __future__ import annotations

from typing import Any

import pytest

from kvplan import Deployment, RefusedError, plan
from tests.readers.hf import config, read

GIB = 1 << 30
_S, _F = "sliding_attention", "full_attention"
_GPT_OSS = config("GptOssForCausalLM", "gpt_oss", sliding_window=128, layer_types=[_F] * 12)
_DECI = config(
    "DeciLMForCausalLM",
    "nemotron-nas",
    num_hidden_layers=2,
    block_configs=[{"attention": {"n_heads_in_group": group}} for group in (8, 16)],
)
_GEMMA_TEXT = config("Gemma4ForCausalLM", "gemma4_text", global_head_dim=512)
_ERNIE_VL = config("Ernie4_5_VLMoeForConditionalGeneration", "ernie4_5_moe_vl", vision_config={})
_IQUEST = config("IQuestQ1ForCausalLM", "iquest_q1", num_hidden_layers=8, num_hybrid_layers_block=1)
_MLA = {"kv_lora_rank": 512, "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "v_head_dim": 128}
_HY_V4 = config("HYV4ForCausalLM", "hy_v4", **_MLA, index_topk=2048, index_head_dim=128)
_NO_MAMBA = {"layer_types": ["attention"] * 12, "mamba_n_heads": 128, "mamba_d_head": 64}
_DP: dict[str, Any] = {"tp": 8, "dp": 8, "enable_dp_attention": True}


@pytest.mark.parametrize(
    ("model", "options", "words"),
    [
        (_GPT_OSS, {}, "this model has no sliding layer"),
        (_DECI, {}, "takes one number of KV heads, and its layers have 2 or 4"),
        (_GEMMA_TEXT, {}, "head dimensions 128, 512: the text config alone can't be loaded"),
        (_ERNIE_VL, _DP, "does not support DP attention"),
        (_IQUEST, {"pp": 2}, "does not support pipeline parallelism"),
        (_IQUEST, {"speculative_algorithm": "EAGLE"}, "drafts with a checkpoint of its own"),
        (_HY_V4, {"tp": 8, "dcp": 2}, "does not support decode context parallelism"),
        (_HY_V4, {"kv_cache_dtype": "fp8_e4m3"}, "learned attention sinks of sparse MLA need bfloat16 KV"),
    ],
)
def test_what_a_class_does_not_do(model: dict[str, Any], options: dict[str, Any], words: str) -> None:
    with pytest.raises(RefusedError, match=words):
        plan(read(model), Deployment(**options))


def test_windows_that_a_schedule_leaves_out_make_a_plain_pool() -> None:
    """Beam without sliding layers is sized as MHA; gpt-oss is refused unless the split is off."""
    beam = read(config("BeamForCausalLM", "beam", layer_types=[_F] * 12))
    assert plan(beam, Deployment()).pool.link == "MHA"
    assert plan(read(_GPT_OSS), Deployment(disable_hybrid_swa_memory=True)).pool.link == "MHA"


@pytest.mark.parametrize(
    ("architecture", "model_type", "facts", "options", "cell"),
    [
        # 12 layers x 2 loops, multiplied by the loops again: 48 x 8 x 256 x 2
        ("NanbeigeForCausalLM", "nanbeige", {"num_loops": 2}, {}, 196_608),
        # a stage of 6 layers x 2 loops: 12 x 8 x 256 x 2
        ("NanbeigeForCausalLM", "nanbeige", {"num_loops": 2}, {"pp": 2}, 49_152),
        # 8 KV heads over attention TP 8, 6 layers of 12 x 0.8: 512 x (6 + 0.8 x 6)
        ("Spark2_5ForCausalLM", "spark2_5", {"layer_types": [_S, _F] * 6}, {"tp": 8}, 5_529.6),
        # without num_nextn_predict_layers all 12 layers are taken for draft layers: 2 x 12 x 576 x 2
        ("Glm4MoeLiteForCausalLM", "glm4_moe_lite", _MLA, {"speculative_algorithm": "EAGLE"}, 27_648),
        # Granite-4 without Mamba layers follows the general choice of B200, pages of 64: 12 x 8 x 256 x 2
        ("GraniteMoeHybridForCausalLM", "granitemoehybrid", _NO_MAMBA, {"gpu": "b200"}, 49_152),
    ],
)
def test_cells(
    architecture: str, model_type: str, facts: dict[str, Any], options: dict[str, Any], cell: float
) -> None:
    made = plan(read(config(architecture, model_type, **facts)), Deployment(**options))
    assert made.pool.cell_size == pytest.approx(cell, rel=1e-12)


def test_states_of_pure_mamba_are_split_over_all_of_tp() -> None:
    """Falcon-Mamba under DP attention: 64 layers x (8192 / 8) x (3 x 2 + 16 x 4) = 4,587,520 bytes."""
    facts = {"num_hidden_layers": 64, "intermediate_size": 8192, "state_size": 16, "conv_kernel": 4}
    model = read(config("FalconMambaForCausalLM", "falcon_mamba", **facts))
    assert plan(model, Deployment(**_DP)).pool.state_bytes_per_request == 4_587_520


def test_fraction_of_ling_keeps_prefill_graphs() -> None:
    """1536 MiB of an H200, as for other MLA models: KDA is told by linear_attn_config, which Ling-3 lacks."""
    facts = {"short_conv_kernel_size": 4, "layer_group_size": 4}
    model = read(config("BailingMoeV3ForCausalLM", "bailing_hybrid", **_MLA, **facts))
    assert plan(model, Deployment()).resolved.mem_fraction_static == 0.896


def test_qwen3_vl_on_hopper_keeps_image_features_of_1_gib() -> None:
    """H200 with 139.1 GiB before and 98.4 GiB after loading; other GPUs keep 100 MiB of embeddings."""
    text = {"model_type": "qwen3_vl_text", "num_hidden_layers": 36, "hidden_size": 4096}
    heads = {"num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128, "dtype": "bfloat16"}
    model = read(
        {
            "architectures": ["Qwen3VLForConditionalGeneration"],
            "model_type": "qwen3_vl",
            "text_config": text | heads,
            "vision_config": {"depth": 27, "hidden_size": 1152},
        }
    )
    memory: dict[str, Any] = {"pre_model_load_gib": 139.1, "free_gib": 98.4, "mem_fraction_static": 0.9}
    kept = []
    for gpu, reserve_mib in (("h200", 1024), ("b200", 100)):
        capacity = plan(model, Deployment(gpu=gpu, **memory)).capacity
        kept.append((98.4 - 139.1 * (1 - 0.9) - reserve_mib / 1024) * GIB - (capacity.kv_bytes or 0))
    assert all(abs(rest) <= 1 for rest in kept)
