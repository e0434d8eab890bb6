"""What `size` and `compare` do once their command line is understood: load, plan, show, judge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kvplan.architecture import Architecture
from kvplan.cli.output import show
from kvplan.cli.progress import spinner
from kvplan.deployment import Deployment
from kvplan.errors import InputError, Problem, RefusedError, option_flag
from kvplan.loading import load
from kvplan.plan import Plan
from kvplan.planning import plan
from kvplan.render.documents import of_comparison, of_plan
from kvplan.render.size import ranks_of


def run_size(model: str, asked: Deployment, *, chosen: str, output: str | None, source: str | None) -> None:
    """Plan, show, and raise RefusedError where the answer to what was asked is no."""
    made = plan(load(model, source=source, on_fetch=spinner), asked)
    show(of_plan(made), chosen, output)
    unmet = unmet_request(made)
    if unmet:
        raise RefusedError(Problem(file="", key="", what=unmet))


def unmet_request(made: Plan) -> str:
    """Why an explicit --ctx or --concurrency does not fit, or an empty text.

    A plan with the default context shows the same in its RESULT line and is no failure: nobody asked.
    """
    per_rank, asked = made.capacity.requests_at_context, made.deployment
    if per_rank is None:
        return ""
    context = f"{made.request.context:,} tokens"
    if asked.ctx is not None and per_rank == 0:
        return f"--ctx: not one request of {context} fits"
    fitting = per_rank * ranks_of(made)
    if asked.concurrency is not None and fitting < asked.concurrency:
        return (
            f"--concurrency: {asked.concurrency:,} requests of {context} are asked, {fitting:,} fit at once"
        )
    return ""


def run_compare(
    models: Iterable[str],
    settings: Sequence[Deployment],
    *,
    chosen: str,
    output: str | None,
    source: str | None,
) -> None:
    """Show every row that can be planned, then raise RefusedError for those that can't."""
    plans: list[Plan] = []
    refused: list[Problem] = []
    for model in load_all(dict.fromkeys(models), source):
        for asked in settings:
            try:
                plans.append(plan(model, asked))
            except RefusedError as error:
                refused += [_about(problem, model, asked, settings) for problem in error.problems]
    if plans:
        show(of_comparison(plans), chosen, output)
    if refused:
        raise RefusedError(refused)


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


def _about(
    problem: Problem, model: Architecture, asked: Deployment, settings: Sequence[Deployment]
) -> Problem:
    """The problem with the model and the settings of its row in front."""
    differing = [
        f"{option_flag(name)} {getattr(asked, name)}"
        for name in Deployment.__slots__
        if len({getattr(one, name) for one in settings}) > 1
    ]
    row = " ".join([model.id, *differing])
    where = ": ".join(part for part in (row, problem.file) if part)
    return Problem(file=where, key=problem.key, what=problem.what, hint=problem.hint)
