"""Plans of models that are not bundled against what SGLang itself computed for the same config.

`tests/data/unseen.jsonl`: one model a line, its config.json (cut to the keys that size a cache) and
deployments with the figures that the own configurators of SGLang 0.5.23 and 0.5.12 printed for them, run
on a CPU with a pretended GPU. A key that a row leaves out has the value in reference.ABSENT.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.readers.hf import read
from tests.reference import assert_figures

DATA = Path(__file__).parent.parent / "data" / "unseen.jsonl"
MODELS: list[dict[str, Any]] = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: str(model["name"]))
def test_figures_are_sglangs(model: dict[str, Any]) -> None:
    """Cell, state, dtype, page, fraction, tokens of every pool and running requests, as SGLang has them."""
    architecture = read(model["config"])
    for job in model["jobs"]:
        assert_figures(architecture, job["options"], job["expect"])
