"""An architecture as a model YAML that reads back to the same architecture (all but where it came from)."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Any

from kvplan.architecture import Architecture, Source
from kvplan.frozen import dataclass
from kvplan.layers import Layer
from kvplan.readers.native import FACTS, NATIVE_VERSION
from kvplan.readers.native_facts import facts_of

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*\Z")
# Words that YAML 1.1 reads as a bool or as null.
_YAML_WORDS = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))
# Longest pattern of layers that is looked for; the longest published one has 8.
_MAX_PERIOD = 64
# `- repeat: N` and `layers:` above the lines of a group.
_GROUP_LINES = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """`times` repetitions of runs of equal layers, each `(layer, count)`."""

    times: int
    runs: tuple[tuple[Layer, int], ...]


def to_yaml(architecture: Architecture) -> str:
    """The model as YAML text: facts first, then one line per run of equal layers.

    Deterministic. Defaults are left out, repeating patterns become `repeat` groups.
    """
    return "".join(f"{line}\n" for line in _lines(architecture))


def _lines(architecture: Architecture) -> Iterator[str]:
    yield _origin(architecture.source)
    yield f"kvplan: {NATIVE_VERSION}"
    yield f"id: {_scalar(architecture.id)}"
    for fact in FACTS:
        value = getattr(architecture, fact.name)
        if not fact.required and value == fact.default:
            continue
        if fact.many:
            yield f"{fact.key}:"
            yield from (f"  - {_flow(item)}" for item in value)
        elif dataclasses.is_dataclass(fact.types[0]) and _holds_records(value):
            yield f"{fact.key}:"
            yield from (f"  {key}: {text}" for key, text in _pairs(value))
        else:
            yield f"{fact.key}: {_flow(value)}"
    if architecture.source.kind != "built":
        yield f"source: {_mapping(_pairs(architecture.source))}"
    yield f"num_layers: {len(architecture.layers)}"
    yield "layers:"
    for block in blocks(architecture.layers):
        yield from _block_lines(block)


def _origin(source: Source) -> str:
    if source.kind == "built":
        return "# Written by kvplan."
    revision = f", revision {_scalar(source.revision)}" if source.revision else ""
    return f"# Written by kvplan from {_scalar(source.kind)}: {_scalar(source.location)}{revision}"


def _block_lines(block: Block) -> Iterator[str]:
    indent = "  "
    if block.times > 1:
        yield f"  - repeat: {block.times}"
        yield "    layers:"
        indent = "      "
    for layer, count in block.runs:
        yield f"{indent}- {_layer(layer, count)}"


def _layer(layer: Layer, count: int) -> str:
    counted = [("count", str(count))] if count > 1 else []
    return _mapping([("kind", layer.kind), *counted, *_pairs(layer)])


def _pairs(record: Any) -> Sequence[tuple[str, str]]:
    """Key and text of each field that reading would not fill in by itself."""
    kind: Any = type(record)
    pairs = []
    for fact in facts_of(kind):
        value = getattr(record, fact.name)
        known = getattr(record, fact.fallback) if fact.fallback else fact.default
        if value != known or (fact.required and not fact.fallback):
            pairs.append((fact.key, _flow(value)))
    return pairs


def _holds_records(record: Any) -> bool:
    return any(dataclasses.is_dataclass(getattr(record, field.name)) for field in dataclasses.fields(record))


def _flow(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if dataclasses.is_dataclass(value):
        kind = getattr(value, "kind", None)
        return _mapping([*([("kind", kind)] if kind else []), *_pairs(value)])
    return _scalar(value)


def _mapping(pairs: Sequence[tuple[str, str]]) -> str:
    return "{" + ", ".join(f"{key}: {text}" for key, text in pairs) + "}"


def _scalar(text: str) -> str:
    """One line of printable ASCII that YAML reads as this very text, also inside `{}`."""
    if _PLAIN.match(text) and text.lower() not in _YAML_WORDS:
        return text
    import yaml  # noqa: PLC0415 - loaded where it is needed, to keep start-up fast

    return yaml.safe_dump(text, default_style='"', width=float("inf")).rstrip("\n")


def blocks(layers: Sequence[Layer]) -> list[Block]:
    """The layers in order as runs and repeated patterns, in the fewest lines.

    From the last layer to the first, each position keeps its cheapest step: a run of equal layers, or
    a pattern with all its repetitions. Linear in the number of layers.
    """
    names: dict[Layer, int] = {}
    order = [names.setdefault(layer, len(names)) for layer in layers]
    costs = [(0, 0)] * (len(order) + 1)
    steps = [(0, 0)] * len(order)
    same = [0] * (_MAX_PERIOD + 1)
    for start in reversed(range(len(order))):
        _extend(same, order, start)
        costs[start], steps[start] = min(_steps(order, start, same, costs), key=lambda option: option[0])
    return list(_walk(layers, steps))


def _extend(same: list[int], order: Sequence[int], start: int) -> None:
    """Keep in `same[p]` how many layers from `start` on equal the one `p` layers later."""
    for period in range(1, min(_MAX_PERIOD, len(order) - start - 1) + 1):
        same[period] = same[period] + 1 if order[start] == order[start + period] else 0


def _steps(
    order: Sequence[int], start: int, same: Sequence[int], costs: Sequence[tuple[int, int]]
) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Each way to go on from `start`: ((lines, blocks) to the end, (layers of a pattern, repetitions))."""
    runs = 1
    for period in range(2, _MAX_PERIOD + 1):
        if start + period > len(order):
            break
        runs += order[start + period - 1] != order[start + period - 2]
        times = same[period] // period + 1
        if times > 1 and runs > 1:
            lines, count = costs[start + period * times]
            yield (lines + _GROUP_LINES + runs, count + 1), (period, times)
    longest = same[1] + 1
    for length in range(longest, max(0, longest - _MAX_PERIOD), -1):
        lines, count = costs[start + length]
        yield (lines + 1, count + 1), (length, 1)


def _walk(layers: Sequence[Layer], steps: Sequence[tuple[int, int]]) -> Iterator[Block]:
    start = 0
    while start < len(layers):
        period, times = steps[start]
        part = layers[start : start + period]
        runs = tuple((layer, len(list(group))) for layer, group in itertools.groupby(part))
        yield Block(times=times, runs=runs)
        start += period * times
