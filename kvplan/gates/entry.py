"""One mapping of a gate file, `defaults` or a gate: what it sets, and what it requires."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from kvplan.config import Config, near
from kvplan.errors import InputError
from kvplan.frozen import dataclass
from kvplan.gates.conditions import contradiction, read_condition
from kvplan.gates.matrix import Setting
from kvplan.gates.records import Condition
from kvplan.launch import Launch

# What a gate says beside the options: lists of these make a matrix as well, those of the others do not.
SETTINGS = ("model", "source", "launch")
_OTHERS = ("set", "require")


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """The options of `size`: every spelling (with underscores) of each name, and which are switches.

    `launch` reads a launch line, or the file that holds one; it raises InputError.
    """

    names: Mapping[str, str]
    switches: frozenset[str]
    launch: Callable[[str], Launch]


class Entry:
    """One mapping of the file, `defaults` or a gate, checked.

    `launches`: its launch lines by their texts, those that can be read. `changes`: None where none are
    given. `require`: its conditions by figure.
    """

    def __init__(self, view: Config, words: Vocabulary) -> None:
        self._view = view
        self.settings: dict[str, Setting] = {}
        self.require: dict[str, list[Condition]] = {}
        for key in tuple(view.keys()):
            plain = key.removeprefix("--").replace("-", "_")
            name = plain if plain in SETTINGS else words.names.get(plain)
            if name is not None:
                self._option(key, name, switch=name in words.switches)
            elif key not in _OTHERS:
                view.problem(key, "unknown key", near(plain, (*SETTINGS, *_OTHERS, *words.names)))
        self.launches = self._launches(words.launch)
        self.changes = self._changes()
        self._conditions()

    def _changes(self) -> Sequence[str] | None:
        """What `--set` would be given, one text or a list of them; null takes those of the defaults back."""
        text = self._view.get("set")
        if text is None:
            return () if "set" in self._view else None
        return (text,) if isinstance(text, str) else self._view.items("set", str)

    def _launches(self, read: Callable[[str], Launch]) -> dict[str, Launch]:
        found = {}
        setting = self.settings.get("launch")
        for text in map(str, (setting and setting.texts) or ()):
            try:
                found[text] = read(text)
            except InputError as error:
                for problem in error.problems:
                    parts = (problem.file, problem.key, problem.what)
                    what = ": ".join(part for part in parts if part not in ("", "--launch"))
                    self._view.problem("launch", what, problem.hint)
        return found

    def _option(self, key: str, name: str, *, switch: bool) -> None:
        value, place = self._view.get(key), f"{self._view.path}.{key}"
        if name in self.settings:
            self._view.problem(key, f"is given twice, also as {self.settings[name].place}", "keep one")
            return
        if value is None:  # takes the option of the defaults back
            self.settings[name] = Setting(place=place, texts=None)
            return
        items = value if isinstance(value, list) else [value]
        texts = [text for item in items if (text := self._text(key, item, switch=switch)) is not None]
        if not items:
            self._view.problem(key, "is an empty list")
        elif len(set(texts)) < len(texts):
            self._view.problem(key, "lists a value twice")
        if texts or name in SETTINGS:  # without a model or a launch line there is nothing more to say
            self.settings[name] = Setting(place=place, texts=tuple(dict.fromkeys(texts)), many=value is items)

    def _text(self, key: str, value: Any, *, switch: bool) -> str | bool | None:
        if isinstance(value, bool) and switch:
            return value
        if isinstance(value, (str, int, float)) and not isinstance(value, bool) and not switch:
            return str(value)
        wanted = "true or false" if switch else "a single value"
        self._view.problem(key, f"{value!r:.60} is not {wanted}")
        return None

    def _conditions(self) -> None:
        view = self._view.mapping("require") or Config({}, file="")
        if "require" in self._view and self._view.get("require") is None:  # or else it would look checked
            self._view.problem("require", "holds no condition", "leave it out, or name a figure below")
        for name in tuple(view.keys()):
            for written in _written(view.get(name)):
                try:
                    condition = read_condition(name, written)
                except ValueError as error:
                    self._view.problem(f"require.{name}", str(error))
                else:
                    self.require.setdefault(condition.figure, []).append(condition)
        for figure, conditions in self.require.items():
            if wrong := contradiction(conditions):
                self._view.problem(f"require.{figure}", wrong)


def _written(value: Any) -> Iterable[str]:
    """The texts of one condition or of several; other values as YAML writes them."""
    match value:
        case list():
            return [text for item in value for text in _written(item)] or [""]
        case bool():
            return [str(value).lower()]
        case None:
            return ["null"]
        case dict():
            return [""]
        case _:
            return [str(value)]
