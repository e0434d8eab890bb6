"""`kvplan models`: the bundled models."""

from __future__ import annotations

from kvplan.cli.output import check_format, show
from kvplan.cli.parameters import Debug, Format, Output


def models(output_format: Format = "table", output: Output = None, debug: Debug = False) -> None:
    """List the bundled models."""
    chosen = check_format(output_format)
    from kvplan.catalog import bundled  # noqa: PLC0415 - help and usage errors need none of it
    from kvplan.cli.runs import load_all  # noqa: PLC0415
    from kvplan.render.models import document  # noqa: PLC0415

    show(document(load_all((model.id for model in bundled()), "bundled")), chosen, output)
