"""SGLang's pool: which link takes the model and why, and its cell term by term."""

from __future__ import annotations

from collections.abc import Iterator

from kvplan.explain.lines import Line, Section
from kvplan.explain.sources import LINK_SOURCES, ORDER_SOURCE, TERM_SYMBOLS
from kvplan.records import Plan


def link_section(plan: Plan) -> Section:
    """What each link of the chain said, up to the one that takes the model."""
    version = plan.deployment.engine_version
    return Section(
        title=f"which pool SGLang {version} builds",
        lines=tuple(
            Line(
                what=verdict.link,
                symbols="takes it" if verdict.matches else "passes it on",
                numbers=verdict.why,
            )
            for verdict in plan.pool.why
        ),
        sources=(ORDER_SOURCE,),
    )


def cell_section(plan: Plan) -> Section:
    """The cell, and the state of one request, as the engine reserves them on one GPU."""
    return Section(
        title=f"cell of the {plan.pool.link} pool: bytes a token, per GPU",
        lines=tuple(_cell_lines(plan)),
        sources=(f"SGLang {LINK_SOURCES[plan.pool.link]}",),
    )


def _cell_lines(plan: Plan) -> Iterator[Line]:
    for term in plan.pool.terms:
        yield Line(
            what=term.name,
            symbols=TERM_SYMBOLS.get(term.name, ""),
            numbers=term.formula,
            result=term.bytes_per_token,
        )
    yield Line(what="cell", symbols="sum of the terms", numbers="", result=plan.pool.cell_size)
    if plan.pool.state_bytes_per_request:
        yield Line(
            what="state of one request",
            symbols="C of all layers",
            numbers="reserved in slots, before tokens are counted",
            result=plan.pool.state_bytes_per_request,
        )
    capacity = plan.capacity
    if capacity.kv_bytes is not None and capacity.max_total_num_tokens is not None:
        yield Line(
            what="max_total_num_tokens",
            symbols="floor((bytes - fixed) / cell), whole pages",
            numbers=f"{capacity.kv_bytes:,} bytes, page {plan.resolved.page_size}",
            result=capacity.max_total_num_tokens,
        )
