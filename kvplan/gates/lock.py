"""The lock file: snapshots of all gates as JSON, one figure a line, sorted, so that diffs are short."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kvplan import __version__
from kvplan.config import Config
from kvplan.errors import Problem
from kvplan.files import printable, read_mapping
from kvplan.frozen import dataclass
from kvplan.gates.records import Result, Scalar, Snapshot

VERSION = 1
_VERSION_KEY = "kvplan_lock"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """Snapshots by the names of their gates, and the kvplan that made them."""

    file: str
    kvplan: str
    gates: dict[str, Snapshot]


def write_lock(results: Iterable[Result]) -> str:
    """The text of a lock file; the same for the same plans."""
    document = {
        _VERSION_KEY: VERSION,
        "kvplan": __version__,
        "gates": {result.gate.name: _entry(result.snapshot) for result in results},
    }
    return json.dumps(document, indent=2, sort_keys=True, allow_nan=False) + "\n"


def read_lock(path: str) -> Lock:
    """A lock file. Raises InputError with everything that is wrong with it."""
    problems: list[Problem] = []
    shown = printable(path)
    view = Config(read_mapping(Path(path), shown=shown, problems=problems), file=shown, problems=problems)
    if view.get(_VERSION_KEY) != VERSION:
        view.problem(_VERSION_KEY, f"is not {VERSION}", "write it again with --write-baseline")
        view.finish()
    gates = view.mapping("gates") or Config({}, file=shown)
    found = {}
    for name in tuple(gates.keys()):
        entry = gates.mapping(name) or Config({}, file=shown)
        refused = entry.text("refused", default="") or ""
        found[name] = Snapshot(
            options=_scalars(entry, "options"), figures=_scalars(entry, "figures"), refused=refused
        )
    version = view.text("kvplan", default="") or ""
    view.finish()
    return Lock(file=shown, kvplan=version, gates=found)


def _entry(snapshot: Snapshot) -> dict[str, Any]:
    refused = {"refused": snapshot.refused} if snapshot.refused else {}
    return {"options": dict(snapshot.options), "figures": dict(snapshot.figures), **refused}


def _scalars(entry: Config, key: str) -> dict[str, Scalar]:
    view = entry.mapping(key) or Config({}, file=entry.file)
    values = {name: view.get(name) for name in tuple(view.keys())}
    for name, value in values.items():
        odd = isinstance(value, float) and not math.isfinite(value)
        if odd or not isinstance(value, (str, int, float, bool, type(None))):
            view.problem(name, f"{value!r:.60} is neither text nor a number")
    return values
