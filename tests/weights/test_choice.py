"""Which figure for the weights holds."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from kvplan.architecture import Architecture, Source
from kvplan.deployment import Deployment
from kvplan.errors import InputError
from kvplan.layers import FullAttention
from kvplan.planning import resolve
from kvplan.weights.choice import Weights, weights_of
from kvplan.weights.records import Parameters, Tensors

PARAMETERS = Parameters(
    attention=Tensors(count=4_000, stored_bytes=8_000, format="bfloat16"),
    norms=Tensors(count=1_000, stored_bytes=2_000, format="bfloat16"),
)
MODEL = Architecture(
    id="some/model",
    architecture="LlamaForCausalLM",
    layers=(FullAttention(kv_heads=8, head_dim=128, v_head_dim=128),) * 4,
    attention_heads=8,
    hidden_size=1024,
    context_length=4096,
    dtype="bfloat16",
    parameters=PARAMETERS,
    source=Source(kind="hub", location="some/model"),
)


def chosen(model: Architecture = MODEL, **options: Any) -> Weights:
    return weights_of(resolve(model, Deployment(gpu="h100", **options)))


def test_an_estimate_is_off_by_three_percent_and_loads_up_to_four_more() -> None:
    found = chosen(weights="auto", tp=2)
    # 8,000 / 2 + 2,000, less 3 %, and 7 % more
    assert (found.on_gpu.low, found.on_gpu.value, found.on_gpu.high) == (5_820, 6_000, 6_420)
    assert (found.total, found.source) == (10_000, "estimate")
    assert dict(found.by_kind) == {"attention": 4_000, "norms": 2_000}


@pytest.mark.parametrize(
    ("source", "named"),
    [
        (Source(kind="hub", location="some/model"), "metadata"),
        (Source(kind="bundled", location="configs/some__model.yaml"), "yaml"),
        (Source(kind="file", location="some/model.yaml"), "yaml"),
    ],
)
def test_a_published_size_comes_before_an_estimate_and_is_cut_in_its_proportions(
    source: Source, named: str
) -> None:
    model = dataclasses.replace(MODEL, weights_bytes=20_000, source=source)
    found = chosen(model, weights="auto", tp=2)
    assert (found.on_gpu.low, found.on_gpu.value, found.on_gpu.high) == (12_000, 12_000, 12_480)
    assert (found.total, found.source) == (20_000, named)


def test_estimate_and_metadata_can_be_asked_for() -> None:
    model = dataclasses.replace(MODEL, weights_bytes=20_000)
    assert chosen(model, weights="estimate").total == 10_000
    assert chosen(model, weights="metadata").total == 20_000
    with pytest.raises(InputError, match="--weights: some/model has no metadata of its weights here"):
        chosen(weights="metadata")


def test_a_given_total_is_cut_and_a_given_share_is_exact() -> None:
    found = chosen(weights=40_000, tp=2)
    assert (found.on_gpu.value, found.total, found.source) == (24_000, 40_000, "given")
    found = chosen(weights_per_gpu=7_777, tp=2)
    assert (found.on_gpu.low, found.on_gpu.value, found.on_gpu.high) == (7_777, 7_777, 7_777)


def test_a_size_without_kinds_is_cut_into_equal_parts() -> None:
    model = dataclasses.replace(MODEL, parameters=None, weights_bytes=20_000)
    assert chosen(model, weights="auto", tp=2).on_gpu.value == 10_000


def test_without_any_size_the_user_is_asked_for_one() -> None:
    model = dataclasses.replace(MODEL, parameters=None)
    with pytest.raises(InputError, match="--weights: the size of some/model is not known"):
        chosen(model, weights="auto")
