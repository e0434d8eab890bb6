"""The floor of a decode step, as `size` words it."""

from __future__ import annotations

from typing import Any

import pytest

import kvplan
from kvplan.render.decode import floor


def told(model: str, **options: Any) -> list[tuple[str, str]]:
    plan = kvplan.plan(kvplan.load(model, source="bundled"), kvplan.Deployment(**options))
    return [(remark.tag, remark.text) for remark in floor(plan)]


@pytest.mark.parametrize(
    ("model", "options", "lines"),
    [
        (
            "qwen/qwen3.5-397b-a17b",
            {"gpu": "h200", "tp": 8, "ctx": 100_000, "concurrency": 8},
            [
                (
                    "decode",
                    "floor of 3.51 ms a step, not a forecast: for 8 requests of 100,000 tokens each GPU "
                    "reads 12.48 GB of cache and 4.35 GB of active weights (estimated) at 4.80 TB/s",
                ),
                (
                    "experts",
                    "10 of 512 in each layer are the fewest; if each request picks by chance, 74.7 in the "
                    "mean: 16.57 GB of weights, 6.05 ms",
                ),
            ],
        ),
        (
            "deepseek-v3",
            {"gpu": "h200", "tp": 8, "ctx": 100_000, "concurrency": 1, "speculative_algorithm": "EAGLE"},
            [
                (
                    "decode",
                    "floor of 2.65 ms a step, not a forecast: for 1 request of 100,000 tokens each GPU reads "
                    "7.03 GB of cache and 5.70 GB of active weights (estimated) at 4.80 TB/s, the draft left "
                    "out",
                ),
                ("experts", "8 of 256 in each layer are the fewest"),
            ],
        ),
        (
            "llama-3.1-70b",
            {"gpu": "h100", "tp": 2, "pp": 2, "ctx": 32_000, "concurrency": 4},
            [
                (
                    "decode",
                    "floor of 23.88 ms a step, not a forecast: for 2 requests of 32,000 tokens in a "
                    "micro-batch each GPU reads 10.49 GB of cache and 69.50 GB of active weights (estimated) "
                    "at 3.35 TB/s, summed over 2 stages",
                )
            ],
        ),
        (
            "llama-3.1-70b",
            {"gpu": "sm90", "gpu_memory": 90 << 30, "tp": 2, "ctx": 1_000, "concurrency": 4},
            [("decode", "no floor: the memory bandwidth of sm90 is not known")],
        ),
        ("llama-3.1-70b", {"tp": 2, "ctx": 1_000, "concurrency": 4}, []),
    ],
)
def test_a_step_in_words(model: str, options: dict[str, Any], lines: list[tuple[str, str]]) -> None:
    assert told(model, **options) == lines


def test_ranks_are_told_apart() -> None:
    options: dict[str, Any] = {"gpu": "h200", "tp": 8, "dp": 8, "enable_dp_attention": True}
    (_, text), _ = told("deepseek-v3", **options, ctx=1_000, concurrency=32)
    assert "for 4 requests of 1,000 tokens on each rank each GPU reads" in text
