"""Reports and curves as picture files."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ET

import pytest

from kvplan.curve import Series, of_plan
from kvplan.deployment import Deployment
from kvplan.errors import InputError
from kvplan.planning import plan
from kvplan.render import plot, screen
from kvplan.render.blocks import Column, Grid, Report
from tests.models import QWEN_35, V4_FLASH

REPORT = Report(
    title="a <model> & more",
    grids=(Grid(columns=(Column(heading="bytes", figures=True),), rows=(("1,152",),)),),
)


def test_a_report_as_svg_is_well_formed_and_fetches_nothing() -> None:
    drawn = screen.render(REPORT, kind="svg", width=80)
    text = "".join(ET.fromstring(drawn).itertext())
    assert "1,152" in text
    assert "@font-face" not in drawn
    assert "https://cdn" not in drawn


def test_a_report_as_html_shows_markup_as_text() -> None:
    drawn = screen.render(REPORT, kind="html", width=80)
    assert "a &lt;model&gt; &amp; more" in drawn
    assert "1,152" in drawn


def test_the_same_report_gives_the_same_file() -> None:
    assert screen.render(REPORT, kind="svg", width=80) == screen.render(REPORT, kind="svg", width=80)


@pytest.fixture(name="series")
def _series() -> list[Series]:
    made = [plan(model, Deployment(assume_supported=True)) for model in (QWEN_35, V4_FLASH)]
    return [series for one in made for series in of_plan(one, [100, 1000, 10_000])]


def test_curves_as_svg_name_their_models_and_are_reproducible(series: list[Series]) -> None:
    pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")
    drawn = plot.render(series, kind="svg")
    assert b"Qwen/Qwen3.5-397B-A17B" in drawn
    assert drawn == plot.render(series, kind="svg")


def test_curves_as_png(series: list[Series]) -> None:
    pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")
    assert plot.render(series, kind="png").startswith(b"\x89PNG")


def test_without_matplotlib_the_message_says_what_to_install(
    series: list[Series], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # an import of it fails from here on
    with pytest.raises(InputError, match=r"needs matplotlib.*pip install '\.\[plot\]'"):
        plot.render(series, kind="svg")
