"""`kvplan check`: capacity gates for CI."""

from __future__ import annotations

from typing import Annotated

import typer

from kvplan.cli.parameters import Debug, Output
from kvplan.errors import InputError, Problem

FORMATS = ("table", "json", "junit", "github", "markdown")
DEFAULT_FILE = "kvplan.gates.yaml"

File = Annotated[
    str, typer.Argument(metavar="FILE", help=f"Gates; default {DEFAULT_FILE}.", show_default=False)
]
Format = Annotated[
    str,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help=f"{', '.join(FORMATS)}. github also writes to $GITHUB_STEP_SUMMARY.",
        autocompletion=lambda: list(FORMATS),
    ),
]
Baseline = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="Fail where a figure is worse than in this lock file.", show_default=False
    ),
]
WriteBaseline = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Write the plans of all gates to a lock file.", show_default=False),
]
MaxRegression = Annotated[
    str | None,
    typer.Option(
        metavar="PERCENT", help="By how much a figure may be worse; default 0 %.", show_default=False
    ),
]
Locked = Annotated[
    bool,
    typer.Option(
        "--locked",
        help="No network, and only models that are files, bundled, or cached at a pinned revision.",
        show_default=False,
    ),
]


def check(  # noqa: PLR0913, PLR0917 - a parameter for each option
    file: File = DEFAULT_FILE,
    output_format: Format = "table",
    output: Output = None,
    baseline: Baseline = None,
    write_baseline: WriteBaseline = None,
    max_regression: MaxRegression = None,
    locked: Locked = False,
    debug: Debug = False,
) -> None:
    """Check that deployments still hold what a file requires.

    Exit 0 where all gates hold, 3 where one failed, 2 where the file or a model can't be used.
    """
    if output_format not in FORMATS:
        what = f"{output_format!r} is not one of {', '.join(FORMATS)}"
        raise InputError(Problem(file="", key="--format", what=what))
    if max_regression is not None and baseline is None:
        raise InputError(Problem(file="", key="--max-regression", what="is given without --baseline"))
    from kvplan.cli.check_runs import allowed_share, deliver, outcome  # noqa: PLC0415 - help needs none of it

    allowed = allowed_share(max_regression)
    found = outcome(file, baseline=baseline, allowed=allowed, locked=locked)
    deliver(found, chosen=output_format, output=output, write_baseline=write_baseline)
