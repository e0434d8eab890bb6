"""Real starts that users published: what a token costs and how many fit, beside what kvplan says."""

from __future__ import annotations

import pytest

from kvplan.bootlog import BootLog, Rank, States, Tokens, Weights
from kvplan.deployment import Deployment
from kvplan.verify import Check, Told, verify
from tests.verify.startup_cases import STARTS, TOKENS, Start
from tests.verify.startup_gemma import GEMMA
from tests.verify.startup_hybrids import DEEPSEEK_V4, HYBRIDS
from tests.verify.startup_models import model

ALL = (*STARTS, *GEMMA, *HYBRIDS, *DEEPSEEK_V4)


def logged(start: Start) -> BootLog:
    before, after = start.free or (None, None)
    loaded = None if after is None else Weights(model_class="", gib=None, free_after_gib=after)
    rank = Rank(
        name="TP0",
        free_before_gib=before,
        weights=loaded,
        pools=tuple(Tokens(tokens=tokens, sizes_gib=sizes) for tokens, sizes in start.pools),
        states=None
        if start.states is None
        else States(slots=start.states[0], conv_gib=start.states[1], ssm_gib=start.states[2]),
        sizing=start.sizing,
        totals={} if start.tokens is None else {TOKENS: start.tokens},
    )
    return BootLog(ranks=(rank,))


def checks(start: Start) -> dict[str, Check]:
    found = verify(logged(start), model(start.model), Deployment(**start.settings), told=Told(settings={}))
    return {check.name: check for check in found.checks}


@pytest.mark.parametrize("start", ALL, ids=lambda start: start.id)
def test_a_published_start_is_what_kvplan_says(start: Start) -> None:
    found = checks(start)
    assert [(name, round(found[name].predicted, 4), found[name].agrees) for name, _, _ in start.terms] == [
        (name, predicted, agrees) for name, predicted, agrees in start.terms
    ]


def test_every_difference_is_explained_and_nothing_else_is() -> None:
    for start in ALL:
        assert bool(start.why) == (not all(agrees for _, _, agrees in start.terms)), start.id
