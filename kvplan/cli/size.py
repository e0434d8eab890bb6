"""`kvplan size`: one model under one deployment."""

from __future__ import annotations

from kvplan.cli.launching import LaunchedModel, LaunchLine, model_of, read_launch
from kvplan.cli.machine import in_use
from kvplan.cli.options import Given, deployment, takes_deployment
from kvplan.cli.output import check_format
from kvplan.cli.parameters import Changes, Debug, Format, Output, Source


@takes_deployment
def size(
    model: LaunchedModel = None,
    launch: LaunchLine = None,
    output_format: Format = "table",
    output: Output = None,
    source: Source = None,
    changes: Changes = None,
    debug: Debug = False,
    **options: Given,
) -> None:
    """Plan one model under one deployment.

    What a token and a request cost, and with a budget how many fit, by the rules of SGLang. Sizes are
    given as 60GiB (2^30) or 80GB (10^9), token counts as 100k (100,000) or 100Ki (102,400).
    """
    line = None if launch is None else read_launch(launch)
    asked = deployment(options, None if line is None else line.start)
    chosen, reference = check_format(output_format), model_of(model, line)
    from kvplan.cli.size_runs import run_size  # noqa: PLC0415 - help and usage errors need none of it

    notes = (*(() if line is None else line.warnings(asked)), *in_use(options.get("gpu"), asked))
    run_size(
        reference, asked, chosen=chosen, output=output, source=source, changes=changes or (), notes=notes
    )
