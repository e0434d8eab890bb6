"""Pools of KV heads in formats whose tensors differ from K and V."""

from __future__ import annotations

from typing import Any

import pytest

from kvplan import Deployment, plan
from kvplan.architecture import Architecture
from kvplan.layers import FullAttention
from tests.models import GPT_OSS, LLAMA_8B, NEMOTRON_NANO, of_layers

SMALL: dict[str, Any] = {
    "available_bytes": 100 << 30,
    "max_total_tokens": 2048,
    "max_running_requests": 4,
    "max_mamba_cache_size": 8,
}
UNEVEN = of_layers(LLAMA_8B, *(FullAttention(kv_heads=2, head_dim=192, v_head_dim=128),) * 4)


@pytest.mark.parametrize(
    ("model", "options", "expected"),
    [
        # sliding pools and pools beside states keep a byte for each FP4 value
        (
            GPT_OSS,
            {"kv_cache_dtype": "fp4_e2m1", "attention_backend": "triton", "engine_version": "0.5.12"},
            [("full_kv_pool.k_buffer", (2049, 8, 64), "float4_e2m1fn_x2", 18, 18_883_584)],
        ),
        # V takes the width of K: 2 x 192 / 16 scales
        (
            UNEVEN,
            {"kv_cache_dtype": "fp4_e2m1", "attention_backend": "triton", "engine_version": "0.5.12"},
            [
                ("v_buffer", (2049, 2, 96), "uint8", 4, 1_573_632),
                ("v_scale_buffer", (2049, 24), "uint8", 4, 196_704),
            ],
        ),
        # 2049 x 2 x (128 + 128) x 6 layers, not packed, while half of it is charged
        (
            NEMOTRON_NANO,
            {
                "kv_cache_dtype": "fp4_e2m1",
                "attention_backend": "trtllm_mha",
                "engine_version": "0.5.12",
                "gpu": "b200",
                "disable_radix_cache": True,
            },
            [("full_kv_pool.k_buffer", (2112, 2, 128), "float4_e2m1fn_x2", 6, 3_244_032)],
        ),
        # pages of 128: scales in tiles of 32 x 4
        (
            LLAMA_8B,
            {"kv_cache_dtype": "mxfp8", "attention_backend": "fa4", "gpu": "b200"},
            [
                ("k_buffer", (2176, 8, 128), "float8_e4m3fn", 32, 71_303_168),
                ("k_scale_buffer", (17, 8, 32, 4, 4), "float8_e8m0fnu", 32, 2_228_224),
            ],
        ),
    ],
)
def test_a_format_has_its_own_tensors(
    model: Architecture,
    options: dict[str, Any],
    expected: list[tuple[str, tuple[int, ...], str, int, int]],
) -> None:
    found = plan(model, Deployment(**{"gpu": "h200", **SMALL, **options})).buffers
    rows = [(one.name, one.shape, one.dtype, one.count, one.bytes) for one in found]
    assert set(expected) <= set(rows)


def test_fp4_beside_states_is_charged_half_of_what_is_allocated_in_0_5_12() -> None:
    made = plan(
        NEMOTRON_NANO,
        Deployment(
            **SMALL,
            gpu="b200",
            kv_cache_dtype="fp4_e2m1",
            attention_backend="trtllm_mha",
            disable_radix_cache=True,
            engine_version="0.5.12",
        ),
    )
    kv = made.pools[1]
    # 2 x 2 heads x 6 layers x 128 x (1/2 + 1/16) = 1,728 a token
    assert (kv.name, kv.charged_bytes) == ("KV", 1_728 * 2_048)
    # 2,112 rows x 2 x 2 x 128 x 6
    assert kv.allocated_bytes == 6_488_064


@pytest.mark.parametrize(
    ("heads", "head_dim", "options", "cell"),
    [
        # 12 layers; values of K and V take heads x head_dim / 2 x 2 bytes each layer, 8 x 40 x 12 = 3,840
        # nvfp4: 40 // 16 = 2 scales a head, 8 x 2 x 2 x 12 = 384
        (8, 40, {"kv_cache_dtype": "nvfp4", "gpu": "b200"}, 3840 + 384),
        # fp4_mx_block16: 8 x 40 // 16 = 20 scales a row, 20 x 2 x 12 = 480
        (8, 40, {"kv_cache_dtype": "fp4_mx_block16", "gpu": "b200"}, 3840 + 480),
        # 0.5.12 divides once: 24 x 12 = 288 bytes, and 24 x 2 x 12 // 16 = 36 scales
        (1, 24, {"kv_cache_dtype": "fp4_e2m1", "engine_version": "0.5.12"}, 288 + 36),
        (1, 24, {"kv_cache_dtype": "fp4_mx_block16"}, 288 + 24),
    ],
)
def test_scales_of_widths_that_are_no_multiple_of_16(
    heads: int, head_dim: int, options: dict[str, Any], cell: int
) -> None:
    """compute_cell_size of fp4_kv_cache_quant_method.py (0.5.23), _compute_cell_size (0.5.12)."""
    layer = FullAttention(kv_heads=heads, head_dim=head_dim, v_head_dim=head_dim)
    backend: dict[str, Any] = {} if options["kv_cache_dtype"] == "nvfp4" else {"attention_backend": "triton"}
    made = plan(of_layers(LLAMA_8B, *(layer,) * 12), Deployment(**options, **backend))
    assert made.pool.cell_size == cell
