"""A read-only, located view of a config file: typed getters that name the file and the key in every error.

Getters never raise: they note the problem and return a harmless value, so that all problems of a
file come out together when the reader calls `finish()`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from kvplan.errors import InputError, Problem, short_path

# Nothing real has more; larger values are typing mistakes that would give absurd plans.
MAX_LAYERS = 10_000
MAX_DIMENSION = 1 << 24
# The Hub allows 96 characters for each part of an id, file systems 255 for a name; classes are shorter.
MAX_NAME = 256
# Larger numbers are named in errors, not quoted: JSON allows 4,300 digits.
_LARGEST_QUOTED = 1 << 60
# Unknown keys of one mapping that are named with a near spelling; a file with more has another content.
_NAMED_WITH_HINT = 20

T = TypeVar("T")


class Config:
    """A mapping of a config file, with its place in the file.

    `file` is what errors call the file, `path` the key path of this mapping in it.
    """

    __slots__ = ("_data", "_problems", "file", "path")

    def __init__(
        self, data: Mapping[str, Any], *, file: str, path: str = "", problems: list[Problem] | None = None
    ) -> None:
        self._data = data
        self._problems: list[Problem] = [] if problems is None else problems
        self.file = file
        self.path = path

    def __contains__(self, key: str) -> bool:
        """Whether the key is there, null or not."""
        return key in self._data

    def problem(self, key: str, what: str, hint: str = "") -> None:
        """Note that the value of `key` can't be used."""
        place = f"{self.path}.{key}" if self.path and key else self.path or key
        self._problems.append(Problem(file=self.file, key=short_path(place), what=what, hint=hint))

    def finish(self) -> None:
        """Raise InputError with every problem noted so far, if there is one."""
        if self._problems:
            raise InputError(list(dict.fromkeys(self._problems)))

    @property
    def has_problems(self) -> bool:
        """Whether something was noted already."""
        return bool(self._problems)

    def get(self, key: str) -> Any:
        """The raw value, None where the key is missing."""
        return self._data.get(key)

    def first(self, *keys: str) -> str | None:
        """The first of `keys` whose value is not null."""
        return next((key for key in keys if self.get(key) is not None), None)

    def integer(
        self, *keys: str, least: int = 1, most: int = MAX_DIMENSION, default: int | None = None
    ) -> int:
        """A whole number under the first of `keys` that is set; without one, `default` or a problem."""
        key = self.first(*keys)
        if key is None:
            if default is None:
                self.problem(keys[0], "is missing", _also(keys))
            return least if default is None else default
        value = self.get(key)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            self.problem(key, f"{shown(value)} is not a whole number", _unquoted(value))
            return least
        if not least <= value <= most:
            self.problem(key, f"{shown(value)} is not between {least} and {most}")
            return least
        return value

    def optional_integer(self, *keys: str, least: int = 1, most: int = MAX_DIMENSION) -> int | None:
        """A whole number, or None where no key is set."""
        return None if self.first(*keys) is None else self.integer(*keys, least=least, most=most)

    def ratio(self, key: str, *, default: float) -> float:
        """A number above 0 and at most MAX_DIMENSION; `default` where it is missing or null."""
        value = self.get(key)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self.problem(key, f"{shown(value)} is not a number")
            return default
        if not 0 < value <= MAX_DIMENSION:
            self.problem(key, f"{shown(value)} is not above 0 and at most {MAX_DIMENSION}")
            return default
        return float(value)

    def flag(self, key: str, *, default: bool = False) -> bool:
        """True or false."""
        value = self.get(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            self.problem(key, f"{shown(value)} is not true or false")
            return default
        return value

    def text(self, key: str, *, default: str | None = None, choices: Iterable[str] = ()) -> str | None:
        """A string, one of `choices` where these are given."""
        value = self.get(key)
        if value is None:
            return default
        if not isinstance(value, str):
            self.problem(key, f"{shown(value)} is not a string")
            return default
        known = tuple(choices)
        if known and value not in known:
            self.problem(key, f"unknown value {shown(value)}", near(value, known))
            return default
        return value

    def name(self, key: str) -> str | None:
        """A string in a length that a line of a report can hold."""
        text = self.text(key)
        if text is not None and len(text) > MAX_NAME:
            self.problem(key, f"{len(text):,} characters are too many for a name", f"at most {MAX_NAME}")
            return None
        return text

    def items(
        self, key: str, kind: type[T], *, length: int | None = None, at_least: int | None = None
    ) -> Sequence[T] | None:
        """A list of one type, or None where the key is missing; `length` and `at_least` are checked."""
        value = self.get(key)
        if value is None:
            return None
        if not isinstance(value, list):
            self.problem(key, f"{shown(value)} is not a list")
            return None
        wrong = _list_fault(value, kind, length=length, at_least=at_least)
        if wrong:
            self.problem(key, wrong)
            return None
        return value

    def mapping(self, key: str) -> Config | None:
        """A nested mapping as a view of its own, or None where the key is missing."""
        value = self.get(key)
        if value is None:
            return None
        if not isinstance(value, Mapping):
            self.problem(key, f"{shown(value)} is not a mapping")
            return None
        place = f"{self.path}.{key}" if self.path else key
        return Config(value, file=self.file, path=place, problems=self._problems)

    def mappings(self, key: str) -> Sequence[Config]:
        """A list of mappings, each as a view of its own; empty where the key is missing."""
        value = self.items(key, object)
        views = []
        for index, item in enumerate(value or ()):
            place = f"{self.path}.{key}[{index}]" if self.path else f"{key}[{index}]"
            if isinstance(item, Mapping):
                views.append(Config(item, file=self.file, path=place, problems=self._problems))
            else:
                self.problem(f"{key}[{index}]", f"{shown(item)} is not a mapping")
        return views

    def keys(self) -> Iterable[str]:
        """The keys, as they stand in the file."""
        return self._data.keys()

    def only(self, known: Iterable[str]) -> None:
        """Note each key that is not in `known`, with the nearest known spelling."""
        allowed = tuple(known)
        unknown = [str(key) for key in self._data if key not in allowed]
        for place, key in enumerate(unknown):
            self.problem(key, "unknown key", near(key, allowed) if place < _NAMED_WITH_HINT else "")


def shown(value: Any) -> str:
    """The value as errors quote it; what can be endless (a container, a huge number) is only named."""
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, (list, tuple, set)):
        return "a list"
    if isinstance(value, int) and abs(value) > _LARGEST_QUOTED:
        return "the number"
    return f"{value!r:.60}"


