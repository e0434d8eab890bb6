"""`kvplan explain`: how every figure of a plan comes about."""

from __future__ import annotations

from typing import Annotated

import typer

from kvplan.cli.options import Given, deployment, takes_deployment
from kvplan.cli.output import check_format, show
from kvplan.cli.parameters import Changes, Debug, Format, Output, Source
from kvplan.cli.progress import spinner
from kvplan.errors import InputError, Problem

OneModel = Annotated[
    str | None, typer.Argument(metavar="MODEL", help="A model as for `kvplan size`.", show_default=False)
]
Symbols = Annotated[
    bool, typer.Option("--symbols", help="List the symbols of the formulas.", show_default=False)
]


@takes_deployment
def explain(
    model: OneModel = None,
    *,
    symbols: Symbols = False,
    output_format: Format = "table",
    output: Output = None,
    source: Source = None,
    changes: Changes = None,
    debug: Debug = False,
    **options: Given,
) -> None:
    """Derive a plan line by line: symbols, numbers, result.

    First what the architecture needs: one layer of each kind, all layers, and the knobs that the model
    turns against plain multi-head attention. Then SGLang's pool: which one and why, its cell by terms.
    """
    asked, chosen = deployment(options), check_format(output_format)
    from kvplan.render import explain as render  # noqa: PLC0415 - help and usage errors need none of it

    if symbols:
        show(render.of_symbols(), chosen, output)
        return
    if model is None:
        raise InputError(Problem(file="", key="MODEL", what="is missing", hint="or give --symbols"))
    from kvplan.loading import load  # noqa: PLC0415
    from kvplan.planning import plan  # noqa: PLC0415
    from kvplan.whatif import changed  # noqa: PLC0415

    found = changed(load(model, source=source, on_fetch=spinner), changes or ())
    show(render.of_explanation(plan(found, asked)), chosen, output)
