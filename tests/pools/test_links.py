"""Each link's cell on published models, at its TP or padding edge, and where it refuses.

Expected figures are SGLang 0.5.23's own (printed by its configurators) unless a row says 0.5.12; the
multiplication stands beside each.
"""

from __future__ import annotations

from typing import Any

import pytest

from kvplan import Deployment, InputError, RefusedError, plan
from kvplan.architecture import Architecture
from kvplan.pools.chain import CHAIN
from tests.models import (
    BY_LINK,
    DEEPSEEK_V3,
    DEEPSEEK_V32,
    GPT_OSS,
    KIMI_LINEAR,
    LLAMA_8B,
    NEMOTRON_NANO,
    QWEN_35,
    V4_FLASH,
    v4_layer,
)

CELLS: list[tuple[str, Architecture, dict[str, Any], float]] = [
    # 8 x (128 + 128) x 32 x 2
    ("MHA", LLAMA_8B, {}, 131_072),
    # 8 KV heads over 8 GPUs, then copied: max(1, 8 // 16) = 1
    ("MHA", LLAMA_8B, {"tp": 8}, 16_384),
    ("MHA", LLAMA_8B, {"tp": 16}, 16_384),
    # attention DP 8 leaves one GPU to a request: all 8 heads
    ("MHA", LLAMA_8B, {"tp": 8, "dp": 8, "enable_dp_attention": True}, 131_072),
    ("MHA", LLAMA_8B, {"kv_cache_dtype": "fp8_e4m3"}, 65_536),
    # 2 x 8 x 32 x (128 / 2 + 128 / 16): nvfp4 on SM100 keeps one layout of scales
    ("MHA", LLAMA_8B, {"kv_cache_dtype": "nvfp4", "gpu": "b200"}, 36_864),
    # 65,536 + 65,536 / 32
    ("MHA", LLAMA_8B, {"kv_cache_dtype": "mxfp8", "gpu": "b200", "attention_backend": "fa4"}, 67_584),
    # 0.5.12: 65,536 / 2 + 8 x 128 x 32 x 2 / 16
    (
        "MHA",
        LLAMA_8B,
        {"kv_cache_dtype": "fp4_e2m1", "attention_backend": "triton", "engine_version": "0.5.12"},
        36_864,
    ),
    # decode context parallelism keeps heads whole within a group: 8 // (8 // 4) = 4 heads
    ("MHA", LLAMA_8B, {"tp": 8, "dcp": 4}, 65_536),
    # (512 + 64) x 61 x 2, the same on every rank
    ("MLA", DEEPSEEK_V3, {}, 70_272),
    ("MLA", DEEPSEEK_V3, {"tp": 8}, 70_272),
    ("MLA", DEEPSEEK_V3, {"kv_cache_dtype": "fp8_e4m3"}, 35_136),
    # EAGLE adds one of 61 layers: 70,272 + int(70,272 / 61)
    ("MLA", DEEPSEEK_V3, {"speculative_algorithm": "EAGLE"}, 71_424),
    # 27 of Kimi-Linear's layers, of which 7 are latent: 576 x 7 x 2
    ("MLA", KIMI_LINEAR, {}, 8_064),
    # 61 x (1,152 + 132)
    ("DSA", DEEPSEEK_V32, {}, 78_324),
    # 61 x (656 + 132): FlashMLA's FP8 rows on Hopper
    ("DSA", DEEPSEEK_V32, {"kv_cache_dtype": "fp8_e4m3"}, 48_068),
    # 61 x (576 + 132): trtllm's rows on SM100
    ("DSA", DEEPSEEK_V32, {"gpu": "b200"}, 43_188),
    # 0.5.12 charges 576 on Hopper too
    ("DSA", DEEPSEEK_V32, {"kv_cache_dtype": "fp8_e4m3", "engine_version": "0.5.12"}, 43_188),
    # 18 x 8 x 128 x 2 + 0.8 x 18 x 8 x 128 x 2
    ("SWA", GPT_OSS, {}, 66_355.2),
    ("SWA", GPT_OSS, {"swa_full_tokens_ratio": 0.25}, 46_080.0),
    # not split: 36 x 8 x 128 x 2
    ("MHA", GPT_OSS, {"disable_hybrid_swa_memory": True}, 73_728),
    # 2 x 512 x 15 x 2, and one of 2 heads on each of 8 GPUs
    ("MAMBA", QWEN_35, {}, 30_720),
    ("MAMBA", QWEN_35, {"tp": 8}, 15_360),
    # 6 attention layers of 52: 2 x 256 x 6 x 2
    ("MAMBA", NEMOTRON_NANO, {}, 6_144),
    # 0.1 x (585 x 43 + 8 / 256 x 10,240 x 21) + 21 x (585 / 4 + 132 / 4) + 20 x 576 / 64 ... padded rows
    ("DSV4", V4_FLASH, {}, 7_086.75),
    ("DSV4", V4_FLASH, {"tp": 8, "kv_cache_dtype": "bfloat16"}, 7_086.75),
    # 0.5.12: seven terms over 44 entries of compress_ratios
    ("DSV4", V4_FLASH, {"engine_version": "0.5.12"}, 15_955.85),
]


