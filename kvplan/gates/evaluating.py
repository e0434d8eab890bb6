"""From gates to results: load each model once, plan each gate, look at its conditions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

from kvplan.architecture import Architecture
from kvplan.deployment import Deployment
from kvplan.errors import InputError, KvplanError, Problem, RefusedError
from kvplan.frozen import dataclass
from kvplan.gates.conditions import holds
from kvplan.gates.figures import KNOWN, flat
from kvplan.gates.records import Condition, Finding, Gate, Result, Scalar
from kvplan.gates.snapshots import snapshot, without_plan
from kvplan.launch import Launch
from kvplan.records import Plan
from kvplan.whatif import changed

T = TypeVar("T")
Load = Callable[[str, str | None], Architecture]


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What the command line knows how to do.

    `load` gets a reference and a source; `deploy` turns option texts into a deployment, over the fields
    that a launch line sets. `plan` gives the plan and why it does not do what was asked (an empty text
    where it does), or raises RefusedError.
    """

    load: Load
    deploy: Callable[[Mapping[str, str | bool], Mapping[str, object]], Deployment]
    plan: Callable[[Architecture, Deployment], tuple[Plan, str]]


def evaluate(gates: Iterable[Gate], means: Means, *, file: str, problems: list[Problem]) -> list[Result]:
    """The results of all gates that can be planned; why others can't is added to `problems`.

    A deployment that the engine refuses is a failed gate and no problem.
    """
    load = _once(means.load)
    results: list[Result] = []
    for gate in gates:
        try:
            results.append(_result(gate, load, means))
        except InputError as error:
            problems += [_located(problem, gate, file) for problem in error.problems]
    return results


def _once(load: Load) -> Load:
    """The same, asked once for each model; a failure, which may have taken long, is kept as well."""
    known: dict[tuple[str, str | None], Architecture | InputError] = {}

    def kept(reference: str, source: str | None) -> Architecture:
        key = (reference, source)
        if key not in known:
            try:
                known[key] = load(reference, source)
            except InputError as error:
                known[key] = error
        found = known[key]
        if isinstance(found, InputError):
            raise found
        return found

    return kept


def _result(gate: Gate, load: Load, means: Means) -> Result:
    problems: list[Problem] = []
    line = gate.launch or Launch(model=None)
    model = _attempt(lambda: load(gate.model, gate.source), problems)
    asked = _attempt(lambda: means.deploy(gate.options, line.settings), problems)
    if model is None or asked is None:
        raise InputError(problems)
    notes = (*gate.notes, *line.warnings(asked))
    try:
        made, unmet = means.plan(changed(model, gate.changes), asked)
    except RefusedError as error:
        reason = "; ".join(str(problem) for problem in error.problems)
        kept = without_plan(model, asked, gate.changes)
        return Result(gate=gate, refused=reason, snapshot=replace(kept, refused=reason), warnings=notes)
    made = replace(made, warnings=(*made.warnings, *notes))
    figures = dict(flat(made.to_dict()))
    return Result(
        gate=gate,
        snapshot=snapshot(model, asked, gate.changes, figures),
        refused=unmet,
        findings=_findings(gate.conditions, figures),
        assumed=made.assumed,
        warnings=made.warnings,
    )


def _attempt(call: Callable[[], T], problems: list[Problem]) -> T | None:
    try:
        return call()
    except KvplanError as error:
        problems += error.problems
        return None


def _findings(conditions: Iterable[Condition], figures: Mapping[str, Scalar]) -> tuple[Finding, ...]:
    """Raises InputError for figures that this plan does not have, in lists that depend on the model."""
    unknown = [one.figure for one in conditions if one.figure not in KNOWN and one.figure not in figures]
    if unknown:
        what = "is no figure of this plan"
        raise InputError([Problem(file="", key=f"require.{path}", what=what) for path in unknown])
    found = []
    for condition in conditions:
        actual = figures.get(condition.figure)
        found.append(Finding(condition=condition, actual=actual, holds=holds(condition, actual)))
    return tuple(found)


def _located(problem: Problem, gate: Gate, file: str) -> Problem:
    """The problem at its place in the gate file: that of the option, the launch line or the model."""
    name = problem.key.removeprefix("--").replace("-", "_")
    place, told = gate.places.get(name, ".".join(filter(None, (gate.key, name)))), problem.what
    if problem.file:
        place, told = gate.places["model"], ": ".join(filter(None, (problem.file, problem.key, problem.what)))
    elif gate.launch is not None and name in gate.launch.settings:
        place, told = gate.places["launch"], f"{problem.key}: {problem.what}"
    return replace(problem, file=file, key=place, what=told)
