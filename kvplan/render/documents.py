"""What each command has to show, in the three shapes that the formats draw from."""

from __future__ import annotations

from collections.abc import Sequence

from kvplan.architecture import Architecture
from kvplan.records import SCHEMA_VERSION, Plan
from kvplan.render import comparison, models, size
from kvplan.render.flat import flat
from kvplan.render.formats import Document


def of_plan(plan: Plan) -> Document:
    """One plan: `kvplan size`."""
    return Document(report=lambda: size.report(plan), data=plan.to_dict, records=lambda: [flat(plan)])


def of_comparison(plans: Sequence[Plan]) -> Document:
    """Plans side by side; in JSON `rows` are the table in its order and `plans` the plans behind them."""
    rows = comparison.rows(plans)
    return Document(
        report=lambda: comparison.report(rows),
        data=lambda: {
            "schema_version": SCHEMA_VERSION,
            "rows": [row.figures() for row in rows],
            "plans": [row.plan.to_dict() for row in rows],
        },
        records=lambda: [{**row.figures(), **flat(row.plan)} for row in rows],
    )


def of_models(found: Sequence[Architecture]) -> Document:
    """Models that can be named: `kvplan models`."""
    return Document(
        report=lambda: models.report(found),
        data=lambda: {"schema_version": SCHEMA_VERSION, "models": models.records(found)},
        records=lambda: models.records(found),
    )
