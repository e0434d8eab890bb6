"""Page size, backend and KV dtype that the engine chooses; each row as SGLang 0.5.23 resolved it."""

from __future__ import annotations

from typing import Any

import pytest

from kvplan import Deployment, InputError, plan
from kvplan.architecture import Architecture, Quantization
from tests.models import DEEPSEEK_V3, DEEPSEEK_V32, GPT_OSS, LLAMA_8B, QWEN_35, V4_FLASH, of_layers


@pytest.mark.parametrize(
    ("model", "options", "page", "backend"),
    [
        (LLAMA_8B, {}, 1, "fa3"),
        (LLAMA_8B, {"page_size": 16}, 16, "fa3"),
        (LLAMA_8B, {"gpu": "b200"}, 64, "trtllm_mha"),
        (LLAMA_8B, {"gpu": "b200", "page_size": 128}, 128, "trtllm_mha"),
        (LLAMA_8B, {"gpu": "b200", "page_size": 128, "engine_version": "0.5.12"}, 64, "trtllm_mha"),
        (LLAMA_8B, {"gpu": "a100"}, 1, "flashinfer"),
        (LLAMA_8B, {"gpu": "b200", "attention_backend": "fa4"}, 128, "fa4"),
        (LLAMA_8B, {"kv_cache_dtype": "fp8_e5m2"}, 1, "triton"),
        (DEEPSEEK_V3, {}, 1, "fa3"),
        (DEEPSEEK_V3, {"gpu": "b200"}, 64, "trtllm_mla"),
        (DEEPSEEK_V3, {"attention_backend": "flashmla"}, 64, "flashmla"),
        (DEEPSEEK_V32, {"page_size": 16}, 64, "dsa"),
        (GPT_OSS, {"gpu": "l40s"}, 1, "triton"),
        (QWEN_35, {"gpu": "b200"}, 1, "triton"),
        (QWEN_35, {"gpu": "b200", "disable_radix_cache": True}, 64, "trtllm_mha"),
        (V4_FLASH, {"page_size": 64}, 256, "dsv4"),
    ],
)
def test_page_and_backend(model: Architecture, options: dict[str, Any], page: int, backend: str) -> None:
    resolved = plan(model, Deployment(**options)).resolved
    assert (resolved.page_size, resolved.attention_backend) == (page, backend)


def variant(model: Architecture, **facts: Any) -> Architecture:
    base = {name: getattr(model, name) for name in ("id", "architecture", "layers", "attention_heads")}
    return Architecture(**{**base, "hidden_size": model.hidden_size, **facts})


@pytest.mark.parametrize(
    ("model", "options", "dtype"),
    [
        (LLAMA_8B, {}, "bfloat16"),
        (variant(LLAMA_8B), {}, "float16"),
        (variant(LLAMA_8B, dtype="float32"), {}, "float16"),
        (variant(LLAMA_8B, dtype="float32", model_type="gemma2"), {}, "bfloat16"),
        (
            variant(LLAMA_8B, quantization=Quantization(method="modelopt", kv_cache_algo="FP8")),
            {},
            "float8_e4m3fn",
        ),
        (
            variant(
                LLAMA_8B,
                dtype="bfloat16",
                quantization=Quantization(method="modelopt", kv_cache_algo="NVFP4"),
            ),
            {},
            "bfloat16",
        ),
        # compressed-tensors is honoured since 0.5.23
        (
            variant(LLAMA_8B, quantization=Quantization(method="compressed-tensors", kv_cache_algo="FP8")),
            {},
            "float8_e4m3fn",
        ),
        (
            variant(
                LLAMA_8B,
                dtype="bfloat16",
                quantization=Quantization(method="compressed-tensors", kv_cache_algo="FP8"),
            ),
            {"engine_version": "0.5.12"},
            "bfloat16",
        ),
        (DEEPSEEK_V32, {}, "bfloat16"),
        (DEEPSEEK_V32, {"gpu": "b200"}, "float8_e4m3fn"),
        (V4_FLASH, {}, "float8_e4m3fn"),
        (V4_FLASH, {"kv_cache_dtype": "bfloat16"}, "bfloat16"),
        (LLAMA_8B, {"kv_cache_dtype": "fp8_e5m2"}, "float8_e5m2"),
    ],
)
def test_kv_dtype(model: Architecture, options: dict[str, Any], dtype: str) -> None:
    assert plan(model, Deployment(**options)).resolved.kv_cache_dtype == dtype


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kv_cache_dtype": "fp8"}, "no KV dtype 'fp8' .did you mean"),
        ({"kv_cache_dtype": "nvfp4", "engine_version": "0.5.12"}, "SGLang 0.5.12 has no KV dtype 'nvfp4'"),
        ({"kv_cache_dtype": "fp4_e2m1"}, "SGLang 0.5.23 has no KV dtype 'fp4_e2m1'"),
        (
            {"engine_version": "0.6.0"},
            "no rules for SGLang '0.6.0' .known: each release from 0.5.12 to 0.5.23",
        ),
        ({"gpu": "h300"}, "unknown GPU 'h300'"),
    ],
)
def test_unknown_names_are_bad_input(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        plan(LLAMA_8B, Deployment(**options))


@pytest.mark.parametrize(
    ("options", "slots", "requests"),
    [
        # 60 GiB at TP 8: 1,270 slots, 5 per request under the overlap scheduler
        ({}, 1270, 254),
        ({"disable_radix_cache": True}, 1270, 1270),
        ({"max_mamba_cache_size": 200}, 200, 40),
        ({"disable_radix_cache": True, "max_running_requests": 64}, 64, 64),
        # 45 x (4,608 x 2 + 131,072 x 2) = 12,211,200 a slot; 64,424,509,440 x 0.9 / 1.9 / that, less one
        ({"mamba_ssm_dtype": "bfloat16"}, 2498, 499),
    ],
)
def test_state_slots_and_requests(options: dict[str, Any], slots: int, requests: int) -> None:
    capacity = plan(QWEN_35, Deployment(tp=8, available_bytes=60 << 30, **options)).capacity
    assert (capacity.max_mamba_cache_size, capacity.max_running_requests) == (slots, requests)


def test_an_unknown_class_is_planned_on_request_only_and_says_so() -> None:
    stranger = of_layers(LLAMA_8B, *LLAMA_8B.layers)
    stranger = variant(stranger, architecture="SomebodysForCausalLM")
    planned = plan(stranger, Deployment(assume_supported=True))
    assert planned.pool.cell_size == 131_072
    assert any("SomebodysForCausalLM" in line for line in planned.assumed)


@pytest.mark.parametrize(
    ("model", "options", "words"),
    [
        # check_server_args: 1000 is no multiple of 64; attention DP leaves 1024 / 8 = 128 for a page of 256
        (
            LLAMA_8B,
            {"chunked_prefill_size": 1000, "page_size": 64},
            "page of 64 (--chunked-prefill-size 1024)",
        ),
        (
            V4_FLASH,
            {"tp": 8, "dp": 8, "enable_dp_attention": True, "chunked_prefill_size": 1024},
            "page of 256 (--chunked-prefill-size 2048)",
        ),
    ],
)
def test_a_chunk_of_uneven_pages_is_warned_of(
    model: Architecture, options: dict[str, Any], words: str
) -> None:
    assert any(words in warning for warning in plan(model, Deployment(**options)).warnings)
    whole = plan(model, Deployment(**{**options, "chunked_prefill_size": 2048}))
    assert not any("prefill chunk" in warning for warning in whole.warnings)
