"""Parameters that take their text as it is.

Typer 0.29 sends every value through pydantic, whose import takes longer than all of kvplan. All values
here are text or switches that kvplan parses itself, so the commands below hand them on unchanged. The
attribute is Typer's own and private: where a version has none, its usual way is left in place.
"""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup

_COERCION = "_runtime_param"


class _AsGiven:
    """Stands in for Typer's coercion of one parameter."""

    def coerce(self, value: Any, **_: Any) -> Any:
        """Text, a switch, a list of texts, or nothing: as the parser read it."""
        return value


class PlainCommand(TyperCommand):
    """A command all of whose parameters are text or switches."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse without coercion."""
        _leave_as_given(self, ctx)
        return super().parse_args(ctx, args)


class PlainGroup(TyperGroup):
    """The same for the options in front of the command."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse without coercion."""
        _leave_as_given(self, ctx)
        return super().parse_args(ctx, args)


def _leave_as_given(command: TyperCommand | TyperGroup, ctx: Any) -> None:
    for parameter in command.get_params(ctx):
        if hasattr(parameter, _COERCION):
            setattr(parameter, _COERCION, _AsGiven())
