"""What `size` does once its command line is understood: load, plan, show, judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kvplan.cli.fit_runs import sized
from kvplan.cli.output import show
from kvplan.cli.progress import spinner
from kvplan.deployment import Deployment
from kvplan.errors import Problem, RefusedError
from kvplan.loading import load
from kvplan.records import Plan
from kvplan.render import size
from kvplan.search import missing_bytes
from kvplan.whatif import changed


def run_size(
    model: str,
    asked: Deployment,
    *,
    chosen: str,
    output: str | None,
    source: str | None,
    changes: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> None:
    """Plan, show, and raise RefusedError where the answer to what was asked is no.

    `notes` are shown with the plan's own warnings.
    """
    made, unfit = sized(changed(load(model, source=source, on_fetch=spinner), changes), asked)
    made = replace(made, warnings=(*made.warnings, *notes))
    show(size.document(made), chosen, output)
    if unfit is not None:
        raise unfit
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
    if size.asks_for_context(made):
        none = not made.capacity.context_at_concurrency
        return f"--concurrency: {asked.concurrency:,} requests fit at no context" if none else ""
    context = f"{made.request.context:,} tokens"
    if asked.ctx is not None and per_rank == 0:
        return f"--ctx: not one request of {context} fits{_missing(made)}"
    fitting = per_rank * size.ranks_of(made)
    if asked.concurrency is not None and fitting < asked.concurrency:
        held = f"{fitting:,} requests of {context} fit at once"
        return f"--concurrency: {held}, not {asked.concurrency:,}{_missing(made)}"
    return ""


def _missing(made: Plan) -> str:
    missing = missing_bytes(made)
    return f"; about {missing:,} bytes per GPU are missing" if missing else ""
