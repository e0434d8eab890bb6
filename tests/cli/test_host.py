"""`kvplan host` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kvplan.export import to_yaml
from tests.cli.console import run
from tests.models import LLAMA_8B


@pytest.fixture(name="llama")
def _llama(tmp_path: Path) -> str:
    path = tmp_path / "llama.yaml"
    path.write_text(to_yaml(LLAMA_8B), encoding="utf-8")
    return str(path)


def test_host_pools_storage_and_transfer_on_one_screen(llama: str) -> None:
    result = run(
        "host",
        llama,
        *["--available-bytes", "10GiB", "--tp", "8", "--page-size", "64", "--gpu", "h200", "--ctx", "10k"],
        *["--hicache-size", "10", "--storage-batch-size", "4", "--bandwidth", "1GB"],
    )
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    # one KV head on each GPU: 64 x 32 x 1 x 256 x 2
    assert "KV              64     1,048,576      4,194,304" in lines
    # 10^10 / 16,384 = 610,351; (610,351 // 64 + 1) x 64 = 610,368 slots
    assert "KV         655,360     610,368  10,000,269,312          10.00" in lines
    # 157 pages of 64 x 128 x 2 bytes on 32 layers
    assert "K     16,384      32  page        157    82,313,216" in lines
    assert "RESULT  PD: 164,626,432 bytes (164.63 MB) for each GPU and prompt, 164.626 ms at" in lines


def test_without_a_budget_pages_and_items_are_given_and_no_sizes(llama: str) -> None:
    document = json.loads(run("host", llama, "--page-size", "64", "--format", "json").stdout)
    (pool,) = document["hicache"]
    # 64 x 131,072, and 128 pages to a batch
    assert (pool["page_bytes"], pool["batch_bytes"]) == (8_388_608, 1_073_741_824)
    assert (pool["slots"], pool["bytes"], pool["layouts"]) == (None, None, {})
    assert [(item["name"], item["item_bytes"], item["layers"]) for item in document["transfer"]["items"]] == [
        ("K", 131_072, 32),
        ("V", 131_072, 32),
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--hicache-ratio", "x"], "--hicache-ratio: 'x' is not a number"),
        (["--hicache-ratio", "0"], "--hicache-ratio: '0' is not above 0"),
        (["--hicache-size", "1.5"], "--hicache-size: '1.5' is not a whole number"),
        (["--storage-batch-size", "-1"], "--storage-batch-size: '-1' is not above 0"),
        (
            ["--bandwidth", "fast"],
            "--bandwidth: 'fast' is not a size such as 60GiB, 80GB or 1024 (bytes)",
        ),
    ],
)
def test_a_bad_option(llama: str, arguments: list[str], words: str) -> None:
    result = run("host", llama, *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"kvplan: error: {words}\n"


def test_what_the_engine_refuses_exits_3(llama: str) -> None:
    options = ["--engine-version", "0.5.12", "--available-bytes", "60GiB", "--hicache-ratio", "0.5"]
    result = run("host", llama, *options)
    assert (result.exit_code, result.stdout) == (3, "")
    assert "SGLang would stop: the host pool of 245,761 slots is not larger than" in result.stderr
