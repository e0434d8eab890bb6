"""What `curve` does once its command line is understood."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kvplan.cli.output import show, write_data
from kvplan.cli.runs import load_all
from kvplan.curve import contexts
from kvplan.deployment import Deployment
from kvplan.planning import plan
from kvplan.records import Plan
from kvplan.render import plot
from kvplan.render.curve import chart_columns, named, of_curves
from kvplan.whatif import changed


def planned(
    models: Sequence[str], asked: Deployment, *, source: str | None, changes: Sequence[str]
) -> list[Plan]:
    """Every model once, changed and planned."""
    return [plan(changed(model, changes), asked) for model in load_all(dict.fromkeys(models), source)]


def draw_curves(
    plans: Sequence[Plan], *, span: tuple[int, int], per_layer: bool, chosen: str, output: str | None
) -> None:
    """Draw the curves and write them in the format that the file's name asks for."""
    series = named(plans, contexts(*span, chart_columns()), per_layer=per_layer)
    kind = Path(output).suffix.lower().removeprefix(".") if output else ""
    if output and chosen == "table" and kind in plot.KINDS:
        write_data(plot.render(series, kind=kind), output)
        return
    chosen = "csv" if chosen == "table" and kind == "csv" else chosen
    show(of_curves(plans, series, per_layer=per_layer), chosen, output)
