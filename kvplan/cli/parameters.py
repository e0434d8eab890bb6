"""Parameters that several commands share, so that they read the same everywhere."""

from __future__ import annotations

from typing import Annotated

import typer

from kvplan.render.formats import FORMATS

Model = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="A config.json, a model YAML, a folder with one, a bundled name, or org/name[@revision].",
        show_default=False,
    ),
]
Format = Annotated[
    str,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help=f"{', '.join(FORMATS)}.",
        autocompletion=lambda: list(FORMATS),
    ),
]
Output = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write to FILE instead of stdout; a table to .svg or .html as it looks.",
        show_default=False,
    ),
]
Source = Annotated[
    str | None,
    typer.Option(
        "--source",
        metavar="SOURCE",
        help="Look for the model only here: bundled, cache (of Hugging Face) or hub.",
        autocompletion=lambda: ["bundled", "cache", "hub"],
        show_default=False,
    ),
]
Changes = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="What if the model were different: kv_heads=4, window=1024, sliding.window=512, layers.full=15.",
        show_default=False,
    ),
]
Debug = Annotated[
    bool, typer.Option("--debug", help="Show tracebacks instead of one-line errors.", show_default=False)
]
