"""`kvplan export`: a model as a YAML that can be read, edited and planned with."""

from __future__ import annotations

from kvplan.cli.output import write
from kvplan.cli.parameters import Debug, Model, Output, Source
from kvplan.cli.progress import spinner


def export(model: Model, output: Output = None, source: Source = None, debug: Debug = False) -> None:
    """Write a model as a YAML that gives the same plan."""
    from kvplan.export import to_yaml  # noqa: PLC0415 - help needs none of it
    from kvplan.loading import load  # noqa: PLC0415

    write(to_yaml(load(model, source=source, on_fetch=spinner)), output)
