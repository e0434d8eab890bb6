"""YAML becomes plain data; what would become anything else is refused with its key path."""

from __future__ import annotations

from typing import Any

import pytest

from kvplan.errors import InputError, Problem
from kvplan.plain_yaml import parse


def refusals(text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        parse(text, file="F", problems=[])
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("16", 16),
        ("-1", -1),
        ("+3", 3),
        ("0", 0),
        ("true", True),
        ("FALSE", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("0.5", 0.5),
        ("1.0e6", 1_000_000.0),
        (".inf", float("inf")),
        ("-.INF", float("-inf")),
        ("bfloat16", "bfloat16"),
        ("'16'", "16"),
        ('"true"', "true"),
        ("|\n  text\n", "text\n"),
    ],
)
def test_a_scalar_is_what_it_looks_like(text: str, value: Any) -> None:
    read = parse(f"key: {text}", file="F", problems=[])["key"]
    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize(
    "text",
    ("on off yes No y 12:30 1:2:3 1e6 1E+6 017 0o17 0x10 0b1 1_000 1,000 2024-01-31 = 1_0.5 one").split(),
)
def test_what_yaml_versions_disagree_on_stays_a_string(text: str) -> None:
    assert parse(f"key: {text}", file="F", problems=[]) == {"key": text}


def test_keys_are_names_whatever_they_look_like() -> None:
    assert parse("on: 1\n2: x\nnull: y\n<<: z", file="F", problems=[]) == {
        "on": 1,
        "2": "x",
        "null": "y",
        "<<": "z",
    }


def test_lists_and_mappings_nest_in_both_styles() -> None:
    text = "a:\n  - {b: 1, c: [x, 'y']}\n  - d:\n      - 2\n"
    assert parse(text, file="F", problems=[]) == {"a": [{"b": 1, "c": ["x", "y"]}, {"d": [2]}]}


def test_nothing_is_none() -> None:
    assert parse("# nothing but a comment\n", file="F", problems=[]) is None


BOMB = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n"
NO_ALIASES = "YAML anchors and aliases are not read (write the value out)"
TAG = "is not read (leave the tag out)"
REFUSED = {
    "a tag that runs code": (
        "layers:\n  - !!python/object/apply:os.system ['exit 1']\n",
        f"F: layers[0]: the YAML tag '!!python/object/apply:os.system' {TAG}",
    ),
    "a tag of one's own": ("a: {b: !model x}", f"F: a.b: the YAML tag '!model' {TAG}"),
    "a standard tag": ("a: !!int '3'", f"F: a: the YAML tag '!!int' {TAG}"),
    "a tag on the document": ("!!omap\na: 1", f"F: the YAML tag '!!omap' {TAG}"),
    "a tag on a key": ("a:\n  !!str b: 1", f"F: a: the YAML tag '!!str' {TAG}"),
    "an anchor": ("a: &x 1", f"F: a: {NO_ALIASES}"),
    "an alias as a key": ("a: 1\n*x : 2", f"F: {NO_ALIASES}"),
    "an alias bomb": (BOMB, f"F: a: {NO_ALIASES}"),
    "a list as a key": ("a:\n  ? [1, 2]\n  : 3", "F: a: has a list or a mapping as a key"),
    "two documents": ("a: 1\n---\nb: 2", "F: holds more than one YAML document"),
    "a number without end": (f"a: [{'9' * 5000}]", "F: a[0]: a number of 5000 digits is too long"),
    "deep nesting": ("- " * 100, "F: nests deeper than 32 levels"),
}


@pytest.mark.parametrize(("text", "line"), REFUSED.values(), ids=REFUSED)
def test_everything_but_plain_data_is_refused_where_it_stands(text: str, line: str) -> None:
    assert refusals(text) == [line]


@pytest.mark.parametrize("text", ["a: [1, 2", "a: b: c", "a: 'x", "a: \x01", "\ta: 1", "a: @x"])
def test_broken_syntax_is_one_line_without_the_excerpt(text: str) -> None:
    (line,) = refusals(text)
    assert line.startswith("F: is not valid YAML: ")
    assert "\n" not in line


def test_every_duplicate_key_is_noted_with_its_path_and_lines() -> None:
    problems: list[Problem] = []
    parse("a: 1\nlayers:\n  - kind: full\n    kind: mla\na: 2\n", file="F", problems=problems)
    assert [str(problem) for problem in problems] == [
        "F: layers[0].kind: is there twice, in line 3 and in line 4 (keep one)",
        "F: a: is there twice, in line 1 and in line 5 (keep one)",
    ]


def test_duplicates_found_before_a_refusal_come_out_with_it() -> None:
    assert refusals("a: 1\na: 2\nb: !x 3\n") == [
        "F: a: is there twice, in line 1 and in line 2 (keep one)",
        f"F: b: the YAML tag '!x' {TAG}",
    ]
