"""The program as a user meets it: arguments in, exit code and two streams out."""

from __future__ import annotations

from typer.testing import CliRunner, Result

from kvplan.cli.app import app


def run(*arguments: str, width: int = 80) -> Result:
    """One run in a terminal of that many columns, without colour; never on the network."""
    environment = {"COLUMNS": str(width), "NO_COLOR": "1", "HF_HUB_OFFLINE": "1"}
    return CliRunner().invoke(app, list(arguments), prog_name="kvplan", env=environment)
