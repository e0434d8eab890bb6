"""Curves drawn in characters, both axes logarithmic."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import field

from kvplan.frozen import dataclass

GLYPHS = "ox+#@%&$"
_GUTTER = 9  # columns for the labels of the vertical axis
_STEPS = ((12, "T"), (9, "G"), (6, "M"), (3, "k"), (0, ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Values by column, drawn with one character; 0 is not drawn. `marks`: characters on the curve."""

    glyph: str
    values: Sequence[float]
    marks: Mapping[int, str] = field(default_factory=dict)


def columns(width: int) -> int:
    """Columns that are left for curves on a page of `width` columns."""
    return width - _GUTTER - 2


def chart(title: str, curves: Sequence[Curve], *, at: Sequence[int], height: int) -> tuple[str, ...]:
    """Lines of one chart: a title, `height` rows, and the horizontal axis with the contexts in `at`.

    Every curve has a value for each of `at`.
    """
    values = [value for curve in curves for value in curve.values if value > 0]
    if not values:
        return (title, "  nothing to draw: all values are 0")
    low, high = _bounds(min(values), max(values))
    rows = [[" "] * len(at) for _ in range(height)]
    for curve in curves:
        _draw(rows, curve, low, high)
    labelled = zip(_labels(low, high, height), rows, strict=True)
    lines = [f"{label:>{_GUTTER}} |{''.join(row)}" for label, row in labelled]
    return (title, *(line.rstrip() for line in lines), *_axis(at))


def _bounds(least: float, most: float) -> tuple[int, int]:
    """Whole decades around all values."""
    low, high = math.floor(math.log10(least)), math.ceil(math.log10(most))
    return low, max(high, low + 1)


def _row(value: float, low: int, high: int, height: int) -> int:
    share = (math.log10(value) - low) / (high - low)
    return height - 1 - round(share * (height - 1))


def _draw(rows: list[list[str]], curve: Curve, low: int, high: int) -> None:
    before: int | None = None
    for column, value in enumerate(curve.values):
        if value <= 0:
            before = None
            continue
        row = _row(value, low, high, len(rows))
        start = row if before is None else before + (row > before) - (row < before)
        for place in range(min(start, row), max(start, row) + 1):
            rows[place][column] = curve.glyph
        rows[row][column] = curve.marks.get(column, curve.glyph)
        before = row


def _labels(low: int, high: int, height: int) -> list[str]:
    """A label on the row of each decade."""
    labels = [""] * height
    for decade in range(low, high + 1):
        name = _short(10**decade) if decade >= 0 else f"{10.0**decade:g} "
        labels[_row(10.0**decade, low, high, height)] = f"{name}B"
    return labels


def _short(value: int) -> str:
    """`100k`; whole steps of a thousand."""
    for power, unit in _STEPS:
        if value >= 10**power:
            return f"{value / 10**power:g} {unit}" if unit else f"{value:g} "
    return f"{value:g} "


def _axis(at: Sequence[int]) -> tuple[str, str]:
    """The line below the chart with a tick at each power of ten, and the contexts below the ticks."""
    ticks = {0: at[0], len(at) - 1: at[-1]}
    for power in range(1, 16):
        column = min(range(len(at)), key=lambda place: abs(math.log(at[place] / 10**power)))
        if at[0] <= 10**power <= at[-1]:
            ticks[column] = 10**power
    line = "".join("+" if column in ticks else "-" for column in range(len(at)))
    names = [" "] * (len(at) + _GUTTER)
    end = 0
    for column, value in sorted(ticks.items()):
        name = _short(value).replace(" ", "")
        start = max(0, min(column - len(name) // 2, len(at) - len(name)))
        if start >= end:
            names[start : start + len(name)] = name
            end = start + len(name) + 1
    gutter = " " * _GUTTER
    return f"{gutter} +{line}", f"{gutter}  {''.join(names).rstrip()}"
