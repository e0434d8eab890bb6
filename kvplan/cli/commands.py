"""The commands by name; a command's module is imported when that command is asked for.

Importing all of them takes longer than most runs do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

import typer
from typer.main import get_command

from kvplan.cli.boundary import BoundaryGroup
from kvplan.cli.plain import PlainCommand

# What the program's help says of each, in its order: the first line of the command's own help. The command
# is the function of that name in the module of that name.
SUMMARIES = {
    "size": "Plan one model under one deployment.",
    "compare": "Put models side by side, smallest cache first.",
    "fit": "Find the settings that serve what is asked, cheapest first.",
    "explain": "Derive a plan line by line: symbols, numbers, result.",
    "curve": "Draw what a request keeps and what a decode step reads.",
    "host": "Size HiCache's host pools and what a PD transfer sends.",
    "check": "Check that deployments still hold what a file requires.",
    "verify": "Compare the log of a server's start with its plan.",
    "buffers": "List the buffers as SGLang allocates them.",
    "models": "List the bundled models.",
    "gpus": "List the GPUs that kvplan knows.",
    "export": "Write a model as a YAML that gives the same plan.",
    "schema": "Print the JSON Schema of model YAMLs.",
}


class Commands(Mapping[str, Any]):
    """Name to command, as Typer's group keeps them."""

    def __getitem__(self, name: str) -> Any:
        """The command; KeyError for a name that is none."""
        if name not in SUMMARIES:
            raise KeyError(name)
        function = getattr(import_module(f"kvplan.cli.{name}"), name)
        alone = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
        alone.command(cls=PlainCommand)(function)
        return get_command(alone)

    def __iter__(self) -> Iterator[str]:
        return iter(SUMMARIES)

    def __len__(self) -> int:
        return len(SUMMARIES)


class CommandGroup(BoundaryGroup):
    """The group of all commands, which lists them without importing them."""

    def __init__(self, **settings: Any) -> None:
        """`settings`: those that Typer gives a group."""
        super().__init__(**{**settings, "commands": Commands()})

    def list_commands(self, ctx: Any) -> list[str]:
        """The names in the help's order."""
        return list(SUMMARIES)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The list in the help."""
        with formatter.section("Commands"):
            formatter.write_dl(list(SUMMARIES.items()))
