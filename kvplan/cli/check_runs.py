"""What `check` does once its command line is understood: read, evaluate, compare, show, judge."""

from __future__ import annotations

import os
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path

from kvplan.cli.gating import means, vocabulary
from kvplan.cli.output import show, write
from kvplan.errors import InputError, Problem, RefusedError
from kvplan.files import printable
from kvplan.gates.comparing import against
from kvplan.gates.evaluating import evaluate
from kvplan.gates.lock import read_lock, write_lock
from kvplan.gates.reading import read_gates
from kvplan.gates.records import Outcome
from kvplan.render import gates_github, gates_junit, markdown
from kvplan.render.gates import of_gates, report
from kvplan.render.text import plural

# Where GitHub's runner collects the Markdown of a step, and where it checked the repository out.
SUMMARY, WORKSPACE = "GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE"


def allowed_share(percent: str | None) -> Fraction:
    """`5` and `5%` as 1/20. Raises InputError for what is no percentage of at least 0."""
    try:
        value = Decimal((percent or "0").strip().removesuffix("%").strip())
    except InvalidOperation:
        value = Decimal(-1)
    if not value.is_finite() or not 0 <= value <= 100:
        what = f"{percent!r} is not a percentage between 0 and 100"
        raise InputError(Problem(file="", key="--max-regression", what=what))
    return Fraction(value) / 100


def outcome(file: str, *, baseline: str | None, allowed: Fraction, locked: bool) -> Outcome:
    """The results of all gates. Raises InputError with every problem of the file, models and baseline."""
    problems: list[Problem] = []
    shown = printable(file)
    gates = read_gates(file, vocabulary(), problems)
    results = evaluate(gates, means(locked=locked), file=shown, problems=problems)
    lock = None
    try:
        lock = None if baseline is None else read_lock(baseline)
    except InputError as error:
        problems += error.problems
    if problems:
        raise InputError(list(dict.fromkeys(problems)))
    found = Outcome(file=shown, results=tuple(results))
    if lock is None:
        return found
    compared, notes = against(results, lock, allowed)
    return replace(found, results=tuple(compared), notes=tuple(notes), baseline=lock.file)


def deliver(found: Outcome, *, chosen: str, output: str | None, write_baseline: str | None) -> None:
    """Write the lock file if asked for, show the outcome, raise RefusedError where a gate failed."""
    if write_baseline is not None:
        write(write_lock(found.results), write_baseline)
    match chosen:
        case "junit":
            write(gates_junit.render(found), output)
        case "github":
            write(gates_github.render(found, file=_in_repository(found.file)), output)
            _add_summary(markdown.render(report(found)))
        case _:
            show(of_gates(found), chosen, output)
    if found.failed:
        names = ", ".join(result.gate.name for result in found.failed)
        what = f"{len(found.failed)} of {plural(len(found.results), 'gate')} failed: {names}"
        raise RefusedError(Problem(file=found.file, key="", what=what))


def _in_repository(file: str) -> str:
    """The path from the top of the repository, as annotations need it."""
    top = os.environ.get(WORKSPACE)
    path = Path(file).absolute()
    return path.relative_to(top).as_posix() if top and path.is_relative_to(top) else file


def _add_summary(text: str) -> None:
    target = os.environ.get(SUMMARY)
    if not target:
        return
    try:
        with Path(target).open("a", encoding="utf-8") as page:
            page.write(text)
    except OSError as error:
        what = f"can't be written: {error.strerror}"
        raise InputError(Problem(file=target, key=SUMMARY, what=what)) from error
