"""Points of the curves."""

from __future__ import annotations

import pytest

from kvplan.curve import contexts, of_plan, parse_range
from kvplan.deployment import Deployment
from kvplan.planning import plan
from tests.models import QWEN_35, V4_FLASH


@pytest.mark.parametrize(
    ("text", "span"), [("1k:1M", (1000, 1_000_000)), ("1:2", (1, 2)), ("1Ki:128Ki", (1024, 131_072))]
)
def test_a_range(text: str, span: tuple[int, int]) -> None:
    assert parse_range(text) == span


@pytest.mark.parametrize("text", ["100k", "1k:1k", "2k:1k", "0:1k", "a:b", "1k:", ":"])
def test_not_a_range(text: str) -> None:
    with pytest.raises(ValueError, match=r"range|token count|start above 0"):
        parse_range(text)


def test_contexts_are_spread_evenly_on_a_log_scale_with_both_ends() -> None:
    assert contexts(1000, 1_000_000, 4) == (1000, 10_000, 100_000, 1_000_000)


def test_the_points_of_a_model_are_its_exact_figures() -> None:
    made = plan(V4_FLASH, Deployment(assume_supported=True))
    (series,) = of_plan(made, [100, 100_000])
    # 43 x 100 x 584 + 21 x 25 x 716 + 21 x 81,920 + 20 x 524,288 = 2,511,200 + 375,900 + 12,206,080
    assert series.points[0].bytes == 15_093_180
    assert series.points[0].bytes_per_token == 150_931.8
    # 43 x 74,752 + 21 x (512 x 584 + 25,000 x 132) + 20 x 781 x 584
    assert series.points[1].read_bytes_per_step == 87_915_584
    assert series.knees == (128,)


def test_one_layer_of_each_kind_in_order_of_appearance() -> None:
    series = of_plan(plan(QWEN_35, Deployment()), [1000], per_layer=True)
    # 45 layers keep 4,268,032 bytes each; 1,000 x 2,048
    assert [(one.name, one.points[0].bytes) for one in series] == [("gdn", 4_268_032), ("full", 2_048_000)]
