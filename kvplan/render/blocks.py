"""A report before it has a format: lines, grids and tagged remarks, all plain strings.

`table` and `markdown` draw the same report; what stands in it is decided once, where it is built.
"""

from __future__ import annotations

from kvplan.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a grid: figures are aligned right and never broken, words are wrapped."""

    heading: str
    figures: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Rows of cells under a title; every row has one cell per column."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """A tagged line: `RESULT`, `assumed`, `warning` ... `strong` for the answer, `alarm` for a warning."""

    tag: str
    text: str
    strong: bool = False
    alarm: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything that one command shows to people, top to bottom.

    `title` names what was planned, `facts` say with which settings, `answers` follow the grids.
    `pictures` are drawn in characters, each a tuple of lines.
    """

    title: str
    facts: tuple[str, ...] = ()
    pictures: tuple[tuple[str, ...], ...] = ()
    grids: tuple[Grid, ...] = ()
    answers: tuple[Remark, ...] = ()
    remarks: tuple[Remark, ...] = ()