def near(word: str, known: Sequence[str]) -> str:
    """`did you mean X?`, or the list of what is known where nothing is near."""
    longest = max(map(len, known), default=0)
    # A word more than twice as long is near nothing, and comparing takes as long as the word is.
    matches = difflib.get_close_matches(word, known, n=1) if len(word) <= 2 * longest else []
    return f"did you mean {matches[0]}?" if matches else f"known: {', '.join(known)}"


def _list_fault(value: Sequence[Any], kind: type, *, length: int | None, at_least: int | None) -> str:
    if len(value) > 10 * MAX_LAYERS:
        return f"has {len(value)} entries, far more than any model has layers"
    if kind is not object and not all(
        isinstance(item, kind) and isinstance(item, bool) == (kind is bool) for item in value
    ):
        return f"holds something other than {kind.__name__}"
    if length is not None and len(value) != length:
        return f"has {len(value)} entries for {length} layers"
    if at_least is not None and len(value) < at_least:
        return f"has {len(value)} entries for {at_least} layers"
    return ""


def _unquoted(value: object) -> str:
    return "write it without quotes" if isinstance(value, str) and value.strip().isdigit() else ""


def _also(keys: Sequence[str]) -> str:
    return f"also looked for {', '.join(keys[1:])}" if len(keys) > 1 else ""
