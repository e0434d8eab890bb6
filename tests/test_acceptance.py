"""Figures that kvplan must give for the models it ships, each with the multiplication that makes it.

Whole model at TP 1 on an H200 with SGLang 0.5.23's rules, where a row says nothing else.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from kvplan import Architecture, Deployment, Plan, load, plan
from kvplan.pools.chain import CHAIN

GIB_100 = 107_374_182_400

LLAMA_7B = "huggyllama/llama-7b"
LLAMA_8B = "meta-llama/Llama-3.1-8B"
V2, V3, V32 = "deepseek-ai/DeepSeek-V2", "deepseek-ai/DeepSeek-V3", "deepseek-ai/DeepSeek-V3.2"
V4_FLASH = "deepseek-ai/DeepSeek-V4-Flash"
GLM_51, GLM_52, GLM_53_FLASH = "zai-org/GLM-5.1", "zai-org/GLM-5.2", "zai-org/GLM-5.3-Flash"
MINIMAX = "MiniMaxAI/MiniMax-M2.7"
QWEN_35 = "Qwen/Qwen3.5-397B-A17B"
KIMI_K26, KIMI_LINEAR = "moonshotai/Kimi-K2.6", "moonshotai/Kimi-Linear-48B-A3B-Instruct"
KIMI_K3 = "moonshotai/Kimi-K3"
GPT_OSS = "openai/gpt-oss-120b"
MIMO = "XiaomiMiMo/MiMo-V2-Flash"
GEMMA_2, GEMMA_3 = "google/gemma-2-9b-it", "google/gemma-3-27b-it"


@cache
def bundled(name: str) -> Architecture:
    return load(name, source="bundled")


def planned(name: str, **options: Any) -> Plan:
    return plan(bundled(name), Deployment(**options))


BYTES_PER_TOKEN: list[tuple[str, dict[str, Any], int]] = [
    # 32 heads x (128 + 128) x 32 layers x 2 bytes
    (LLAMA_7B, {}, 524_288),
    # 8 x (128 + 128) x 32 x 2; one head on each GPU at TP 8, and a copy on each of two at TP 16
    (LLAMA_8B, {}, 131_072),
    (LLAMA_8B, {"tp": 8}, 16_384),
    (LLAMA_8B, {"tp": 16}, 16_384),
    # 8 x 256 x 80 x 2 and 8 x 256 x 126 x 2
    ("meta-llama/Llama-3.1-70B", {}, 327_680),
    ("meta-llama/Llama-3.1-405B", {}, 516_096),
    # (512 + 64) x 60 x 2, and as much on each of 8 GPUs: a latent has no heads to split
    (V2, {}, 69_120),
    (V2, {"tp": 8}, 69_120),
    # 576 x 61 x 2, 576 x 61 x 1
    (V3, {}, 70_272),
    (V3, {"kv_cache_dtype": "fp8_e4m3"}, 35_136),
    # 61 x (576 x 2 + 132)
    (V32, {}, 78_324),
    # 61 x (576 + 132): plain FP8 rows; auto means FP8 there
    (V32, {"kv_cache_dtype": "fp8_e4m3", "gpu": "b200"}, 43_188),
    (V32, {"gpu": "b200"}, 43_188),
    # 78 x 1,284
    (GLM_51, {}, 100_152),
    # 78 x 1,152 + 21 x 132: 57 of 78 layers share the selection of another
    (GLM_52, {}, 92_628),
    # 11 x (512 x 2 + 132 / 4): four tokens share an index key
    (GLM_53_FLASH, {}, 11_627),
    # 8 x 256 x 62 x 2
    (MINIMAX, {}, 253_952),
    # 2 x 512 x 15 x 2; at TP 8 one of the 2 heads is on each GPU
    (QWEN_35, {}, 30_720),
    (QWEN_35, {"tp": 8}, 15_360),
    # 576 x 7 x 2
    (KIMI_LINEAR, {}, 8_064),
    # 576 x 61 x 2
    (KIMI_K26, {}, 70_272),
    # 576 x 24 x 2
    (KIMI_K3, {}, 27_648),
    # 64 x 256 x 40 x 2
    ("CohereForAI/c4ai-command-r-v01", {}, 1_310_720),
]


@pytest.mark.parametrize(("name", "options", "expected"), BYTES_PER_TOKEN)
def test_a_token_costs_what_the_architecture_stores(
    name: str, options: dict[str, Any], expected: int
) -> None:
    made = planned(name, **options)
    assert made.request.bytes_per_token == expected
    assert made.pool.cell_size == expected


CELLS: list[tuple[str, dict[str, Any], float]] = [
    # 8 x (64 + 64) x 2 = 2,048 a layer: 18 x 2,048 + 0.8 x 18 x 2,048
    (GPT_OSS, {}, 66_355.2),
    # 12 x 2,048 + 0.8 x 12 x 2,048
    ("openai/gpt-oss-20b", {}, 44_236.8),
    # 9 x 4 x (192 + 128) x 2 + 0.8 x 39 x 8 x 320 x 2
    (MIMO, {}, 182_784.0),
    # one full and one sliding head on each GPU: 9 x 640 + 0.8 x 39 x 640
    (MIMO, {"tp": 8}, 25_728.0),
    # rows of 584 bytes padded to 585: 0.1 x (43 x 585 + 21 x 8 / 256 x 10,240)
    # + 21 x (585 + 132) / 4 + 20 x 1,728 / 256
    (V4_FLASH, {}, 7_086.75),
    (V4_FLASH, {"tp": 2}, 7_086.75),
    (V4_FLASH, {"tp": 8}, 7_086.75),
    (V4_FLASH, {"kv_cache_dtype": "bfloat16"}, 7_086.75),
    (V4_FLASH, {"kv_cache_dtype": "fp8_e4m3", "tp": 16}, 7_086.75),
    # 61 x (656 + 132): FlashMLA's FP8 rows on Hopper, 512 x 1 + 4 scales x 4 + 64 x 2
    (V32, {"kv_cache_dtype": "fp8_e4m3", "gpu": "h200"}, 48_068),
    # all 36 layers in full: 36 x 2,048
    (GPT_OSS, {"disable_hybrid_swa_memory": True}, 73_728),
    # 42 x 8 x 512 x 2 and 62 x 16 x 256 x 2: sliding layers cost the engine as much as full ones
    (GEMMA_2, {}, 344_064),
    (GEMMA_3, {}, 507_904),
]


@pytest.mark.parametrize(("name", "options", "expected"), CELLS)
def test_a_cell_is_what_the_engine_pays_where_that_differs(
    name: str, options: dict[str, Any], expected: float
) -> None:
    # The engine adds these up in double precision.
    assert planned(name, **options).pool.cell_size == pytest.approx(expected, rel=1e-12)


STATES: list[tuple[str, int, int]] = [
    # 45 x (64 x 128 x 128 x 4 + 3 x (64 x 128 + 2 x 16 x 128) x 2)
    (QWEN_35, 1, 192_061_440),
    # 192,061,440 / 8
    (QWEN_35, 8, 24_007_680),
    # 20 x (32 x 128 x 128 x 4 + 3 x 3 x 32 x 128 x 2)
    (KIMI_LINEAR, 1, 43_417_600),
    # 34 x (64 x 128 x 128 x 4 + 3 x 3 x 64 x 128 x 2)
    (GLM_53_FLASH, 1, 147_619_840),
    (MINIMAX, 1, 0),
]


@pytest.mark.parametrize(("name", "tp", "expected"), STATES)
def test_a_request_costs_its_state_whatever_its_length(name: str, tp: int, expected: int) -> None:
    made = planned(name, tp=tp)
    assert made.pool.state_bytes_per_request == expected
    assert made.request.fixed_bytes == expected


@pytest.mark.parametrize(
    ("name", "tokens", "page"),
    [
        # 107,374,182,400 / 131,072
        (LLAMA_8B, 819_200, 1),
        # 107,374,182,400 // 78,324 = 1,370,897, down to whole pages of 64
        (V32, 1_370_880, 64),
    ],
)
def test_tokens_in_100_gib(name: str, tokens: int, page: int) -> None:
    made = planned(name, available_bytes=GIB_100, gpu="h200", kv_cache_dtype="auto")
    assert (made.capacity.max_total_num_tokens, made.resolved.page_size) == (tokens, page)


@pytest.mark.parametrize(("name", "page"), [(V4_FLASH, 256), (V32, 64), (GLM_53_FLASH, 256), (QWEN_35, 1)])
def test_pages_that_a_family_forces(name: str, page: int) -> None:
    assert planned(name).resolved.page_size == page


def test_five_flagships_at_100k_differ_by_7_8_times() -> None:
    names = (MINIMAX, GLM_51, V32, KIMI_K26, QWEN_35)
    made = [planned(name, ctx=100_000, kv_cache_dtype="bf16").request.bytes_total for name in names]
    assert dict(zip(names, made, strict=True)) == {
        QWEN_35: 3_264_061_440,  # 30,720 x 100,000 + 192,061,440
        KIMI_K26: 7_027_200_000,  # 70,272 x 100,000
        V32: 7_832_400_000,  # 78,324 x 100,000
        GLM_51: 10_015_200_000,  # 100,152 x 100,000
        MINIMAX: 25_395_200_000,  # 253,952 x 100,000
    }
    assert made == sorted(made, reverse=True)
    assert round(made[0] / made[-1], 1) == 7.8


def test_the_chain_is_tried_in_this_order() -> None:
    assert [link.name for link in CHAIN] == ["DSV4", "DSA", "MLA", "SWA", "MAMBA", "MHA"]


WINNERS: list[tuple[str, str]] = [
    (V4_FLASH, "DSV4"),  # not MHA, though its class counts as such
    ("deepseek-ai/DeepSeek-V4.1-Flash", "DSV4"),
    (V32, "DSA"),  # not MLA, though its latents are
    (GLM_51, "DSA"),
    (GLM_53_FLASH, "DSA"),  # not MAMBA, though 34 of its layers are recurrent
    (V3, "MLA"),
    (KIMI_K26, "MLA"),
    (KIMI_LINEAR, "MLA"),  # not MAMBA, though 20 of its layers are recurrent
    (KIMI_K3, "MLA"),
    ("openbmb/MiniCPM3-4B", "MLA"),
    (GPT_OSS, "SWA"),
    (MIMO, "SWA"),
    ("google/gemma-4-26B-A4B", "SWA"),
    ("meta-llama/Llama-4-Scout-17B-16E-Instruct", "SWA"),
    (QWEN_35, "MAMBA"),
    ("Qwen/Qwen3-Next-80B-A3B-Instruct", "MAMBA"),
    ("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", "MAMBA"),
    ("LiquidAI/LFM2-1.2B", "MAMBA"),
    ("tiiuae/Falcon-H1-0.5B-Base", "MAMBA"),
    (GEMMA_2, "MHA"),  # not SWA: the engine does not split its layers
    (GEMMA_3, "MHA"),
    ("allenai/Olmo-3.1-32B-Instruct", "MHA"),
    (MINIMAX, "MHA"),
    ("nvidia/MiniMax-M3-NVFP4", "MHA"),
    (LLAMA_8B, "MHA"),
]


@pytest.mark.parametrize(("name", "winner"), WINNERS)
def test_the_first_link_that_takes_a_model_sizes_it(name: str, winner: str) -> None:
    pool = planned(name).pool
    links = [link.name for link in CHAIN]
    assert pool.link == winner
    # The plan says of each earlier link why it did not match, and of this one why it did.
    assert [verdict.link for verdict in pool.why] == links[: links.index(winner) + 1]
    assert [verdict.matches for verdict in pool.why] == [False] * links.index(winner) + [True]
    assert all(verdict.why for verdict in pool.why)


@pytest.mark.parametrize("name", [KIMI_LINEAR, GLM_53_FLASH, KIMI_K3, QWEN_35])
def test_state_is_reserved_before_tokens_whichever_link_prices_them(name: str) -> None:
    capacity = planned(name, available_bytes=GIB_100).capacity
    assert capacity.state_bytes is not None
    assert capacity.kv_bytes is not None
    assert capacity.state_bytes > 0
    assert 0 <= GIB_100 - capacity.state_bytes - capacity.kv_bytes <= 1  # the engine's float may lose one


@pytest.mark.parametrize(
    ("name", "words"),
    [
        # 21 x 8 x 512 x 2 and 52 x 16 x 256 x 2
        (GEMMA_2, "21 sliding layers (window 4,096) full KV, 172,032 bytes per token"),
        (GEMMA_3, "52 sliding layers (window 1,024) full KV, 425,984 bytes per token"),
    ],
)
def test_windows_that_save_nothing_are_warned_of_with_their_cost(name: str, words: str) -> None:
    assert any(words in warning for warning in planned(name).warnings)
