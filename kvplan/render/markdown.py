"""Reports as GitHub-flavoured Markdown, for job summaries and pull requests."""

from __future__ import annotations

import re

from kvplan.render.blocks import Grid, Remark, Report
from kvplan.render.text import visible

# Characters that start a construct of Markdown or HTML anywhere in a line.
_SPECIAL = re.compile(r"([\\`*_\[\]<>|~#&])")


def render(report: Report) -> str:
    """The report as a Markdown section, with a final newline."""
    blocks = [f"### {escaped(report.title)}"]
    blocks += [_list(report.facts)] if report.facts else []
    blocks += ["\n".join(["```text", *map(visible, picture), "```"]) for picture in report.pictures]
    for grid in report.grids:
        blocks += [f"**{escaped(grid.title)}**"] if grid.title else []
        blocks.append(_grid(grid))
    blocks += [_remarks(group) for group in (report.answers, report.remarks) if group]
    return "\n\n".join(blocks) + "\n"


def escaped(text: str) -> str:
    """The text as it reads, with nothing left for Markdown to interpret."""
    return _SPECIAL.sub(r"\\\1", visible(text))


def _grid(grid: Grid) -> str:
    head = [_row(tuple(column.heading.replace("\n", " ") for column in grid.columns))]
    rule = ["|" + "|".join(" ---: " if column.figures else " --- " for column in grid.columns) + "|"]
    return "\n".join(head + rule + [_row(row) for row in grid.rows])


def _row(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(escaped(cell) for cell in cells) + " |"


def _list(lines: tuple[str, ...]) -> str:
    return "\n".join(f"- {escaped(line)}" for line in lines)


def _remarks(remarks: tuple[Remark, ...]) -> str:
    return "\n".join(f"- **{escaped(remark.tag)}** {escaped(remark.text)}" for remark in remarks)
