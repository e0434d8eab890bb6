"""Plans side by side: rows sorted by what one request costs, and the report that shows them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any

from kvplan.budget import gpus_of
from kvplan.deployment import Deployment
from kvplan.frozen import dataclass
from kvplan.records import SCHEMA_VERSION, Plan
from kvplan.render.about import about
from kvplan.render.blocks import Column, Grid, Remark, Report
from kvplan.render.budget import estimated_told, requests_range, token_range
from kvplan.render.flat import flat
from kvplan.render.formats import Document
from kvplan.render.head import engine_facts, short_dtype
from kvplan.render.text import exact
from kvplan.render.words import attention_summary, composition
from kvplan.units import GIB, format_gib
from kvplan.weights.choice import AUTO

Columns = list[tuple[Column, list[str]]]  # each column with its cells, top to bottom


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One plan of a comparison; `settings` are the options that differ between the rows, as given."""

    plan: Plan
    settings: tuple[tuple[str, Any], ...]
    ratio: float | None

    def figures(self) -> dict[str, Any]:
        """The row under the names that JSON and CSV use; bytes per GPU."""
        plan, (attention, _) = self.plan, attention_summary(self.plan.architecture)
        return {
            "model": plan.architecture.id,
            "attention": attention,
            "layers": len(plan.architecture.layers),
            **dict(self.settings),
            "kv_cache_dtype": plan.resolved.kv_cache_dtype,
            "context": plan.request.context,
            "bytes_per_token": plan.request.bytes_per_token,
            "fixed_bytes": plan.request.fixed_bytes,
            "bytes": plan.request.bytes,
            "ratio_to_smallest": self.ratio,
            "cell_size": plan.pool.cell_size,
            "max_total_num_tokens": plan.capacity.max_total_num_tokens,
            "requests_at_context": plan.capacity.requests_at_context,
        }


def document(plans: Sequence[Plan]) -> Document:
    """Plans side by side; in JSON `rows` are the table in its order and `plans` the plans behind them."""
    sorted_rows = rows(plans)
    return Document(
        report=lambda: report(sorted_rows),
        data=lambda: {
            "schema_version": SCHEMA_VERSION,
            "rows": [row.figures() for row in sorted_rows],
            "plans": [row.plan.to_dict() for row in sorted_rows],
        },
        records=lambda: [{**row.figures(), **flat(row.plan)} for row in sorted_rows],
    )


def rows(plans: Sequence[Plan]) -> tuple[Row, ...]:
    """The plans in order of bytes for one request at its context, smallest first."""
    differing = [field.name for field in fields(Deployment) if _differs(plans, field.name)]
    ordered = sorted(plans, key=lambda plan: plan.request.bytes)
    # Requests of different lengths, each as long as its model allows, have no ratio to each other.
    comparable = "ctx" in differing or len({plan.request.context for plan in plans}) == 1
    smallest = ordered[0].request.bytes if comparable else 0
    return tuple(
        Row(
            plan=plan,
            settings=tuple((name, getattr(plan.deployment, name)) for name in differing),
            ratio=plan.request.bytes / smallest if smallest else None,
        )
        for plan in ordered
    )


def _differs(plans: Sequence[Plan], name: str) -> bool:
    values = {getattr(plan.deployment, name) for plan in plans}
    # Where nothing is said of weights, they are looked for where they can be known.
    return len(values - {AUTO} | {None} if name == "weights" and AUTO in values else values) > 1


def report(rows: Sequence[Row]) -> Report:
    """The comparison for people; a single model moves from the rows into the head."""
    models = {row.plan.architecture.id for row in rows}
    first = rows[0].plan
    head = [first.architecture.id, composition(first.architecture)] if len(models) == 1 else []
    apart = len(models) > 1 or bool(_loaded(rows))
    fits = [_fit_title(rows)] if not apart and _has_budget(rows) else []
    lines = [*head, _subject(rows), _engine_line(rows), *fits]
    return Report(
        title=lines[0],
        facts=tuple(lines[1:]),
        grids=_grids(rows) if apart else (_grid([*_settings(rows), *_costs(rows), *_fits(rows)]),),
        remarks=_remarks(rows),
    )


