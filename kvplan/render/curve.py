"""Curves of models as a report with charts, as JSON and as records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from kvplan.curve import Point, Series, kinds_of, of_plan
from kvplan.records import SCHEMA_VERSION, Plan, number
from kvplan.render.blocks import Column, Grid, Remark, Report
from kvplan.render.chart import GLYPHS, Curve, chart, columns
from kvplan.render.formats import Document
from kvplan.render.head import engine_facts
from kvplan.render.text import exact
from kvplan.render.words import words

WIDTH = 80
HEIGHT = 13
KNEE, STAR = "W", "*"
PANELS: tuple[tuple[str, Callable[[Point], float]], ...] = (
    ("M(S): bytes that one request keeps, per GPU", lambda point: point.bytes),
    ("M(S) / S: bytes for each token of it", lambda point: point.bytes_per_token),
    ("r(S): bytes of the cache that one decode step reads", lambda point: point.read_bytes_per_step),
)


def chart_columns() -> int:
    """Contexts that a chart on a page of 80 columns has room for."""
    return columns(WIDTH)


def named(plans: Sequence[Plan], at: Sequence[int], *, per_layer: bool) -> tuple[Series, ...]:
    """The series of all plans; a layer is named in words, with its model where there are several."""
    found: dict[str, Series] = {}
    for plan in plans:
        drawn = of_plan(plan, at, per_layer=per_layer)
        names = [one.name for one in drawn]
        if per_layer:
            heads, model = plan.architecture.attention_heads, plan.architecture.id
            prefix = f"{model}: " if len(plans) > 1 else ""
            names = [prefix + words(layer, heads)[1] for layer in kinds_of(plan)]
        for name, one in zip(names, drawn, strict=True):
            found.setdefault(name, replace(one, name=name))
    return tuple(found.values())


def of_curves(plans: Sequence[Plan], series: Sequence[Series], *, per_layer: bool) -> Document:
    """`kvplan curve`."""
    return Document(
        report=lambda: _report(plans, series, per_layer=per_layer),
        data=lambda: {"schema_version": SCHEMA_VERSION, "series": [_series(one) for one in series]},
        records=lambda: [{"name": one.name, **_point(point)} for one in series for point in one.points],
    )


def _report(plans: Sequence[Plan], series: Sequence[Series], *, per_layer: bool) -> Report:
    shared = [
        fact for fact in engine_facts(plans[0]) if all(fact in engine_facts(plan) for plan in plans[1:])
    ]
    subject = "one layer of each kind" if per_layer else "one request"
    about = f" of {plans[0].architecture.id}" if len(plans) == 1 else ""
    at = [point.context for point in series[0].points]
    pictures = []
    for title, value in PANELS:
        curves = [_curve(place, one, value) for place, one in enumerate(series)]
        pictures.append(chart(title, curves, at=at, height=HEIGHT))
    return Report(
        title=f"Cache of {subject}{about}, over its context S",
        facts=(" | ".join(shared),),
        pictures=tuple(pictures),
        grids=(_legend(series),),
        remarks=(
            Remark(tag=KNEE, text="a window is full: from here on the layer keeps no more"),
            Remark(tag=STAR, text="S* = gamma / alpha: above it tokens cost more than what is fixed"),
        ),
    )


def _curve(place: int, series: Series, value: Callable[[Point], float]) -> Curve:
    """Marks stand at the first context that is at or above a knee, if that lies within the chart."""
    marks = {}
    contexts = [point.context for point in series.points]
    stars = [] if series.s_star is None else [float(series.s_star)]
    for mark, places in ((KNEE, series.knees), (STAR, stars)):
        for tokens in places:
            if contexts[0] <= tokens <= contexts[-1]:
                marks[next(index for index, context in enumerate(contexts) if context >= tokens)] = mark
    return Curve(
        glyph=GLYPHS[place % len(GLYPHS)], values=[value(point) for point in series.points], marks=marks
    )


def _legend(series: Sequence[Series]) -> Grid:
    last = series[0].points[-1].context
    return Grid(
        columns=(
            Column(heading=""),
            Column(heading="curve"),
            Column(heading="windows", figures=True),
            Column(heading="S*", figures=True),
            Column(heading=f"bytes at\n{exact(last)}", figures=True),
            Column(heading="read a step\nat that", figures=True),
        ),
        rows=tuple(
            (
                GLYPHS[place % len(GLYPHS)],
                one.name,
                ", ".join(exact(knee) for knee in one.knees) or "-",
                "-" if one.s_star is None else f"{float(one.s_star):,.0f}",
                exact(one.points[-1].bytes),
                exact(one.points[-1].read_bytes_per_step),
            )
            for place, one in enumerate(series)
        ),
    )


def _series(series: Series) -> dict[str, Any]:
    return {
        "name": series.name,
        "windows": list(series.knees),
        "s_star": None if series.s_star is None else number(series.s_star),
        "points": [_point(point) for point in series.points],
    }


def _point(point: Point) -> dict[str, Any]:
    return {
        "context": point.context,
        "bytes": point.bytes,
        "bytes_per_token": point.bytes_per_token,
        "read_bytes_per_step": point.read_bytes_per_step,
    }
