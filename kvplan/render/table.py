"""Reports for a terminal, a pipe or a CI log, drawn by Rich into a string.

Nothing is markup: every string reaches Rich as `Text`. Figures are never wrapped or cut: columns of
words give way, and a page that is narrower than its figures gets lines that are longer than asked.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Literal

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from kvplan.render.blocks import Grid, Remark, Report
from kvplan.render.text import visible

DEFAULT_WIDTH = 80
_GAPS = (2, 1)  # blanks between columns: as wide as words stay whole
_LEAST_WORDS = 12  # a column of words is not made narrower than this


def render(report: Report, *, width: int = DEFAULT_WIDTH, colour: bool = False) -> str:
    """The report at `width` columns, with a final newline; `colour` adds ANSI styles, never meaning."""
    parts, width = page(report, width=width)
    return _draw(parts, width=width, colour=colour)


def page(report: Report, *, width: int) -> tuple[list[RenderableType], int]:
    """What Rich draws, and the width that holds all figures."""
    width = max([width, *(_page_width(grid, width) for grid in report.grids)])
    parts: list[RenderableType] = [_text(report.title, "bold")]
    parts += [_text(fact) for fact in report.facts]
    for picture in report.pictures:
        # Lines that are drawn to fit stay as they are, even where the page is narrower.
        parts += [Text(), *(Text(visible(line), no_wrap=True, overflow="ignore") for line in picture)]
    for grid in report.grids:
        parts += [Text(), *([_text(grid.title, "bold")] if grid.title else []), _table(grid, width)]
    for remarks in (report.answers, report.remarks):
        parts += [Text(), _remarks(remarks)] if remarks else []
    return parts, width


def _draw(parts: Sequence[RenderableType], *, width: int, colour: bool) -> str:
    page = io.StringIO()
    console = Console(
        file=page,
        width=width,
        force_terminal=colour,
        color_system="standard" if colour else None,
        legacy_windows=False,
        markup=False,
        emoji=False,
        highlight=False,
    )
    console.print(Group(*parts))  # a third faster than one by one
    return "".join(f"{line.rstrip()}\n" for line in page.getvalue().splitlines())


def _table(grid: Grid, width: int) -> Table:
    fitting = [gap for gap in _GAPS if sum(_widths(grid)) + gap * (len(grid.columns) - 1) <= width]
    table = Table(
        box=None,
        show_header=any(column.heading for column in grid.columns),
        header_style="dim",
        pad_edge=False,
        padding=(0, fitting[0] if fitting else _GAPS[-1], 0, 0),
    )
    for column in grid.columns:
        heading = Text("\n").join(_text(line) for line in column.heading.split("\n"))
        justify: Literal["right", "left"] = "right" if column.figures else "left"
        table.add_column(heading, justify=justify, no_wrap=column.figures, overflow="fold")
    for row in grid.rows:
        table.add_row(*(_text(cell) for cell in row))
    return table


def _remarks(remarks: Sequence[Remark]) -> Table:
    table = Table.grid(padding=(0, _GAPS[0], 0, 0), pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for remark in remarks:
        style = "bold" if remark.strong else "yellow" if remark.alarm else ""
        table.add_row(_text(remark.tag, style), _text(remark.text, "bold" if remark.strong else ""))
    return table


def _widths(grid: Grid) -> list[int]:
    """Columns that each figure and each word needs to stay whole."""
    widths = []
    for place, column in enumerate(grid.columns):
        cells = [visible(row[place]) for row in grid.rows]
        parts = cells if column.figures else [word for cell in cells for word in cell.split()]
        widths.append(max(map(len, [*column.heading.split("\n"), *parts])))
    return widths


def _page_width(grid: Grid, width: int) -> int:
    """The asked width where it holds all figures, words broken if need be; else what keeps all whole."""
    whole, gaps = _widths(grid), _GAPS[-1] * (len(grid.columns) - 1)
    columns = zip(grid.columns, whole, strict=True)
    least = sum(size if column.figures else min(size, _LEAST_WORDS) for column, size in columns) + gaps
    return width if least <= width else sum(whole) + gaps


def _text(text: str, style: str = "") -> Text:
    return Text(visible(text), style=style, overflow="fold")
