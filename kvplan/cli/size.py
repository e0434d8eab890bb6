"""`kvplan size`: one model under one deployment."""

from __future__ import annotations

from kvplan.cli.options import Given, deployment, takes_deployment
from kvplan.cli.output import check_format
from kvplan.cli.parameters import Changes, Debug, Format, Model, Output, Source


@takes_deployment
def size(
    model: Model,
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
    asked, chosen = deployment(options), check_format(output_format)
    from kvplan.cli.runs import run_size  # noqa: PLC0415 - help and usage errors need none of it

    run_size(model, asked, chosen=chosen, output=output, source=source, changes=changes or ())
