"""Kernels of sparse MLA: the bytes that a token takes with each, and pairs that the engine does not take.

Cells are those that SGLang 0.5.23 computed for DeepSeek-V3.2 at TP 8: 61 layers of a row and an index key
of 132 B; a row is 576 B (plain FP8), 656 B (FP8 with scales and RoPE in bfloat16) or 1,152 B (bfloat16).
"""

from __future__ import annotations

import pytest

from kvplan import Deployment, InputError, RefusedError, load, plan

V3_2 = load("deepseek-ai/DeepSeek-V3.2", source="bundled")


@pytest.mark.parametrize(
    ("gpu", "dtype", "prefill", "decode", "cell"),
    [
        ("h200", "fp8_e4m3", None, None, 48_068),  # 61 x (656 + 132)
        ("h200", "fp8_e4m3", "trtllm", "trtllm", 43_188),  # 61 x (576 + 132)
        ("h200", "fp8_e4m3", "fa3", "trtllm", 43_188),
        ("h200", "fp8_e4m3", "tilelang", "tilelang", 43_188),
        ("b200", "fp8_e4m3", None, None, 43_188),
        ("b200", "fp8_e4m3", "flashmla_kv", "flashmla_kv", 48_068),
        ("b200", "fp8_e4m3", None, "flashmla_kv", 43_188),  # prefill is trtllm still
        ("b200", "bfloat16", "flashmla_kv", "flashmla_kv", 78_324),  # 61 x (1,152 + 132)
    ],
)
def test_fp8_rows_go_by_both_kernels(
    gpu: str, dtype: str, prefill: str | None, decode: str | None, cell: int
) -> None:
    asked = Deployment(
        tp=8, gpu=gpu, kv_cache_dtype=dtype, dsa_prefill_backend=prefill, dsa_decode_backend=decode
    )
    assert plan(V3_2, asked).pool.cell_size == cell


def test_the_plan_names_the_kernels_that_were_chosen() -> None:
    resolved = plan(V3_2, Deployment(tp=8, gpu="h200")).resolved
    assert (resolved.dsa_prefill_backend, resolved.dsa_decode_backend) == ("flashmla_sparse", "fa3")
    dense = plan(load("meta-llama/Llama-3.1-8B", source="bundled"), Deployment()).resolved
    assert (dense.dsa_prefill_backend, dense.dsa_decode_backend) == (None, None)


def test_pairs_with_different_layouts_are_refused() -> None:
    mixed = Deployment(tp=8, gpu="h200", kv_cache_dtype="fp8_e4m3", dsa_decode_backend="tilelang")
    with pytest.raises(RefusedError, match="FP8 latents of tilelang and of another kernel have different"):
        plan(V3_2, mixed)
    swapped = Deployment(
        tp=8, gpu="h200", enable_hisparse=True, disable_radix_cache=True, dsa_decode_backend="fa3"
    )
    with pytest.raises(RefusedError, match="HiSparse with bfloat16 KV runs on flashmla_sparse, not fa3"):
        plan(V3_2, swapped)


def test_an_unknown_kernel_is_bad_input() -> None:
    with pytest.raises(InputError, match="no kernel of sparse MLA on CUDA is called 'trtlm'"):
        plan(V3_2, Deployment(tp=8, dsa_decode_backend="trtlm"))
