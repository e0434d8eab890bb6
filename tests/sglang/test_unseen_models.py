"""Plans of models that are not bundled against what SGLang itself computed for the same config.

`tests/data/unseen.jsonl`: one model a line, its config.json (cut to the keys that size a cache) and
deployments with the figures that the own configurators of SGLang 0.5.23 and 0.5.12 printed for them, run
on a CPU with a pretended GPU. A key that a row leaves out has the value in ABSENT.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kvplan import Deployment, plan
from tests.readers.hf import read

DATA = Path(__file__).parent.parent / "data" / "unseen.jsonl"
ABSENT: dict[str, int | None] = {
    "state_bytes_per_request": 0,
    "max_mamba_cache_size": None,
    "full_max_total_num_tokens": None,
    "swa_max_total_num_tokens": None,
    "c4_max_total_num_tokens": 0,
    "c128_max_total_num_tokens": 0,
    "c4_state_pool_size": 0,
    "c128_state_pool_size": 0,
}
PARTS = {
    "cell_size": "pool",
    "state_bytes_per_request": "pool",
    "kv_cache_dtype": "deployment",
    "page_size": "deployment",
    "mem_fraction_static": "deployment",
    "context_length": "deployment",
}
MODELS: list[dict[str, Any]] = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: str(model["name"]))
def test_figures_are_sglangs(model: dict[str, Any]) -> None:
    """Cell, state, dtype, page, fraction, tokens of every pool and running requests, as SGLang has them."""
    architecture = read(model["config"])
    for job in model["jobs"]:
        made = plan(architecture, Deployment(**job["options"])).to_dict()
        expected = ABSENT | job["expect"]
        found = {key: made[PARTS.get(key, "capacity")][key] for key in expected}
        assert found == {
            key: pytest.approx(value, rel=1e-12) if isinstance(value, float) else value
            for key, value in expected.items()
        }, job["options"]
