"""Paths of figures against the JSON of real plans."""

from __future__ import annotations

import pytest

import kvplan
from kvplan.gates.figures import KNOWN, OPEN, flat, is_open

GIB = 1 << 30
DEPLOYMENTS = [
    ("Qwen/Qwen3.5-397B-A17B", kvplan.Deployment(tp=8, available_bytes=60 * GIB)),
    ("deepseek-v3.2", kvplan.Deployment(tp=8, gpu="h200", weights="auto", concurrency=4)),
    ("meta-llama/Llama-3.1-8B", kvplan.Deployment()),
]


@pytest.mark.parametrize(("model", "asked"), DEPLOYMENTS)
def test_every_figure_of_a_plan_can_be_named(model: str, asked: kvplan.Deployment) -> None:
    paths = [path for path, _ in flat(kvplan.plan(kvplan.load(model), asked).to_dict())]
    # A block that the plan does not have is null under its own name.
    absent = ("accounting", "budget", "budget.low", "budget.high", "decode")
    assert [path for path in paths if path not in KNOWN and path not in absent and not is_open(path)] == []


def test_every_known_figure_is_in_a_plan_with_an_estimated_budget() -> None:
    model, asked = DEPLOYMENTS[1]
    plan = kvplan.plan(kvplan.load(model), asked).to_dict()
    paths = {path for path, _ in flat(plan)}
    assert [path for path in KNOWN if path not in paths] == []
    assert [name for name in OPEN if name.partition(".")[0] not in plan] == []


def test_a_list_is_counted_from_zero() -> None:
    nested = {"pools": [{"tokens": 1}, {"tokens": 2}], "assumed": ["a"], "link": None}
    assert list(flat(nested)) == [
        ("pools[0].tokens", 1),
        ("pools[1].tokens", 2),
        ("assumed[0]", "a"),
        ("link", None),
    ]
