"""The chain's order is fixed, and the first link that takes a model sizes it."""

from __future__ import annotations

import pytest

from kvplan import Deployment, plan
from kvplan.architecture import Architecture
from kvplan.pools.chain import CHAIN
from kvplan.sglang.model import classify
from kvplan.sglang.rules import V0_5_23
from tests.models import BY_LINK, DEEPSEEK_V32, GPT_OSS, KIMI_LINEAR, V4_FLASH


def test_the_order() -> None:
    assert [link.name for link in CHAIN] == ["DSV4", "DSA", "MLA", "SWA", "MAMBA", "MHA"]


@pytest.mark.parametrize(
    ("model", "takers", "winner"),
    [
        (V4_FLASH, ["DSV4", "MHA"], "DSV4"),
        (DEEPSEEK_V32, ["DSA", "MLA", "MHA"], "DSA"),
        (KIMI_LINEAR, ["MLA", "MAMBA", "MHA"], "MLA"),
        (GPT_OSS, ["SWA", "MHA"], "SWA"),
    ],
    ids=lambda value: value.id if isinstance(value, Architecture) else "",
)
def test_overlaps_go_to_the_first(model: Architecture, takers: list[str], winner: str) -> None:

    engine = classify(model, V0_5_23, disable_hybrid_swa_memory=False)
    assert [link.name for link in CHAIN if link.verdict(engine)[0]] == takers
    assert plan(model, Deployment()).pool.link == winner


@pytest.mark.parametrize("winner", BY_LINK)
def test_the_plan_says_why_each_earlier_link_did_not_match(winner: str) -> None:
    why = plan(BY_LINK[winner], Deployment()).pool.why
    assert [verdict.matches for verdict in why] == [False] * (len(why) - 1) + [True]
    assert why[-1].link == winner
    assert all(verdict.why for verdict in why)
