"""One layer of each kind: bytes of an entry, entries, what is kept and what a step reads."""

from __future__ import annotations

from collections.abc import Iterator

from kvplan.accounting import Ledger, Row
from kvplan.explain.lines import FIRST_STEP, Line, Section
from kvplan.explain.sources import LAYER_SOURCES
from kvplan.layers import Layer
from kvplan.layers.base import Part, Span


def layer_sections(book: Ledger, context: int) -> Iterator[Section]:
    """A section for each distinct layer, in order of first appearance."""
    by_layer: dict[Layer, list[Row]] = {}
    for row in book.rows:
        by_layer.setdefault(row.layer, []).append(row)
    for layer, rows in by_layer.items():
        yield Section(
            title="one layer",
            layer=layer,
            layers=rows[0].layers,
            lines=tuple(line for row in rows for line in _part_lines(row.part, context)),
            sources=(LAYER_SOURCES[layer.kind],),
        )


def _part_lines(part: Part, context: int) -> Iterator[Line]:
    yield Line(
        part=part.name,
        what=FIRST_STEP,
        symbols=part.symbols,
        numbers=part.numbers,
        result=part.entry_bytes,
    )
    yield Line(
        part=part.name,
        what="kept",
        symbols=f"copies x {span_symbols(part.entries)} x E",
        numbers=f"{part.copies} x {span_numbers(part.entries, context)} x {part.entry_bytes:,}",
        result=part.stored_bytes(context),
    )
    yield Line(
        part=part.name,
        what="read per step",
        symbols=f"{span_symbols(part.reads)} x E",
        numbers=f"{span_numbers(part.reads, context)} x {part.entry_bytes:,}",
        result=part.read_bytes(context),
    )


def span_symbols(span: Span) -> str:
    """`S`, `floor(S/m)`, `min(S, W)`, `min(k_top, floor(S/m))`, or a fixed number."""
    if span.fixed is not None:
        return str(span.fixed)
    entries = "S" if span.ratio == 1 else "floor(S/m)"
    return entries if span.at_most is None else f"min({entries}, {span.limit})"


def span_numbers(span: Span, context: int) -> str:
    """The same with the values of a request put in."""
    if span.fixed is not None:
        return str(span.fixed)
    entries = f"{context:,}" if span.ratio == 1 else f"floor({context:,}/{span.ratio})"
    return entries if span.at_most is None else f"min({entries}, {span.at_most:,})"
