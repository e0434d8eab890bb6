"""`kvplan schema`: the JSON Schema of model YAMLs, for editors."""

from __future__ import annotations

from kvplan.cli.output import write
from kvplan.cli.parameters import Debug, Output


def schema(output: Output = None, debug: Debug = False) -> None:
    """Print the JSON Schema of model YAMLs."""
    from kvplan.render import as_json  # noqa: PLC0415 - help needs none of it
    from kvplan.schema import json_schema  # noqa: PLC0415

    write(as_json.render(json_schema()), output)
