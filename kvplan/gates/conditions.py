"""Conditions on figures: how they are written, whether they hold, and whether they can hold together."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Sequence

from kvplan.gates.figures import KNOWN, full_path
from kvplan.gates.records import Condition, Scalar
from kvplan.records import Number
from kvplan.units import parse_size

_OPERATORS: dict[str, Callable[[Number, Number], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}
_WRITTEN = re.compile(r"\s*(>=|<=|==|!=|=|>|<)?\s*(.*?)\s*\Z", re.DOTALL)
_EQUALITY = ("==", "!=")
_IN_BYTES = re.compile("bytes|bandwidth|cell_size|gpu_memory|weights|alpha|gamma")
ABSENT = "null"  # as in JSON: `== null` asks for a figure that the plan does not have


def read_condition(name: str, written: str) -> Condition:
    """A condition from the name of a figure and `>= 4M`; a value alone means `==`.

    Raises ValueError with what is wrong.
    """
    figure = full_path(name)
    match = _WRITTEN.match(written)
    sign, text = (match[1] or "==", match[2]) if match else ("==", "")
    sign = "==" if sign == "=" else sign
    if not text:
        raise ValueError("has nothing to compare with (write >= 4M, <= 3.3GB or a value)")
    kind, value = KNOWN.get(figure, "str | int"), _number(text)
    if value is None and sign not in _EQUALITY:
        raise ValueError(f"{text!r:.60} is not a number, a size or a token count")
    if not re.search("int|float|Number|Fraction", kind) and sign not in _EQUALITY:
        raise ValueError(f"is no number: only == and != compare it, not {sign}")
    if "str" not in kind and kind != "bool" and value is None and text != ABSENT:
        raise ValueError(f"{text!r:.60} is not a number, a size or a token count")
    if text[-1] in "bB" and value is not None and figure in KNOWN and not _IN_BYTES.search(figure):
        raise ValueError(f"{text!r:.60} is a size, and this figure is not in bytes")
    if kind == "bool" and text not in ("true", "false"):
        raise ValueError(f"{text!r:.60} is neither true nor false")
    return Condition(figure=figure, operator=sign, text=text, value=value)


def holds(condition: Condition, actual: Scalar) -> bool:
    """Whether a figure is as required; a number that is absent is neither large nor small enough."""
    if isinstance(actual, (int, float)) and not isinstance(actual, bool):
        if condition.value is None:
            return condition.operator == "!="
        return _OPERATORS[condition.operator](actual, condition.value)
    if condition.operator not in _EQUALITY:
        return False
    words = ABSENT if actual is None else str(actual).lower() if isinstance(actual, bool) else actual
    return (words == condition.text) == (condition.operator == "==")


def contradiction(conditions: Sequence[Condition]) -> str:
    """Why no figure can meet all conditions on it, or an empty text."""
    equal = [_side(one) for one in conditions if one.operator == "=="]
    unequal = [_side(one) for one in conditions if one.operator == "!="]
    # A bound and whether it is excluded itself; the tightest of each side decides.
    lowest = [(one.value, one.operator == ">") for one in conditions if one.operator in (">", ">=")]
    highest = [(one.value, one.operator == "<") for one in conditions if one.operator in ("<", "<=")]
    numbers = [side for side in equal if not isinstance(side, str)]
    low = max([(value, out) for value, out in lowest if value is not None], default=(-math.inf, False))
    high = min([(value, not out) for value, out in highest if value is not None], default=(math.inf, True))
    excluded = low[1] or not high[1]
    impossible = (
        len(set(equal)) > 1
        or any(side in unequal for side in equal)
        or (len(numbers) < len(equal) and (lowest or highest))
        or low[0] > high[0]
        or (low[0] == high[0] and excluded)
        or any(not _between(side, low, high) for side in numbers)
    )
    return f"{' and '.join(map(str, conditions))} can't hold together" if impossible else ""


def _between(value: Number, low: tuple[Number, bool], high: tuple[Number, bool]) -> bool:
    above = value > low[0] or (value == low[0] and not low[1])
    return above and (value < high[0] or (value == high[0] and high[1]))


def _side(condition: Condition) -> Number | str:
    return condition.text if condition.value is None else condition.value


def _number(text: str) -> Number | None:
    try:
        return parse_size(text)
    except ValueError:
        pass
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
