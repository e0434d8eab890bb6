"""Curves as a picture file, through matplotlib where it is installed (the extra `plot`)."""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence

from kvplan.curve import Series
from kvplan.errors import InputError, Problem
from kvplan.render.curve import PANELS
from kvplan.render.text import visible

KINDS = ("svg", "png")
_PANEL_INCHES = (8.0, 3.2)


def render(series: Sequence[Series], *, kind: str) -> bytes:
    """The three panels one above the other; `kind` is one of KINDS.

    The same curves give the same SVG, byte for byte. Raises InputError where matplotlib is missing.
    """
    try:
        from matplotlib import rc_context  # noqa: PLC0415 - an optional extra
        from matplotlib.figure import Figure  # noqa: PLC0415
    except ImportError as error:
        raise InputError(
            Problem(
                file="",
                key="--output",
                what=f"a .{kind} of curves needs matplotlib, which is not installed",
                hint="install the extra from a clone of kvplan: pip install '.[plot]'; .csv needs nothing",
            )
        ) from error
    with rc_context({"svg.hashsalt": "kvplan"}):
        width, height = _PANEL_INCHES
        figure = Figure(figsize=(width, height * len(PANELS)), layout="constrained")
        for axes, (title, value) in zip(figure.subplots(len(PANELS), 1), PANELS, strict=True):
            for one in series:
                at = [point.context for point in one.points]
                (line,) = axes.loglog(at, [value(point) for point in one.points], label=_label(one.name))
                for knee in one.knees:
                    if at[0] <= knee <= at[-1]:
                        axes.axvline(knee, color=line.get_color(), linestyle=":", linewidth=1)
                if one.s_star is not None and at[0] <= one.s_star <= at[-1]:
                    axes.axvline(float(one.s_star), color=line.get_color(), linestyle="--", linewidth=1)
            axes.set_title(title)
            axes.set_xlabel("S, tokens (dotted: window, dashed: S*)")
            axes.set_ylabel("bytes")
            axes.grid(visible=True, which="major", alpha=0.3)
        figure.axes[0].legend(fontsize="small")
        page = io.BytesIO()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # the font has not every character of a name
            figure.savefig(page, format=kind, metadata={"Date": None} if kind == "svg" else None)
    return page.getvalue()


def _label(name: str) -> str:
    """The name as it reads: `$` would start a formula, and what begins with `_` stands in no legend."""
    text = visible(name).replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text
