"""The buffers of whole plans, compared with those that SGLang's own code built.

The rows are what its pool classes allocated (on a CPU) for the published config under these options:
2,048 to 16,384 tokens, 4 requests. One row per tensor shape: (shape, dtype, how many).
"""

from __future__ import annotations

from typing import Any

import pytest

from kvplan import Deployment, plan
from kvplan.architecture import Architecture
from kvplan.layers import FullAttention, IndexedAttention, LatentAttention, SlidingAttention
from tests.models import (
    DEEPSEEK_V3,
    DEEPSEEK_V32,
    GPT_OSS,
    KIMI_LINEAR,
    LLAMA_8B,
    NEMOTRON_NANO,
    QWEN_35,
    V4_FLASH,
    of_layers,
    v4_layer,
)

Row = tuple[tuple[int, ...], str, int]

BUDGET: dict[str, Any] = {"available_bytes": 400 << 30, "max_running_requests": 4}
SMALL: dict[str, Any] = {
    **BUDGET,
    "context_length": 512,
    "max_total_tokens": 2048,
    "max_mamba_cache_size": 8,
    "gpu": "h200",
}
OLD: dict[str, Any] = {**SMALL, "engine_version": "0.5.12"}
NEW: dict[str, Any] = {**BUDGET, "context_length": 4096, "max_total_tokens": 8192, "gpu": "h200"}
DRAFTS: dict[str, Any] = {
    **BUDGET,
    "gpu": "h200",
    "tp": 8,
    "max_total_tokens": 16_384,
    "max_mamba_cache_size": 40,
    "speculative_algorithm": "EAGLE",
    "speculative_num_steps": 3,
    "speculative_eagle_topk": 1,
    "speculative_num_draft_tokens": 4,
}
MIMO = of_layers(
    Architecture(
        id="XiaomiMiMo/MiMo-V2-Flash",
        architecture="MiMoV2FlashForCausalLM",
        layers=(),
        context_length=262_144,
        dtype="bfloat16",
        attention_heads=64,
    ),
    *(FullAttention(kv_heads=4, head_dim=192, v_head_dim=128),) * 9,
    *(SlidingAttention(kv_heads=8, head_dim=192, v_head_dim=128, window=128),) * 39,
)
MINIMAX_M3 = of_layers(
    Architecture(
        id="MiniMaxAI/MiniMax-M3",
        architecture="MiniMaxM3SparseForConditionalGeneration",
        layers=(),
        context_length=1_048_576,
        dtype="bfloat16",
        attention_heads=64,
    ),
    *(FullAttention(kv_heads=4, head_dim=128, v_head_dim=128),) * 3,
    *(IndexedAttention(kv_heads=4, head_dim=128, v_head_dim=128, index_dim=128),) * 57,
)
# 40 layers; of ratio 1 one source, of ratio 2 three, the others read theirs.
V41 = Architecture(
    id="deepseek-ai/DeepSeek-V4.1-Flash",
    architecture="DeepseekV41ForCausalLM",
    model_type="deepseek_v41",
    layers=(
        *(v4_layer(1), *(v4_layer(1, source=False),) * 9),
        *(*(v4_layer(2),) * 3, *(v4_layer(2, source=False),) * 27),
    ),
    context_length=1_048_576,
    dtype="bfloat16",
    attention_heads=64,
)

