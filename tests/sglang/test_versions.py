"""Versions between and beyond the rule sets take the rules of the nearest."""

from __future__ import annotations

import pytest

from kvplan.sglang.versions import nearest_version


@pytest.mark.parametrize(
    ("version", "rules"),
    [
        ("0.4.6.post5", "0.5.12"),
        ("0.5.9", "0.5.12"),
        ("v0.5.12.post1-cu130", "0.5.12"),
        ("0.5.13.post1", "0.5.13"),
        ("0.5.23", "0.5.23"),
        ("0.6.0", "0.5.23"),
        ("latest", None),
        ("", None),
    ],
)
def test_the_nearest_rule_set_stands_for_a_version(version: str, rules: str | None) -> None:
    assert nearest_version(version) == rules
