"""YAML as plain data (mappings, lists, scalars), with the place of everything that is refused.

Built from the safe parser's events, without a constructor: a tag can't name a class, an alias can't
multiply, a key can't hide another of the same name. Scalars follow YAML 1.2's core schema for null,
booleans and whole numbers; what YAML 1.1 would turn into something else (`on`, `12:30`, `017`,
`1_000`, `1e6`) stays a string, so that the reader of the value refuses it by its type.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NoReturn

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from kvplan.errors import InputError, Problem, short_path

# A model YAML nests four levels; the limit keeps hostile files away from Python's own recursion limit.
MAX_DEPTH = 32
STANDARD_TAG = "tag:yaml.org,2002:"

# https://yaml.org/spec/1.2.2/#103-core-schema, without leading zeros and without an exponent on a whole
# number: both mean something else to YAML 1.1 tools.
_NULL = {"", "~", "null", "Null", "NULL"}
_BOOLEAN = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_WHOLE = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_FRACTION = re.compile(r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
_SPECIAL = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the C one where PyYAML was built with libyaml


def parse(text: str, *, file: str, problems: list[Problem], lines: dict[str, int] | None = None) -> Any:
    """The one document of `text`, None where there is none; duplicate keys are added to `problems`.

    The line of each key is added to `lines` under its path (`gates.small.tp`) where a mapping is given.
    Raises InputError for what can't be read on: bad syntax, tags, anchors, aliases, deep nesting.
    """
    try:
        return _Reader(yaml.parse(text, Loader=_LOADER), file, problems, lines).document()
    except yaml.YAMLError as error:
        raise InputError(Problem(file=file, key="", what=f"is not valid YAML: {_reason(error)}")) from error


class _Reader:
    """One pass over the events of a stream."""

    def __init__(
        self, events: Iterator[Event], file: str, problems: list[Problem], lines: dict[str, int] | None
    ) -> None:
        self._events = events
        self._lines = lines
        self._file = file
        self._problems = problems

    def document(self) -> Any:
        value, seen = None, False
        for event in self._events:
            if isinstance(event, DocumentStartEvent):
                if seen:
                    self._refuse("", "holds more than one YAML document")
                seen, value = True, self._node(next(self._events), "", 0)
        return value

    def _node(self, event: Event, path: str, depth: int) -> Any:
        self._check(event, path)
        if depth > MAX_DEPTH:
            self._refuse("", f"nests deeper than {MAX_DEPTH} levels")
        match event:
            case SequenceStartEvent():
                return self._sequence(path, depth + 1)
            case MappingStartEvent():
                return self._mapping(path, depth + 1)
            case ScalarEvent():
                plain = event.implicit[0]
                return self._scalar(event.value, path) if plain else event.value
            case _:
                raise AssertionError(f"no node starts with {event}")

    def _check(self, event: Event, path: str) -> None:
        if isinstance(event, AliasEvent) or (isinstance(event, NodeEvent) and event.anchor is not None):
            self._refuse(path, "YAML anchors and aliases are not read", "write the value out")
        tag = getattr(event, "tag", None)
        if tag is not None:
            self._refuse(path, f"the YAML tag {_short(tag)!r:.80} is not read", "leave the tag out")

    def _sequence(self, path: str, depth: int) -> list[Any]:
        items: list[Any] = []
        while not isinstance(event := next(self._events), SequenceEndEvent):
            items.append(self._node(event, f"{path}[{len(items)}]", depth))
        return items

    def _mapping(self, path: str, depth: int) -> dict[str, Any]:
        values: dict[str, Any] = {}
        lines: dict[str, int] = {}
        while not isinstance(event := next(self._events), MappingEndEvent):
            self._check(event, path)
            if not isinstance(event, ScalarEvent):
                self._refuse(path, "has a list or a mapping as a key")
            # The key as written: `on` and `1` are names here, not a boolean and a number.
            key, line = event.value, _line(event)
            place = f"{path}.{key}" if path else key
            if key in values:
                self._note(place, f"is there twice, in line {lines[key]} and in line {line}", "keep one")
            if self._lines is not None:
                self._lines[place] = line
            values[key], lines[key] = self._node(next(self._events), place, depth), line
        return values

    def _scalar(self, text: str, path: str) -> Any:
        if text in _NULL:
            return None
        if text in _BOOLEAN:
            return _BOOLEAN[text]
        if _WHOLE.fullmatch(text):
            try:
                return int(text)
            except ValueError:  # Python converts no more than 4,300 digits
                self._refuse(path, f"a number of {len(text)} digits is too long")
        if _FRACTION.fullmatch(text):
            return float(text)
        return float(text.lower().replace(".", "")) if _SPECIAL.fullmatch(text) else text

    def _note(self, path: str, what: str, hint: str = "") -> None:
        self._problems.append(Problem(file=self._file, key=short_path(path), what=what, hint=hint))

    def _refuse(self, path: str, what: str, hint: str = "") -> NoReturn:
        self._note(path, what, hint)
        raise InputError(self._problems)


def _line(event: Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 0


def _short(tag: str) -> str:
    return f"!!{tag.removeprefix(STANDARD_TAG)}" if tag.startswith(STANDARD_TAG) else tag


def _reason(error: yaml.YAMLError) -> str:
    """The parser's reason and its line, without the excerpt that PyYAML prints below it."""
    reason = getattr(error, "problem", None) or getattr(error, "reason", None) or "bad syntax"
    mark = getattr(error, "problem_mark", None)
    return f"{reason} in line {mark.line + 1}" if mark is not None else str(reason)
