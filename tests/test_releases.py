"""Plans under the rules of the releases between 0.5.12 and 0.5.23, against what each of them computed.

`data/releases.jsonl`: a bundled model and a deployment a line, and what the own sizing code of each release,
run on a CPU with a pretended GPU, gave for them; releases that gave the same stand together. Rows were
picked where a release changed something. A key that a row leaves out has the value in reference.ABSENT.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kvplan import load
from kvplan.sglang.rules import RULE_SETS
from tests.reference import assert_figures

DATA = Path(__file__).parent / "data" / "releases.jsonl"
ROWS: list[dict[str, Any]] = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['model']} {row['options']['gpu']}")
def test_figures_are_those_of_the_release(row: dict[str, Any]) -> None:
    model = load(row["model"], source="bundled")
    for same in row["releases"]:
        for release in same["of"]:
            assert_figures(model, {**row["options"], "engine_version": release}, same["expect"])


def test_every_rule_set_between_the_first_and_the_last_is_compared() -> None:
    compared = {release for row in ROWS for same in row["releases"] for release in same["of"]}
    assert {"0.5.12", *compared, "0.5.23"} == set(RULE_SETS)
