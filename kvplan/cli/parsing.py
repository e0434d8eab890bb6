"""Option texts to values; each parser raises ValueError with a line that says what is wrong."""

from __future__ import annotations

import math
import re

from kvplan.units import parse_size, parse_tokens

__all__ = ["count", "number", "parse_size", "parse_tokens", "word"]

_COUNT = re.compile(r"[+-]?[0-9]+\Z")
_LONGEST = 18  # digits; more is a slip of the keyboard, and Python refuses to print some of those


def count(text: str) -> int:
    """A whole number; whether it is large enough is the deployment's to say."""
    if not _COUNT.match(text.strip()) or len(text.strip()) > _LONGEST:
        raise ValueError(f"{text!r} is not a whole number")
    return int(text)


def number(text: str) -> float:
    """A finite number."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"{text!r} is not a number")
    return value


def word(text: str) -> str:
    """A name; what it may be is checked where it is looked up."""
    if not text.strip():
        raise ValueError("is empty")
    return text.strip()