def _subject(rows: Sequence[Row]) -> str:
    contexts = {row.plan.request.context for row in rows}
    length = f"{exact(contexts.pop())} tokens" if len(contexts) == 1 else "the context shown"
    sizes = {(row.plan.resolved.attention_tp, row.plan.deployment.pp) for row in rows}
    per = "whole model" if sizes == {(1, 1)} else "bytes per GPU"
    return f"KV cache of one request of {length}, {per}"


def _engine_line(rows: Sequence[Row]) -> str:
    """The engine facts that all rows share."""
    shared = engine_facts(rows[0].plan)
    others = [engine_facts(row.plan) for row in rows[1:]]
    return " | ".join(fact for fact in shared if all(fact in facts for facts in others))


def _grids(rows: Sequence[Row]) -> tuple[Grid, ...]:
    """What the rows cost, and below it, since one line could not hold both, what fits."""
    names, designs = _models(rows)
    costs = _grid([*names, *designs, *_settings(rows), *_costs(rows)])
    fits = _fits(rows)
    title = _fit_title(rows) if _has_budget(rows) else "what SGLang charges for a token on each GPU"
    return (costs, _grid([*names, *_settings(rows), *fits], title=title)) if fits else (costs,)


def _models(rows: Sequence[Row]) -> tuple[Columns, Columns]:
    """Names and designs, for several models."""
    if len({row.plan.architecture.id for row in rows}) == 1:
        return [], []
    summaries = [attention_summary(row.plan.architecture) for row in rows]
    return [(Column(heading="model"), _model_names(rows))], [
        (Column(heading="attention"), [attention for attention, _ in summaries]),
        (Column(heading="layers", figures=True), [layers for _, layers in summaries]),
    ]


def _fit_title(rows: Sequence[Row]) -> str:
    """What the tokens and requests refer to; a budget that differs has a column of its own."""
    ranks = any(row.plan.resolved.attention_dp > 1 for row in rows)
    replicas = any(row.plan.deployment.dp > row.plan.resolved.attention_dp for row in rows)
    part = ", of one attention-DP rank" if ranks else ", of one replica" if replicas else ""
    return f"tokens and requests that fit {_where(rows)}{part}"


def _where(rows: Sequence[Row]) -> str:
    budgets = {row.plan.capacity.available_bytes for row in rows}
    known = budgets.pop() if len(budgets) == 1 else None
    if known is not None:
        return f"in {format_gib(known)} per GPU"
    sets = {(row.plan.deployment.gpu, gpus_of(row.plan.deployment)) for row in rows}
    name, count = sets.pop() if len(sets) == 1 else (None, 0)
    return "on each GPU" if name is None else f"on {count} x {name.upper()}"


def _has_budget(rows: Sequence[Row]) -> bool:
    return any(row.plan.capacity.max_total_num_tokens is not None for row in rows)


def _grid(columns: Columns, title: str = "") -> Grid:
    cells = [column_cells for _, column_cells in columns]
    head = tuple(column for column, _ in columns)
    return Grid(title=title, columns=head, rows=tuple(zip(*cells, strict=True)))


def _model_names(rows: Sequence[Row]) -> list[str]:
    """Names without their organisation where that leaves them different."""
    full = [row.plan.architecture.id for row in rows]
    short = [name.rpartition("/")[2] for name in full]
    return short if len(set(short)) == len(set(full)) else full


def _settings(rows: Sequence[Row]) -> Columns:
    """Options that differ; what --kv-cache-dtype came to stands for the flag where it tells as much."""
    dtypes = [short_dtype(row.plan.resolved.kv_cache_dtype) for row in rows]
    flags = {row.plan.deployment.kv_cache_dtype for row in rows}
    told = {"kv_cache_dtype"} if len(set(dtypes)) >= len(flags) else set()
    columns: Columns = [
        (Column(heading=name.replace("_", "\n"), figures=True), [_setting(row, name) for row in rows])
        for name, _ in rows[0].settings
        if name not in told
    ]
    if len(set(dtypes)) > 1:
        columns.append((Column(heading="KV\ndtype", figures=True), dtypes))
    return columns


