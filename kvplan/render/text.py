"""Text for people: exact figures, rounded ones beside them, and foreign text made harmless."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.units import format_bytes_decimal

if TYPE_CHECKING:
    from kvplan.records import Number  # for types alone: every error passes here, most before there is a plan

# Floats are ratios of bytes (7086.75, 66355.2); more digits than this are noise of their division.
_DECIMALS = 4


def visible(text: str) -> str:
    r"""Show control, bidirectional and other unprintable characters as escapes such as `\x1b`."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


def exact(value: Number) -> str:
    """Every digit, with thousands separators: 1560007680 -> `1,560,007,680`, 66355.2 -> `66,355.2`."""
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.{_DECIMALS}f}".rstrip("0").rstrip(".")


def rounded(value: Number) -> str:
    """The same bytes in units of 10^3: `1.56 GB`; empty below 1,000, where nothing is gained."""
    return format_bytes_decimal(int(value)) if value >= 1000 else ""


def plural(count: int, noun: str) -> str:
    """`1 layer`, `1,270 slots`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def joined(parts: list[str]) -> str:
    """The parts that say something, separated by commas."""
    return ", ".join(part for part in parts if part)
