"""From a GPU to a budget, line by line."""

from __future__ import annotations

from typing import Any

import pytest

import kvplan
from kvplan.architecture import Architecture
from kvplan.deployment import Deployment
from kvplan.errors import DoesNotFitError, InputError
from kvplan.layers import FullAttention
from kvplan.memory import Budget
from kvplan.planning import plan, resolve
from kvplan.records import Plan

GIB = 1 << 30
# 131,072 bytes a token (32 x 8 x 256 x 2).
MODEL = Architecture(
    id="meta-llama/Llama-3.1-8B",
    architecture="LlamaForCausalLM",
    layers=(FullAttention(kv_heads=8, head_dim=128, v_head_dim=128),) * 32,
    attention_heads=32,
    hidden_size=4096,
    context_length=131_072,
    dtype="bfloat16",
    weights_bytes=16 * GIB,
)


def planned(**options: Any) -> Plan:
    return plan(MODEL, Deployment(**{"gpu": "h200", "mem_fraction_static": 0.9, "ctx": 100_000, **options}))


def budget(made: Plan) -> Budget:
    assert made.budget is not None
    return made.budget


def test_each_line_is_the_one_above_less_what_it_names() -> None:
    found = budget(planned(weights="metadata"))
    assert found.memory_bytes == 150_754_820_096  # 143,771 MiB
    assert found.overhead_bytes == 1_610_612_736  # 1.5 GiB
    assert found.free_before_bytes == 149_144_207_360
    assert found.weights_bytes == 17_179_869_184
    assert found.free_after_bytes == 131_964_338_176
    assert found.slack_bytes == 14_914_420_735  # 0.1 of free before, in double precision
    assert found.multimodal_reserve_bytes == 0
    assert found.available_bytes == 117_049_917_441
    assert found.kv_pool_bytes == 117_049_917_440
    assert (found.gpu, found.gpus, found.weights_source) == ("h200", 1, "metadata")
    assert found.weights_bytes_total == 17_179_869_184


def test_estimated_lines_are_named_and_carry_both_ends_into_tokens() -> None:
    made = planned(weights="metadata")
    found = budget(made)
    assert found.estimated == ("free_before_bytes", "weights_bytes", "free_after_bytes", "available_bytes")
    assert found.low is not None
    assert found.high is not None
    # 2 GiB of overhead and 4 % more weights; 1 GiB of overhead and the weights as they are.
    assert found.low.free_before_bytes == 148_607_336_448
    assert found.low.weights_bytes == 17_867_063_951
    assert found.high.free_before_bytes == 149_681_078_272
    assert found.high.weights_bytes == 17_179_869_184
    # (148,607,336,448 x 0.9 - 17,867,063,951) / 131,072 and so on
    assert found.low.max_total_num_tokens == 884_090
    assert made.capacity.max_total_num_tokens == 893_020
    assert found.high.max_total_num_tokens == 896_706


def test_free_memory_after_loading_says_what_the_weights_took() -> None:
    made = planned(free_gib=120.0, weights="auto")
    found = budget(made)
    assert (found.free_after_bytes, found.weights_source) == (120 * GIB, "given")
    assert found.weights_bytes == 149_144_207_360 - 120 * GIB
    assert found.estimated == ("free_before_bytes", "weights_bytes", "available_bytes")
    assert found.low is not None
    assert found.high is not None
    # The more was free before, the more is kept free: 120 GiB less a tenth of 149,681,078,272 at the low end.
    assert found.low.free_before_bytes == 149_681_078_272
    assert found.low.weights_bytes == 149_681_078_272 - 120 * GIB
    assert found.low.max_total_num_tokens <= (made.capacity.max_total_num_tokens or 0)
    assert found.high.max_total_num_tokens >= (made.capacity.max_total_num_tokens or 0)


