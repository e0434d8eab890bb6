"""Option texts to values; each parser raises ValueError with a line that says what is wrong."""

from __future__ import annotations

import re

from kvplan.deployment import UNCHUNKED, WEIGHT_SOURCES
from kvplan.units import GIB, MIB, parse_number, parse_size, parse_tokens

__all__ = [
    "chunk",
    "count",
    "gib",
    "large_size",
    "parse_number",
    "parse_size",
    "parse_tokens",
    "weights",
    "word",
]

_COUNT = re.compile(r"[+-]?[0-9]+\Z")
_LONGEST = 18  # digits; more is a slip of the keyboard, and Python refuses to print some of those


def chunk(text: str) -> int:
    """A token count, or -1 for prompts that are not cut."""
    return UNCHUNKED if text.strip() == str(UNCHUNKED) else parse_tokens(text)


def count(text: str) -> int:
    """A whole number; whether it is large enough is the deployment's to say."""
    if not _COUNT.match(text.strip()) or len(text.strip()) > _LONGEST:
        raise ValueError(f"{text!r} is not a whole number")
    return int(text)


def gib(text: str) -> float:
    """A number of GiB as logs print it, or a size with its unit."""
    return parse_size(text) / GIB if text.strip().lower().endswith("b") else parse_number(text)


def weights(text: str) -> int | str:
    """The size of a checkpoint, or the name of where weights are to be taken from."""
    return text if text in WEIGHT_SOURCES else large_size(text)


def large_size(text: str) -> int:
    """A size of weights: `16` without a unit is a slip."""
    size = parse_size(text)
    if size < MIB:
        raise ValueError(f"{text!r} is {size:,} bytes, too few for weights: give a unit, as in 16GB")
    return size


def word(text: str) -> str:
    """A name; what it may be is checked where it is looked up."""
    if not text.strip():
        raise ValueError("is empty")
    return text.strip()
