"""`kvplan curve`: what models cost over the whole range of contexts."""

from __future__ import annotations

from typing import Annotated

import typer

from kvplan.cli.options import Given, deployment, takes_deployment
from kvplan.cli.output import check_format
from kvplan.cli.parameters import Changes, Debug, Format, Output, Source
from kvplan.errors import InputError, Problem

Models = Annotated[
    list[str], typer.Argument(metavar="MODEL...", help="Models as for `kvplan size`.", show_default=False)
]
Range = Annotated[
    str,
    typer.Option("--ctx", metavar="FROM:TO", help="Contexts; default 1k:1M.", show_default=False),
]
PerLayer = Annotated[
    bool, typer.Option("--per-layer", help="Draw one layer of each kind.", show_default=False)
]


@takes_deployment
def curve(  # noqa: PLR0913 - a parameter for each option
    models: Models,
    *,
    ctx: Range = "1k:1M",
    per_layer: PerLayer = False,
    output_format: Format = "table",
    output: Output = None,
    source: Source = None,
    changes: Changes = None,
    debug: Debug = False,
    **options: Given,
) -> None:
    """Draw what a request keeps and what a decode step reads.

    Both over the context, what is kept per token too. A file that ends in .svg or .png is drawn by
    matplotlib (the extra `plot`), one in .csv is a table.
    """
    asked, chosen = deployment(options), check_format(output_format)
    from kvplan.curve import parse_range  # noqa: PLC0415 - help and usage errors need none of it

    try:
        span = parse_range(ctx)
    except ValueError as error:
        raise InputError(Problem(file="", key="--ctx", what=str(error))) from error
    from kvplan.cli.drawing import draw_curves, planned  # noqa: PLC0415

    plans = planned(models, asked, source=source, changes=changes or ())
    draw_curves(plans, span=span, per_layer=per_layer, chosen=chosen, output=output)
