"""The floor of a decode step: what is read, and how long that takes."""

from __future__ import annotations

from collections.abc import Iterator

from kvplan.decode import DecodeStep
from kvplan.explain.lines import Line, Section
from kvplan.records import Plan


def decode_section(plan: Plan) -> Section | None:
    """One step on one GPU; None where the plan has no floor."""
    step = plan.decode
    if step is None or step.floor_ms is None:
        return None
    return Section(
        title="decode step, per GPU: a floor, not a forecast",
        lines=tuple(_lines(step)),
        sources=("bytes that a step must read over the memory bandwidth of the GPU's data sheet",),
    )


def _lines(step: DecodeStep) -> Iterator[Line]:
    cache, weights = step.cache_bytes or 0, step.weight_bytes or 0
    picked, held = step.experts_per_token, step.routed_experts
    yield Line(
        what="cache",
        symbols="B r(S)",
        numbers=f"{step.requests:,} x {cache // step.requests:,}",
        result=cache,
    )
    yield Line(
        what="active weights",
        symbols="layers and head, the fewest experts" if held else "layers and head",
        numbers=f"{picked} of {held} experts in each layer" if held else "",
        result=weights,
    )
    yield _time("floor, ms", step, weights, step.floor_ms)
    if step.uniform_weight_bytes is not None:
        yield Line(
            what="active weights",
            symbols="the same, experts picked by chance",
            numbers=f"{step.uniform_experts:,.1f} of {held} experts in each layer",
            result=step.uniform_weight_bytes,
        )
        yield _time("by chance, ms", step, step.uniform_weight_bytes, step.uniform_ms)


def _time(what: str, step: DecodeStep, weights: int, milliseconds: float | None) -> Line:
    return Line(
        what=what,
        symbols="(cache + weights) / bandwidth",
        numbers=f"({step.cache_bytes:,} + {weights:,}) / {step.bandwidth:,} x 1,000",
        result=milliseconds,
    )
