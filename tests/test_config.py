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
        ([32], "[32] is not a whole number"),
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


def test_not_a_number_is_not_a_number() -> None:
    config = view(factor=float("nan"))
    assert config.number("factor", default=1.0) == 1.0
    assert problems(config) == ["config.json: factor: nan is not a number"]
