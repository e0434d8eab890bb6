"""Plan what a log describes and compare the two."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from kvplan.architecture import Architecture
from kvplan.bootlog import BootLog
from kvplan.bootlog.records import ROUNDING_GIB
from kvplan.deployment import Deployment
from kvplan.errors import KvplanError, RefusedError, option_flag
from kvplan.planning import plan
from kvplan.records import Plan
from kvplan.sglang.rules import RULE_SETS
from kvplan.units import GIB
from kvplan.verify.causes import causes, fraction_cause, version_cause
from kvplan.verify.checks import capacity_checks, cost_checks
from kvplan.verify.deployment import Told, told_by
from kvplan.verify.records import DEFAULT_TOLERANCE, TOKENS, Check, Verification

# Room for some tokens of any model, to see the shapes of its buffers.
_ANY_BUDGET = 1 << 42
# Memory fractions that a server may have been given.
_PERCENTS = range(30, 100)


def verify(
    log: BootLog,
    architecture: Architecture,
    deployment: Deployment | None = None,
    *,
    tolerance: float = DEFAULT_TOLERANCE,
    told: Told | None = None,
) -> Verification:
    """Compare a log with the plan of what it describes.

    `deployment`: what to plan instead of the log's own words; its budget counts over the log's free
    memory. `tolerance`: share by which tokens may differ. Raises InputError and RefusedError as `plan`.
    """
    words = told or told_by(log)
    asked = deployment or Deployment(**words.settings)  # type: ignore[arg-type]
    plans, checks = _compared(log, architecture, asked, tolerance)
    notes = [*_guesses(words, asked), *words.notes]
    if not plans:
        notes.append("tokens are not compared: the log does not say what was free before and after loading")
    made: Plan = plans[0] if plans else plan(architecture, _with_budget(asked))
    gpu_given = asked.gpu is not None and not _is_guess("gpu", words, asked)
    found = list(causes(log, made, checks, gpu_given=gpu_given, not_modelled=words.not_modelled))
    if not all(check.agrees for check in checks):
        fraction = _fraction(log, architecture, asked, checks)
        releases = _agreeing(log, architecture, asked, tolerance)
        if fraction is not None:
            found.append(fraction_cause(made.resolved.mem_fraction_static, fraction))
        if releases or fraction is None:
            found.append(version_cause(asked.engine_version, releases))
    return Verification(
        plan=made,
        log=log,
        checks=checks,
        causes=tuple(found),
        notes=tuple(notes),
        tolerance=tolerance,
    )


def _compared(
    log: BootLog, architecture: Architecture, asked: Deployment, tolerance: float
) -> tuple[list[Plan], tuple[Check, ...]]:
    costs = plan(architecture, _with_budget(asked, available_bytes=_ANY_BUDGET))
    plans = _plans(architecture, _budgets(log, asked))
    found = list(cost_checks(log, costs))
    if plans:
        found += capacity_checks(log, plans, tolerance)
    return plans, tuple(found)


def _agreeing(log: BootLog, architecture: Architecture, asked: Deployment, tolerance: float) -> list[str]:
    """Releases under whose rules every term agrees."""
    found = []
    for release in RULE_SETS:
        with suppress(KvplanError):
            checks = _compared(log, architecture, replace(asked, engine_version=release), tolerance)[1]
            if all(check.agrees for check in checks):
                found.append(release)
    return found


def _fraction(
    log: BootLog, architecture: Architecture, asked: Deployment, checks: Sequence[Check]
) -> float | None:
    """The memory fraction that would explain the tokens, where nobody names one and all else agrees."""
    differ = {check.name for check in checks if not check.agrees}
    if asked.mem_fraction_static is not None or asked.available_bytes is not None or TOKENS not in differ:
        return None
    if not all(name.endswith(TOKENS) for name in differ):
        return None
    found: list[tuple[float, float]] = []
    for percent in _PERCENTS:
        with suppress(KvplanError):
            one = replace(asked, mem_fraction_static=percent / 100)
            tried = _compared(log, architecture, one, DEFAULT_TOLERANCE)[1]
            found += [
                (abs(check.difference or 0.0), percent / 100)
                for check in tried
                if check.name == TOKENS and check.agrees
            ]
    return min(found)[1] if found else None


def _guesses(words: Told, asked: Deployment) -> list[str]:
    """What was found out for an option that is not given."""
    return [
        f"{option_flag(name)} {words.settings[name]}: {how}"
        for name, how in words.guessed.items()
        if _is_guess(name, words, asked)
    ]


def _is_guess(name: str, words: Told, asked: Deployment) -> bool:
    return name in words.guessed and getattr(asked, name) == words.settings[name]


def _plans(architecture: Architecture, budgets: list[Deployment]) -> list[Plan]:
    """A plan for each budget; the ends of the rounding may be too small where the middle is not."""
    plans = [plan(architecture, one) for one in budgets[:1]]
    for one in budgets[1:]:
        with suppress(RefusedError):
            plans.append(plan(architecture, one))
    return plans


def _budgets(log: BootLog, asked: Deployment) -> list[Deployment]:
    """The deployment with what was free: as printed, and at both ends of the rounding; or nothing."""
    if asked.has_budget:
        return [asked]
    before, after = log.free_before_gib, log.free_after_gib
    if before is not None and after is not None:
        return [
            _with_budget(asked, pre_model_load_gib=before - shift, free_gib=after + shift)
            for shift in (0.0, ROUNDING_GIB, -ROUNDING_GIB)
            if after + shift > 0
        ]
    sizing = next((one.sizing for one in log.ranks if "available_bytes" in one.sizing), None)
    if sizing is None:
        return []
    return [
        _with_budget(asked, available_bytes=int((sizing["available_bytes"] + shift) * GIB))
        for shift in (0.0, ROUNDING_GIB, -ROUNDING_GIB)
    ]


def _with_budget(
    asked: Deployment,
    *,
    available_bytes: int | None = None,
    pre_model_load_gib: float | None = None,
    free_gib: float | None = None,
) -> Deployment:
    return replace(
        asked,
        available_bytes=available_bytes,
        pre_model_load_gib=pre_model_load_gib,
        free_gib=free_gib,
        weights=None,
        weights_per_gpu=None,
    )