BUILT: list[tuple[str, Architecture, dict[str, Any], list[Row]]] = [
    # rows = 2048 tokens + a page of 1
    ("K and V", LLAMA_8B, OLD, [((2049, 8, 128), "bfloat16", 64)]),
    ("a page of 64", LLAMA_8B, {**OLD, "tp": 8, "page_size": 64}, [((2112, 1, 128), "bfloat16", 64)]),
    (
        "FP8 kept as bytes",
        LLAMA_8B,
        {**OLD, "tp": 8, "kv_cache_dtype": "fp8_e4m3"},
        [((2049, 1, 128), "uint8", 64)],
    ),
    # two values in a byte, and 8 x 128 / 16 scales
    (
        "FP4",
        LLAMA_8B,
        {**OLD, "kv_cache_dtype": "fp4_e2m1", "attention_backend": "triton"},
        [((2049, 8, 64), "uint8", 64), ((2049, 64), "uint8", 64)],
    ),
    ("a latent", DEEPSEEK_V3, {**OLD, "tp": 8}, [((2049, 1, 576), "bfloat16", 61)]),
    # FlashMLA's rows are 656 bytes; 33 pages of 64 x 132 bytes of index keys
    (
        "DSA in FP8",
        DEEPSEEK_V32,
        {**OLD, "tp": 8, "kv_cache_dtype": "fp8_e4m3"},
        [((2112, 1, 656), "uint8", 61), ((33, 8448), "uint8", 61)],
    ),
    # 2048 x 0.8 = 1638 sliding slots
    ("two pools", GPT_OSS, OLD, [((1639, 8, 64), "bfloat16", 36), ((2049, 8, 64), "bfloat16", 36)]),
    (
        "MiMo's own widths",
        MIMO,
        {**OLD, "tp": 4},
        [
            ((1639, 2, 192), "bfloat16", 39),
            ((1639, 2, 128), "bfloat16", 39),
            ((2049, 1, 192), "bfloat16", 9),
            ((2049, 1, 128), "bfloat16", 9),
        ],
    ),
    # 8 slots and one of padding
    (
        "Mamba-2 states",
        NEMOTRON_NANO,
        OLD,
        [
            ((23, 9, 6144, 3), "bfloat16", 1),
            ((23, 9, 64, 64, 128), "float32", 1),
            ((2049, 2, 128), "bfloat16", 12),
        ],
    ),
    (
        "KDA states",
        KIMI_LINEAR,
        {**OLD, "tp": 8},
        [
            ((20, 9, 3, 1536), "bfloat16", 1),
            ((20, 9, 4, 128, 128), "float32", 1),
            ((2049, 1, 576), "bfloat16", 7),
        ],
    ),
    # 43 window layers (44 are charged); C128 pages are padded from 1168 to 1728 bytes
    (
        "V4 in 0.5.12",
        V4_FLASH,
        OLD,
        [
            ((1, 149_760), "uint8", 43),
            ((9, 37_440), "uint8", 21),
            ((9, 1_728), "uint8", 20),
            ((9, 8_448), "uint8", 21),
            ((12, 2_048), "float32", 21),
            ((256, 1_024), "float32", 20),
            ((12, 512), "float32", 21),
        ],
    ),
    # 8192 x 0.1 = 768 window slots; every pool has room for 256 full tokens more; 5 rings of 128 for C128
    (
        "V4 in 0.5.23",
        V4_FLASH,
        NEW,
        [
            ((4, 149_760), "uint8", 43),
            ((36, 37_440), "uint8", 21),
            ((160, 1_728), "uint8", 20),
            ((36, 8_448), "uint8", 21),
            ((36, 2_048), "float32", 21),
            ((896, 1_024), "float32", 20),
            ((36, 512), "float32", 21),
        ],
    ),
    # ratios 1 and 2: V4 rows off SM100's own kernel, FP4 index keys by pages of 128
    (
        "V4.1 on SM100 with TP",
        V41,
        {**BUDGET, "gpu": "b200", "tp": 4, "max_total_tokens": 16_384},
        [
            ((166, 149_760), "uint8", 40),
            ((65, 149_760), "uint8", 1),
            ((66, 74_880), "uint8", 3),
            ((131, 8_704), "uint8", 1),
            ((66, 8_704), "uint8", 3),
            ((14, 1_024), "float32", 3),
        ],
    ),
    (
        "V4.1's own rows",
        V41,
        {**BUDGET, "gpu": "b200", "max_total_tokens": 16_384},
        [
            ((166, 135_168), "uint8", 40),
            ((65, 73_728), "uint8", 1),
            ((66, 36_864), "uint8", 3),
            ((131, 8_704), "uint8", 1),
            ((66, 8_704), "uint8", 3),
            ((14, 1_024), "float32", 3),
        ],
    ),
    # HiSparse keeps index keys for twice the slots
    (
        "DSA with HiSparse",
        DEEPSEEK_V32,
        {**NEW, "tp": 8, "enable_hisparse": True, "disable_radix_cache": True},
        [((8256, 1, 576), "bfloat16", 61), ((257, 8448), "uint8", 61)],
    ),
    (
        "DSA over 2 DCP ranks",
        DEEPSEEK_V32,
        {**NEW, "gpu": "b200", "tp": 8, "dcp": 2},
        [((8256, 1, 576), "uint8", 61), ((258, 8448), "uint8", 61)],
    ),
    ("a block index", MINIMAX_M3, {**NEW, "tp": 8}, [((8320, 1, 128), "bfloat16", 177)]),
    # dense layers and the index span the slots of the host: 3 x 2 + 57 tensors
    (
        "a block index with HiSparse",
        MINIMAX_M3,
        {**NEW, "tp": 8, "enable_hisparse": True, "disable_radix_cache": True},
        [((8320, 1, 128), "bfloat16", 114), ((16_512, 1, 128), "bfloat16", 63)],
    ),
    # decode's own order of scales; a FlashInfer prefill adds another and an FP8 copy of one layer
    (
        "nvfp4",
        LLAMA_8B,
        {**NEW, "gpu": "b200", "tp": 2, "kv_cache_dtype": "nvfp4"},
        [((8256, 4, 64), "uint8", 64), ((129, 4, 64, 8), "uint8", 64)],
    ),
    (
        "nvfp4 with FlashInfer",
        LLAMA_8B,
        {**NEW, "gpu": "b200", "tp": 2, "kv_cache_dtype": "nvfp4", "attention_backend": "flashinfer"},
        [
            ((8256, 4, 64), "uint8", 64),
            ((8256, 4, 8), "uint8", 64),
            ((129, 4, 64, 8), "uint8", 64),
            ((8256, 4, 128), "float8_e4m3fn", 2),
        ],
    ),
    # a convolution window for each of 4 drafts overlaps the next: 4 + 3 - 1 = 6 inputs
    (
        "delta net with drafts",
        QWEN_35,
        DRAFTS,
        [
            ((45, 41, 1536, 3), "bfloat16", 1),
            ((45, 41, 8, 128, 128), "float32", 1),
            ((45, 5, 4, 8, 128, 128), "float32", 1),
            ((45, 5, 1536, 6), "bfloat16", 1),
            ((16_385, 1, 256), "bfloat16", 30),
        ],
    ),
    (
        "KDA with drafts",
        KIMI_LINEAR,
        DRAFTS,
        [
            ((20, 41, 3, 1536), "bfloat16", 1),
            ((20, 41, 4, 128, 128), "float32", 1),
            ((20, 5, 4, 4, 128, 128), "float32", 1),
            ((20, 5, 4, 3, 1536), "bfloat16", 1),
            ((16_385, 1, 576), "bfloat16", 7),
        ],
    ),
    (
        "embedding server",
        LLAMA_8B,
        {**NEW, "tp": 2, "prefill_only_disable_kv_cache": True},
        [((1, 4, 128), "bfloat16", 64)],
    ),
]


