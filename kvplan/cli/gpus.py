"""`kvplan gpus`: the catalogue that `--gpu` takes names from."""

from __future__ import annotations

from kvplan.cli.output import check_format, show
from kvplan.cli.parameters import Debug, Format, Output


def gpus(output_format: Format = "table", output: Output = None, debug: Debug = False) -> None:
    """List the GPUs that kvplan knows."""
    chosen = check_format(output_format)
    from kvplan.hardware import GPUS  # noqa: PLC0415 - help and usage errors need none of it
    from kvplan.render.gpus import document  # noqa: PLC0415

    show(document(tuple(GPUS.values())), chosen, output)
