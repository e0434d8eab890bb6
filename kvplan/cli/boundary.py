"""The error boundary: every failure becomes lines on stderr and an exit code, never a traceback.

It sits in the group, where test runners and other callers of the command meet it as well.
"""

from __future__ import annotations

import contextlib
import errno
import sys
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import typer

from kvplan.cli import output
from kvplan.cli.plain import PlainGroup
from kvplan.errors import InputError, KvplanError
from kvplan.render.text import visible

PROGRAM = "kvplan"
DEBUG_FLAG = "--debug"
EXIT_BUG = 1
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
# A file with more problems is another kind of file; nobody reads on.
MOST_LINES = 200
EXIT_INTERRUPTED = 130


class BoundaryGroup(PlainGroup):
    """Exit 2 for bad input or usage, 3 for what is valid but not possible, 1 for a bug of kvplan."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command line and exit; with `standalone_mode=False` exceptions pass through."""
        run = partial(super().main, args, prog_name or PROGRAM, complete_var, standalone_mode=False, **extra)
        if not standalone_mode:
            return run()
        try:
            code = run()
        except Exception as error:
            arguments = sys.argv[1:] if args is None else args
            if DEBUG_FLAG in arguments:
                trace(error)
            code = report(error)
        except KeyboardInterrupt:
            code = EXIT_INTERRUPTED
        sys.exit(code or 0)


def report(error: Exception) -> int:
    """Write what went wrong to stderr, a line per problem; the exit code that belongs to it."""
    match error:
        case KvplanError():
            complain(str(problem) for problem in error.problems[:MOST_LINES])
            if len(error.problems) > MOST_LINES:
                complain([f"and {len(error.problems) - MOST_LINES:,} problems more"])
            return error.exit_code
        case OSError() if error.errno in _NO_ROOM and error.filename is None:  # help and --version
            output.discard_stdout()
            complain([str(output.unwritable("stdout", error))])
            return InputError.exit_code
        case typer.TyperException():
            complain([f"{error.format_message()}{_usage_hint(error)}"])
            return error.exit_code
        case _:
            detail = f"{type(error).__name__}: {error}"
            complain([f"internal: {detail} (a bug of kvplan; {DEBUG_FLAG} shows the traceback)"])
            return EXIT_BUG


def trace(error: Exception) -> None:
    """Write the traceback to stderr, harmless to a terminal."""
    import traceback  # noqa: PLC0415 - few runs show one

    for line in "".join(traceback.format_exception(error)).splitlines():
        _tell(visible(line))


def _usage_hint(error: typer.TyperException) -> str:
    context = getattr(error, "ctx", None)
    return f" ({context.command_path} --help shows the usage)" if context else ""


def complain(lines: Iterable[str]) -> None:
    """One `kvplan: error:` line on stderr for each text."""
    for line in lines:
        _tell(f"{PROGRAM}: error: {visible(line)}")


def _tell(line: str) -> None:
    if sys.stderr is None:  # print() would take stdout instead
        return
    with contextlib.suppress(OSError):  # nobody reads it
        print(line, file=sys.stderr)  # noqa: T201
