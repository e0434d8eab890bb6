"""What the sizing charges for each pool, beside what is allocated for it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvplan import Deployment, DoesNotFitError, plan
from kvplan.architecture import Architecture
from kvplan.records import Plan
from tests.models import BY_LINK, DEEPSEEK_V32, GPT_OSS, LLAMA_8B, QWEN_35, V4_FLASH

BUDGET = 60 << 30


def figures(made: Plan) -> list[tuple[str, int, int, int, int]]:
    return [
        (pool.name, pool.layers, pool.tokens, pool.charged_bytes, pool.allocated_bytes) for pool in made.pools
    ]


@pytest.mark.parametrize(
    ("model", "options", "expected"),
    [
        # 64,424,509,440 / 131,072 = 491,520 tokens; one row of 131,072 bytes more is allocated
        (LLAMA_8B, {}, [("KV", 32, 491_520, 64_424_509_440, 64_424_640_512)]),
        # 0.5.12 charges 61 x 576 + 61 x 132 = 43,188 and allocates rows of 656:
        # 61 x (1,491,712 + 64) x 656 and 61 x 23,309 x 8,448
        (
            DEEPSEEK_V32,
            {"tp": 8, "kv_cache_dtype": "fp8_e4m3", "engine_version": "0.5.12"},
            [
                ("KV", 61, 1_491_712, 52_412_792_832, 59_694_908_416),
                ("index keys", 61, 1_491_712, 12_011_265_024, 12_011_780_352),
            ],
        ),
        # 36,864 a token of either kind; 970,903 x 0.8 x 36,864 charged for 776,722 slots
        (
            GPT_OSS,
            {},
            [
                ("full layers", 18, 970_903, 35_791_368_192, 35_791_405_056),
                ("sliding layers", 18, 776_722, 28_633_094_554, 28_633_116_672),
            ],
        ),
        # 1,270 slots of 24,007,680 and the padding slot that 0.5.23 charges too
        (
            QWEN_35,
            {"tp": 8},
            [
                ("state", 45, 1_270, 30_513_761_280, 30_513_761_280),
                ("KV", 15, 2_207_731, 33_910_748_160, 33_910_763_520),
            ],
        ),
    ],
)
def test_each_pool_has_both_figures(
    model: Architecture, options: dict[str, Any], expected: list[tuple[str, int, int, int, int]]
) -> None:
    made = plan(model, Deployment(available_bytes=BUDGET, gpu="h200", **options))
    assert figures(made) == expected


def test_the_padding_slot_of_states_is_not_charged_in_0_5_12() -> None:
    made = plan(QWEN_35, Deployment(available_bytes=BUDGET, gpu="h200", tp=8, engine_version="0.5.12"))
    state = made.pools[0]
    assert state.name == "state"
    assert state.allocated_bytes - state.charged_bytes == 24_007_680


def test_v4_has_a_pool_for_everything_that_it_keeps() -> None:
    new, old = (
        plan(V4_FLASH, Deployment(available_bytes=BUDGET, gpu="h200", engine_version=version))
        for version in ("0.5.23", "0.5.12")
    )
    names = [
        "window",
        "C4",
        "C4 index keys",
        "C4 states",
        "C4 index states",
        "C128",
        "C128 states",
    ]
    assert [pool.name for pool in new.pools] == [pool.name for pool in old.pools] == names
    charged, allocated = ({pool.name: pool for pool in made.pools}["C128"] for made in (old, new))
    # 1/128 x 584 B x 20 layers for 4,037,632 tokens; pages of 2 rows are padded from 1,168 to 1,728 bytes
    assert charged.charged_bytes == 368_433_920
    assert charged.allocated_bytes == (31_544 + 3) // 2 * 1_728 * 20
    assert allocated.charged_bytes == 8_707_584 // 128 * 864 * 20


@pytest.mark.parametrize("version", ["0.5.23", "0.5.12"])
@pytest.mark.parametrize("link", BY_LINK)
@given(budget=st.integers(min_value=4 << 30, max_value=200 << 30))
def test_pools_are_charged_what_the_sizing_takes(link: str, version: str, budget: int) -> None:
    """All of the budget, less than one page of tokens, a state slot and the rounding of bytes."""
    model = BY_LINK[link]
    try:
        made = plan(model, Deployment(available_bytes=budget, gpu="h200", tp=8, engine_version=version))
    except DoesNotFitError:
        return
    charged = sum(pool.charged_bytes for pool in made.pools)
    page = made.pool.cell_size * made.resolved.page_size
    assert budget - page - made.pool.state_bytes_per_request - 100 < charged <= budget + 10


@pytest.mark.parametrize(
    ("model", "options", "words"),
    [
        (LLAMA_8B, {}, ""),
        (GPT_OSS, {}, ""),
        (QWEN_35, {"tp": 8, "engine_version": "0.5.12"}, ""),
        (
            DEEPSEEK_V32,
            {"tp": 8, "kv_cache_dtype": "fp8_e4m3", "engine_version": "0.5.12"},
            "SGLang allocates 71,706,688,768 bytes per GPU for its pools where the sizing charges "
            "64,424,057,856 (+11.3%), most of it for KV: keep 7,282,630,912 bytes more free",
        ),
        (DEEPSEEK_V32, {"tp": 8, "kv_cache_dtype": "fp8_e4m3"}, ""),
    ],
)
def test_more_than_a_percent_over_what_is_charged_is_a_warning(
    model: Architecture, options: dict[str, Any], words: str
) -> None:
    made = plan(model, Deployment(available_bytes=BUDGET, gpu="h200", **options))
    said = [warning for warning in made.warnings if warning.startswith("SGLang allocates")]
    assert said == ([words] if words else [])


def test_the_plan_as_json_has_all_three_lists() -> None:
    record = plan(LLAMA_8B, Deployment(available_bytes=BUDGET, gpu="h200")).to_dict()
    assert record["pools"][0]["allocated_bytes"] == 64_424_640_512
    assert record["buffers"][0] == {
        "name": "k_buffer",
        "shape": [491_521, 8, 128],
        "dtype": "bfloat16",
        "count": 32,
        "bytes": 32_212_320_256,
    }
    assert record["draft_buffers"] == []
    assert [buffer["name"] for buffer in record["uncharged_buffers"]] == ["req_to_token"]
