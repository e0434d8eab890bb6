"""GPUs side by side, the catalogue and the lines of a budget, as literal screens."""

from __future__ import annotations

import dataclasses

import pytest

from kvplan.choices import Advice, Choice
from kvplan.hardware import GPUS
from kvplan.memory import Bound, Budget
from kvplan.render import choices, gpus, size, table
from kvplan.render.budget import requests_range, token_range, tokens_range
from tests import samples

ROW = Choice(
    gpu="h200",
    gpus=8,
    tp=8,
    dp=2,
    pp=1,
    ep=1,
    enable_dp_attention=True,
    kv_cache_dtype="float8_e4m3fn",
    memory_total_bytes=1_206_038_560_768,
    weights_bytes=86_247_384_448,
    weights_bytes_total=689_335_556_160,
    weights_source="estimate",
    kv_pool_bytes=45_894_384_680,
    state_pool_bytes=0,
    tokens=954_752,
    tokens_low=818_752,
    tokens_high=1_018_496,
    requests=18,
    requests_low=16,
    requests_high=20,
    limited_by="KV tokens",
    headroom=0.125,
    tight=False,
    command="python -m sglang.launch_server --model-path some/model --tp 8",
)
FIT = """\
meta-llama/Llama-3.1-8B
16 requests of 100,000 tokens at once: 3 settings that fit; the 2 cheapest
SGLang 0.5.23; weights and KV per GPU, tokens per rank, requests in all

                        weights    KV
GPUs      layout   KV       GiB   GiB          tokens  requests    headroom
8 x h200  TP8 DP2  fp8     80.3  42.7  0.82M to 1.02M  16 to 20        +12%
8 x h200  TP8 DP2  fp8     80.3  42.7  0.82M to 1.02M  15 to 20  +12% tight

1.  python -m sglang.launch_server --model-path some/model --tp 8
2.  python -m sglang.launch_server --model-path some/model --tp 8

estimated:  free memory, and each GPU's share of the weights (estimated from the
            config, 689.34 GB in all)
tight:      the careful end of a tight setting does not hold all requests
"""
BUDGET = Budget(
    gpu="h200",
    gpus=8,
    memory_bytes=150_754_820_096,
    overhead_bytes=1_610_612_736,
    free_before_bytes=149_144_207_360,
    weights_bytes=86_247_384_448,
    weights_bytes_total=689_335_556_160,
    weights_source="estimate",
    free_after_bytes=62_896_822_912,
    mem_fraction_static=0.886,
    slack_bytes=17_002_439_639,
    multimodal_reserve_bytes=0,
    available_bytes=45_894_383_273,
    kv_pool_bytes=45_894_384_680,
    estimated=("free_before_bytes", "weights_bytes", "free_after_bytes", "available_bytes"),
    low=Bound(
        free_before_bytes=148_607_336_448,
        weights_bytes=92_284_701_359,
        available_bytes=39_381_398_734,
        max_total_num_tokens=1_980_000,
        requests_at_context=5,
    ),
    high=Bound(
        free_before_bytes=149_681_078_272,
        weights_bytes=83_659_962_914,
        available_bytes=48_957_472_435,
        max_total_num_tokens=2_070_000,
        requests_at_context=6,
    ),
)
MEMORY = """\
memory per GPU, 8 x H200
                              bytes     GiB
memory of one H200  150,754,820,096  140.40
- driver, context     1,610,612,736    1.50  estimate: 1.00 to 2.00 GiB
free before load    149,144,207,360  138.90
- weights            86,247,384,448   80.32  77.91 to 85.95 GiB, estimated from
                                             the config, 689.34 GB in all
free after load      62,896,822,912   58.58
- kept free          17,002,439,639   15.83  1 - 0.886 of free before load
for state and KV     45,894,383,273   42.74  36.68 to 45.60 GiB
"""


def test_the_table_of_fit_names_each_setting_and_how_to_start_it() -> None:
    rows = (ROW, dataclasses.replace(ROW, requests_low=15, tight=True))
    plan = dataclasses.replace(samples.llama(), assumed=("GPU h200: none is given",), warnings=())
    assert table.render(choices.fit_report(rows, plan=plan, total=3, wanted=16)) == FIT


