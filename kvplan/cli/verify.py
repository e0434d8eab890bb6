"""`kvplan verify`: what a server logged beside what kvplan says."""

from __future__ import annotations

from typing import Annotated

import typer

from kvplan.cli.options import Given, deployment, takes_deployment
from kvplan.cli.output import check_format
from kvplan.cli.parameters import Debug, Format, Output, Source

Log = Annotated[
    str, typer.Argument(metavar="LOG", help="What a server wrote; - for stdin.", show_default=False)
]
LoggedModel = Annotated[
    str | None,
    typer.Argument(
        metavar="MODEL",
        help="As for `kvplan size`; default: the bundled model that the log names.",
        show_default=False,
    ),
]
Tolerance = Annotated[
    str, typer.Option(metavar="PERCENT", help="By how much tokens may differ.", show_default=True)
]


@takes_deployment
def verify(
    log: Log,
    model: LoggedModel = None,
    *,
    tolerance: Tolerance = "1%",
    output_format: Format = "table",
    output: Output = None,
    source: Source = None,
    debug: Debug = False,
    **options: Given,
) -> None:
    """Compare the log of a server's start with its plan.

    Term by term, for the same deployment. Reads the logs of SGLang 0.4 to 0.5.23, several ranks in one,
    and runs nothing that they hold. The options hold over what the log says. Exit 3 where tokens differ
    by more than the tolerance.
    """
    chosen = check_format(output_format)
    from kvplan.cli import verify_runs  # noqa: PLC0415 - help and usage errors need none of it

    found = verify_runs.read(log)
    told = verify_runs.told(found)
    asked = deployment(options, told.settings)
    share = verify_runs.share(tolerance)
    architecture = verify_runs.model_of(model, found, log, source)
    verify_runs.deliver(
        verify_runs.compare(found, architecture, asked, told=told, tolerance=share),
        chosen=chosen,
        output=output,
    )
