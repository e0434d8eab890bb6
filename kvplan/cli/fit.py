"""`kvplan fit`: which GPUs, how many and in which layout serve what is asked."""

from __future__ import annotations

from typing import Annotated

import typer

from kvplan.cli.options import Given, deployment, takes_deployment
from kvplan.cli.output import check_format
from kvplan.cli.parameters import Debug, Format, Model, Output, Source
from kvplan.cli.parsing import count
from kvplan.errors import InputError, bad_option

Gpus = Annotated[
    str | None,
    typer.Option(
        "--gpu",
        metavar="NAME,...",
        help="GPUs to look at, separated by commas; default: common ones.",
        show_default=False,
    ),
]
MaxGpus = Annotated[
    str | None,
    typer.Option("--max-gpus", metavar="N", help="Use no more than N GPUs. Default 8.", show_default=False),
]
Allow = Annotated[
    str | None,
    typer.Option(
        "--allow",
        metavar="WHAT",
        help="fp8: also look at KV in fp8_e4m3 where the model does not ask for it.",
        show_default=False,
    ),
]
Top = Annotated[
    str | None,
    typer.Option("--top", metavar="N", help="Show the N cheapest settings. Default 10.", show_default=False),
]

_CHOSEN = ("tp", "dp", "enable_dp_attention", "pp", "ep")
_BUDGETS = ("available_bytes", "pre_model_load_gib", "free_gib", "weights_per_gpu")


@takes_deployment
def fit(  # noqa: PLR0913, PLR0917 - a parameter for each option
    model: Model,
    gpu: Gpus = None,
    max_gpus: MaxGpus = None,
    allow: Allow = None,
    top: Top = None,
    output_format: Format = "table",
    output: Output = None,
    source: Source = None,
    debug: Debug = False,
    **options: Given,
) -> None:
    """Find the settings that serve what is asked, cheapest first.

    Asked are --concurrency requests of --ctx tokens. Each setting comes with its headroom and the command
    that starts the server.
    """
    _refuse_chosen(options)
    asked, chosen = deployment(options), check_format(output_format)
    most, shown = _number("max_gpus", max_gpus, 8), _number("top", top, 10)
    from kvplan.cli.fit_runs import Space, run_fit  # noqa: PLC0415 - help and usage errors need none of it
    from kvplan.cli.progress import spinner  # noqa: PLC0415
    from kvplan.loading import load  # noqa: PLC0415

    space = Space(
        gpus=gpu.split(",") if gpu else None,
        most=most,
        allowed=tuple(word.strip() for word in allow.split(",")) if allow else (),
    )
    found = load(model, source=source, on_fetch=spinner)
    run_fit(found, asked, space, top=shown, chosen=chosen, output=output)


def _refuse_chosen(options: dict[str, Given]) -> None:
    """What the search chooses, and budgets, which would be the same whatever it chooses."""
    given = {name for name, value in options.items() if value is not None and value is not False}
    problems = [
        bad_option(name, why, "leave it out, or see `kvplan size`").problems[0]
        for names, why in (
            (_CHOSEN, "is what fit searches for"),
            (_BUDGETS, "would be the same for any number of GPUs"),
        )
        for name in names
        if name in given
    ]
    if problems:
        raise InputError(problems)


def _number(name: str, text: str | None, default: int) -> int:
    if text is None:
        return default
    try:
        value = count(text)
    except ValueError as error:
        raise bad_option(name, str(error)) from error
    if value < 1:
        raise InputError(bad_option(name, f"{value} is not a whole number of at least 1").problems)
    return value
