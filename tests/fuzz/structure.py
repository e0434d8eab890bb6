"""Mutations of a mapping as JSON or YAML would give it: the shape stays plain data, the content does not."""

from __future__ import annotations

import math
from random import Random
from typing import Any

# What a value may be replaced by: nothing, other types, limits and what lies behind them, hostile text.
VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    1,
    -1,
    2,
    3,
    7,
    -(1 << 31),
    10_000,
    10_001,
    (1 << 24) - 1,
    1 << 24,
    (1 << 24) + 1,
    1 << 31,
    1 << 40,
    1 << 60,
    1 << 63,
    10**30,
    -(10**30),
    10**400,
    0.0,
    -0.0,
    0.5,
    1.0,
    64.0,
    1e-300,
    1e6,
    1e15,
    1e308,
    -1e308,
    math.nan,
    math.inf,
    -math.inf,
    "",
    " ",
    "0",
    "64",
    "1e6",
    "auto",
    "bfloat16",
    "float8_e4m3fn",
    "\x1b[31mred\x1b[0m",
    "[red]x[/red]",
    "[/x]",
    "line\nline\r\x00\x07\x7f\x9b",
    "\u202egnp.exe",
    "日本語🙂",
    "../../etc/passwd",
    "x" * 5_000,
    [],
    [None],
    [0],
    [-1, 1],
    [[]],
    ["full_attention"],
    ["\x1b[2J"],
    [math.nan],
    {},
    {"": None},
    {"rope_type": "yarn", "factor": math.inf},
    {"a": {"b": {"c": [1, {"d": None}]}}},
)
_FACTORS = (0, -1, 2, 3, 1 << 10, 1 << 20, 0.5, 1.5)
_DEPTHS = (1, 2, 4, 40, 900)
_LENGTHS = (0, 1, 2, 31, 1_000, 9_000, 20_000)
_WIDE = "\x1b[31m\u202e[b] é"


def mutated(mapping: dict[str, Any], other: dict[str, Any], random: Random) -> dict[str, Any]:
    """A copy of `mapping` with one to four changes, some of which take values from `other`."""
    for _ in range(random.choice((1, 1, 1, 2, 2, 3, 4))):
        changed = _in_mapping(mapping, other, random)
        mapping = changed if isinstance(changed, dict) else mapping
    return mapping


def nested(value: Any, depth: int, random: Random) -> Any:
    """The value inside `depth` lists or mappings."""
    listed = random.random() < 0.5
    for _ in range(depth):
        value = [value] if listed else {"text_config": value}
    return value


def _in_mapping(mapping: dict[str, Any], other: dict[str, Any], random: Random) -> Any:
    """Change one entry, or go down into it; what is not touched is shared with the original."""
    if not mapping:
        return {"kvplan": random.choice(VALUES)}
    key = random.choice(tuple(mapping))
    value = mapping[key]
    if value and random.random() < 0.6:
        if isinstance(value, dict):
            return {**mapping, key: _in_mapping(value, other, random)}
        if isinstance(value, list):
            return {**mapping, key: _in_list(value, other, random)}
    match random.randrange(10):
        case 0:
            return {name: mapping[name] for name in mapping if name != key}
        case 1:
            return {(_renamed(name, random) if name == key else name): mapping[name] for name in mapping}
        case 2:
            return {**mapping, key: mapping[random.choice(tuple(mapping))]}
        case 3 if other:
            name = random.choice(tuple(other))
            return {**mapping, name: other[name]}
        case 4:
            return {**mapping, key: nested(value, random.choice(_DEPTHS), random)}
        case 5:
            return {**mapping, "text_config": {**mapping}, key: random.choice(VALUES)}
        case _:
            return {**mapping, key: _replaced(value, random)}


def _in_list(items: list[Any], other: dict[str, Any], random: Random) -> list[Any]:
    place = random.randrange(len(items))
    value = items[place]
    if isinstance(value, dict) and random.random() < 0.7:
        return [*items[:place], _in_mapping(value, other, random), *items[place + 1 :]]
    match random.randrange(5):
        case 0:
            return items[:place]
        case 1:
            return [*items, value]
        case 2:
            return items * 2
        case 3:
            return [*items[:place], _replaced(value, random), *items[place + 1 :]]
        case _:
            return (items * (random.choice(_LENGTHS) // len(items) + 1))[: random.choice(_LENGTHS)]


def _replaced(value: Any, random: Random) -> Any:
    """Something near the value, or something else altogether."""
    chosen = random.random()
    if chosen < 0.4 or isinstance(value, bool) or value is None:
        return random.choice(VALUES)
    match value:
        case int() | float():
            near = abs(value) < 1e300  # beyond that, Python's own arithmetic raises
            return (value * random.choice(_FACTORS) if near else -value) + random.choice((0, 0, 1, -1))
        case str():
            return random.choice((value.upper(), value + _WIDE, value[:-1], f" {value}", [value], value * 50))
        case list():
            return random.choice((value[:-1], value * 2, value[::-1], [value], dict.fromkeys("ab", value)))
        case _:
            return random.choice((list(value), [value], {}, str(list(value))))


def _renamed(key: str, random: Random) -> str:
    return random.choice(
        (key.upper(), key[:-1], f"{key}s", f" {key}", key + _WIDE, "", f"{key}.{key}", "kvplan")
    )