@pytest.mark.parametrize(("link", "model", "options", "cell"), CELLS)
def test_cells(link: str, model: Architecture, options: dict[str, Any], cell: float) -> None:
    planned = plan(model, Deployment(**options))
    assert planned.pool.link == link
    assert planned.pool.cell_size == pytest.approx(cell, rel=1e-12)


@pytest.mark.parametrize(("link", "model", "options", "cell"), CELLS)
def test_terms_add_up_to_the_cell(
    link: str, model: Architecture, options: dict[str, Any], cell: float
) -> None:
    terms = plan(model, Deployment(**options)).pool.terms
    assert sum(term.bytes_per_token for term in terms) == pytest.approx(cell, rel=1e-12)
    assert all(term.formula for term in terms)


REFUSALS: list[tuple[str, dict[str, Any], str]] = [
    ("MHA", {"kv_cache_dtype": "mxfp8"}, "needs a Blackwell GPU"),
    ("MHA", {"kv_cache_dtype": "fp4_mx_block16"}, "FP4 KV is not read by the fa3 backend"),
    ("MHA", {"context_length": 200_000}, "above the model's 131072"),
    ("MLA", {"kv_cache_dtype": "fp8_e5m2", "gpu": "b200"}, "trtllm_mla backend takes"),
    ("DSA", {"kv_cache_dtype": "fp8_e5m2"}, "bfloat16 or fp8_e4m3, not fp8_e5m2"),
    ("SWA", {"available_bytes": 10_000_000}, "can't hold one request"),
    ("MAMBA", {"available_bytes": 10_000_000}, "no room for recurrent state"),
    ("DSV4", {"kv_cache_dtype": "fp8_e5m2"}, "is not a KV dtype of"),
    ("DSV4", {"available_bytes": 100_000_000}, "not enough memory"),
]


@pytest.mark.parametrize(("link", "options", "words"), REFUSALS)
def test_refusals_give_the_engines_reason(link: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises(RefusedError, match=words):
        plan(BY_LINK[link], Deployment(**options))


@pytest.mark.parametrize("link", [link.name for link in CHAIN])
def test_every_link_has_a_model_a_tp_edge_and_a_refusal(link: str) -> None:
    rows = [options for name, _, options, _ in CELLS if name == link]
    assert {} in rows
    edge = {"tp", "swa_full_tokens_ratio", "gpu", "engine_version"}
    assert any(edge & set(options) for options in rows)
    assert any(name == link for name, _, _ in REFUSALS)


def test_a_width_that_does_not_divide_is_bad_input() -> None:
    with pytest.raises(InputError, match="neither 32 attention heads nor 4096 hidden dimensions divide by 3"):
        plan(LLAMA_8B, Deployment(tp=3))


def test_a_model_that_pays_for_no_token_is_refused() -> None:
    """V4.1 without layers that own entries: windows by the request cap, so the cell is 0."""
    layers = tuple(v4_layer(2, source=False) for _ in range(4))
    model = Architecture(
        id="m",
        architecture="DeepseekV41ForCausalLM",
        model_type="deepseek_v41",
        layers=layers,
        context_length=1_048_576,
        attention_heads=64,
    )
    with pytest.raises(RefusedError, match="no layer of the model keeps anything of a full token"):
        plan(model, Deployment(available_bytes=60 << 30))