@pytest.mark.parametrize(
    ("gpu", "least", "most"),
    [
        # Published starts: 78.48 GiB free on an H100 of 79.65, 177.57 on a B200 of 179.06, 93.99 on an
        # RTX PRO 6000 of 95.59; 111.34, 111.53 and 105.46 on GB10s of 119.70; 283.56 on an MI355X of 287.98.
        ("h100", 78.48, 78.48),
        ("b200", 177.57, 177.57),
        ("rtx6000pro", 93.99, 93.99),
        ("gb10", 105.46, 111.53),
        ("mi355x", 283.56, 283.56),
    ],
)
def test_what_real_starts_found_free_is_within_the_estimate(gpu: str, least: float, most: float) -> None:
    found = budget(planned(gpu=gpu, weights="metadata"))
    assert found.low is not None
    assert found.high is not None
    assert found.low.free_before_bytes <= least * GIB
    assert most * GIB <= found.high.free_before_bytes


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"pre_model_load_gib": 78.0, "free_gib": 90.0},
            "--free-gib: 90.0 GiB are more than the 78.0 GiB before loading",
        ),
        (
            {"free_gib": 150.0, "weights": "auto"},
            "--free-gib: 150.0 GiB are more than the 139.40 GiB before loading",
        ),
    ],
)
def test_loading_frees_no_memory(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as caught:
        planned(**options)
    assert words in str(caught.value)


def test_given_memory_and_weights_are_exact_and_have_no_ends() -> None:
    found = budget(planned(pre_model_load_gib=138.5, weights_per_gpu=16 * GIB))
    assert (found.low, found.high, found.estimated) == (None, None, ())
    assert (found.memory_bytes, found.overhead_bytes) == (None, None)
    assert found.free_before_bytes == 148_713_242_624
    assert found.weights_source == "given"


def test_free_memory_after_loading_replaces_the_weights_below_it() -> None:
    made = planned(pre_model_load_gib=138.5, free_gib=120.0, weights="metadata")
    found = budget(made)
    assert found.free_after_bytes == 120 * GIB
    assert made.capacity == planned(pre_model_load_gib=138.5, free_gib=120.0).capacity


@pytest.mark.parametrize(
    "options",
    [
        {"available_bytes": 60 * GIB},
        {"pre_model_load_gib": 138.5, "free_gib": 120.0},
        {},
    ],
)
def test_weights_change_nothing_where_they_are_not_asked_for(options: dict[str, Any]) -> None:
    """A GPU alone gives costs without a capacity, a budget gives what it gave before."""
    made = planned(**options)
    assert made.capacity.available_bytes == options.get("available_bytes")
    assert (made.capacity.max_total_num_tokens is None) == (not options)
    assert (made.budget is None) == (not options)


def test_a_given_budget_is_shown_as_far_as_it_is_known() -> None:
    found = budget(planned(available_bytes=60 * GIB))
    assert (found.available_bytes, found.kv_pool_bytes, found.state_pool_bytes) == (60 * GIB, 60 * GIB, 0)
    assert (found.free_before_bytes, found.weights_bytes, found.slack_bytes) == (None, None, None)
    profiled = budget(planned(pre_model_load_gib=138.5, free_gib=120.0))
    assert (profiled.weights_bytes, profiled.weights_source) == (19_864_223_744, "given")  # 18.5 GiB


def test_a_hybrid_keeps_state_and_kv_apart() -> None:
    model = kvplan.load("Qwen/Qwen3.5-397B-A17B", source="bundled")
    found = budget(plan(model, Deployment(gpu="b200", tp=8, weights="estimate")))
    assert found.kv_pool_bytes is not None
    assert found.available_bytes is not None
    assert found.multimodal_reserve_bytes == 104_857_600  # 100 MiB
    # The default ratio of 0.9 gives states 0.9 / 1.9 of the budget, less what is no whole slot.
    assert found.state_pool_bytes / found.available_bytes == pytest.approx(0.4737, abs=1e-3)
    assert abs(found.state_pool_bytes + found.kv_pool_bytes - found.available_bytes) < 1 << 20


def test_what_does_not_fit_says_how_many_bytes_are_missing() -> None:
    with pytest.raises(DoesNotFitError) as caught:
        planned(weights=1_000 * GIB)
    # 1,000 GiB - 149,144,207,360 + 14,914,420,735
    assert caught.value.shortfall_bytes == 939_512_037_375
    assert "939,512,037,375 bytes per GPU are missing" in str(caught.value)
    assert caught.value.exit_code == 3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"weights": "guess"}, "--weights: 'guess' is not a size"),
        ({"weights": 1, "weights_per_gpu": 1}, "--weights: is given beside --weights-per-gpu"),
        ({"tp": 8, "ep": 3}, "--ep: 3 expert-parallel ranks do not divide --tp 8"),
        ({"free_gib": 60.0}, "--pre-model-load-gib: is missing"),
    ],
)
def test_options_that_contradict_each_other(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as caught:
        planned(**options)
    assert words in str(caught.value)


def test_rocm_is_refused_where_the_rules_differ_and_warned_of_elsewhere() -> None:
    made = planned(gpu="mi300x", weights="metadata")
    assert any("MI300X: kvplan has SGLang's rules for CUDA" in warning for warning in made.warnings)
    sparse = kvplan.load("deepseek-ai/DeepSeek-V3.2", source="bundled")
    with pytest.raises(InputError, match="on ROCm SGLang lays DeepseekV32ForCausalLM's cache out by rules"):
        resolve(sparse, Deployment(gpu="mi300x", tp=8))


def test_memory_without_a_name_says_which_rules_it_assumes() -> None:
    made = planned(gpu=None, gpu_memory=48 * GIB, weights="metadata")
    assert "GPU of 49,152 MiB: the rules of Hopper apply (--gpu sm89 or sm120 for another)" in made.assumed
    assert budget(made).memory_bytes == 48 * GIB
    named = planned(gpu="sm120", gpu_memory=48 * GIB, weights="metadata")
    assert not any("GPU" in text for text in named.assumed)


def test_where_the_low_end_leaves_nothing_it_says_nothing_and_not_less() -> None:
    """Yi-34B on one H100: 83,373,326,336 free, less its share of slack, are less than 73.6 GB of weights."""
    made = plan(kvplan.load("01-ai/Yi-34B"), Deployment(gpu="h100", weights="estimate"))
    low = budget(made).low
    assert low is not None
    assert (low.available_bytes, low.max_total_num_tokens, low.requests_at_context) == (0, 0, 0)
