"""What each command has to show, in the three shapes that the formats draw from."""

from __future__ import annotations

from collections.abc import Sequence

from kvplan.architecture import Architecture
from kvplan.choices import Choice
from kvplan.hardware import Gpu
from kvplan.records import SCHEMA_VERSION, Plan
from kvplan.render import choices, comparison, gpus, models, size
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


def of_gpus(found: Sequence[Gpu]) -> Document:
    """GPUs that can be named: `kvplan gpus`."""
    return Document(
        report=lambda: gpus.report(found),
        data=lambda: {"schema_version": SCHEMA_VERSION, "gpus": gpus.records(found)},
        records=lambda: gpus.records(found),
    )


def of_fit(rows: Sequence[Choice], *, plan: Plan, total: int, wanted: int) -> Document:
    """Settings that fit: `kvplan fit`; `total` of them, of which `rows` are shown."""
    return Document(
        report=lambda: choices.fit_report(rows, plan=plan, total=total, wanted=wanted),
        data=lambda: {
            "schema_version": SCHEMA_VERSION,
            "model": plan.to_dict()["model"],
            "context": plan.request.context,
            "concurrency": wanted,
            "settings_total": total,
            "settings": choices.records(rows),
        },
        records=lambda: choices.records(rows),
    )


def of_models(found: Sequence[Architecture]) -> Document:
    """Models that can be named: `kvplan models`."""
    return Document(
        report=lambda: models.report(found),
        data=lambda: {"schema_version": SCHEMA_VERSION, "models": models.records(found)},
        records=lambda: models.records(found),
    )
