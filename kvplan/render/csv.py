"""CSV: a heading and one line per record."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any


def render(records: Sequence[Mapping[str, Any]]) -> str:
    r"""Records with the same keys under one heading; None is empty, lines end in `\n`."""
    page = io.StringIO()
    writer = csv.DictWriter(page, fieldnames=list(records[0]) if records else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: _plain(value) for key, value in record.items()} for record in records)
    return page.getvalue()


def _plain(value: object) -> object:
    return str(value).lower() if isinstance(value, bool) else value
