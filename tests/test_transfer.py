"""Items and bytes of PD transfers; items are what SGLang 0.5.12's own pools list."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kvplan.architecture import Architecture
from kvplan.deployment import Deployment
from kvplan.layers import FullAttention, SlidingAttention
from kvplan.planning import plan
from kvplan.transfer import Transfer, transfer
from tests.models import (
    DEEPSEEK_V3,
    DEEPSEEK_V32,
    GPT_OSS,
    KIMI_LINEAR,
    LLAMA_8B,
    QWEN_35,
    V4_FLASH,
    of_layers,
)

_MIMO_FULL = FullAttention(kv_heads=4, head_dim=192, v_head_dim=128)
_MIMO_WINDOW = SlidingAttention(kv_heads=8, head_dim=192, v_head_dim=128, window=128)
MIMO_V2 = replace(
    of_layers(GPT_OSS, *[_MIMO_FULL] * 9, *[_MIMO_WINDOW] * 39),
    architecture="MiMoV2FlashForCausalLM",
    model_type="mimo_v2_flash",
)


def sent(model: Architecture, version: str = "0.5.12", **options: Any) -> Transfer:
    given = {"gpu": "h200", "available_bytes": 60 << 30, "engine_version": version, "ctx": 1000, **options}
    return transfer(plan(model, Deployment(**given)))


# model, options, KV items (bytes, layers), state items
TABLE: list[tuple[Architecture, dict[str, Any], list[tuple[int, int]], list[tuple[int, int]]]] = [
    # 8 x 128 x 2 for K, and as much for V
    (LLAMA_8B, {"tp": 1}, [(2048, 32), (2048, 32)], []),
    (LLAMA_8B, {"tp": 8, "page_size": 64}, [(16_384, 32), (16_384, 32)], []),
    (LLAMA_8B, {"tp": 8, "kv_cache_dtype": "fp8_e4m3"}, [(128, 32), (128, 32)], []),
    # one latent a layer, as wide at any TP: 576 x 2
    (DEEPSEEK_V3, {"tp": 8}, [(1152, 61)], []),
    (DEEPSEEK_V3, {"tp": 1, "page_size": 64}, [(73_728, 61)], []),
    # pages of 64: 64 x 1,152, and 64 x 132 as state; FP8 rows are 656 wide
    (DEEPSEEK_V32, {"tp": 1}, [(73_728, 61)], [(8448, 61)]),
    (DEEPSEEK_V32, {"tp": 8, "kv_cache_dtype": "fp8_e4m3"}, [(41_984, 61)], [(8448, 61)]),
    # window layers are state: 8 x 64 x 2
    (GPT_OSS, {"tp": 1}, [(1024, 18), (1024, 18)], [(1024, 18), (1024, 18)]),
    # K and V of different widths: 4 x 192 x 2 and 4 x 128 x 2; windows 8 x 192 x 2 and 8 x 128 x 2
    (MIMO_V2, {"tp": 1}, [(1536, 9), (1024, 9)], [(3072, 39), (2048, 39)]),
    # one request's states: 3 x 12,288 x 2 and 64 x 128 x 128 x 4
    (QWEN_35, {"tp": 1}, [(1024, 15), (1024, 15)], [(73_728, 45), (4_194_304, 45)]),
    (KIMI_LINEAR, {"tp": 8}, [(1152, 7)], [(9216, 20), (262_144, 20)]),
    # pages of 256: 64 x 584 padded to 37,440, 64 x 132, 2 x 584 padded to 1,728; the window's 256 x 584
    # padded to 149,760, rings of 8 x 2,048 x 4, 128 x 1,024 x 4 and 8 x 512 x 4
    (
        V4_FLASH,
        {"tp": 1},
        [(37_440, 21), (8448, 21), (1728, 20)],
        [(149_760, 43), (65_536, 21), (524_288, 20), (16_384, 21)],
    ),
]


@pytest.mark.parametrize(("model", "options", "kv", "states"), TABLE, ids=lambda value: str(value)[:30])
def test_the_items_are_those_of_the_engine(
    model: Architecture,
    options: dict[str, Any],
    kv: list[tuple[int, int]],
    states: list[tuple[int, int]],
) -> None:
    items = sent(model, **options).items
    assert sorted((it.item_bytes, it.layers) for it in items if not it.state) == sorted(kv)
    assert sorted((it.item_bytes, it.layers) for it in items if it.state) == sorted(states)


def test_k_and_v_are_apart_and_a_latent_is_one() -> None:
    assert [item.name for item in sent(LLAMA_8B).items] == ["K", "V"]
    assert [item.name for item in sent(DEEPSEEK_V3).items] == ["latent"]


def test_a_prompt_of_heads() -> None:
    # 16 pages of 64: 16 x 2 x 32 x 64 x 2,048
    found = sent(LLAMA_8B, page_size=64)
    assert (found.pages, found.bytes) == (16, 134_217_728)
    # at 10 GB/s
    assert found.seconds(10_000_000_000) == pytest.approx(0.0134217728)


def test_a_window_sends_its_pages_alone() -> None:
    # the engine counts 127: from floor(873 / 16) x 16 = 864 to 1,000: 9 pages
    found = sent(GPT_OSS, page_size=16)
    assert (found.pages, found.window_pages) == (63, 9)


def test_a_state_is_sent_once_whatever_the_prompt() -> None:
    short, long = sent(QWEN_35, ctx=1000), sent(QWEN_35, ctx=2000)
    # 1,000 tokens of 30,720 bytes more
    assert long.bytes - short.bytes == 30_720_000


def test_v4_sends_c128_states_with_the_request_from_0_5_23_on() -> None:
    older = {item.name: item.per for item in sent(V4_FLASH).items}
    newer = {item.name: item.per for item in sent(V4_FLASH, "0.5.23").items}
    assert older["C128 states"] == "page of the window"
    assert newer["C128 states"] == "request"
    assert older["C4 states"] == newer["C4 states"] == "page of the window"


@pytest.mark.parametrize(
    ("ctx", "chunk", "page", "given", "cut"),
    # 1,000 tokens in chunks of 300: 4 full pages of 64 are sent, 44 tokens wait; a prompt below the chunk,
    # or that is not cut at all, is its last one
    [
        (1000, 300, 64, 300, 256),
        (1000, 256, 64, 256, 256),
        (1000, 4096, 64, 1000, 1000),
        (1000, -1, 64, 1000, 1000),
    ],
)
def test_a_chunk_that_is_not_the_last_is_cut_to_full_pages(
    ctx: int, chunk: int, page: int, given: int, cut: int
) -> None:
    found = sent(LLAMA_8B, ctx=ctx, chunked_prefill_size=chunk, page_size=page)
    assert (found.chunk, found.chunk_sent) == (given, cut)


def test_fp4_heads_have_no_items() -> None:
    assert sent(LLAMA_8B, kv_cache_dtype="fp4_e2m1", attention_backend="triton").items == ()
