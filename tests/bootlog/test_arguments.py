"""The arguments that a server repeats: plain values are read, nothing is evaluated."""

from __future__ import annotations

import pytest

from kvplan.bootlog.arguments import read_server_args


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("ServerArgs(a=1, b=-2, c=0.85, d=1e-05)", {"a": 1, "b": -2, "c": 0.85, "d": 1e-05}),
        ("ServerArgs(a=None, b=True, c=False)", {"a": None, "b": True, "c": False}),
        ("{'a': 1, 'b': 'x', \"c\": None}", {"a": 1, "b": "x", "c": None}),
        ("ServerArgs(a='x, y=2', b=\"it's\", c='a\\'b')", {"a": "x, y=2", "b": "it's", "c": "a'b"}),
        ("ServerArgs(a=[1, 2], b={'c': 3}, d=<Enum.X: 1>, e=Config(f=4, g=[5]), h=6)", {"h": 6}),
        ("ServerArgs(a=1) b=2", {"a": 1}),
        ("ServerArgs(a=1, b='never closed", {"a": 1}),
        ("ServerArgs()", {}),
        ("__import__('os').system('true')", {}),
        ("{'a': __import__('os').getcwd(), 'b': 1}", {"b": 1}),
        ("ServerArgs(a=" + "(" * 10_000, {}),
        ("ServerArgs(a=" + "9" * 10_000 + ", b=1)", {"b": 1}),
        ("", {}),
    ],
)
def test_plain_values_are_read_and_others_left_out(text: str, values: dict[str, object]) -> None:
    assert read_server_args(text) == values
