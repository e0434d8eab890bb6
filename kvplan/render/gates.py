"""`kvplan check`: gates, their conditions and changes, as a report and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from fractions import Fraction
from typing import Any

from kvplan.gates.records import Change, Finding, Outcome, Result, Scalar
from kvplan.records import SCHEMA_VERSION
from kvplan.render.about import about
from kvplan.render.blocks import Column, Grid, Remark, Report
from kvplan.render.formats import Document
from kvplan.render.text import exact, plural

_VERDICTS = {True: "ok", False: "FAILED"}
_MOST_PERCENT = 10**6  # more says nothing that the two figures do not say


def of_gates(outcome: Outcome) -> Document:
    """The outcome as a report, as JSON, and as a record for each gate."""
    return Document(
        report=lambda: report(outcome), data=lambda: data(outcome), records=lambda: data(outcome)["gates"]
    )


def report(outcome: Outcome) -> Report:
    """A row for each condition, then what changed since the baseline, then the answer."""
    results = outcome.results
    return Report(
        title=outcome.file,
        facts=(f"baseline {outcome.baseline}",) if outcome.baseline else (),
        grids=(_conditions(results), *(_changes(result) for result in results if result.changes)),
        answers=(*_reasons(outcome), Remark(tag="RESULT", text=answer(outcome), strong=True)),
        remarks=(
            *about("assumed:", [(result.gate.name, result.assumed) for result in results]),
            *about("warning:", [(result.gate.name, result.warnings) for result in results], alarm=True),
            *(Remark(tag="note:", text=note) for note in outcome.notes),
        ),
    )


def answer(outcome: Outcome) -> str:
    """`1 of 3 gates failed`."""
    failed, total = len(outcome.failed), plural(len(outcome.results), "gate")
    return f"{failed} of {total} failed" if failed else f"{total}, all hold"


def failures(result: Result) -> list[str]:
    """Why a gate failed, one line for each reason; empty for one that holds."""
    worse = [change for change in result.changes if change.worse]
    return [
        *([result.refused] if result.refused else []),
        *(told(finding) for finding in result.findings if not finding.holds),
        *(f"{change.figure} got worse: {moved(change)}" for change in worse),
        *(result.causes if worse else ()),
    ]


def told(finding: Finding) -> str:
    """A condition and the figure in one line."""
    return f"{finding.condition.figure} is {value(finding.actual)}, required {finding.condition}"


def moved(change: Change) -> str:
    """`2,207,731 -> 1,103,865 (-50.0 %)`."""
    percent = share(change)
    return f"{value(change.old)} -> {value(change.new)}" + (f" ({percent})" if percent else "")


def share(change: Change) -> str:
    """By how much of the old figure it changed; empty where that can't be said."""
    old, new = change.old, change.new
    if isinstance(old, (bool, str)) or isinstance(new, (bool, str)) or not old or new is None:
        return ""
    percent = (Fraction(new) - Fraction(old)) / abs(Fraction(old)) * 100
    return f"{float(percent):+.1f} %" if abs(percent) < _MOST_PERCENT else ""


def value(scalar: Scalar) -> str:
    """A figure as people read it; `none` where there is none."""
    match scalar:
        case None:
            return "none"
        case bool():
            return str(scalar).lower()
        case str():
            return scalar
        case _:
            return exact(scalar)


def data(outcome: Outcome) -> dict[str, Any]:
    """Everything, under the names of the JSON."""
    return {
        "schema_version": SCHEMA_VERSION,
        "file": outcome.file,
        "baseline": outcome.baseline or None,
        "passed": not outcome.failed,
        "gates": [_gate(result) for result in outcome.results],
        "notes": list(outcome.notes),
    }


def _gate(result: Result) -> dict[str, Any]:
    gate, figures = result.gate, result.snapshot.figures
    return {
        "name": gate.name,
        "line": gate.line,
        "model": gate.model,
        "revision": figures.get("model.revision"),
        "engine_version": figures.get("engine.version"),
        "passed": result.passed,
        "refused": result.refused or None,
        "conditions": [_condition(finding) for finding in result.findings],
        "changes": [asdict(change) for change in result.changes],
        "reasons": list(result.causes),
        "assumed": list(result.assumed),
        "warnings": list(result.warnings),
    }


def _condition(finding: Finding) -> dict[str, Any]:
    condition = finding.condition
    return {
        "figure": condition.figure,
        "operator": condition.operator,
        "required": condition.text if condition.value is None else condition.value,
        "actual": finding.actual,
        "holds": finding.holds,
    }


def _conditions(results: tuple[Result, ...]) -> Grid:
    """Each gate with its verdict, then its conditions with theirs."""
    words = (Column(heading=heading) for heading in ("result", "gate and figures"))
    figures = (Column(heading=heading, figures=True) for heading in ("is", "required"))
    rows: list[tuple[str, ...]] = []
    for result in results:
        rows.append((_VERDICTS[result.passed], result.gate.name, "", ""))
        for it in result.findings:
            figure = f"  {it.condition.figure}"
            rows.append((_VERDICTS[it.holds], figure, value(it.actual), str(it.condition)))
    return Grid(columns=(*words, *figures), rows=tuple(rows))


def _changes(result: Result) -> Grid:
    words = (Column(heading=heading) for heading in ("figure", "old -> new"))
    return Grid(
        title=f"{result.gate.name}: changes since the baseline",
        columns=(*words, Column(heading="change", figures=True), Column(heading="")),
        rows=tuple(
            (it.figure, f"{value(it.old)} -> {value(it.new)}", share(it), "WORSE" if it.worse else "")
            for it in result.changes
        ),
    )


def _reasons(outcome: Outcome) -> Iterator[Remark]:
    for result in outcome.results:
        name = result.gate.name
        if result.refused:
            yield Remark(tag=_VERDICTS[False], text=f"{name}: {result.refused}", alarm=True)
        yield from (Remark(tag="reason", text=f"{name}: {cause}") for cause in result.causes)
