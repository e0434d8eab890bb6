"""The derivation of a plan as a report, as JSON and as records."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from kvplan.explain import Explanation, Line, Section, explain
from kvplan.explain.lines import FIRST_STEP, Value
from kvplan.explain.symbols import SYMBOLS
from kvplan.records import SCHEMA_VERSION, Number, Plan, number
from kvplan.render.blocks import Column, Grid, Remark, Report
from kvplan.render.formats import Document
from kvplan.render.head import changes, engine_facts
from kvplan.render.text import exact
from kvplan.render.words import composition, words

COLUMNS = (
    Column(heading=""),
    Column(heading="formula"),
    Column(heading="with numbers"),
    Column(heading="result", figures=True),
)


def of_explanation(plan: Plan) -> Document:
    """`kvplan explain`: a grid for each section, and where the rules come from below them."""
    told = explain(plan)
    return Document(
        report=lambda: _report(plan, told),
        data=lambda: {
            "schema_version": SCHEMA_VERSION,
            "model": plan.to_dict()["model"],
            "accounting": plan.to_dict()["accounting"],
            "sections": [_section(plan, section) for section in told.sections],
        },
        records=lambda: list(_records(plan, told)),
    )


def of_symbols() -> Document:
    """`kvplan explain --symbols`."""
    rows = [{"symbol": symbol, "meaning": meaning} for symbol, meaning in SYMBOLS]
    columns = (Column(heading="symbol"), Column(heading="meaning"))
    return Document(
        report=lambda: Report(title="symbols", grids=(Grid(columns=columns, rows=SYMBOLS),)),
        data=lambda: {"schema_version": SCHEMA_VERSION, "symbols": rows},
        records=lambda: rows,
    )


def _report(plan: Plan, told: Explanation) -> Report:
    model = plan.architecture
    return Report(
        title=model.id,
        facts=(composition(model), *changes(model), " | ".join(engine_facts(plan))),
        grids=tuple(_grid(plan, section) for section in told.sections),
        remarks=(
            *(Remark(tag="source:", text=f"{title}: {text}") for title, text in _sources(plan, told)),
            *(Remark(tag="assumed:", text=text) for text in plan.assumed),
            *(Remark(tag="warning:", text=text, alarm=True) for text in plan.warnings),
        ),
    )


def _sources(plan: Plan, told: Explanation) -> Iterator[tuple[str, str]]:
    """Each source once, under the first section that it is given for."""
    seen: set[str] = set()
    for section in told.sections:
        for source in section.sources:
            if source not in seen:
                seen.add(source)
                yield _about(plan, section), source


def _about(plan: Plan, section: Section) -> str:
    if section.layer is None:
        return section.title.split(",")[0].split(":")[0]
    return words(section.layer, plan.architecture.attention_heads)[1]


def _title(plan: Plan, section: Section) -> str:
    if section.layer is None:
        return section.title
    return f"{_about(plan, section)}: {section.title} of {section.layers}, per GPU"


def _grid(plan: Plan, section: Section) -> Grid:
    return Grid(
        title=_title(plan, section),
        columns=COLUMNS,
        rows=tuple((_label(line), line.symbols, line.numbers, _result(line)) for line in section.lines),
    )


def _label(line: Line) -> str:
    """A part is named on its first line, the steps below are indented."""
    if not line.part:
        return line.what
    return line.part if line.what == FIRST_STEP else f"  {line.what}"


def _result(line: Line) -> str:
    return "" if line.result is None else exact(_number(line.result))


def _number(value: Value) -> Number:
    return number(value) if isinstance(value, Fraction) else value


def _section(plan: Plan, section: Section) -> dict[str, Any]:
    return {
        "title": _title(plan, section),
        "layer": None if section.layer is None else section.layer.kind,
        "layers": section.layers or None,
        "lines": [_line(line) for line in section.lines],
        "sources": list(section.sources),
    }


def _line(line: Line) -> dict[str, Any]:
    result = None if line.result is None else _number(line.result)
    return {
        "part": line.part,
        "what": line.what,
        "symbols": line.symbols,
        "numbers": line.numbers,
        "result": result,
    }


def _records(plan: Plan, told: Explanation) -> Iterator[dict[str, Any]]:
    for section in told.sections:
        for line in section.lines:
            yield {"section": _title(plan, section), **_line(line)}
