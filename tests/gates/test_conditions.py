"""How conditions are written, when they hold, and which can't hold together."""

from __future__ import annotations

import pytest

from kvplan.gates.conditions import contradiction, holds, read_condition
from kvplan.gates.records import Scalar


@pytest.mark.parametrize(
    ("name", "written", "figure", "operator", "value"),
    [
        ("capacity.max_total_num_tokens", ">= 4M", "capacity.max_total_num_tokens", ">=", 4_000_000),
        ("max_total_num_tokens", ">=4Mi", "capacity.max_total_num_tokens", ">=", 4_194_304),
        ("requests_at_context", ">= 40", "capacity.requests_at_context", ">=", 40),
        ("cell_size", "<= 15360", "pool.cell_size", "<=", 15_360),
        ("request.bytes", "<= 3.3GB", "request.bytes", "<=", 3_300_000_000),
        ("request.bytes", "< 3GiB", "request.bytes", "<", 3_221_225_472),
        ("mem_fraction_static", "!= 0.5", None, None, None),
        ("deployment.mem_fraction_static", "> 0.85", "deployment.mem_fraction_static", ">", 0.85),
        ("pool.link", "DSA", "pool.link", "==", None),
        ("deployment.kv_cache_dtype", "= bfloat16", "deployment.kv_cache_dtype", "==", None),
        ("disable_radix_cache", "true", "deployment.disable_radix_cache", "==", None),
        ("pools[0].tokens", "> 5", "pools[0].tokens", ">", 5),
        ("decode.bandwidth", ">= 4.8TB", "decode.bandwidth", ">=", 4_800_000_000_000),
    ],
)
def test_a_condition_is_a_figure_a_sign_and_a_value(
    name: str, written: str, figure: str | None, operator: str | None, value: float | None
) -> None:
    if figure is None:
        with pytest.raises(ValueError, match="means several figures"):
            read_condition(name, written)
        return
    condition = read_condition(name, written)
    assert (condition.figure, condition.operator, condition.value) == (figure, operator, value)


@pytest.mark.parametrize(
    ("name", "written", "words"),
    [
        ("tokens_at_once", ">= 4", "is no figure of a plan"),
        ("capacity.max_total_num_token", ">= 4", "did you mean capacity.max_total_num_tokens?"),
        ("requests_at_contxt", ">= 4", "did you mean requests_at_context?"),
        ("available_bytes", ">= 4", "capacity.available_bytes"),
        ("request.bytes", ">= 3.3XB", "'3.3XB' is not a number, a size or a token count"),
        ("request.bytes", "many", "'many' is not a number, a size or a token count"),
        ("request.bytes", ">= nan", "'nan' is not a number"),
        ("request.bytes", ">=", "has nothing to compare with"),
        ("pool.link", ">= 4", "is no number: only == and != compare it, not >="),
        ("disable_radix_cache", "yes", "'yes' is neither true nor false"),
        ("max_total_num_tokens", ">= 4GB", "'4GB' is a size, and this figure is not in bytes"),
        ("free_gib", "<= 60GiB", "'60GiB' is a size, and this figure is not in bytes"),
    ],
)
def test_what_is_no_condition_is_named(name: str, written: str, words: str) -> None:
    with pytest.raises(ValueError, match=r".") as raised:
        read_condition(name, written)
    assert words in str(raised.value)


@pytest.mark.parametrize(
    ("name", "written", "actual", "expected"),
    [
        ("cell_size", "<= 15360", 15_360, True),
        ("cell_size", "< 15360", 15_360, False),
        ("cell_size", "7086.75", 7086.75, True),
        ("cell_size", "!= 15360", 15_361, True),
        ("cell_size", "null", None, True),
        ("cell_size", "!= null", 15_360, True),
        ("cell_size", "null", 15_360, False),
        ("requests_at_context", ">= 0", None, False),
        ("requests_at_context", "<= 9", None, False),
        ("pool.link", "DSA", "DSA", True),
        ("pool.link", "!= DSA", "DSA", False),
        ("pool.link", "dsa", "DSA", False),
        ("engine.version", "0.5", "0.50", False),
        ("disable_radix_cache", "true", True, True),
        ("disable_radix_cache", "!= true", True, False),
    ],
)
def test_when_a_condition_holds(name: str, written: str, actual: Scalar, expected: bool) -> None:
    assert holds(read_condition(name, written), actual) is expected


@pytest.mark.parametrize(
    ("written", "impossible"),
    [
        ([">= 4", "<= 4"], False),
        ([">= 4", "< 4"], True),
        (["> 4", "<= 4"], True),
        ([">= 5k", "<= 4Ki"], True),
        ([">= 2", "> 3", "<= 4"], False),
        (["== 4", ">= 4"], False),
        (["== 4", "> 4"], True),
        (["== 4", "< 4"], True),
        (["4", "5"], True),
        (["4k", "4000"], False),
        (["== 4", "!= 4"], True),
        (["!= 4", ">= 4"], False),
        (["null", ">= 4"], True),
    ],
)
def test_conditions_that_no_figure_can_meet(written: list[str], impossible: bool) -> None:
    conditions = [read_condition("cell_size", text) for text in written]
    assert bool(contradiction(conditions)) is impossible


def test_two_texts_contradict_each_other() -> None:
    conditions = [read_condition("pool.link", text) for text in ("DSA", "MLA")]
    assert contradiction(conditions) == "== DSA and == MLA can't hold together"
