"""Gates as they were read, and what came out of them."""

from __future__ import annotations

from collections.abc import Mapping

from kvplan.frozen import dataclass
from kvplan.launch import Launch
from kvplan.records import Number

Scalar = Number | str | bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """What a figure must be: its path in the plan's JSON, an operator, and the other side as written.

    `value` is the other side as a number (sizes in bytes), None where it is text.
    """

    figure: str
    operator: str
    text: str
    value: Number | None

    def __str__(self) -> str:
        return f"{self.operator} {self.text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """One deployment and its conditions; `key` and `line` say where it stands in the file.

    `options` are texts and switches by the names of `Deployment`, `places` their key paths and those of
    `model` and `launch`. `changes` are those of `--set`. `launch`: the launch line, with settings for what
    no option of the gate sets. `notes` say what of the file is not used.
    """

    name: str
    key: str
    line: int
    model: str
    source: str | None
    changes: tuple[str, ...]
    options: Mapping[str, str | bool]
    places: Mapping[str, str]
    conditions: tuple[Condition, ...]
    launch: Launch | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A gate's plan as a lock keeps it: the options that were asked for, and figures by their path.

    `refused` is the engine's reason where there is no plan.
    """

    options: Mapping[str, Scalar]
    figures: Mapping[str, Scalar]
    refused: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A condition and what the figure is."""

    condition: Condition
    actual: Scalar
    holds: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A figure that is not what the baseline has; None where it is absent, `worse` by more than allowed."""

    figure: str
    old: Scalar
    new: Scalar
    worse: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What came out of one gate; `refused` says why the deployment itself can't be, or doesn't do.

    `assumed` and `warnings` are those of its plan, and of its launch line what the plan leaves out.
    """

    gate: Gate
    snapshot: Snapshot
    findings: tuple[Finding, ...] = ()
    refused: str = ""
    changes: tuple[Change, ...] = ()
    causes: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether nothing failed."""
        kept = all(finding.holds for finding in self.findings)
        return kept and not self.refused and not any(change.worse for change in self.changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """All gates of a file in its order; `notes` are differences to the baseline that fail nothing."""

    file: str
    results: tuple[Result, ...]
    baseline: str = ""
    notes: tuple[str, ...] = ()

    @property
    def failed(self) -> tuple[Result, ...]:
        """The gates that do not hold."""
        return tuple(result for result in self.results if not result.passed)
