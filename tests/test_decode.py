"""The floor of a decode step: whole plans beside the arithmetic, and when there is none."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

import kvplan
from kvplan.architecture import Architecture
from kvplan.decode import Batch, DecodeStep, batch_of
from kvplan.deployment import Deployment
from tests.models import LLAMA_8B, QWEN_35


def step(model: str | Architecture, **options: Any) -> DecodeStep | None:
    loaded = kvplan.load(model, source="bundled") if isinstance(model, str) else model
    return kvplan.plan(loaded, Deployment(**options)).decode


def test_qwen35_on_eight_gpus() -> None:
    """Bytes on one of 8 GPUs.

    cache      8 x 1,560,007,680: KV and states are read whole
    experts    773,094,113,280 / 8 x 10 / 512 = 1,887,436,800
    the rest   254,279,680 head + 1,704,591,360 attention + 62,914,560 for one of 2 KV heads
               + 188,743,680 shared experts + 251,658,240 router + 991,232 norms = 2,463,178,752
    by chance  1 - (502 / 512)^8 = 0.1459760 of 96,636,764,160: 14,106,653,256
    """
    found = step("Qwen/Qwen3.5-397B-A17B", gpu="h200", tp=8, ctx=100_000, weights="auto")
    assert found is not None
    assert dataclasses.asdict(found) == {
        "requests": 8,
        "context": 100_000,
        "cache_bytes": 12_480_061_440,
        "weight_bytes": 4_350_615_552,
        "bandwidth": 4_800_000_000_000,
        "floor_ms": pytest.approx(3.506391),
        "active_parameters": 16_329_445_376,
        "routed_experts": 512,
        "experts_per_token": 10,
        "uniform_experts": pytest.approx(74.7397, abs=1e-4),
        "uniform_weight_bytes": 16_569_832_008,
        "uniform_ms": pytest.approx(6.052061),
        "unknown": None,
    }


def test_one_request_by_chance_picks_as_many_experts_as_it_must() -> None:
    found = step("Qwen/Qwen3.5-397B-A17B", gpu="h200", tp=8, ctx=100_000, concurrency=1)
    assert found is not None
    assert found.uniform_experts == pytest.approx(10)
    assert found.uniform_ms == pytest.approx(found.floor_ms)
    # (1,560,007,680 + 4,350,615,552) / 4.8e9
    assert found.floor_ms == pytest.approx(1.231380, abs=1e-6)


def test_a_dense_model_reads_all_but_its_embedding() -> None:
    """(8,030,261,248 parameters less 128,256 x 4,096 of the embedding) x 2 bytes; 131,072 bytes a token."""
    found = step("meta-llama/Llama-3.1-8B", gpu="h100", ctx=10_000, concurrency=4)
    assert found is not None
    assert found.cache_bytes == 4 * 10_000 * 131_072
    assert found.weight_bytes == pytest.approx(15_009_849_344, rel=1e-4)
    # (5,242,880,000 + 15,009,849,344) / 3.35e9
    assert found.floor_ms == pytest.approx(6.0456, abs=1e-3)
    assert (found.routed_experts, found.uniform_ms) == (None, None)


def test_deepseek_v3_with_attention_and_experts_on_every_gpu() -> None:
    """16 ranks of 2 requests; each GPU holds 16 of 256 experts and reads one of them at least.

    cache      2 x 1,000 x 70,272: a rank reads its own requests
    experts    654,068,416,512 / 16 x 1/16 = 2,554,954,752, and 1 - (248/256)^32 = 0.6379447 by chance
    """
    options: dict[str, Any] = {"gpu": "h200", "tp": 16, "dp": 16, "enable_dp_attention": True, "ctx": 1_000}
    found = step("deepseek-ai/DeepSeek-V3", **options, ep=16, concurrency=32)
    whole = step("deepseek-ai/DeepSeek-V3", **options, concurrency=32)
    assert found is not None
    assert whole is not None
    assert (found.requests, found.cache_bytes) == (2, 140_544_000)
    assert found.uniform_experts == pytest.approx(256 * 0.6379447, abs=1e-4)
    # A slice of 8 of 256 experts without expert parallelism: half as much
    assert (found.weight_bytes or 0) - (whole.weight_bytes or 0) == 2_554_954_752 - 1_277_477_376


def test_pipeline_stages_are_passed_one_after_the_other() -> None:
    """4 requests in two micro-batches of 2: the sum of both stages, each layer's bytes once."""
    options: dict[str, Any] = {"gpu": "h100", "ctx": 32_000}
    two = step("meta-llama/Llama-3.1-70B", **options, tp=2, pp=2, concurrency=4)
    one = step("meta-llama/Llama-3.1-70B", **options, tp=2, concurrency=2)
    assert two == one
    assert two is not None
    # 80 layers x 4 of 8 heads x 256 x 2 bytes = 163,840 bytes a token
    assert (two.requests, two.cache_bytes) == (2, 2 * 32_000 * 163_840)


def test_drafts_are_left_out_and_chance_is_not_told() -> None:
    options: dict[str, Any] = {"gpu": "h200", "tp": 8, "ctx": 1_000, "concurrency": 2}
    plain = step("deepseek-ai/DeepSeek-V3", **options)
    drafted = step("deepseek-ai/DeepSeek-V3", **options, speculative_algorithm="EAGLE")
    assert plain is not None
    assert drafted is not None
    assert drafted.floor_ms == plain.floor_ms
    assert (drafted.uniform_experts, drafted.uniform_ms) == (None, None)


