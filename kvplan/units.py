"""Sizes, token counts and divisions that say in which direction they round."""

from __future__ import annotations

import math
import re
from decimal import Decimal, InvalidOperation

KIB = 1 << 10
MIB = 1 << 20
GIB = 1 << 30

_DECIMAL_STEPS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_BINARY_STEPS = {"ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30, "ti": 1 << 40}
_STEPS = _DECIMAL_STEPS | _BINARY_STEPS
_QUANTITY = r"(?i)\s*([0-9][0-9_]*(?:\.[0-9]+)?)\s*([kmgt]i?)?(b)?\s*\Z"


def ceil_div(value: int, by: int) -> int:
    """The quotient, rounded up."""
    return -(-value // by)


def floor_to_page(tokens: int, page_tokens: int) -> int:
    """The largest multiple of a page that is not above `tokens`."""
    return tokens // page_tokens * page_tokens


def ceil_to_page(tokens: int, page_tokens: int) -> int:
    """The smallest multiple of a page that is not below `tokens`."""
    return ceil_div(tokens, page_tokens) * page_tokens


def parse_tokens(text: str) -> int:
    """`100k` is 100,000 and `100Ki` 102,400 tokens; raises ValueError for anything else."""
    return _parse(text, allow_byte=False, what="a token count such as 4096, 100k or 128Ki")


def parse_size(text: str) -> int:
    """`60GiB` is 60 * 2^30 and `60GB` 60 * 10^9 bytes; raises ValueError for anything else.

    A part of a byte is left out: no decimal fraction of a GiB but its halves is a whole number of them.
    """
    return _parse(text, allow_byte=True, what="a size such as 60GiB, 80GB or 1024 (bytes)")


def _parse(text: str, *, allow_byte: bool, what: str) -> int:
    match = re.match(_QUANTITY, text)
    if match is None or (match[3] and not allow_byte):
        raise ValueError(f"{text!r:.60} is not {what}")
    try:
        value = Decimal(match[1].replace("_", "")) * _STEPS[(match[2] or "").lower()]
    except InvalidOperation as error:
        raise ValueError(f"{text!r:.60} is not {what}") from error
    if value != value.to_integral_value() and not (allow_byte and match[2]):
        raise ValueError(f"{text!r:.60} is not a whole number of {'bytes' if allow_byte else 'tokens'}")
    return int(value)


def format_bytes_decimal(count: int) -> str:
    """Three significant figures in units of 10^3: 1,560,007,680 -> `1.56 GB`."""
    for power, unit in ((12, "TB"), (9, "GB"), (6, "MB"), (3, "kB")):
        if count >= 10**power:
            return f"{count / 10**power:.2f} {unit}"
    return f"{count} B"


def format_gib(count: int) -> str:
    """`64424509440` -> `60.00 GiB`."""
    return f"{count / GIB:.2f} GiB"


def parse_number(text: str) -> float:
    """A finite number. Raises ValueError for everything else."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"{text!r} is not a number")
    return value
