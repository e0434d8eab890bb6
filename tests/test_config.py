"""The located view names file and key in every problem, and reports all of them at once."""

from __future__ import annotations

from typing import Any

import pytest

from kvplan.config import Config
from kvplan.errors import InputError


def view(**data: Any) -> Config:
    return Config(data, file="config.json")


def problems(config: Config) -> list[str]:
    with pytest.raises(InputError) as caught:
        config.finish()
    return [str(problem) for problem in caught.value.problems]


def test_a_whole_float_is_a_whole_number() -> None:
    config = view(layers=32.0)
    assert config.integer("layers") == 32
    config.finish()


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0, "0 is not between 1 and"),
        (-1, "-1 is not between 1 and"),
        ("32", "'32' is not a whole number"),
        (True, "True is not a whole number"),
        (1.5, "1.5 is not a whole number"),
        ([32], "a list is not a whole number"),
        ({"a": 32}, "a mapping is not a whole number"),
        (10**400, "the number is not between 1 and"),
        (10**9, "1000000000 is not between 1 and"),
    ],
)
def test_what_is_not_a_count_is_named(value: Any, words: str) -> None:
    config = view(layers=value)
    config.integer("layers")
    assert [words in problem for problem in problems(config)] == [True]


def test_aliases_are_tried_in_order_and_named_when_all_are_missing() -> None:
    config = view(n_layer=12, other=None)
    assert config.integer("num_hidden_layers", "n_layer") == 12
    config.integer("other", "another")
    assert problems(config) == ["config.json: other: is missing (also looked for another)"]


def test_all_problems_come_out_together_with_their_paths() -> None:
    config = view(heads="x", text={"layers": 0, "names": [1]}, flag=1)
    config.integer("heads")
    text = config.mapping("text")
    assert text is not None
    text.integer("layers")
    text.items("names", str)
    config.flag("flag")
    found = problems(config)
    assert [problem.split(": ")[1] for problem in found] == ["heads", "text.layers", "text.names", "flag"]


def test_lists_of_the_wrong_length_say_both_lengths() -> None:
    config = view(layer_types=["a", "b"])
    assert config.items("layer_types", str, length=3) is None
    assert problems(config) == ["config.json: layer_types: has 2 entries for 3 layers"]


def test_an_unknown_key_gets_a_near_spelling() -> None:
    config = view(kv_head=8)
    config.only(["kv_heads", "head_dim"])
    assert problems(config) == ["config.json: kv_head: unknown key (did you mean kv_heads?)"]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (float("nan"), "nan is not above 0 and at most 16777216"),
        ("2", "'2' is not a number"),
        (True, "True is not a number"),
        (float("inf"), "inf is not above 0 and at most 16777216"),
        (-3.0, "-3.0 is not above 0 and at most 16777216"),
        (0, "0 is not above 0 and at most 16777216"),
        (10**400, "the number is not above 0 and at most 16777216"),
    ],
)
def test_a_ratio_is_a_positive_number_of_a_possible_size(value: Any, words: str) -> None:
    config = view(factor=value)
    assert config.ratio("factor", default=1.0) == 1.0
    assert problems(config) == [f"config.json: factor: {words}"]


def test_a_file_of_unknown_keys_is_named_key_by_key_without_comparing_each_with_all() -> None:
    config = view(**{f"kv_head_{number}": 8 for number in range(30)}, **{"x" * 1_000_000: 1})
    config.only(["kv_heads"])
    found = problems(config)
    assert found[0] == "config.json: kv_head_0: unknown key (did you mean kv_heads?)"
    assert found[29] == "config.json: kv_head_29: unknown key"
    assert found[30].endswith("xxx: unknown key")


def test_a_name_has_a_length_that_a_line_can_hold() -> None:
    config = view(id="x" * 257, other="x" * 256)
    assert (config.name("id"), config.name("other")) == (None, "x" * 256)
    assert problems(config) == ["config.json: id: 257 characters are too many for a name (at most 256)"]


def test_a_path_of_a_thousand_keys_is_cut_in_the_middle() -> None:
    data: dict[str, Any] = {}
    for _ in range(1_000):
        data = {"text": data}
    config = inner = view(**data)
    while (part := inner.mapping("text")) is not None:
        inner = part
    inner.problem("last", "is wrong")
    assert problems(config) == [f"config.json: {'text.' * 40}...{'.text' * 39}.last: is wrong"]
