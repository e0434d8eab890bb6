"""Yes or no to what was asked."""

from __future__ import annotations

import dataclasses

import pytest

from kvplan.cli.size_runs import unmet_request
from tests import samples


@pytest.mark.parametrize(
    ("options", "requests", "said"),
    [
        ({}, 8, ""),
        ({}, 0, ""),  # the default context: shown in the report, but nobody asked for it
        ({}, None, ""),
        ({"ctx": 100_000}, 1, ""),
        ({"ctx": 100_000}, 0, "--ctx: not one request of 100,000 tokens fits"),
        ({"ctx": 100_000, "concurrency": 8}, 8, ""),
        (
            {"ctx": 100_000, "concurrency": 9},
            8,
            "--concurrency: 8 requests of 100,000 tokens fit at once, not 9; "
            # 9 x 13,107,200,000 less 100 GiB
            "about 10,590,617,600 bytes per GPU are missing",
        ),
        ({"ctx": 100_000, "concurrency": 16, "dp": 2}, 8, ""),
        (
            {"ctx": 100_000, "concurrency": 17, "dp": 2},
            8,
            "--concurrency: 16 requests of 100,000 tokens fit at once, not 17; "
            "about 10,590,617,600 bytes per GPU are missing",
        ),
        ({"concurrency": 9}, 8, "--concurrency: 9 requests fit at no context"),
    ],
)
def test_only_an_explicit_question_can_be_answered_with_no(
    options: dict[str, int], requests: int | None, said: str
) -> None:
    plan = samples.llama(**options)
    capacity = dataclasses.replace(plan.capacity, requests_at_context=requests)
    assert unmet_request(dataclasses.replace(plan, capacity=capacity)) == said
