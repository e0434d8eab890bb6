"""Charts in characters, compared whole."""

from __future__ import annotations

from kvplan.render.chart import Curve, chart, columns


def test_a_line_in_log_log_is_straight_and_ticks_stand_at_powers_of_ten() -> None:
    at = [10, 18, 32, 56, 100, 178, 316, 562, 1000]
    curve = Curve(glyph="o", values=[1000 * tokens for tokens in at], marks={4: "*"})
    assert chart("M(S)", [curve], at=at, height=9) == (
        "M(S)",
        "     1 MB |        o",
        "          |       o",
        "          |      o",
        "          |     o",
        "   100 kB |    *",
        "          |   o",
        "          |  o",
        "          | o",
        "    10 kB |o",
        "          ++---+---+",
        "           10 100 1k",
    )


def test_a_step_is_drawn_without_a_gap() -> None:
    lines = chart("step", [Curve(glyph="x", values=[1, 1, 1000, 1000])], at=[1, 2, 3, 10], height=4)
    assert [line[11:] for line in lines[1:5]] == ["  xx", "  x", "  x", "xx"]


def test_a_later_curve_lies_on_top() -> None:
    curves = [Curve(glyph="o", values=[1, 10]), Curve(glyph="x", values=[10, 10])]
    lines = chart("two", curves, at=[1, 10], height=2)
    assert [line[11:] for line in lines[1:3]] == ["xx", "o"]


def test_zero_is_not_drawn() -> None:
    assert chart("r(S)", [Curve(glyph="o", values=[0, 0])], at=[1, 10], height=3) == (
        "r(S)",
        "  nothing to draw: all values are 0",
    )


def test_values_below_a_byte_have_labels_of_their_own() -> None:
    lines = chart("M(S)/S", [Curve(glyph="o", values=[1, 0.01])], at=[1, 10], height=3)
    assert [line[:9].strip() for line in lines[1:4]] == ["1 B", "0.1 B", "0.01 B"]


def test_a_chart_fills_the_page_and_no_more() -> None:
    at = list(range(1, columns(80) + 1))
    lines = chart("wide", [Curve(glyph="o", values=at)], at=at, height=3)
    assert max(map(len, lines)) == 80
