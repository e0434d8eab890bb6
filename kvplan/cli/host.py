"""`kvplan host`: host memory, storage pages and transfers between servers."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from kvplan.cli.options import Given, deployment, takes_deployment
from kvplan.cli.output import check_format
from kvplan.cli.parameters import Changes, Debug, Format, Model, Output, Source
from kvplan.cli.parsing import count, parse_number, parse_size
from kvplan.errors import InputError, Problem


def _option(flag: str, metavar: str, text: str) -> Any:
    return typer.Option(flag, metavar=metavar, help=text, show_default=False)


Ratio = Annotated[
    str | None, _option("--hicache-ratio", "RATIO", "Host slots for each device slot; default 2.")
]
Size = Annotated[
    str | None, _option("--hicache-size", "N", "Host memory of each pool and rank in GB (10^9) instead.")
]
Batch = Annotated[
    str | None, _option("--storage-batch-size", "PAGES", "Pages that go to storage at once; default 128.")
]
Bandwidth = Annotated[
    str | None, _option("--bandwidth", "SIZE", "Bytes per second of one GPU's link: 50GB, 25GB.")
]


@takes_deployment
def host(  # noqa: PLR0913 - a parameter for each option
    model: Model,
    *,
    hicache_ratio: Ratio = None,
    hicache_size: Size = None,
    storage_batch_size: Batch = None,
    bandwidth: Bandwidth = None,
    output_format: Format = "table",
    output: Output = None,
    source: Source = None,
    changes: Changes = None,
    debug: Debug = False,
    **options: Given,
) -> None:
    """Size HiCache's host pools and what a PD transfer sends.

    Host pools for a ratio or a size, their shapes in all layouts, storage pages, and the items, bytes
    and time of one prompt of --ctx tokens. With --enable-hisparse the host pool behind it.
    """
    asked, chosen = deployment(options), check_format(output_format)
    problems: list[Problem] = []
    values = {
        "ratio": _value("--hicache-ratio", parse_number, hicache_ratio, problems),
        "size_gb": _value("--hicache-size", count, hicache_size, problems),
        "batch_pages": _value("--storage-batch-size", count, storage_batch_size, problems),
        "bandwidth": _value("--bandwidth", parse_size, bandwidth, problems),
    }
    if problems:
        raise InputError(problems)
    from kvplan.cli.hosting import run_host  # noqa: PLC0415 - help and usage errors need none of it

    run_host(model, asked, values, chosen=chosen, output=output, source=source, changes=changes or ())


def _value(flag: str, parse: Any, text: str | None, problems: list[Problem]) -> Any:
    """The parsed value, None where it is not given; what is not above 0 is noted as a problem."""
    if text is None:
        return None
    try:
        value = parse(text)
    except ValueError as error:
        problems.append(Problem(file="", key=flag, what=str(error)))
        return None
    if not value > 0:
        problems.append(Problem(file="", key=flag, what=f"{text!r} is not above 0"))
    return value
