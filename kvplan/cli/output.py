"""Where text leaves kvplan: stdout or a file, at the width and in the colours that it can show."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import sys
import tempfile
from pathlib import Path

import typer

from kvplan.errors import InputError, Problem
from kvplan.render.formats import FORMATS, Document, draw

PIPE_WIDTH = 80
EXIT_PIPE_CLOSED = 141  # what a shell reports for a program that SIGPIPE ends
_NEW_FILE_MODE = 0o666


def check_format(chosen: str) -> str:
    """The format, as one of FORMATS. Raises InputError for another, before anything is planned."""
    if chosen not in FORMATS:
        known = ", ".join(FORMATS)
        raise InputError(Problem(file="", key="--format", what=f"{chosen!r} is not one of {known}"))
    return chosen


def show(document: Document, chosen: str, output: str | None) -> None:
    """Draw the document in a format and write it; Raises InputError for a path that can't be written.

    A table that goes to a file named .svg or .html is saved as it looks on a terminal.
    """
    kind = picture_kind(chosen, output)
    if kind is not None:
        from kvplan.render import screen  # noqa: PLC0415 - few runs save a picture

        write(screen.render(document.report(), kind=kind, width=PIPE_WIDTH), output)
        return
    to_terminal = output is None and sys.stdout is not None and sys.stdout.isatty()
    width = shutil.get_terminal_size((PIPE_WIDTH, 0)).columns if to_terminal else PIPE_WIDTH
    colour = to_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    write(draw(document, chosen, width=width, colour=colour), output)


def picture_kind(chosen: str, output: str | None) -> str | None:
    """svg or html where a table goes to a file with that ending, else None."""
    ending = Path(output).suffix.lower().removeprefix(".") if output else ""
    return ending if chosen == "table" and ending in ("svg", "html") else None


def write(text: str, output: str | None) -> None:
    """Write text to a file, or to stdout where `output` is None or `-`."""
    if output is None or output == "-":
        _to_stdout(text)
        return
    write_data(text.encode("utf-8"), output)


def write_data(data: bytes, output: str) -> None:
    """Write bytes to a file. Raises InputError for a path that can't be written."""
    try:
        _to_file(data, Path(os.path.realpath(output)))
    except OSError as error:
        raise InputError(unwritable(output, error)) from error


def unwritable(name: str, error: OSError) -> Problem:
    """What is wrong with a file or a stream that took no text."""
    return Problem(file=name, key="", what=f"can't be written: {error.strerror or error}")


def discard_stdout() -> None:
    """Send what is still buffered nowhere, so that it doesn't fail once more at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _to_stdout(text: str) -> None:
    if sys.stdout is None:  # closed by whoever started the program
        raise InputError(Problem(file="stdout", key="", what="is closed"))
    encoding = sys.stdout.encoding or "utf-8"
    try:
        sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
        sys.stdout.flush()
    except BrokenPipeError:
        discard_stdout()  # the reader left (`| head`)
        raise typer.Exit(EXIT_PIPE_CLOSED) from None
    except OSError as error:
        discard_stdout()
        raise InputError(unwritable("stdout", error)) from error


def _to_file(data: bytes, path: Path) -> None:
    """All or nothing: a reader never meets half a file, and a failure leaves the old one."""
    if path.exists() and not path.is_file():
        path.write_bytes(data)  # a device or a pipe; a folder raises
        return
    handle, scratch = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(scratch, _mode(path))
        os.replace(scratch, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(scratch)
        raise


def _mode(path: Path) -> int:
    """Permissions of the file that is replaced, or those of a new one."""
    if path.exists():
        return stat.S_IMODE(path.stat().st_mode)
    umask = os.umask(0)
    os.umask(umask)
    return _NEW_FILE_MODE & ~umask
