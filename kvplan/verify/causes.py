"""What may explain why a plan and a log differ; each is found in the log or follows from a term."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kvplan.bootlog import BootLog
from kvplan.budget import overhead_of
from kvplan.deployment import Deployment
from kvplan.hardware import gpu_by_name
from kvplan.records import Plan
from kvplan.units import GIB, format_gib
from kvplan.verify.checks import logged_tokens
from kvplan.verify.records import TOKENS, Check

# SGLang warns of a GPU that has 10 % less free memory than another (bootstrap.py).
_IMBALANCE = 0.1
# Context, libraries and communication buffers may take as much more than is usual before any weights.
_MORE_OVERHEAD = GIB
# Loading leaves some allocator slack behind: measured minus announced is below this.
_LOADING_SLACK_GIB = 0.25


def causes(
    log: BootLog, plan: Plan, checks: Sequence[Check], *, gpu_given: bool, not_modelled: Sequence[str]
) -> Iterator[str]:
    """Likely causes, the most telling first; only what speaks for itself where everything agrees."""
    yield from _cap(log, plan.deployment)
    if all(check.agrees for check in checks):
        return
    yield from _gap(checks, plan)
    yield from _other_costs(checks, plan)
    yield from _draft(log, plan)
    yield from _other_processes(log, plan.deployment, gpu_given=gpu_given)
    yield from (f"not modelled: {one}" for one in not_modelled)


def fraction_cause(planned: float, explains: float) -> str:
    """Which memory fraction was planned with, and which would give the logged tokens."""
    return (
        f"memory fraction: the log names none, the default {planned:.3g} was planned; its tokens fit "
        f"--mem-fraction-static {explains:g}"
    )


def version_cause(planned: str, agreeing: Sequence[str]) -> str:
    """Whose rules were planned with, and those of which releases would agree."""
    told = f"version: the rules are those of {planned}, the log names no version"
    if not agreeing:
        return f"{told}; no release that kvplan knows agrees in every term"
    return f"{told}; every term agrees under those of {', '.join(agreeing)} (--engine-version {agreeing[-1]})"


def _cap(log: BootLog, deployment: Deployment) -> Iterator[str]:
    limit, tokens = deployment.max_total_tokens, logged_tokens(log)
    if limit is not None and tokens is not None and tokens <= limit:
        share = "" if tokens + (deployment.page_size or 1) > limit else " or less"
        yield f"capped tokens: --max-total-tokens {limit:,} bounds the pool{share}"


def _gap(checks: Sequence[Check], plan: Plan) -> Iterator[str]:
    for check in checks:
        if check.name == TOKENS and not check.agrees:
            gib = (check.logged - check.predicted) * plan.pool.cell_size / GIB
            yield f"the pool is {abs(gib):.2f} GiB {'larger' if gib > 0 else 'smaller'} than planned per GPU"


def _other_costs(checks: Sequence[Check], plan: Plan) -> Iterator[str]:
    for check in checks:
        if check.unit == "bytes" and not check.agrees:
            yield (
                f"{check.name}: {check.logged:,.1f} in the log, {check.predicted:,.1f} in the plan: another "
                f"model, KV dtype (here {plan.resolved.kv_cache_dtype}), --tp or version"
            )
        if check.name == "recurrent states" and not check.agrees:
            yield "recurrent states are of another size: --mamba-ssm-dtype, --tp or another model"


def _draft(log: BootLog, plan: Plan) -> Iterator[str]:
    drafted = [rank for rank in log.ranks if rank.draft_weights is not None or rank.draft_pools]
    if not drafted:
        return
    when = "before" if drafted[0].drafts_before_pools else "after"
    charged = f"{plan.resolved.draft_layers} draft layers" if plan.resolved.draft_layers else "no draft layer"
    yield (
        f"draft model: one is loaded {when} the pools are sized; the plan charges {charged} in the tokens, "
        "and "
        "the draft's own pool comes on top"
    )


def _other_processes(log: BootLog, deployment: Deployment, *, gpu_given: bool) -> Iterator[str]:
    free = [(one.free_before_gib, one.name) for one in log.ranks if one.free_before_gib is not None]
    if free and min(free)[0] < max(free)[0] * (1 - _IMBALANCE):
        (least, name), (most, _) = min(free), max(free)
        yield f"another process: {name} starts with {least:.2f} GiB free, others with {most:.2f}"
    if gpu_given and free and deployment.gpu is not None:
        gpu = gpu_by_name(deployment.gpu, deployment.gpu_memory)
        if gpu.memory_bytes - min(free)[0] * GIB > overhead_of(gpu).high + _MORE_OVERHEAD:
            yield (
                f"another process: {min(free)[0]:.2f} of {format_gib(gpu.memory_bytes)} are free before "
                "loading, less than a GPU of one's own has"
            )
    for rank in log.ranks:
        if rank.free_before_gib is None or rank.weights is None or rank.weights.gib is None:
            continue
        lost = rank.free_before_gib - rank.weights.gib - rank.weights.free_after_gib
        if lost > _LOADING_SLACK_GIB:
            yield f"another process: {lost:.2f} GiB more than the weights went while they were loaded"
            return
