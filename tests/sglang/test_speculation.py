"""Speculative decoding: numbers that the engine fills in, and algorithms and backends that it refuses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kvplan import Deployment, InputError, RefusedError, load, plan
from kvplan.architecture import Architecture
from kvplan.sglang.model import EngineModel, classify
from kvplan.sglang.rules import rules_for
from kvplan.sglang.speculation import resolved
from tests.models import DEEPSEEK_V3, LLAMA_8B, QWEN_35

GIB = 1 << 30


def model(architecture: Architecture) -> EngineModel:
    return classify(architecture, rules_for("0.5.23"), disable_hybrid_swa_memory=False)


@pytest.mark.parametrize(
    ("architecture", "options", "expected"),
    [
        # (steps, top-k, draft tokens) as SGLang 0.5.23 resolves them
        (DEEPSEEK_V3, {"speculative_algorithm": "EAGLE"}, (3, 1, 4)),
        (LLAMA_8B, {"speculative_algorithm": "eagle3"}, (5, 4, 8)),
        (QWEN_35, {"speculative_algorithm": "NEXTN"}, (3, 1, 4)),
        (LLAMA_8B, {"speculative_algorithm": "NGRAM"}, (None, 10, 12)),
        # a chain verifies one token more than it has steps, whatever is asked
        (
            QWEN_35,
            {
                "speculative_algorithm": "EAGLE",
                "speculative_num_steps": 2,
                "speculative_eagle_topk": 1,
                "speculative_num_draft_tokens": 9,
            },
            (2, 1, 3),
        ),
    ],
)
def test_numbers_that_the_engine_fills_in(
    architecture: Architecture, options: dict[str, Any], expected: tuple[int | None, int, int]
) -> None:
    made = resolved(model(architecture), Deployment(**options))
    found = (made.speculative_num_steps, made.speculative_eagle_topk, made.speculative_num_draft_tokens)
    assert found == expected


def test_drafts_of_a_hybrid_keep_states_for_the_filled_in_tokens() -> None:
    """EAGLE alone is EAGLE with 3 steps, top-k 1 and 4 draft tokens."""
    named: dict[str, Any] = {
        "speculative_num_steps": 3,
        "speculative_eagle_topk": 1,
        "speculative_num_draft_tokens": 4,
    }
    short, full = (
        plan(QWEN_35, Deployment(tp=8, available_bytes=60 * GIB, speculative_algorithm="EAGLE", **more))
        for more in ({}, named)
    )
    assert short.capacity == full.capacity


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"speculative_algorithm": "STANDALONE"}, "STANDALONE needs a draft model"),
        ({"speculative_algorithm": "DFLASH"}, "DFLASH needs a draft model"),
        (
            {"speculative_algorithm": "EAGLE", "gpu": "b200", "attention_backend": "trtllm_mha"},
            "chains of drafts",
        ),
        ({"speculative_algorithm": "NGRAM", "page_size": 16}, "a tree of drafts .* needs the flashinfer"),
        ({"speculative_algorithm": "EAGLE", "page_size": 16, "attention_backend": "fa4"}, "a tree of drafts"),
    ],
)
def test_what_the_engine_does_not_draft(options: dict[str, Any], words: str) -> None:
    with pytest.raises(RefusedError, match=words):
        plan(LLAMA_8B, Deployment(**options))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"speculative_algorithm": "MEDUSA"}, "unknown algorithm 'MEDUSA'"),
        (
            {"speculative_algorithm": "EAGLE", "speculative_num_steps": 3},
            "--speculative-eagle-topk: is missing",
        ),
    ],
)
def test_numbers_that_can_not_be(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        plan(LLAMA_8B, Deployment(**options))


def test_drafts_that_are_not_counted_are_named() -> None:
    warned = plan(LLAMA_8B, Deployment(speculative_algorithm="EAGLE3")).warnings
    assert any("without KV of the draft" in text for text in warned)


def test_a_bundled_dspark_draft_verifies_its_block_and_a_token() -> None:
    """V4.1-Flash: dspark_block_size 5 (its config.json); the cell counts 41 for 40 layers."""
    flash = load("deepseek-ai/DeepSeek-V4.1-Flash", source="bundled")
    made = plan(flash, Deployment(tp=4, speculative_algorithm="DSPARK", engine_version="0.5.21"))
    assert made.resolved.speculative_num_draft_tokens == 6
    assert made.pool.cell_size == pytest.approx(1_630 * 41 / 40, rel=1e-12)
    with pytest.raises(RefusedError, match="is verified 6 tokens at a time, not 4"):
        plan(flash, Deployment(tp=4, speculative_algorithm="DSPARK", speculative_num_draft_tokens=4))
    ranks = Deployment(tp=4, dp=4, enable_dp_attention=True, speculative_algorithm="DSPARK")
    assert any("asks for --enable-dp-lm-head" in reason for reason in plan(flash, ranks).stops)
    assert plan(flash, replace(ranks, enable_dp_lm_head=True)).stops == ()


def test_a_dspark_draft_of_its_own_is_not_planned() -> None:
    flash = load("deepseek-ai/DeepSeek-V4-Flash", source="bundled")
    with pytest.raises(RefusedError, match="DSPARK needs a draft model"):
        plan(flash, Deployment(tp=4, speculative_algorithm="DSPARK"))
