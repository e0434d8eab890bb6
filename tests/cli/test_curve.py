"""`kvplan curve` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kvplan.export import to_yaml
from tests.cli.console import run
from tests.models import LLAMA_8B, QWEN_35


@pytest.fixture(name="models")
def _models(tmp_path: Path) -> list[str]:
    paths = [tmp_path / "qwen.yaml", tmp_path / "llama.yaml"]
    for path, model in zip(paths, (QWEN_35, LLAMA_8B), strict=True):
        path.write_text(to_yaml(model), encoding="utf-8")
    return [str(path) for path in paths]


def test_three_charts_within_80_columns(models: list[str]) -> None:
    result = run("curve", *models)
    lines = result.stdout.splitlines()
    assert result.exit_code == 0
    assert max(map(len, lines)) == 80
    assert [line for line in lines if line.startswith(("M(S)", "r(S)"))] == [
        "M(S): bytes that one request keeps, per GPU",
        "M(S) / S: bytes for each token of it",
        "r(S): bytes of the cache that one decode step reads",
    ]


def test_the_legend_gives_s_star_and_the_last_point(models: list[str]) -> None:
    lines = run("curve", *models).stdout.splitlines()
    # 10^6 x 30,720 + 192,061,440 and 10^6 x 131,072
    assert "o  Qwen/Qwen3.5-397B-A17B         -  6,252   30,912,061,440   30,912,061,440" in lines
    assert "x  meta-llama/Llama-3.1-8B        -      -  131,072,000,000  131,072,000,000" in lines


def test_csv_has_every_point_and_needs_no_library(models: list[str], tmp_path: Path) -> None:
    target = tmp_path / "curve.csv"
    assert run("curve", models[1], "--ctx", "1k:10k", "-o", str(target)).exit_code == 0
    lines = target.read_text(encoding="utf-8").splitlines()
    assert lines[:2] == [
        "name,context,bytes,bytes_per_token,read_bytes_per_step",
        "meta-llama/Llama-3.1-8B,1000,131072000,131072.0,131072000",
    ]
    assert lines[-1] == "meta-llama/Llama-3.1-8B,10000,1310720000,131072.0,1310720000"


def test_a_layer_of_each_kind(models: list[str]) -> None:
    document = json.loads(run("curve", models[0], "--per-layer", "--format", "json").stdout)
    assert [series["name"] for series in document["series"]] == ["gated delta net", "full attention"]


def test_markdown_keeps_the_charts_as_they_are(models: list[str]) -> None:
    text = run("curve", models[1], "--format", "markdown").stdout
    assert text.count("```text") == 3


@pytest.mark.parametrize(
    ("span", "words"),
    [
        ("100k", "'100k' is not a range such as 1k:1M"),
        ("2k:1k", "'2k:1k' does not start above 0 and end above its start"),
        ("a:b", "'a' is not a token count such as 4096, 100k or 128Ki"),
    ],
)
def test_a_bad_range(models: list[str], span: str, words: str) -> None:
    result = run("curve", models[0], "--ctx", span)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"kvplan: error: --ctx: {words}\n"
