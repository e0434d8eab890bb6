"""A plan beside a server's log: `kvplan verify`."""

from __future__ import annotations

from kvplan.records import Number
from kvplan.render.blocks import Column, Grid, Remark, Report
from kvplan.render.formats import Document
from kvplan.render.head import engine_facts
from kvplan.render.text import exact
from kvplan.verify import Check, Verification
from kvplan.verify.records import check_records

_DECIMALS = {"GiB": 2, "bytes": 1}


def of_verification(found: Verification) -> Document:
    """The comparison in the shapes that the formats draw."""
    return Document(
        report=lambda: report(found), data=found.to_dict, records=lambda: check_records(found.checks)
    )


def report(found: Verification) -> Report:
    """Terms in the order of the log, the answer, then what may explain a difference."""
    plan = found.plan
    return Report(
        title=plan.architecture.id,
        facts=(" | ".join(engine_facts(plan)), *_free(found)),
        grids=(_grid(found.checks),) if found.checks else (),
        answers=(_result(found), *(Remark(tag="cause", text=text) for text in found.causes)),
        remarks=(
            *(Remark(tag="taken:", text=text) for text in found.notes),
            *(Remark(tag="warning:", text=text, alarm=True) for text in plan.warnings),
        ),
    )


def _free(found: Verification) -> tuple[str, ...]:
    before, after = found.log.free_before_gib, found.log.free_after_gib
    if before is None or after is None:
        return ()
    fraction = found.plan.resolved.mem_fraction_static
    return (
        f"log: {before:.2f} GiB free before loading, {after:.2f} after; mem_fraction_static {fraction:g}",
    )


def _grid(checks: tuple[Check, ...]) -> Grid:
    return Grid(
        columns=(
            Column(heading="per GPU"),
            Column(heading=""),
            Column(heading="predicted", figures=True),
            Column(heading="logged", figures=True),
            Column(heading="difference", figures=True),
            Column(heading=""),
        ),
        rows=tuple(_row(check) for check in checks),
    )


def _row(check: Check) -> tuple[str, ...]:
    off = check.difference
    return (
        check.name,
        check.unit,
        _figure(check.predicted, check.unit),
        _figure(check.logged, check.unit),
        "" if off is None else f"{off:+.2%}",
        "agrees" if check.agrees else "DIFFERS",
    )


def _figure(value: Number, unit: str) -> str:
    if isinstance(value, int):
        return exact(value)
    return f"{value:,.{_DECIMALS.get(unit, 0)}f}"


def _result(found: Verification) -> Remark:
    tokens, others = found.tokens, [check.name for check in found.checks if not check.agrees]
    if not found.checks:
        text = "nothing to compare: no pool, no state and no free memory in the log"
    elif tokens is None:
        text = "tokens are not compared"
    elif tokens.agrees or tokens.difference is None:
        text = f"tokens {'agree' if tokens.agrees else 'differ'} within {found.tolerance * 100:g} %"
    else:
        text = f"tokens differ by {tokens.difference:+.2%}"
    if others:
        text += f"; {len(others)} of {len(found.checks)} terms differ"
    return Remark(tag="RESULT", text=text, strong=True)