@pytest.mark.parametrize(
    ("weights", "factor"),
    [
        ({"weights": "estimate"}, 1.0),
        ({"weights": 1_613_560_000_000}, 2.0),  # twice the 806,780 MB of the estimate
        ({"weights_per_gpu": 198_934_919_168, "gpu_memory": 300 << 30}, 2.0),  # twice 99,467,459,584
        ({"pre_model_load_gib": 140.0, "free_gib": 93.682}, 0.5),  # 46.318 GiB for 92.636
        ({"available_bytes": 60 << 30}, 1.0),
    ],
)
def test_active_weights_follow_the_size_that_is_known(weights: dict[str, Any], factor: float) -> None:
    found = step(
        "Qwen/Qwen3.5-397B-A17B", **{"gpu": "b300", "tp": 8, "ctx": 1_000, "concurrency": 1} | weights
    )
    assert found is not None
    assert found.weight_bytes == pytest.approx(factor * 4_350_615_552, rel=1e-3)


@pytest.mark.parametrize(
    ("model", "options", "why"),
    [
        (
            "meta-llama/Llama-3.1-8B",
            {"gpu": "sm89", "gpu_memory": 80 << 30},
            "the memory bandwidth of sm89 is not known",
        ),
        (LLAMA_8B, {"gpu": "h100"}, f"the weights of {LLAMA_8B.id} are not known by kind"),
        (
            "deepseek-ai/DeepSeek-V3",
            {"gpu": "h200", "tp": 8, "dcp": 2},
            "what each GPU reads under --dcp is not modelled",
        ),
    ],
)
def test_without_a_floor_the_step_says_why(model: Any, options: dict[str, Any], why: str) -> None:
    found = step(model, ctx=1_000, concurrency=1, **options)
    assert found is not None
    assert (found.floor_ms, found.weight_bytes, found.unknown) == (None, None, why)


def test_experts_that_a_token_uses_are_never_guessed() -> None:
    model = kvplan.load("Qwen/Qwen3.5-397B-A17B", source="bundled")
    assert model.parameters is not None
    old = dataclasses.replace(model, parameters=dataclasses.replace(model.parameters, experts_per_token=None))
    found = step(old, gpu="h200", tp=8, ctx=100_000, concurrency=1)
    assert found == DecodeStep(
        requests=1,
        context=100_000,
        cache_bytes=1_560_007_680,
        bandwidth=4_800_000_000_000,
        unknown="how many of its experts a token uses is not known (routed_experts, experts_per_token)",
    )


@pytest.mark.parametrize(
    ("model", "options"),
    [
        ("meta-llama/Llama-3.1-8B", {"concurrency": 4}),  # an assumed GPU
        ("meta-llama/Llama-3.1-8B", {"gpu": "h100"}),  # no number of requests
        ("meta-llama/Llama-3.1-8B", {"gpu": "h100", "available_bytes": 1 << 30, "ctx": 100_000}),  # none fits
        (dataclasses.replace(QWEN_35, architecture="Qwen3ForRewardModel"), {"gpu": "h100", "concurrency": 1}),
    ],
)
def test_no_step_without_a_named_gpu_and_requests_that_decode(model: Any, options: dict[str, Any]) -> None:
    assert step(model, assume_supported=True, **options) is None


@pytest.mark.parametrize(
    ("asked", "fitting", "longest", "batch"),
    [
        ({"ctx": 1_000}, 8, None, Batch(requests=8, context=1_000, tokens=8)),
        ({"ctx": 1_000, "concurrency": 4}, 8, 9_000, Batch(requests=4, context=1_000, tokens=4)),
        ({"ctx": 1_000, "concurrency": 16}, 8, 500, Batch(requests=8, context=1_000, tokens=8)),
        # No context is asked: the longest for so many.
        ({"concurrency": 16}, 8, 500, Batch(requests=16, context=500, tokens=16)),
        ({"concurrency": 16}, 8, 0, None),
        ({"concurrency": 16}, None, None, Batch(requests=16, context=1_000, tokens=16)),
        # 10 over 4 replicas, and over 4 ranks that share the experts: 3 each
        ({"ctx": 1_000, "concurrency": 10, "dp": 4}, 8, None, Batch(requests=3, context=1_000, tokens=3)),
        (
            {"ctx": 1_000, "concurrency": 10, "dp": 4, "tp": 4, "enable_dp_attention": True},
            *(8, None, Batch(requests=3, context=1_000, tokens=12)),
        ),
        ({"ctx": 1_000, "pp": 3}, 8, None, Batch(requests=3, context=1_000, tokens=3)),
        ({"ctx": 1_000}, 0, None, None),
        ({"ctx": 1_000}, None, None, None),
    ],
)
def test_a_batch_is_what_is_asked_and_no_more_than_fits(
    asked: dict[str, Any], fitting: int | None, longest: int | None, batch: Batch | None
) -> None:
    assert batch_of(Deployment(**asked), context=1_000, fitting=fitting, longest=longest) == batch
