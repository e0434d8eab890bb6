"""Each flag that is suggested really has the effect that it is suggested with."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import kvplan
from kvplan.advice import improvements
from kvplan.architecture import Architecture
from kvplan.deployment import Deployment
from kvplan.planning import plan
from kvplan.remedies import fits, remedies
from kvplan.search import requests

GIB = 1 << 30


def bundled(name: str) -> Architecture:
    return kvplan.load(name, source="bundled")


def test_a_hybrid_in_60_gib_at_tp_8() -> None:
    """SGLang's own figures: 22 requests of 100,000 tokens, 38 where state and KV run out together."""
    made = plan(bundled("Qwen/Qwen3.5-397B-A17B"), Deployment(tp=8, available_bytes=60 * GIB, ctx=100_000))
    assert made.capacity.requests_at_context == 22
    assert [(one.flag, one.why, one.requests) for one in improvements(made)] == [
        ("--mamba-full-memory-ratio 0.08", "state and KV run out together", 38),
        ("--kv-cache-dtype fp8_e4m3", "7,680 bytes a token instead of 15,360", 44),
        ("--enable-dp-attention --dp 8", "a request's KV on 1 of 8 GPUs, not on 8", 88),
    ]


@pytest.mark.parametrize(
    ("options", "count"),
    [
        ({"mamba_full_memory_ratio": 0.08}, 38),
        ({"kv_cache_dtype": "fp8_e4m3"}, 44),
        ({"enable_dp_attention": True, "dp": 8}, 88),
    ],
)
def test_planning_with_a_suggested_flag_gives_what_it_promises(options: dict[str, Any], count: int) -> None:
    asked = Deployment(tp=8, available_bytes=60 * GIB, ctx=100_000, **options)
    assert requests(plan(bundled("Qwen/Qwen3.5-397B-A17B"), asked)) == count


def test_nothing_is_suggested_that_does_not_help() -> None:
    """A dense model on one GPU: no states, no windows, no copies, and KV that is FP8 already."""
    asked = Deployment(available_bytes=60 * GIB, kv_cache_dtype="fp8_e4m3")
    assert improvements(plan(bundled("meta-llama/Llama-3.1-8B"), asked)) == ()


def test_without_a_budget_there_is_nothing_to_improve() -> None:
    assert improvements(plan(bundled("meta-llama/Llama-3.1-8B"), Deployment())) == ()


def test_what_does_not_fit_gets_the_smallest_change_of_each_sort_that_is_enough() -> None:
    """689 GB of weights: 80 GiB on each of 8 GPUs is too much for an H100, 41 GiB on each of 16 is not."""
    model, asked = bundled("deepseek-ai/DeepSeek-V3.2"), Deployment(gpu="h100", tp=8, weights="auto")
    found = {one.flag: one.why for one in remedies(model, asked)}
    assert found == {
        "--gpu h100x16 --tp 16": "41.09 GiB of weights on each GPU",
        "--gpu h200x8": "140.40 GiB on each GPU",
    }


def test_too_many_requests_get_a_shorter_context_that_holds_them() -> None:
    model = bundled("meta-llama/Llama-3.1-8B")
    asked = Deployment(available_bytes=60 * GIB, ctx=100_000, concurrency=8)
    found = {one.flag: one.requests for one in remedies(model, asked)}
    # 60 GiB / 131,072 = 491,520 tokens: 4 requests of 100,000, 8 of 61,440; twice as many in half the bytes
    assert found == {"--tp 2": 9, "--kv-cache-dtype fp8_e4m3": 9, "--ctx 61440": 8}
    assert fits(plan(model, Deployment(available_bytes=60 * GIB, ctx=61_440, concurrency=8)))
    assert not fits(plan(model, Deployment(available_bytes=60 * GIB, ctx=61_441, concurrency=8)))


def test_what_does_not_start_is_told_how_it_would() -> None:
    """MiniMax-M2 at TP 8: 1536 / 8 = 192 breaks blocks of 128, 1536 / (8 / 2) = 384 does not."""
    model, asked = bundled("MiniMaxAI/MiniMax-M2"), Deployment(gpu="h100", tp=8, weights="auto", ctx=100_000)
    first = improvements(plan(model, asked))[0]
    assert (first.flag, first.why) == ("--ep-size 2", "SGLang starts")
    assert not plan(model, replace(asked, ep=2)).stops


def test_more_gpus_are_suggested_as_they_start() -> None:
    """Experts of MiniMax-M2 are dealt on 8 GPUs; 10 KV heads of phi-4 load on 2 GPUs and on no more."""
    asked = Deployment(gpu="h100", tp=4, weights="auto", ctx=100_000, concurrency=8)
    flags = [one.flag for one in remedies(bundled("MiniMaxAI/MiniMax-M2"), asked)]
    assert "--gpu h100x8 --tp 8 --ep-size 2" in flags
    asked = Deployment(gpu="l40s", tp=2, weights="auto", ctx=16_000, concurrency=100)
    flags = [one.flag for one in remedies(bundled("microsoft/phi-4"), asked)]
    assert flags
    assert not any("--tp" in flag for flag in flags)


def test_a_cap_on_running_requests_is_raised_where_it_binds() -> None:
    """DeepSeek-V4 runs 256 requests at once where nothing is said."""
    asked = Deployment(gpu="b200", tp=2, weights="auto", ctx=8_000, concurrency=300)
    found = {one.flag: one.requests for one in remedies(bundled("deepseek-ai/DeepSeek-V4-Flash"), asked)}
    assert found["--max-running-requests 300"] == 300


def test_requests_without_a_context_get_the_context_that_a_change_gives_them() -> None:
    asked = Deployment(gpu="h200", tp=8, weights="auto", concurrency=93)
    model = bundled("Qwen/Qwen3.5-397B-A17B")
    found = {one.flag: one.context for one in remedies(model, asked)}
    changed = plan(model, replace(asked, mamba_full_memory_ratio=1.0))
    assert found["--mamba-full-memory-ratio 1"] == changed.capacity.context_at_concurrency
    assert not plan(model, asked).capacity.context_at_concurrency


def test_more_tokens_help_nobody_where_states_bind() -> None:
    model = bundled("Qwen/Qwen3-Next-80B-A3B-Instruct")
    made = plan(model, Deployment(gpu="h100", tp=4, weights="auto", ctx=1_000))
    assert made.capacity.limited_by == "state slots"
    assert "--kv-cache-dtype fp8_e4m3" not in [one.flag for one in improvements(made)]


def test_no_cap_is_suggested_that_is_lower_than_what_is_asked_for_needs() -> None:
    """Nothing fits before a smaller cap: 192 is the largest that is tried, and 16 would only serve worse."""
    asked = Deployment(
        gpu="h200",
        tp=8,
        dp=8,
        enable_dp_attention=True,
        moe_a2a_backend="deepep",
        ep_num_redundant_experts=32,
        weights="auto",
        ctx=32_000,
        concurrency=16,
    )
    flags = [one.flag for one in remedies(bundled("deepseek-ai/DeepSeek-V3"), asked)]
    assert "--max-running-requests 192" in flags
    assert "--max-running-requests 16" not in flags