@pytest.mark.parametrize(("_what", "model", "options", "expected"), BUILT, ids=[row[0] for row in BUILT])
def test_a_plan_has_the_tensors_that_the_engine_builds(
    _what: str, model: Architecture, options: dict[str, Any], expected: list[Row]
) -> None:
    counts: dict[tuple[tuple[int, ...], str], int] = {}
    for buffer in plan(model, Deployment(**options)).buffers:
        key = (buffer.shape, buffer.dtype)
        counts[key] = counts.get(key, 0) + buffer.count
    assert sorted((shape, dtype, count) for (shape, dtype), count in counts.items()) == sorted(expected)


@pytest.mark.parametrize(
    ("model", "options", "shape"),
    [
        # 4 requests and a padding row; 512 columns and 4 more
        (LLAMA_8B, OLD, (5, 516)),
        (LLAMA_8B, NEW, (5, 4_100)),
        # 4 draft tokens more
        (DEEPSEEK_V3, DRAFTS, (5, 163_848)),
        # pages of 64: two allocations of 4 tokens outstanding and the rest of a page, 8 + 63
        (DEEPSEEK_V32, DRAFTS, (5, 163_911)),
        (DEEPSEEK_V32, {**DRAFTS, "engine_version": "0.5.12"}, (5, 163_848)),
    ],
)
def test_the_request_table_is_beside_the_charged_buffers(
    model: Architecture, options: dict[str, Any], shape: tuple[int, int]
) -> None:
    made = plan(model, Deployment(**options))
    (table,) = made.uncharged_buffers
    assert (table.name, table.shape, table.dtype, table.bytes) == (
        "req_to_token",
        shape,
        "int32",
        shape[0] * shape[1] * 4,
    )
    assert "req_to_token" not in {buffer.name for buffer in made.buffers}


def test_pooled_index_keys_have_a_tail_for_each_request() -> None:
    """GLM-5.3: 4 tokens share a key; 4 requests, a padding row and one for invalid requests."""
    pooled = LatentAttention(
        kv_lora_rank=512, qk_rope_head_dim=0, index_head_dim=128, index_topk=2048, index_kpool=4
    )
    model = of_layers(DEEPSEEK_V32, *(pooled,) * 11)
    made = plan(model, Deployment(**{**NEW, "max_total_tokens": 16_384}))
    assert [(buffer.name, buffer.shape, buffer.count) for buffer in made.buffers] == [
        ("kv_buffer", (16_640, 1, 512), 11),
        ("index_k_with_scale_buffer", (65, 8448), 11),
        ("_compress_tail_k", (6, 4, 128), 11),
        ("_compress_tail_score", (6, 4, 128), 11),
    ]


def test_a_draft_worker_has_buffers_of_its_own() -> None:
    """One MTP layer of DeepSeek-V3: as many rows as the target's."""
    new, old = (
        plan(DEEPSEEK_V3, Deployment(**DRAFTS, engine_version=version)) for version in ("0.5.23", "0.5.12")
    )
    for made in (new, old):
        (draft,) = made.draft_buffers
        assert (draft.shape, draft.dtype, draft.count) == ((16_385, 1, 576), "bfloat16", 1)
    # 0.5.23 charges a 61st of the target's row for it, 0.5.12 nothing
    assert [pool.charged_bytes for pool in new.pools] == [70_272 * 16_384, 1_152 * 16_384]
    assert [pool.charged_bytes for pool in old.pools] == [70_272 * 16_384, 0]


def test_without_a_budget_there_is_nothing_to_lay_out() -> None:
    made = plan(LLAMA_8B, Deployment(gpu="h200"))
    assert (made.pools, made.buffers, made.uncharged_buffers) == ((), (), ())


def test_a_pipeline_stage_lays_out_its_own_layers() -> None:
    """32 layers over 2 stages."""
    made = plan(LLAMA_8B, Deployment(**OLD, tp=4, pp=2))
    assert [(buffer.shape, buffer.count) for buffer in made.buffers] == [((2049, 2, 128), 16)] * 2
