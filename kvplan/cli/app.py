"""The program: its commands, `--version`, and what happens without a command."""

from __future__ import annotations

from typing import Annotated

import typer

from kvplan import __version__
from kvplan.cli.boundary import PROGRAM
from kvplan.cli.commands import CommandGroup
from kvplan.cli.parameters import Debug

EXIT_USAGE = 2

app = typer.Typer(
    name=PROGRAM,
    cls=CommandGroup,
    help="Plan the KV cache of LLM servers: what a token and a request cost, and how many fit.",
    invoke_without_command=True,
    rich_markup_mode=None,  # help without boxes, readable in a pipe, and without importing Rich
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"{PROGRAM} {__version__}")
        raise typer.Exit


Version = Annotated[
    bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
]


@app.callback()
def without_command(context: typer.Context, version: Version = False, debug: Debug = False) -> None:
    """Show help on stderr where no command is given."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(EXIT_USAGE)
