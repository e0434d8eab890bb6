"""The gate file: `defaults`, then named gates with options of `kvplan size` and what they require.

Reads everything that can be read, so that one run names all problems of the file. A list as the value
of an option is a matrix: each combination of such values makes a gate of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from kvplan.config import Config
from kvplan.errors import InputError, Problem
from kvplan.files import WHAT_IS_READ, printable, read_mapping
from kvplan.gates.entry import SETTINGS, Entry, Vocabulary
from kvplan.gates.launched import beside_line
from kvplan.gates.matrix import MAX_GATES, combinations, count, tagged
from kvplan.gates.records import Gate
from kvplan.launch import Launch

_WHAT_IS_READ = "gates are YAML: defaults, then gates by their names"


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
    shared = Entry(view.mapping("defaults") or nothing, words)
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
    parent: Config, name: str, shared: Entry, words: Vocabulary, lines: Mapping[str, int]
) -> Iterable[Gate]:
    """The gates of one entry, one for each combination of the values that it lists."""
    view = parent.mapping(name)
    if view is None:
        return ()
    own = Entry(view, words)
    given = {**shared.settings, **own.settings}
    settings = {key: setting for key, setting in given.items() if setting.texts is not None}
    if count(settings.values()) > MAX_GATES:
        view.problem("", f"makes more than {MAX_GATES:,} gates")
        return ()
    changes = shared.changes if own.changes is None else own.changes
    require = {**shared.require, **own.require}
    plain = Gate(
        name=name,
        key=view.path,
        line=lines.get(view.path, 1),
        model="",
        source=None,
        changes=tuple(changes or ()),
        options={},
        places={key: setting.place for key, setting in settings.items()},
        conditions=tuple(condition for group in require.values() for condition in group),
    )
    found: dict[str, Gate] = {}  # values that a launch line leaves no room for make no gates of their own
    for values in combinations(settings):
        gate = _gate(plain, values, own, {**shared.launches, **own.launches})
        if gate is None:
            continue
        if not gate.model:
            view.problem("model", "is missing", "the launch line names none" if gate.launch else "")
            continue
        heard = {key: setting for key, setting in settings.items() if gate.places.get(key) == setting.place}
        tag = tagged(name, values, heard)
        found.setdefault(tag, replace(gate, name=tag))
    return found.values()


def _gate(
    plain: Gate, values: Mapping[str, str | bool], own: Entry, launches: Mapping[str, Launch]
) -> Gate | None:
    """The gate with one combination of values; None where its launch line can't be used."""
    model, source, launch = (str(values[key]) if key in values else None for key in SETTINGS)
    options = {key: value for key, value in values.items() if key not in SETTINGS}
    gate = replace(plain, model=model or "", source=source, options=options)
    if launch is None:
        return gate
    if launch not in launches:
        return None
    own_line = "launch" in own.settings
    return beside_line(
        gate,
        launches[launch],
        defaults=[name for name in gate.places if own_line and name not in own.settings],
        unset=[name for name, setting in own.settings.items() if setting.texts is None],
    )
