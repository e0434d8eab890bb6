"""`--launch`: a launch line as text, in a file or on stdin, and what it sets under the options."""

from __future__ import annotations

import os
import sys
from typing import IO, TYPE_CHECKING, Annotated

import typer

from kvplan.errors import InputError, Problem
from kvplan.files import check_readable, printable

if TYPE_CHECKING:
    from kvplan.launch import Launch

STDIN = "-"
FILE_MARK = "@"

LaunchLine = Annotated[
    str | None,
    typer.Option(
        "--launch",
        metavar="LINE",
        help="A command that starts SGLang, a file that holds one, or - for stdin. The other options "
        "hold over it.",
        show_default=False,
    ),
]
LaunchedModel = Annotated[
    str | None,
    typer.Argument(
        metavar="MODEL",
        help="A config.json, a model YAML, a folder with one, a bundled name, or org/name[@revision]; "
        "default: the model of --launch.",
        show_default=False,
    ),
]


def read_launch(given: str) -> Launch:
    """The launch line that the option gives. Raises InputError for what can't be read or understood."""
    from kvplan.launch import parse  # noqa: PLC0415 - most runs have no launch line

    if given == STDIN:
        return parse(_read(sys.stdin, "stdin"), "stdin")
    path = given.removeprefix(FILE_MARK)
    one_word = not path.startswith("-") and len(path.split()) == 1  # no command has so few
    if given.startswith(FILE_MARK) or one_word or os.path.isfile(path):
        return parse(_text(path), printable(path))
    return parse(given)


def model_of(model: str | None, launch: Launch | None) -> str:
    """The model of the command line, else that of the launch line. Raises InputError without either."""
    found = model or (launch.model if launch is not None else None)
    if found is None:
        where = "'MODEL' is missing" if launch is None else "'MODEL' is missing, and the line names none"
        raise InputError(Problem(file="", key="", what=where, hint="give a model, or --launch with one"))
    return found


def _text(path: str) -> str:
    shown = printable(path)
    check_readable(path, shown=shown)
    try:
        with open(path, encoding="utf-8-sig") as file:
            return _read(file, shown)
    except OSError as error:
        what = f"can't be read: {error.strerror}"
        raise InputError(Problem(file=shown, key="--launch", what=what)) from error


def _read(file: IO[str], shown: str) -> str:
    from kvplan.launch.lines import MAX_CHARACTERS  # noqa: PLC0415

    try:
        return file.read(MAX_CHARACTERS + 1)
    except UnicodeDecodeError as error:
        raise InputError(Problem(file=shown, key="--launch", what="is not UTF-8 text")) from error
