"""Which rule set stands for a version of SGLang that kvplan has no rules of its own for."""

from __future__ import annotations

import re

from kvplan.sglang.rules import RULE_SETS

_VERSION = re.compile(r"v?([0-9]{1,4})\.([0-9]{1,4})(?:\.([0-9]{1,4}))?")
_STEP = 10_000


def nearest_version(text: str) -> str | None:
    """The rule set whose version is nearest to `0.5.15.post1`, the older of two; None for other texts."""
    asked = _ordinal(text)
    if asked is None:
        return None
    return min(RULE_SETS, key=lambda known: abs((_ordinal(known) or 0) - asked))


def _ordinal(text: str) -> int | None:
    match = _VERSION.match(text)
    if match is None:
        return None
    major, minor, patch = (int(part or 0) for part in match.groups())
    return (major * _STEP + minor) * _STEP + patch
