"""--prefill-only-disable-kv-cache: where the engine takes it, and what it demands beside it."""

from __future__ import annotations

from typing import Any

import pytest

from kvplan import Deployment, RefusedError, plan
from kvplan.architecture import Architecture
from tests.models import DEEPSEEK_V3, DEEPSEEK_V32, GPT_OSS, LLAMA_8B, QWEN_35, V4_FLASH

FLAG = "--prefill-only-disable-kv-cache"


@pytest.mark.parametrize(
    ("model", "options", "words"),
    [
        (DEEPSEEK_V3, {}, "latent rows (MLA)"),
        (DEEPSEEK_V32, {}, "latent rows (MLA)"),
        (GPT_OSS, {}, "sliding-window pools"),
        (QWEN_35, {}, "recurrent state"),
        (V4_FLASH, {}, "DeepSeek-V4 pools"),
        (LLAMA_8B, {"chunked_prefill_size": 8192}, "not chunks of 8192 tokens"),
        (LLAMA_8B, {"attention_backend": "flashinfer"}, "not flashinfer"),
        (LLAMA_8B, {"gpu": "b200"}, "not trtllm_mha"),
        (LLAMA_8B, {"gpu": "b200", "kv_cache_dtype": "nvfp4"}, "nvfp4 KV"),
        (LLAMA_8B, {"gpu": "b200", "kv_cache_dtype": "mxfp8", "attention_backend": "fa4"}, "mxfp8 KV"),
        (
            LLAMA_8B,
            {"kv_cache_dtype": "fp4_e2m1", "attention_backend": "triton", "engine_version": "0.5.12"},
            "fp4_e2m1 KV",
        ),
    ],
)
def test_only_plain_kv_heads_and_flash_attention_do_without_a_pool(
    model: Architecture, options: dict[str, Any], words: str
) -> None:
    asked = Deployment(**{"gpu": "h200", "prefill_only_disable_kv_cache": True, **options})
    with pytest.raises(RefusedError) as refusal:
        plan(model, asked)
    assert FLAG in str(refusal.value)
    assert words in str(refusal.value)


@pytest.mark.parametrize(
    ("options", "implied"),
    [
        ({}, "--is-embedding, --chunked-prefill-size -1, --disable-radix-cache"),
        ({"disable_radix_cache": True}, "--is-embedding, --chunked-prefill-size -1"),
        ({"disable_radix_cache": True, "chunked_prefill_size": -1}, "--is-embedding"),
    ],
)
def test_what_the_server_needs_beside_it_is_named_as_assumed(options: dict[str, Any], implied: str) -> None:
    asked = Deployment(gpu="h200", available_bytes=10 << 30, prefill_only_disable_kv_cache=True, **options)
    made = plan(LLAMA_8B, asked)
    assert made.assumed == (f"{implied}: SGLang demands it with {FLAG}",)
    assert made.resolved.chunked_prefill_size == -1


def test_whole_prompts_take_more_of_the_memory_fraction() -> None:
    """--max-prefill-tokens (16,384) counts in place of the chunk; both figures are SGLang's own."""
    cut, whole = (
        plan(LLAMA_8B, Deployment(gpu="h100", chunked_prefill_size=size)).resolved.mem_fraction_static
        for size in (8192, -1)
    )
    assert (cut, whole) == (0.83, 0.685)
