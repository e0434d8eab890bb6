"""A gate against its baseline: which figures changed, which got worse, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from kvplan import __version__
from kvplan.errors import option_flag
from kvplan.gates.lock import Lock
from kvplan.gates.records import Change, Result, Scalar, Snapshot
from kvplan.gates.snapshots import CONFIG, ENGINE, LAYERS

# What holds more, and what costs more; any other figure may change without being better or worse.
MORE_IS_BETTER = frozenset(
    f"capacity.{name}"
    for name in (
        "available_bytes",
        "kv_bytes",
        "max_total_num_tokens",
        "full_max_total_num_tokens",
        "swa_max_total_num_tokens",
        "c4_max_total_num_tokens",
        "c128_max_total_num_tokens",
        "max_mamba_cache_size",
        "max_running_requests",
        "requests_at_context",
        "context_at_concurrency",
        "max_total_num_tokens_total",
        "requests_at_context_total",
    )
) | {"budget.available_bytes", "accounting.max_requests"}
LESS_IS_BETTER = frozenset(
    (
        "pool.cell_size",
        "pool.state_bytes_per_request",
        "request.bytes_per_token",
        "request.fixed_bytes",
        "request.bytes",
        "request.bytes_total",
        "accounting.read_bytes_per_step",
        "budget.weights_bytes",
    )
)
_MOST_DETAILS = 3  # changed fields of the config that a reason names


def against(results: Iterable[Result], lock: Lock, allowed: Fraction) -> tuple[list[Result], list[str]]:
    """The results with their changes, and notes on gates that only one side has.

    `allowed`: by which share of the old value a figure may get worse.
    """
    found = list(results)
    names = [result.gate.name for result in found]
    notes = [f"{name} is not in the baseline" for name in names if name not in lock.gates]
    notes += [f"{name} is in the baseline, but no gate any more" for name in lock.gates if name not in names]
    compared = [
        _compared(result, lock.gates[result.gate.name], lock.kvplan, allowed)
        if result.gate.name in lock.gates
        else result
        for result in found
    ]
    return compared, notes


def _compared(result: Result, old: Snapshot, kvplan: str, allowed: Fraction) -> Result:
    new = result.snapshot
    changes: tuple[Change, ...] = ()
    if bool(old.refused) == bool(new.refused):
        paths = dict.fromkeys((*new.figures, *old.figures))
        changes = tuple(_changes(paths, old.figures, new.figures, allowed))
    elif old.refused:
        changes = (Change(figure="refused", old=old.refused, new=None, worse=False),)
    else:
        changes = (Change(figure="refused", old=None, new=new.refused, worse=True),)
    return replace(result, changes=changes, causes=causes(old, new, kvplan) if changes else ())


def _changes(
    paths: Iterable[str], old: Mapping[str, Scalar], new: Mapping[str, Scalar], allowed: Fraction
) -> Iterable[Change]:
    for path in paths:
        before, after = old.get(path), new.get(path)
        if before != after:
            yield Change(figure=path, old=before, new=after, worse=_worse(path, before, after, allowed))


def _worse(path: str, before: Scalar, after: Scalar, allowed: Fraction) -> bool:
    """Whether a figure got worse by more than is allowed; what holds more must not go away either."""
    if not isinstance(before, (int, float)):
        return False
    if not isinstance(after, (int, float)):
        return path in MORE_IS_BETTER
    change = Fraction(after) - Fraction(before)
    loss = -change if path in MORE_IS_BETTER else change if path in LESS_IS_BETTER else Fraction(0)
    return loss > 0 and loss > allowed * abs(Fraction(before))


def causes(old: Snapshot, new: Snapshot, kvplan: str) -> tuple[str, ...]:
    """Everything that differs between two plans of a gate and so explains its figures."""
    found = []
    if _differ(old.figures, new.figures, ("model.id", CONFIG)):
        layers = sorted(path for path in {*old.figures, *new.figures} if path.startswith(LAYERS))
        found.append(f"config changed{_details(('model.id', 'model.revision', *layers), old, new)}")
    if _differ(old.figures, new.figures, (ENGINE,)):
        found.append(
            f"engine rule set changed: SGLang {_shown(old.figures.get(ENGINE))}"
            f" -> {_shown(new.figures.get(ENGINE))}"
        )
    options = [name for name in {**old.options, **new.options} if _differ(old.options, new.options, (name,))]
    if options:
        pairs = (_pair(option_flag(name), old.options.get(name), new.options.get(name)) for name in options)
        found.append(f"option changed: {', '.join(pairs)}")
    if kvplan != __version__:
        found.append(f"kvplan changed: {kvplan or 'unknown'} -> {__version__}")
    return tuple(found) or ("neither config, engine version nor options changed: kvplan's rules did",)


def _differ(old: Mapping[str, Scalar], new: Mapping[str, Scalar], keys: Sequence[str]) -> bool:
    return any(old.get(key) != new.get(key) for key in keys)


def _details(paths: Sequence[str], old: Snapshot, new: Snapshot) -> str:
    changed = [path for path in paths if _differ(old.figures, new.figures, (path,))]
    pairs = [_pair(path, old.figures.get(path), new.figures.get(path)) for path in changed[:_MOST_DETAILS]]
    more = [f"{len(changed) - _MOST_DETAILS} more"] if len(changed) > _MOST_DETAILS else []
    return f": {', '.join(pairs + more)}" if pairs else ""


def _pair(name: str, old: Scalar, new: Scalar) -> str:
    return f"{name} {_shown(old)} -> {_shown(new)}"


def _shown(value: Scalar) -> str:
    if value is None:
        return "none"
    return str(value).lower() if isinstance(value, bool) else str(value)
