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
    """
    capacity.available_bytes capacity.kv_bytes capacity.max_total_num_tokens
    capacity.full_max_total_num_tokens capacity.swa_max_total_num_tokens capacity.c4_max_total_num_tokens
    capacity.c128_max_total_num_tokens capacity.max_mamba_cache_size capacity.max_running_requests
    capacity.requests_at_context capacity.context_at_concurrency capacity.max_total_num_tokens_total
    capacity.requests_at_context_total budget.available_bytes accounting.max_requests
    budget.low.max_total_num_tokens budget.low.requests_at_context
    budget.high.max_total_num_tokens budget.high.requests_at_context
    """.split()
)
LESS_IS_BETTER = frozenset(
    """
    pool.cell_size pool.state_bytes_per_request request.bytes_per_token request.fixed_bytes request.bytes
    request.bytes_total accounting.read_bytes_per_step budget.weights_bytes
    """.split()
)
_CONFIG_FIGURES = ("model.id", "model.revision", "budget.weights_bytes_total")
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
    if bool(old.refused) == bool(new.refused):
        paths = dict.fromkeys((*new.figures, *old.figures))
        changes = tuple(_changes(paths, old.figures, new.figures, allowed))
    else:  # a plan on one side alone leaves nothing else to compare
        was, now = old.refused or None, new.refused or None
        changes = (Change(figure="refused", old=was, new=now, worse=now is not None),)
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
        found.append(f"config changed{_details((*_CONFIG_FIGURES, *layers), old, new)}")
    if _differ(old.figures, new.figures, (ENGINE,)):
        pair = _pair("SGLang", old.figures.get(ENGINE), new.figures.get(ENGINE))
        found.append(f"engine rule set changed: {pair}")
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