def test_an_estimated_budget_is_shown_line_by_line_with_both_ends() -> None:
    plan = dataclasses.replace(samples.llama(), budget=BUDGET)
    plan = dataclasses.replace(plan, capacity=dataclasses.replace(plan.capacity, requests_at_context=5))
    screen = table.render(size.report(plan))
    assert MEMORY in screen
    assert "estimate     1.98M to 2.07M tokens\n" in screen
    assert "RESULT       5 requests of 100,000 tokens at once (5 to 6); bound by KV tokens\n" in screen
    assert "not modelled:  activations, CUDA graphs, host memory (HiCache, PD)\n" in screen


def test_what_does_not_fit_says_so_and_what_to_try() -> None:
    advice = (
        Advice(flag="--tp 16", why="41.09 GiB of weights on each GPU", requests=2, tokens=279_808),
        Advice(flag="--gpu h200", why="140.40 GiB on each GPU", requests=0, tokens=1),
    )
    plan = dataclasses.replace(
        samples.llama(), budget=dataclasses.replace(BUDGET, shortfall_bytes=19_203_136_846), advice=advice
    )
    assert (
        "RESULT  does not fit: 19,203,136,846 bytes per GPU are missing\n"
        "try     --tp 16     41.09 GiB of weights on each GPU: 2 requests\n"
        "try     --gpu h200  140.40 GiB on each GPU: 1 token\n"
    ) in table.render(size.report(plan))


def test_a_number_of_requests_without_a_context_is_answered_with_the_longest() -> None:
    plan = samples.llama(concurrency=64)
    capacity = dataclasses.replace(plan.capacity, context_at_concurrency=5_644)
    plan = dataclasses.replace(plan, capacity=capacity)
    assert "RESULT       64 requests at once of up to 5,644 tokens each\n" in table.render(size.report(plan))
    assert BUDGET.low is not None
    assert BUDGET.high is not None
    low = dataclasses.replace(BUDGET.low, context_at_concurrency=5_400)
    high = dataclasses.replace(BUDGET.high, context_at_concurrency=5_700)
    plan = dataclasses.replace(plan, budget=dataclasses.replace(BUDGET, low=low, high=high))
    assert "of up to 5,644 tokens each (5,400 to 5,700)\n" in table.render(size.report(plan))
    none = dataclasses.replace(capacity, context_at_concurrency=0, max_running_requests=32)
    plan = dataclasses.replace(plan, capacity=none)
    told = "64 requests at once fit at no context; max_running_requests is 32\n"
    assert told in table.render(size.report(plan))


def test_common_gpus_are_one_row_each_and_those_too_small_are_named() -> None:
    plan = dataclasses.replace(samples.v4_flash(), common_gpus=(ROW,))
    screen = table.render(size.report(plan))
    assert "on common GPUs, the fewest that hold one request of 100,000 tokens; per GPU\n" in screen
    assert "8 x h200  TP8 DP2  fp8     80.3  42.7  0.82M to 1.02M  16 to 20\n" in screen
    assert "too small  8 of l40s, a100, h100, b200, b300, rtx6000pro\n" in screen


def test_the_catalogue_has_a_row_a_gpu_and_its_sources_in_json() -> None:
    screen = table.render(gpus.report(tuple(GPUS.values())))
    assert "h200           H200             143,771  140.4  Hopper, SM 9.0      4,800\n" in screen
    assert "mi300x         MI300X           196,592  192.0  AMD, ROCm           5,300\n" in screen
    assert "unverified:  the memory of gb300, gb10, not seen on a device: --gpu-memory SIZE\n" in screen
    assert max(map(len, screen.splitlines())) <= 80
    record = gpus.records([GPUS["h200"]])[0]
    assert (record["memory_mib"], record["source"]) == (143_771, "NVIDIA H200 data sheet")


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (1_980_000, 2_074_999, "1.98M to 2.07M"),
        (6_309, 60_123, "6,309 to 60,123"),
        (0, 1_234_567, "0 to 1,234,567"),
        (99_999, 100_001, "99,999 to 100,001"),
        (100_000, 104_000, "0.100M to 0.104M"),
        (2_000_000, 2_000_100, "2.0000M to 2.0001M"),
        (2_000_000, 2_000_001, "2,000,000 to 2,000,001"),
        (893_020, 893_020, "893,020"),
    ],
)
def test_both_ends_of_a_range_have_one_unit_and_differ(low: int, high: int, text: str) -> None:
    assert token_range(low, high) == text


def test_exact_budgets_have_no_ranges() -> None:
    exact = dataclasses.replace(BUDGET, low=None, high=None, estimated=())
    assert tokens_range(exact) == ""
    assert requests_range(exact, 2) == ""
    assert requests_range(BUDGET, 2) == "10 to 12"