def _setting(row: Row, name: str) -> str:
    value = dict(row.settings)[name]
    match value:
        case None:
            return "default"
        case bool():
            return "yes" if value else "no"
        case int():
            return format_gib(value) if name == "available_bytes" else exact(value)
        case _:
            return str(value)


def _costs(rows: Sequence[Row]) -> Columns:
    requests = [row.plan.request for row in rows]
    contexts = {request.context for request in requests}
    context = exact(contexts.pop()) if len(contexts) == 1 else "context"
    columns: Columns = [
        (Column(heading="bytes a\ntoken", figures=True), [exact(it.bytes_per_token) for it in requests]),
        (Column(heading="fixed bytes\na request", figures=True), [exact(it.fixed_bytes) for it in requests]),
        (Column(heading=f"KV bytes\nat {context}", figures=True), [exact(it.bytes) for it in requests]),
    ]
    if context == "context" and "ctx" not in dict(rows[0].settings):
        lengths = [exact(it.context) for it in requests]
        columns.insert(2, (Column(heading="context\ntokens", figures=True), lengths))
    ratios = ["-" if row.ratio is None else f"{row.ratio:.1f}x" for row in rows]
    return [*columns, (Column(heading="ratio", figures=True), ratios)] if set(ratios) != {"-"} else columns


def _fits(rows: Sequence[Row]) -> Columns:
    cell = (Column(heading="cell\nbytes", figures=True), [exact(row.plan.pool.cell_size) for row in rows])
    if not _has_budget(rows):
        # What the engine charges for a token, where that is not what the model itself needs.
        return [cell] if any(it.plan.pool.cell_size != it.plan.request.bytes_per_token for it in rows) else []
    return [
        cell,
        *_loaded(rows),
        (Column(heading="max\ntokens", figures=True), [_tokens(row.plan) for row in rows]),
        (Column(heading="requests\nat once", figures=True), [_requests(row.plan) for row in rows]),
    ]


def _loaded(rows: Sequence[Row]) -> Columns:
    """What the weights leave of each GPU, where that was worked out."""
    budgets = [row.plan.budget for row in rows]
    if not any(budget is not None and budget.weights_bytes is not None for budget in budgets):
        return []
    return [
        (
            Column(heading="weights\nGiB a GPU", figures=True),
            [_gib(None if budget is None else budget.weights_bytes) for budget in budgets],
        ),
        (
            Column(heading="pools\nGiB a GPU", figures=True),
            [_gib(None if budget is None else budget.available_bytes) for budget in budgets],
        ),
    ]


def _gib(value: int | None) -> str:
    return "-" if value is None else f"{value / GIB:.1f}"


def _tokens(plan: Plan) -> str:
    tokens, budget = plan.capacity.max_total_num_tokens, plan.budget
    if tokens is None:
        return "-"
    if budget is None or budget.low is None or budget.high is None:
        return exact(tokens)
    return token_range(budget.low.max_total_num_tokens, budget.high.max_total_num_tokens)


def _requests(plan: Plan) -> str:
    requests = plan.capacity.requests_at_context
    return "-" if requests is None else requests_range(plan.budget, 1) or exact(requests)


def _remarks(rows: Sequence[Row]) -> tuple[Remark, ...]:
    plans = [(row.plan.architecture.id, row.plan) for row in rows]
    return (
        *about("assumed:", [(name, plan.assumed) for name, plan in plans]),
        *about("warning:", [(name, plan.warnings) for name, plan in plans], alarm=True),
        *about("estimated:", [(name, tuple(_estimated(plan))) for name, plan in plans]),
    )


def _estimated(plan: Plan) -> Iterator[str]:
    """What of the budget is no exact figure."""
    budget = plan.budget
    if budget is not None and budget.low is not None:
        yield estimated_told(budget.weights_source or "")
