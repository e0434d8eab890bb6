"""`kvplan compare`: several models, or one under several settings, side by side."""

from __future__ import annotations

from typing import Annotated

import typer

from kvplan.cli.options import Given, deployments, lists, takes_deployment
from kvplan.cli.output import check_format
from kvplan.cli.parameters import Changes, Debug, Format, Output, Source

# The flagships of five families; they stand for the designs GDN hybrid, MLA, DSA and GQA.
FLAGSHIPS = (
    "Qwen/Qwen3.5-397B-A17B",
    "moonshotai/Kimi-K2.6",
    "deepseek-ai/DeepSeek-V3.2",
    "zai-org/GLM-5.1",
    "MiniMaxAI/MiniMax-M2.7",
)

Models = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[MODEL]...", help="Models as for `kvplan size`; none: five flagships.", show_default=False
    ),
]


@takes_deployment
def compare(
    models: Models = None,
    output_format: Format = "table",
    output: Output = None,
    source: Source = None,
    changes: Changes = None,
    debug: Debug = False,
    **options: Given,
) -> None:
    """Put models side by side, smallest cache first.

    An option may hold several values, --tp 1,2,4,8: each gives a row of its own. So does each --set,
    beside the model as it is; --set a=1,b=2 makes both changes in one row.
    """
    settings, chosen = deployments(lists(options)), check_format(output_format)
    from kvplan.cli.runs import run_compare  # noqa: PLC0415 - help and usage errors need none of it

    names, variants = models or FLAGSHIPS, changes or ()
    run_compare(names, settings, chosen=chosen, output=output, source=source, variants=variants)
