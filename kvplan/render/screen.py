"""A report as a picture of the terminal, SVG or HTML, through Rich's own export."""

from __future__ import annotations

import io
import re

from rich.console import Console

from kvplan.render.blocks import Report
from kvplan.render.table import page
from kvplan.render.text import visible

KINDS = ("svg", "html")
_WEB_FONT = re.compile(r"\s*@font-face \{[^}]*\}")


def render(report: Report, *, kind: str, width: int) -> str:
    """The report as it looks at `width` columns, with a final newline; `kind` is one of KINDS."""
    parts, width = page(report, width=width)
    console = Console(
        file=io.StringIO(),
        record=True,
        width=width,
        force_terminal=True,
        color_system="truecolor",
        legacy_windows=False,
        markup=False,
        emoji=False,
        highlight=False,
    )
    for part in parts:
        console.print(part)
    drawn = console.export_svg(title=visible(report.title)) if kind == "svg" else console.export_html()
    # Rich's template would fetch its font from the network whenever the picture is opened.
    return _WEB_FONT.sub("", drawn).rstrip("\n") + "\n"
