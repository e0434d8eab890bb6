"""From a plan to its derivation."""

from __future__ import annotations

from kvplan.explain.decode import decode_section
from kvplan.explain.knobs import knobs
from kvplan.explain.layers import layer_sections
from kvplan.explain.lines import Explanation
from kvplan.explain.pool import cell_section, link_section
from kvplan.explain.totals import totals
from kvplan.records import Plan


def explain(plan: Plan) -> Explanation:
    """Layers, their sum, the knobs, the engine's pool, a decode step. Without its ledger the last three."""
    step = decode_section(plan)
    engine = (link_section(plan), cell_section(plan), *([step] if step is not None else []))
    book, figures = plan.ledger, plan.accounting
    if book is None or figures is None:
        return Explanation(sections=engine)
    turned = knobs(plan.architecture, plan.storage)
    return Explanation(
        sections=(
            *layer_sections(book, figures.context),
            totals(plan, book, figures),
            *([turned] if turned is not None else []),
            *engine,
        )
    )
