"""What `verify` does once its command line is understood."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import IO

from kvplan import catalog
from kvplan.architecture import Architecture
from kvplan.bootlog import BootLog, read_log
from kvplan.cli.output import show
from kvplan.cli.progress import spinner
from kvplan.deployment import Deployment
from kvplan.errors import InputError, Problem, RefusedError
from kvplan.files import check_readable, printable
from kvplan.loading import load
from kvplan.render.verify import of_verification
from kvplan.verify import Told, Verification, told_by, verify

STDIN = "-"
# A line of arguments takes some kB. Longer ones are cut, and nothing of use stands behind that.
MAX_LINE = 1 << 20
# A start takes some MB of log; a server that ran for weeks has the rest.
MAX_LOG = 1 << 30


def read(path: str) -> BootLog:
    """The last start in a file or on stdin. Raises InputError where there is none, or far too much."""
    shown = "stdin" if path == STDIN else printable(path)
    try:
        if path == STDIN:
            if isinstance(sys.stdin, io.TextIOWrapper):
                sys.stdin.reconfigure(errors="replace")
            found = read_log(_lines(sys.stdin, shown))
        else:
            check_readable(path, shown=shown)
            with open(path, encoding="utf-8", errors="replace") as file:
                found = read_log(_lines(file, shown))
    except OSError as error:
        what = f"can't be read: {error.strerror}"
        raise InputError(Problem(file=shown, key="", what=what)) from error
    if not found.ranks:
        hint = "kvplan reads what SGLang writes while it starts: server_args=, Load weight, KV Cache ..."
        raise InputError(Problem(file=shown, key="", what="holds no start of a server", hint=hint))
    return found


def told(log: BootLog) -> Told:
    """What the log says of the deployment."""
    return told_by(log)


def share(percent: str) -> float:
    """`1%` and `1` as 0.01. Raises InputError for what is no percentage."""
    try:
        value = Decimal(percent.strip().removesuffix("%").strip())
    except InvalidOperation:
        value = Decimal(-1)
    if not value.is_finite() or not 0 <= value <= 100:
        what = f"{percent!r} is not a percentage between 0 and 100"
        raise InputError(Problem(file="", key="--tolerance", what=what))
    return float(value / 100)


def model_of(model: str | None, log: BootLog, path: str, source: str | None) -> Architecture:
    """The model that is given, else the bundled one that the log names: a log leads to no file and no host.

    Raises InputError where there is neither.
    """
    if model is not None:
        return load(model, source=source, on_fetch=spinner)
    named = log.server_args.get("model_path")
    for name in _names(named) if isinstance(named, str) else ():
        if name and catalog.find(name) is not None:
            return load(name, source="bundled")
    shown = "stdin" if path == STDIN else printable(path)
    if not isinstance(named, str):
        raise InputError(Problem(file=shown, key="", what="names no model", hint="give it: MODEL after LOG"))
    what = f"the server's model {printable(named)} is not bundled"
    raise InputError(Problem(file=shown, key="model_path", what=what, hint="give it: MODEL after LOG"))


def compare(
    log: BootLog, architecture: Architecture, asked: Deployment, *, told: Told, tolerance: float
) -> Verification:
    """The log beside the plan."""
    return verify(log, architecture, asked, told=told, tolerance=tolerance)


def deliver(found: Verification, *, chosen: str, output: str | None) -> None:
    """Show the comparison; RefusedError where tokens differ."""
    show(of_verification(found), chosen, output)
    tokens = found.tokens
    if tokens is not None and not tokens.agrees:
        off = "" if tokens.difference is None else f" ({tokens.difference:+.2%})"
        what = f"{tokens.name}: {tokens.logged:,} in the log, {tokens.predicted:,} in the plan{off}"
        raise RefusedError(Problem(file="", key="", what=what))


def _lines(file: IO[str], shown: str) -> Iterator[str]:
    read_so_far = 0
    while line := file.readline(MAX_LINE):
        read_so_far += len(line)
        if read_so_far > MAX_LOG:
            what = f"is longer than {MAX_LOG >> 30} GiB"
            raise InputError(Problem(file=shown, key="", what=what, hint="give the part with the start"))
        yield line


def _names(path: str) -> list[str]:
    """An id, the last part of a folder, and the id in the path of a Hugging Face cache."""
    parts = path.rstrip("/").split("/")
    cached = [part.removeprefix("models--").replace("--", "/", 1) for part in parts if "models--" in part]
    return [path, *cached, parts[-1]]
