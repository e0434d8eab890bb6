"""The report of one plan: what was planned, what a token and a request cost, what fits, what binds."""

from __future__ import annotations

from kvplan.architecture import Architecture
from kvplan.records import Plan, Pool
from kvplan.render.blocks import Column, Grid, Remark, Report
from kvplan.render.budget import context_range, lines, requests_range, tokens_range
from kvplan.render.choices import common_grid, estimated, too_small, tries
from kvplan.render.decode import floor
from kvplan.render.flat import flat
from kvplan.render.formats import Document
from kvplan.render.head import changes, engine_facts
from kvplan.render.sharing import copies, fixed_parts
from kvplan.render.text import exact, joined, plural, rounded
from kvplan.render.words import composition
from kvplan.units import format_gib

NOT_MODELLED = "weights, activations, CUDA graphs, host memory (HiCache, PD)"
NO_WEIGHTS = "give --weights SIZE, or --available-bytes SIZE, for tokens and requests"
NO_BUDGET = "give --gpu NAME[xN], or --available-bytes SIZE, for tokens and requests"

# Allocated and charged bytes that differ by less say nothing: the extra page of every buffer does it.
_NOTABLE_DIFFERENCE = 0.01

_SOURCES = {
    "bundled": "bundled model",
    "file": "file",
    "cache": "Hugging Face cache",
    "hub": "Hugging Face Hub",
    "built": "built in Python",
}


def document(plan: Plan) -> Document:
    """One plan in every shape: `kvplan size`."""
    return Document(report=lambda: report(plan), data=plan.to_dict, records=lambda: [flat(plan)])


def report(plan: Plan) -> Report:
    """The whole report of `kvplan size`."""
    return Report(
        title=plan.architecture.id,
        facts=(
            composition(plan.architecture),
            *changes(plan.architecture),
            _origin(plan.architecture),
            " | ".join(engine_facts(plan)),
            _pool_line(plan),
        ),
        grids=(_costs(plan), *_memory(plan), *_capacity(plan), *common_grid(plan)),
        answers=_answers(plan),
        remarks=(
            *(Remark(tag="assumed:", text=text) for text in plan.assumed),
            *(Remark(tag="warning:", text=text, alarm=True) for text in plan.warnings),
            *estimated(plan.common_gpus),
            Remark(tag="not modelled:", text=_not_modelled(plan)),
        ),
    )


def _memory(plan: Plan) -> tuple[Grid, ...]:
    return () if plan.budget is None else lines(plan.budget)


def _not_modelled(plan: Plan) -> str:
    known = plan.budget is not None and plan.budget.weights_bytes is not None
    return NOT_MODELLED.removeprefix("weights, ") if known else NOT_MODELLED


def _origin(model: Architecture) -> str:
    source = model.source
    where = " ".join(part for part in (_SOURCES.get(source.kind, source.kind), source.location) if part)
    return f"{where}, revision {source.revision}" if source.revision else where


def _pool_line(plan: Plan) -> str:
    chosen = [verdict.why for verdict in plan.pool.why if verdict.link == plan.pool.link]
    return f"pool: {plan.pool.link}" + (f" | {chosen[0]}" if chosen and chosen[0] else "")


def _costs(plan: Plan) -> Grid:
    request, pool = plan.request, plan.pool
    rows = [("one token", request.bytes_per_token, copies(plan))]
    if pool.cell_size != request.bytes_per_token:
        rows.append(("one token, SGLang's cell", pool.cell_size, "what the engine reserves"))
    rows.append(("one request, any length", request.fixed_bytes, fixed_parts(plan)))
    if pool.state_bytes_per_request not in (0, request.fixed_bytes):
        rows.append(("of which recurrent state", pool.state_bytes_per_request, ""))
    gpus = plan.resolved.attention_tp * plan.deployment.pp
    total = f"{exact(request.bytes_total)} in total over {gpus} GPUs" if gpus > 1 else ""
    rows.append((f"one request at {exact(request.context)}", request.bytes, total))
    return Grid(
        columns=(
            Column(heading="per GPU"),
            Column(heading="bytes", figures=True),
            Column(heading="", figures=True),
            Column(heading=""),
        ),
        rows=tuple((label, exact(value), rounded(value), note) for label, value, note in rows),
    )


def _capacity(plan: Plan) -> tuple[Grid, ...]:
    if not plan.pools:
        return ()
    return (
        Grid(
            title=f"capacity in {_budget(plan)} per GPU",
            columns=(
                Column(heading="pool"),
                Column(heading="layers", figures=True),
                Column(heading="bytes", figures=True),
                Column(heading="slots", figures=True),
                Column(heading=""),
            ),
            rows=tuple(_pool_row(plan, pool) for pool in plan.pools),
        ),
    )


