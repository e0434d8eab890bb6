"""Rows that can't be planned: none of them hides another."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from kvplan.cli.app import app
from kvplan.export import to_yaml
from tests import samples


@pytest.fixture
def model(tmp_path: Path) -> str:
    path = tmp_path / "llama.yaml"
    path.write_text(to_yaml(samples.LLAMA))
    return str(path)


def compare(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["compare", *arguments], prog_name="kvplan")


def test_a_row_that_does_not_fit_is_named_after_the_rows_that_do(model: str) -> None:
    result = compare(model, "--available-bytes", "100GiB,1kB,50GiB", "--format", "json")
    rows = json.loads(result.stdout)["rows"]
    assert result.exit_code == 3
    assert [(row["available_bytes"], row["max_total_num_tokens"]) for row in rows] == [
        (107_374_182_400, 819_200),
        (53_687_091_200, 409_600),
    ]
    assert result.stderr.startswith("kvplan: error: meta-llama/Llama-3.1-8B --available-bytes 1000: ")
    assert result.stderr.count("\n") == 1


def test_a_row_that_can_not_be_leaves_stdout_empty(model: str) -> None:
    result = compare(model, "--tp", "1,3,5")
    starts = [line.split(": --tp:")[0] for line in result.stderr.splitlines()]
    assert (result.exit_code, result.stdout) == (2, "")
    assert starts == [f"kvplan: error: meta-llama/Llama-3.1-8B --tp {tp}" for tp in (3, 5)]


def test_what_is_wrong_with_every_row_is_said_once(model: str) -> None:
    result = compare(model, "--gpu", "h2oo", "--tp", "1,2")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("kvplan: error: --gpu: ")
    assert result.stderr.count("\n") == 1


def test_all_models_that_can_not_be_read_are_named(tmp_path: Path, model: str) -> None:
    absent = [str(tmp_path / name) for name in ("one.json", "two.json")]
    result = compare(absent[0], model, absent[1])
    assert (result.exit_code, result.stdout) == (2, "")
    assert [line.split(": ")[2] for line in result.stderr.splitlines()] == absent


def test_a_model_named_twice_is_one_row(model: str) -> None:
    result = compare(model, model, "--format", "csv")
    assert len(result.stdout.splitlines()) == 2


def test_versions_show_what_an_upgrade_changes_without_a_budget() -> None:
    """bytes_per_full_token of V4-Flash at TP 1, as the pool configurators of the two releases give it."""
    result = compare("deepseek-v4-flash", "--engine-version", "0.5.12,0.5.23")
    rows = [line.split() for line in result.stdout.splitlines() if line.lstrip().startswith("0.5.")]
    assert [(row[0], row[-1]) for row in rows] == [("0.5.12", "15,955.85"), ("0.5.23", "7,086.75")]


def test_requests_as_long_as_each_model_allows_show_their_lengths_and_no_ratio() -> None:
    """36 layers x 4,096 B x 40,960 tokens and 32 x 4,096 x 100,000."""
    lines = compare("llama-3.1-8b", "qwen3-8b").stdout.splitlines()
    rows = [line.split() for line in lines if "GQA" in line]
    assert rows == [
        ["Qwen3-8B", "GQA", "36", "147,456", "0", "40,960", "6,039,797,760"],
        ["Llama-3.1-8B", "GQA", "32", "131,072", "0", "100,000", "13,107,200,000"],
    ]
    asked = json.loads(compare("llama-3.1-8b", "qwen3-8b", "--format", "json").stdout)
    assert [row["ratio_to_smallest"] for row in asked["rows"]] == [None, None]


def test_tokens_and_requests_name_their_budget_and_the_rank_they_are_of() -> None:
    ranks = ("--tp", "2", "--dp", "2", "--enable-dp-attention", "--available-bytes", "100GiB")
    one, several = compare("qwen3-8b", *ranks), compare("qwen3-8b", "llama-3.1-8b", *ranks)
    title = "tokens and requests that fit in 100.00 GiB per GPU, of one attention-DP rank"
    assert title in one.stdout.splitlines()
    assert title in several.stdout.splitlines()


def test_a_named_gpu_shows_what_fits_beside_the_weights() -> None:
    """The same figures as `size`: estimates have both ends, and what is too large keeps its costs.

    16.06 GB / 2 are 7.5 GiB; 140.4 less 1.5 of context are 138.9 GiB, of which SGLang gives 0.902 at TP 2:
    125.3 - 7.5 = 117.8, in which 65,536 bytes a token go 1.93 million times.
    """
    result = compare("llama-3.1-8b", "deepseek-v3.2", "--gpu", "h200x2", "--ctx", "32k")
    lines = result.stdout.splitlines()
    title = lines.index("tokens and requests that fit on 2 x H200")
    assert [line.split() for line in lines[title + 3 : title + 5]] == [
        ["Llama-3.1-8B", "65,536", "7.5", "117.8", "1.91M", "to", "1.94M", "59", "to", "60"],
        ["DeepSeek-V3.2", "78,324", "-", "-", "-", "-"],
    ]
    assert "estimated:  meta-llama/Llama-3.1-8B: free memory, and each GPU's share of" in result.stdout
    assert result.exit_code == 3
    assert result.stderr.startswith("kvplan: error: deepseek-ai/DeepSeek-V3.2: the model does not fit: ")
    printed = CliRunner().invoke(app, ["size", "llama-3.1-8b", "--gpu", "h200x2", "--ctx", "32k"]).stdout
    assert "1.91M to 1.94M tokens" in printed
    assert "60 requests of 32,000 tokens at once (59 to 60)" in printed


def test_settings_of_one_model_on_gpus_are_two_tables() -> None:
    lines = compare("llama-3.1-8b", "--gpu", "h100,h200", "--ctx", "32k").stdout.splitlines()
    assert "tokens and requests that fit on each GPU" in lines
    assert all(len(line) <= 80 for line in lines)
    assert not any("auto" in line for line in lines)


def test_replicas_are_told_from_the_gpus_of_all() -> None:
    lines = compare("llama-3.1-8b", "--gpu", "h200x8", "--ctx", "32k", "--dp", "2").stdout.splitlines()
    assert "tokens and requests that fit on 8 x H200, of one replica" in lines
