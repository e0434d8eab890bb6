"""What a derivation is made of."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from kvplan.frozen import dataclass
from kvplan.layers import Layer

# The first step of each part: bytes of one entry.
FIRST_STEP = "E, bytes each"
Value = int | float | Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One step: what it gives, the formula in symbols, the same with numbers, and the result.

    `part`: the part of a layer that the step is about, empty in sections about something else. `result`
    is None for a step that only says something (a link of the chain and its reason).
    """

    what: str
    symbols: str
    numbers: str
    result: Value | None = None
    part: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Steps that belong together, and where their rules come from.

    `layer` and `layers`: the kind of layer that the section is about and how many there are.
    """

    title: str
    lines: tuple[Line, ...]
    sources: tuple[str, ...] = ()
    layer: Layer | None = None
    layers: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """The whole derivation, in the order in which it is read."""

    sections: tuple[Section, ...]


def shown(value: Value) -> str:
    """A value inside a formula: whole numbers with separators, fractions as such, in parentheses."""
    if isinstance(value, Fraction):
        if value.denominator == 1:
            return f"{value.numerator:,}"
        return f"({value.numerator:,} / {value.denominator:,})"
    return f"{value:,}"


def summed(terms: Sequence[str]) -> str:
    """`a + b`; 0 for no terms."""
    return " + ".join(terms) or "0"
