"""Plans of bundled models against what SGLang itself computed for the same deployment.

`data/sized.jsonl`: figures computed by the own configurators of SGLang 0.5.23 and 0.5.12 (rows that
name no `engine_version` are 0.5.23's), run on a CPU with a pretended GPU. A key that a row leaves out
has the value in reference.ABSENT. `data/refused.jsonl`: deployments at which those versions stop, with
the part of the error that says why.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from kvplan import Architecture, Deployment, RefusedError, load, plan
from tests.reference import assert_figures

DATA = Path(__file__).parent / "data"


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


def name_of(row: dict[str, Any]) -> str:
    given = {key: value for key, value in row["options"].items() if key != "available_bytes"}
    return f"{row['model']} {given}"


SIZED, REFUSED = rows("sized.jsonl"), rows("refused.jsonl")


@cache
def bundled(name: str) -> Architecture:
    return load(name, source="bundled")


@pytest.mark.parametrize("row", SIZED, ids=name_of)
def test_every_figure_is_the_one_that_sglang_computed(row: dict[str, Any]) -> None:
    assert_figures(bundled(row["model"]), row["options"], row["expect"])


@pytest.mark.parametrize("row", REFUSED, ids=name_of)
def test_what_sglang_refuses_is_refused_with_its_reason(row: dict[str, Any]) -> None:
    with pytest.raises(RefusedError) as caught:
        plan(bundled(row["model"]), Deployment(**row["options"]))
    assert f"SGLang would stop: {row['words']}" in str(caught.value)


@pytest.mark.parametrize(
    "name",
    """
    attention_backend available_bytes context_length dcp disable_hybrid_swa_memory disable_radix_cache
    enable_dp_attention enable_hisparse engine_version free_gib mamba_full_memory_ratio mamba_ssm_dtype
    max_mamba_cache_size max_running_requests max_total_tokens page_size pp speculative_algorithm
    swa_full_tokens_ratio
    """.split(),
)
def test_the_rows_vary_every_option_that_changes_a_pool(name: str) -> None:
    assert len({row["options"].get(name) for row in SIZED}) > 1


def test_the_rows_cover_many_models_and_both_versions() -> None:
    assert len({row["model"] for row in SIZED}) >= 90
    assert {row["options"].get("engine_version") for row in SIZED} == {None, "0.5.12"}
    assert {row["options"]["tp"] for row in SIZED} >= {1, 2, 4, 8, 16}
    assert {row["options"]["kv_cache_dtype"] for row in SIZED} >= {
        "auto",
        "bfloat16",
        "fp8_e4m3",
        "fp8_e5m2",
        "mxfp8",
        "nvfp4",
    }
