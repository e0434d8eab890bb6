"""Recurrent state that does not fit: the missing bytes are exact."""

from __future__ import annotations

import pytest

import kvplan

DRAFTS = {"speculative_algorithm": "EAGLE", "max_running_requests": 8}


# Drafts of 0.5.12 need the radix cache off, where requests and not bytes decide the slots.
@pytest.mark.parametrize(("engine_version", "options"), [("0.5.23", {}), ("0.5.23", DRAFTS), ("0.5.12", {})])
def test_the_missing_bytes_give_one_slot_and_one_byte_less_gives_none(
    engine_version: str, options: dict[str, str | int]
) -> None:
    model = kvplan.load("qwen3.5-397b-a17b")

    def plan(available_bytes: int) -> kvplan.Plan:
        settings = {"available_bytes": available_bytes, "engine_version": engine_version, **options}
        return kvplan.plan(model, kvplan.Deployment(**settings))  # type: ignore[arg-type]  # a table of options

    with pytest.raises(kvplan.DoesNotFitError) as refusal:
        plan(1_000_000)
    enough = 1_000_000 + refusal.value.shortfall_bytes
    assert plan(enough).capacity.max_mamba_cache_size == 1
    with pytest.raises(kvplan.DoesNotFitError, match="1 bytes are missing"):
        plan(enough - 1)
