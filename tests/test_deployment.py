"""A deployment refuses impossible values by the flag's name, all at once."""

from __future__ import annotations

from typing import Any

import pytest

from kvplan.deployment import Deployment
from kvplan.errors import InputError


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"tp": 0}, "--tp: 0 is not a whole number of at least 1"),
        ({"page_size": -1}, "--page-size: -1 is not a whole number of at least 1"),
        ({"ctx": 1.5}, "--ctx: 1.5 is not a whole number of at least 1"),
        ({"mem_fraction_static": 1.5}, "--mem-fraction-static: 1.5 is not above 0 and at most 1"),
        ({"mamba_full_memory_ratio": 0}, "--mamba-full-memory-ratio: 0 is not above 0"),
        ({"available_bytes": 1, "free_gib": 1.0, "pre_model_load_gib": 2.0}, "two budgets are given"),
        ({"free_gib": 1.0}, "--pre-model-load-gib: is missing"),
        (
            {"pre_model_load_gib": float("inf"), "free_gib": 1.0},
            "--pre-model-load-gib: inf is no number of GiB that a GPU has",
        ),
        ({"tp": 8, "dp": 3, "enable_dp_attention": True}, "--dp: 3 attention-DP ranks do not divide --tp 8"),
    ],
)
def test_impossible_values(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as caught:
        Deployment(**options)
    assert words in str(caught.value)


def test_every_problem_is_named() -> None:
    with pytest.raises(InputError) as caught:
        Deployment(tp=0, pp=0, swa_full_tokens_ratio=2.0)
    assert [problem.key for problem in caught.value.problems] == ["--tp", "--pp", "--swa-full-tokens-ratio"]


@pytest.mark.parametrize(
    ("tp", "dp", "attention", "ranks", "heads_over"),
    [(8, 1, False, 1, 8), (8, 8, True, 8, 1), (8, 2, True, 2, 4), (8, 2, False, 1, 8)],
)
def test_plain_dp_is_replicas_and_attention_dp_splits_the_group(
    tp: int, dp: int, attention: bool, ranks: int, heads_over: int
) -> None:
    deployment = Deployment(tp=tp, dp=dp, enable_dp_attention=attention)
    assert (deployment.attention_dp, deployment.attention_tp) == (ranks, heads_over)
