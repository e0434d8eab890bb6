"""What `compare` does once its command line is understood, and loading several models at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from kvplan.architecture import Architecture
from kvplan.cli.output import show
from kvplan.cli.progress import spinner
from kvplan.deployment import Deployment
from kvplan.errors import DoesNotFitError, InputError, KvplanError, Problem, RefusedError, option_flag
from kvplan.loading import load
from kvplan.planning import plan
from kvplan.records import Plan
from kvplan.weights.choice import with_weights
from kvplan.whatif import changed


def run_compare(
    models: Iterable[str],
    settings: Sequence[Deployment],
    *,
    chosen: str,
    output: str | None,
    source: str | None,
    variants: Sequence[str] = (),
) -> None:
    """Show every row that can be started and what models too large for a GPU cost, then raise RefusedError.

    Raises InputError, and shows nothing, where a row can't be planned at all.
    """
    loaded = load_all(dict.fromkeys(models), source)
    found = [one for model in loaded for one in (model, *(changed(model, it.split(",")) for it in variants))]
    rows = [(model, asked) for model in found for asked in settings]
    plans: list[Plan] = []
    wrong: dict[Problem, list[str]] = {}
    refused: dict[Problem, list[str]] = {}
    for model, asked in rows:
        made, error = _planned(model, asked)
        if made is not None:
            plans.append(made)
        kind = refused if isinstance(error, RefusedError) else wrong
        for problem in error.problems if error is not None else ():
            kind.setdefault(problem, []).append(_row_name(model, asked, settings))
    if wrong:
        raise InputError(_named(wrong, len(rows)))
    if plans:
        from kvplan.render.comparison import document  # noqa: PLC0415 - `kvplan size` needs the rest alone

        show(document(plans), chosen, output)
    if refused:
        raise RefusedError(_named(refused, len(rows)))


def _planned(model: Architecture, asked: Deployment) -> tuple[Plan | None, KvplanError | None]:
    """The plan, with what a named GPU leaves; the costs and the error where that is too little."""
    wanted = with_weights(model, asked)
    try:
        return plan(model, wanted), None
    except DoesNotFitError as error:
        return None if wanted == asked else replace(plan(model, asked), deployment=wanted), error
    except KvplanError as error:
        return None, error


def load_all(references: Iterable[str], source: str | None) -> list[Architecture]:
    """The models in order. Raises InputError with the problems of all that can't be read."""
    found: list[Architecture] = []
    problems: list[Problem] = []
    for reference in references:
        try:
            found.append(load(reference, source=source, on_fetch=spinner))
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    return found


def _row_name(model: Architecture, asked: Deployment, settings: Sequence[Deployment]) -> str:
    """The model and the options that differ between the rows, as flags."""
    differing = [
        f"{option_flag(name)} {getattr(asked, name)}"
        for name in Deployment.__slots__
        if len({getattr(one, name) for one in settings}) > 1
    ]
    return " ".join([model.id, *differing])


def _named(problems: Mapping[Problem, Sequence[str]], rows: int) -> list[Problem]:
    """Each problem with the row that has it in front; once and without one where all rows have it."""
    return [
        problem
        if len(names) == rows
        else replace(problem, file=": ".join(filter(None, (name, problem.file))))
        for problem, names in problems.items()
        for name in (names if len(names) < rows else names[:1])
    ]
