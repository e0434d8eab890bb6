"""`kvplan buffers` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kvplan.export import to_yaml
from tests.cli.console import run
from tests.models import LLAMA_8B, QWEN_35


@pytest.fixture
def llama(tmp_path: Path) -> str:
    path = tmp_path / "llama.yaml"
    path.write_text(to_yaml(LLAMA_8B))
    return str(path)


@pytest.fixture
def qwen(tmp_path: Path) -> str:
    path = tmp_path / "qwen.yaml"
    path.write_text(to_yaml(QWEN_35))
    return str(path)


def test_buffers_follow_from_a_budget(llama: str) -> None:
    result = run("buffers", llama, "--gpu", "h200", "--available-bytes", "10GiB", "--format", "json")
    document = json.loads(result.stdout)
    assert (result.exit_code, result.stderr) == (0, "")
    # 10 GiB / 131,072 = 81,920 tokens, and a row of 131,072 bytes more
    assert [buffer["shape"] for buffer in document["buffers"]] == [[81_921, 8, 128]] * 2
    assert document["difference_bytes"] == 131_072


def test_buffers_of_a_number_of_tokens_need_no_budget(llama: str) -> None:
    result = run("buffers", llama, "--gpu", "h200", "--max-total-tokens", "100k", "--format", "json")
    document = json.loads(result.stdout)
    assert result.exit_code == 0
    assert [buffer["shape"] for buffer in document["buffers"]] == [[100_001, 8, 128]] * 2
    assert document["deployment"]["available_bytes"] is None
    # 100,001 x 2 x 8 x 128 x 2 x 32
    assert document["allocated_bytes"] == 13_107_331_072


def test_states_are_as_many_as_asked_for(qwen: str) -> None:
    result = run(
        "buffers",
        qwen,
        "--gpu",
        "h200",
        "--max-total-tokens",
        "4096",
        "--max-mamba-cache-size",
        "8",
        "--format",
        "json",
    )
    shapes = {buffer["name"]: buffer["shape"] for buffer in json.loads(result.stdout)["buffers"]}
    assert shapes["mamba_pool.mamba_cache.temporal"] == [45, 9, 64, 128, 128]


def test_an_output_file_takes_the_list(llama: str, tmp_path: Path) -> None:
    target = tmp_path / "buffers.csv"
    result = run("buffers", llama, "--max-total-tokens", "1k", "--format", "csv", "-o", str(target))
    assert (result.exit_code, result.stdout) == (0, "")
    assert target.read_text().splitlines()[0] == "owner,name,shape,dtype,count,bytes"


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (
            (),
            2,
            "kvplan: error: --available-bytes: is missing: buffers follow from a budget or a number of "
            "tokens (or --pre-model-load-gib with --free-gib, or --max-total-tokens)",
        ),
        (
            ("--max-total-tokens", "4096"),
            2,
            "kvplan: error: --max-mamba-cache-size: is missing: tokens do not say how many states there are "
            "(or a budget)",
        ),
        (
            ("--available-bytes", "10GiB", "--prefill-only-disable-kv-cache"),
            3,
            "kvplan: error: SGLang would stop: --prefill-only-disable-kv-cache is for plain K and V alone, "
            "not for recurrent state (leave --prefill-only-disable-kv-cache out)",
        ),
    ],
)
def test_what_is_missing_is_one_line(qwen: str, options: tuple[str, ...], code: int, words: str) -> None:
    result = run("buffers", qwen, *options)
    assert (result.exit_code, result.stdout) == (code, "")
    assert result.stderr == f"{words}\n"


def test_whole_prompts_are_asked_for_as_the_server_is(llama: str) -> None:
    result = run(
        "buffers",
        llama,
        "--gpu",
        "h200",
        "--available-bytes",
        "10GiB",
        "--prefill-only-disable-kv-cache",
        "--disable-radix-cache",
        "--chunked-prefill-size",
        "-1",
        "--format",
        "json",
    )
    document = json.loads(result.stdout)
    assert [buffer["shape"] for buffer in document["buffers"]] == [[1, 8, 128]] * 2
    assert document["assumed"] == ["--is-embedding: SGLang demands it with --prefill-only-disable-kv-cache"]
