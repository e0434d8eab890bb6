"""The `server_args=` line: `ServerArgs(tp_size=8, ...)` up to 0.5.1x, a dictionary later. Nothing is run."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kvplan.bootlog.records import Scalar

_BRACKETS = {"(": ")", "[": "]", "{": "}", "<": ">"}
_KEY = re.compile(r"\s*['\"]?([A-Za-z_][A-Za-z0-9_]{0,80})['\"]?\s*[=:]\s*(.*)\Z", re.DOTALL)
_WHOLE = re.compile(r"-?[0-9]{1,18}\Z")
_DECIMAL = re.compile(r"-?[0-9]{1,18}\.?[0-9]{0,30}(?:[eE][+-]?[0-9]{1,3})?\Z")
_WORDS: dict[str, Scalar] = {"None": None, "True": True, "False": False}
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


def read_server_args(text: str) -> dict[str, Scalar]:
    """Fields whose values are plain: a number, a word, a text; objects and lists are left out."""
    found: dict[str, Scalar] = {}
    opening = re.match(r"\s*(?:[A-Za-z_.]+\s*)?[({]", text)
    if opening is None:
        return found
    for item in _items(text[opening.end() :]):
        match = _KEY.match(item)
        if match is None:
            continue
        plain, value = _scalar(match[2].strip())
        if plain:
            found[match[1]] = value
    return found


def _items(text: str) -> Iterator[str]:
    """Parts between the commas of the outermost level, up to the bracket that closes it.

    A part that nothing closes is left out: its value may be cut.
    """
    start, quote, closing, escaped = 0, "", [], False
    for place, char in enumerate(text):
        if quote:
            quote = "" if char == quote and not escaped else quote
            escaped = char == "\\" and not escaped
        elif char in "'\"":
            quote = char
        elif char in _BRACKETS:
            closing.append(_BRACKETS[char])
        elif closing and char == closing[-1]:
            closing.pop()
        elif not closing and char in ",)}":
            yield text[start:place]
            start = place + 1
            if char != ",":
                return


def _scalar(text: str) -> tuple[bool, Scalar]:
    """Whether the value is plain, and the value."""
    if text in _WORDS:
        return True, _WORDS[text]
    if _WHOLE.match(text):
        return True, int(text)
    if _DECIMAL.match(text):
        return True, float(text)
    if len(text) > 1 and text[0] in "'\"" and text[-1] == text[0]:
        return True, _ESCAPE.sub(r"\1", text[1:-1])
    return False, None
