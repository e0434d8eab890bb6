"""Every flag behind a `try` does what the line says once it is put behind the command."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cli.console import run

# Deployments that hold too little, by the sort of pool that runs out.
TOO_LITTLE = (
    "deepseek-v3.2 --gpu h100x8",
    "qwen3.5-397b-a17b --gpu h200x4",
    "llama-3.1-70b --gpu h100 --tp 2 --ctx 100k --concurrency 8",
    "llama-3.1-8b --gpu l4 --ctx 128k",
    "llama-3.1-8b --free-before 78 --free-after 13 --mem-fraction-static 0.8",
    "llama-3.1-8b --gpu h200 --mem-fraction-static 0.1",
    "gpt-oss-120b --available-bytes 5MB",
    "gpt-oss-120b --gpu h100 --mem-fraction-static 0.776 --weights-per-gpu 60.68GiB",
    "deepseek-v4-flash --available-bytes 1GiB",
    "deepseek-v4-flash --gpu h100x2 --ctx 100k --concurrency 40",
    "qwen3.5-397b-a17b --available-bytes 60GiB --tp 8 --ctx 100k --concurrency 30",
    "qwen3.5-397b-a17b --available-bytes 200MB --tp 8",
    "kimi-k2.6 --gpu b200x4 --ctx 100k --concurrency 4",
)
# Deployments that hold what is asked, and could hold more.
ENOUGH = (
    "qwen3.5-397b-a17b --tp 8 --available-bytes 60GiB --ctx 100k",
    "deepseek-v3.2 --gpu h200x8 --ctx 100k",
    "deepseek-v4-flash --gpu h200x4 --ctx 100k",
    "gpt-oss-120b --gpu h100x2 --ctx 32k",
)


def planned(command: str, *exit_codes: int) -> dict[str, Any]:
    result = run("size", *command.split(), "--format", "json")
    assert result.exit_code in exit_codes, (command, result.stderr)
    return json.loads(result.stdout)  # type: ignore[no-any-return]


def holds(plan: dict[str, Any]) -> tuple[int, int]:
    """Requests and tokens over all ranks and replicas."""
    capacity = plan["capacity"]
    ranks = plan["deployment"]["dp"]
    return capacity["requests_at_context"] * ranks, capacity["max_total_num_tokens"] * ranks


@pytest.mark.parametrize("command", TOO_LITTLE)
def test_what_is_suggested_for_too_little_memory_is_enough(command: str) -> None:
    before = planned(command, 0, 3)
    assert before["advice"], command
    wanted = before["deployment"]["concurrency"] or 1
    for advice in before["advice"]:
        changed = f"{command} {advice['flag']}"
        assert holds(planned(changed, 0)) == (advice["requests"], advice["tokens"]), changed
        assert advice["requests"] >= wanted or "--ctx" not in command, changed


@pytest.mark.parametrize("command", ENOUGH)
def test_what_is_suggested_to_hold_more_holds_more(command: str) -> None:
    before = planned(command, 0)
    assert before["advice"], command
    for advice in before["advice"]:
        after = holds(planned(f"{command} {advice['flag']}", 0))
        assert after == (advice["requests"], advice["tokens"]), advice
        assert after > holds(before)
