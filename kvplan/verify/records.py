"""A plan beside the log of the server that it stands for."""

from __future__ import annotations

from typing import Any

from kvplan.bootlog import BootLog
from kvplan.frozen import dataclass
from kvplan.records import SCHEMA_VERSION, Number, Plan

DEFAULT_TOLERANCE = 0.01
TOKENS = "max_total_num_tokens"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One term: what the plan has for it and what the log has.

    `low` and `high`: the predictions that the log's rounding leaves open. `agrees`: the logged figure lies
    between them, tokens within the tolerance.
    """

    name: str
    unit: str
    predicted: Number
    logged: Number
    low: Number
    high: Number
    agrees: bool

    @property
    def difference(self) -> float | None:
        """(logged - predicted) / predicted."""
        return (self.logged - self.predicted) / self.predicted if self.predicted else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """All terms that a log and a plan have in common, and what may explain their differences."""

    plan: Plan
    log: BootLog
    checks: tuple[Check, ...]
    causes: tuple[str, ...]
    notes: tuple[str, ...]
    tolerance: float

    @property
    def tokens(self) -> Check | None:
        """The check that decides; None where the log does not say what was free."""
        return next((check for check in self.checks if check.name == TOKENS), None)

    @property
    def holds(self) -> bool:
        """Tokens agree, or could not be compared."""
        return self.tokens is None or self.tokens.agrees

    def to_dict(self) -> dict[str, Any]:
        """The comparison as JSON types."""
        plan = self.plan.to_dict()
        return {
            "schema_version": SCHEMA_VERSION,
            "model": plan["model"],
            "engine": plan["engine"],
            "deployment": plan["deployment"],
            "tolerance": self.tolerance,
            "holds": self.holds,
            "free_before_gib": self.log.free_before_gib,
            "free_after_gib": self.log.free_after_gib,
            "checks": check_records(self.checks),
            "causes": list(self.causes),
            "notes": list(self.notes),
        }


def check_records(checks: tuple[Check, ...]) -> list[dict[str, Any]]:
    """The terms as flat records."""
    return [
        {**{name: getattr(check, name) for name in check.__slots__}, "difference": check.difference}
        for check in checks
    ]
