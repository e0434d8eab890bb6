"""The list of bundled models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kvplan.architecture import Architecture
from kvplan.records import SCHEMA_VERSION
from kvplan.render.blocks import Column, Grid, Remark, Report
from kvplan.render.formats import Document
from kvplan.render.text import exact, plural
from kvplan.render.words import attention_summary

_COLUMNS = (
    Column(heading="model"),
    Column(heading="attention"),
    Column(heading="layers", figures=True),
    Column(heading="context", figures=True),
)


def document(found: Sequence[Architecture]) -> Document:
    """Models that can be named: `kvplan models`."""
    return Document(
        report=lambda: report(found),
        data=lambda: {"schema_version": SCHEMA_VERSION, "models": records(found)},
        records=lambda: records(found),
    )


def report(found: Sequence[Architecture]) -> Report:
    """One row a model, in the order given."""
    return Report(
        title=plural(len(found), "bundled model"),
        grids=(Grid(columns=_COLUMNS, rows=tuple(_row(model) for model in found)),),
        remarks=(Remark(tag="names:", text="the id or the part behind the slash, in any letter case"),),
    )


def records(found: Sequence[Architecture]) -> list[dict[str, Any]]:
    """The same facts, and the class name that the engine looks up, under the names of the JSON."""
    return [
        {
            "id": model.id,
            "architecture": model.architecture,
            "attention": attention_summary(model)[0],
            "layers": len(model.layers),
            "context_length": model.context_length,
        }
        for model in found
    ]


def _row(model: Architecture) -> tuple[str, ...]:
    context = "-" if model.context_length is None else exact(model.context_length)
    return (model.id, *attention_summary(model), context)
