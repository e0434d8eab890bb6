"""The gate file: `defaults`, then named gates with options of `kvplan size` and what they require.

Reads everything that can be read, so that one run names all problems of the file. A list as the value
of an option is a matrix: each combination of such values makes a gate of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from kvplan.config import Config, near
from kvplan.errors import InputError, Problem
from kvplan.files import WHAT_IS_READ, printable, read_mapping
from kvplan.frozen import dataclass
from kvplan.gates.conditions import contradiction, read_condition
from kvplan.gates.matrix import MAX_GATES, Setting, combinations, count, tagged
from kvplan.gates.records import Condition, Gate

_WHAT_IS_READ = "gates are YAML: defaults, then gates by their names"
_OWN_KEYS = ("model", "source", "set", "require")


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """The options of `size`: every spelling (with underscores) of each name, and which are switches."""

    names: Mapping[str, str]
    switches: frozenset[str]


def read_gates(path: str, words: Vocabulary, problems: list[Problem]) -> list[Gate]:
    """The gates that can be read, in the order of the file; what is wrong is added to `problems`.

    Raises InputError where the file as a whole can't be read.
    """
    lines: dict[str, int] = {}
    shown = printable(path)
    try:
        data = read_mapping(Path(path), shown=shown, problems=problems, lines=lines)
    except InputError as error:
        raise InputError([_of_gates(one) for one in error.problems]) from error
    if isinstance(data.get("gates"), dict):  # a name alone is a gate with nothing but the defaults
        data["gates"] = {name: {} if gate is None else gate for name, gate in data["gates"].items()}
    view = Config(data, file=shown, problems=problems)
    view.only(("defaults", "gates"))
    nothing = Config({}, file=shown, path="defaults", problems=problems)
    shared = _Entry(view.mapping("defaults") or nothing, words)
    gates = view.mapping("gates") or nothing
    entries = tuple(gates.keys())
    if not entries and not view.get("gates"):  # anything else that holds no gate is named already
        view.problem("gates", "holds no gate", "a name for each, with a model below")
    found: list[Gate] = []
    for name in entries:
        found += _gates(gates, name, shared, words, lines)
        if len(found) > MAX_GATES:
            view.problem("gates", f"makes more than {MAX_GATES:,} gates")
            return []
    for name, times in Counter(gate.name for gate in found).items():
        if times > 1:
            view.problem("gates", f"{times} gates are named {name}", "give each a name of its own")
    return found


def _of_gates(problem: Problem) -> Problem:
    """The problem with a hint on gate files in the place of one on models."""
    return replace(problem, hint=_WHAT_IS_READ) if problem.hint == WHAT_IS_READ else problem


def _gates(
    parent: Config, name: str, shared: _Entry, words: Vocabulary, lines: Mapping[str, int]
) -> list[Gate]:
    """The gates of one entry, one for each combination of the values that it lists."""
    view = parent.mapping(name)
    if view is None:
        return []
    own = _Entry(view, words)
    given = {**shared.settings, **own.settings}
    settings = {key: setting for key, setting in given.items() if setting.texts is not None}
    require = {**shared.require, **own.require}
    if "model" not in settings:
        view.problem("model", "is missing")
        return []
    if count(settings.values()) > MAX_GATES:
        view.problem("", f"makes more than {MAX_GATES:,} gates")
        return []
    plain = Gate(
        name=name,
        key=view.path,
        line=lines.get(view.path, 1),
        model="",
        source=own.source or shared.source,
        changes=tuple(shared.changes or ()) if own.changes is None else tuple(own.changes),
        options={},
        places={key: setting.place for key, setting in settings.items()},
        conditions=tuple(condition for group in require.values() for condition in group),
    )
    return [_gate(plain, values, settings) for values in combinations(settings)]


def _gate(plain: Gate, values: dict[str, str | bool], settings: Mapping[str, Setting]) -> Gate:
    options = {key: value for key, value in values.items() if key != "model"}
    name = tagged(plain.name, values, settings)
    return replace(plain, name=name, model=str(values["model"]), options=options)


class _Entry:
    """One mapping of the file, `defaults` or a gate, checked: its settings and its conditions by figure."""

    def __init__(self, view: Config, words: Vocabulary) -> None:
        self._view = view
        self.settings: dict[str, Setting] = {}
        self.require: dict[str, list[Condition]] = {}
        for key in tuple(view.keys()):
            plain = key.removeprefix("--").replace("-", "_")
            name = "model" if plain == "model" else words.names.get(plain)
            if name is not None:
                self._option(key, name, switch=name in words.switches)
            elif key not in _OWN_KEYS:
                view.problem(key, "unknown key", near(plain, (*_OWN_KEYS, *words.names)))
        self.source = view.text("source")
        self.changes = self._changes()
        self._conditions()

    def _changes(self) -> Sequence[str] | None:
        """What `--set` would be given, one text or a list of them; None where there is nothing of it."""
        text = self._view.get("set")
        return (text,) if isinstance(text, str) else self._view.items("set", str)

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
        if texts:
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