def _budget(plan: Plan) -> str:
    available = plan.capacity.available_bytes
    if available is None and plan.budget is not None:
        available = plan.budget.available_bytes
    return "memory" if available is None else f"{format_gib(available)} ({exact(available)} bytes)"


def _pool_row(plan: Plan, pool: Pool) -> tuple[str, ...]:
    return (
        pool.name,
        exact(pool.layers),
        exact(pool.charged_bytes),
        exact(pool.tokens),
        joined([f"{exact(pool.bytes_per_token)} bytes each", _allocated(pool), _slots(plan, pool)]),
    )


def _slots(plan: Plan, pool: Pool) -> str:
    per_request = plan.resolved.state_slots_per_request
    if per_request and pool.tokens == plan.capacity.max_mamba_cache_size:
        return f"{per_request} for each running request"
    return ""


def _allocated(pool: Pool) -> str:
    difference = pool.allocated_bytes - pool.charged_bytes
    if not pool.charged_bytes or abs(difference) <= _NOTABLE_DIFFERENCE * pool.charged_bytes:
        return ""
    return f"{exact(pool.allocated_bytes)} allocated ({difference / pool.charged_bytes:+.1%})"


def _answers(plan: Plan) -> tuple[Remark, ...]:
    capacity, budget = plan.capacity, plan.budget
    if budget is None and capacity.max_total_num_tokens is None:
        text = NO_BUDGET if plan.deployment.gpu is None else NO_WEIGHTS
        return (*too_small(plan), Remark(tag="capacity", text=text), *floor(plan))
    if budget is not None and budget.shortfall_bytes:
        text = f"does not fit: {exact(budget.shortfall_bytes)} bytes per GPU are missing"
        return (Remark(tag="RESULT", text=text, strong=True), *tries(plan.advice))
    logged = {
        "max_total_num_tokens": capacity.max_total_num_tokens,
        "max_running_requests": capacity.max_running_requests,
    }
    text = ", ".join(f"{name}={value}" for name, value in logged.items() if value is not None)
    between = "" if budget is None else tokens_range(budget)
    answers: tuple[Remark, ...] = (Remark(tag="SGLang logs", text=f"about {text}" if between else text),)
    if between:
        answers += (Remark(tag="estimate", text=between),)
    if capacity.requests_at_context is not None:
        result = _result(plan, capacity.requests_at_context) + _unsure(plan)
        answers += (Remark(tag="RESULT", text=result, strong=True),)
    return (*answers, *floor(plan), *tries(plan.advice))


def _unsure(plan: Plan) -> str:
    """What an answer is worth where the server may not start at all."""
    return "; see the warning: such a server may not start" if plan.stops else ""


def _result(plan: Plan, count: int) -> str:
    context, limited_by = exact(plan.request.context), plan.capacity.limited_by
    bound = f"; bound by {_bound(limited_by)}" if limited_by else ""
    if asks_for_context(plan):
        return _longest(plan)
    ranks = ranks_of(plan)
    between = requests_range(plan.budget, ranks)
    between = f" ({between})" if between else ""
    if not count:
        return f"not one request of {context} tokens fits{between}{bound}"
    text = f"{plural(count, 'request')} of {context} tokens at once"
    text += f" on each of {ranks} ranks, {exact(count * ranks)} in total" if ranks > 1 else ""
    return f"{text}{between}{bound}{_asked(plan, count * ranks)}"


def asks_for_context(plan: Plan) -> bool:
    """Whether a number of requests is given without a context: then the longest context is the answer."""
    return plan.deployment.concurrency is not None and plan.deployment.ctx is None


def _longest(plan: Plan) -> str:
    wanted = plural(plan.deployment.concurrency or 0, "request")
    longest = plan.capacity.context_at_concurrency
    if not longest:
        running = plan.capacity.max_running_requests or 0
        most = running * ranks_of(plan)
        bound = (
            f"; max_running_requests is {exact(most)}" if most < (plan.deployment.concurrency or 0) else ""
        )
        return f"{wanted} at once fit at no context{bound}"
    full = "" if longest < plan.resolved.context_length else ", the server's whole context"
    between = context_range(plan.budget)
    between = f" ({between})" if between else ""
    return f"{wanted} at once of up to {exact(longest)} tokens each{between}{full}"


def ranks_of(plan: Plan) -> int:
    """Places that each hold different requests: attention-DP ranks, or whole replicas."""
    return plan.resolved.attention_dp if plan.deployment.enable_dp_attention else plan.deployment.dp


def _asked(plan: Plan, count: int) -> str:
    wanted = plan.deployment.concurrency
    if wanted is None:
        return ""
    return f"; {exact(wanted)} asked: {'they fit' if count >= wanted else 'they do not fit'}"


def _bound(limited_by: str) -> str:
    return limited_by.replace("kv ", "KV ").replace("swa ", "SWA ")
