"""What `fit` does once its command line is understood, and what `size` adds to a plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kvplan import budget
from kvplan.advice import improvements
from kvplan.architecture import Architecture
from kvplan.choices import Choice
from kvplan.cli.output import show
from kvplan.deployment import Deployment
from kvplan.errors import DoesNotFitError, bad_option
from kvplan.fit import ALLOWED, COMMON_GPUS, common, named_gpus, search
from kvplan.frozen import dataclass
from kvplan.planning import plan, resolve
from kvplan.records import Plan
from kvplan.remedies import fits, remedies
from kvplan.weights.choice import AUTO, with_weights


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """What `fit` searches: `gpus` by name (None: common ones), `most` of a kind, and `allowed` formats."""

    gpus: Sequence[str] | None
    most: int
    allowed: Sequence[str]


def run_fit(
    model: Architecture, asked: Deployment, space: Space, *, top: int, chosen: str, output: str | None
) -> None:
    """Search, show the `top` cheapest settings, or raise DoesNotFitError."""
    for word in space.allowed:
        if word not in ALLOWED:
            raise bad_option("allow", f"{word!r} is not one of {', '.join(ALLOWED)}")
    names = _names(space, asked)
    wanted = asked if asked.wants_estimate else replace(asked, weights=AUTO)
    rows = search(model, wanted, gpus=names, most=space.most, allowed=space.allowed)
    costs = _assuming(plan(model, _as(rows[0], _without_budget(asked))), rows)
    requests = asked.concurrency or 1
    from kvplan.render.choices import fit_document  # noqa: PLC0415 - `kvplan size` needs the rest alone

    show(fit_document(rows[:top], plan=costs, total=len(rows), wanted=requests), chosen, output)


def _as(row: Choice, asked: Deployment) -> Deployment:
    """The deployment in the layout of a row."""
    return replace(
        asked,
        gpu=row.gpu,
        tp=row.tp,
        dp=row.dp,
        pp=row.pp,
        ep=row.ep,
        enable_dp_attention=row.enable_dp_attention,
    )


def _names(space: Space, asked: Deployment) -> tuple[str, ...]:
    """The GPUs to look at; memory that is given belongs to one of them."""
    if asked.gpu_memory is None:
        return named_gpus(space.gpus) if space.gpus else COMMON_GPUS
    if space.gpus is None or len(space.gpus) > 1:
        raise bad_option("gpu_memory", "is that of one GPU", "--gpu sm89 or the like says of which")
    return named_gpus(space.gpus, asked.gpu_memory)


def sized(model: Architecture, asked: Deployment) -> tuple[Plan, DoesNotFitError | None]:
    """The plan of `kvplan size` with what helps, and the error where the budget is too small.

    With a GPU and no budget the budget is worked out; with neither, common GPUs are tried.
    """
    if asked.weights is not None and asked.gpu is None and asked.gpu_memory is None and not asked.has_budget:
        costs = plan(model, _without_budget(asked))
        return _on_common_gpus(model, replace(costs, deployment=asked)), None
    wanted = with_weights(model, asked)
    try:
        made = plan(model, wanted)
    except DoesNotFitError as error:
        settings = resolve(model, wanted)
        costs = plan(model, _without_budget(wanted))
        lines = budget.unfit(settings, error.shortfall_bytes)
        made = replace(
            costs, deployment=wanted, budget=lines, advice=remedies(model, wanted, stops=costs.stops)
        )
        return made, error
    if made.budget is None:
        return _on_common_gpus(model, made), None
    if asked.concurrency is not None and asked.ctx is None and fits(made):
        return made, None  # the answer is a context, which no number of requests can be compared with
    helpful = improvements(made) if fits(made) else remedies(model, made.deployment, stops=made.stops)
    return replace(made, advice=helpful), None


def _without_budget(asked: Deployment) -> Deployment:
    return replace(
        asked,
        available_bytes=None,
        pre_model_load_gib=None,
        free_gib=None,
        weights=None,
        weights_per_gpu=None,
    )


def _on_common_gpus(model: Architecture, made: Plan) -> Plan:
    asked = made.deployment
    known = asked.weights is not None or model.weights_bytes is not None or model.parameters is not None
    if asked.gpu is not None or not known:
        return made
    asked = replace(asked, weights=asked.weights or AUTO)
    rows = common(model, asked, given_tp=asked.tp > 1)
    return replace(_assuming(made, rows), common_gpus=rows)


def _assuming(made: Plan, rows: Sequence[Choice]) -> Plan:
    """The plan with what the weights of the rows assume."""
    sources = dict.fromkeys(row.weights_source for row in rows)
    found = (text for source in sources for text in budget.weight_assumptions(made.architecture, source))
    return replace(made, assumed=(*made.assumed, *found))
