"""CSV: a heading and one line per record."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from kvplan.render.text import visible

# With these a cell begins that spreadsheets compute; the apostrophe is their own mark for text.
_FORMULA = ("=", "+", "-", "@")


def render(records: Sequence[Mapping[str, Any]]) -> str:
    r"""Records with the same keys under one heading; None is empty, lines end in `\n`."""
    page = io.StringIO()
    writer = csv.DictWriter(page, fieldnames=list(records[0]) if records else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: _plain(value) for key, value in record.items()} for record in records)
    return page.getvalue()


def _plain(value: object) -> object:
    """Text without what a terminal or a spreadsheet would take for an instruction."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            text = visible(value)
            return f"'{text}" if text.startswith(_FORMULA) else text
        case _:
            return value
