"""The formats by name, and which of a document's three shapes each draws.

Light on purpose: the command line names the formats in its help, long before anything is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from kvplan.frozen import dataclass

if TYPE_CHECKING:
    from kvplan.render.blocks import Report

FORMATS = ("table", "json", "markdown", "csv")


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """`report` for people (table, Markdown), `data` for JSON, `records` for CSV; made when asked for."""

    report: Callable[[], Report]
    data: Callable[[], Any]
    records: Callable[[], Sequence[dict[str, Any]]]


def draw(document: Document, chosen: str, *, width: int, colour: bool) -> str:
    """The document in one of FORMATS. The modules of the formats are imported when they are chosen."""
    match chosen:
        case "json":
            from kvplan.render import as_json  # noqa: PLC0415

            return as_json.render(document.data())
        case "csv":
            from kvplan.render import csv  # noqa: PLC0415

            return csv.render(document.records())
        case "markdown":
            from kvplan.render import markdown  # noqa: PLC0415

            return markdown.render(document.report())
        case _:
            from kvplan.render import table  # noqa: PLC0415 - Rich takes longer to import than a plan

            return table.render(document.report(), width=width, colour=colour)
