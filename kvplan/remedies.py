"""What makes a deployment fit that does not: flags again, each computed by planning with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kvplan.advice import Change, advice_of
from kvplan.architecture import Architecture
from kvplan.choices import Advice
from kvplan.deployment import Deployment
from kvplan.hardware import GPUS, gpu_by_name
from kvplan.records import Plan
from kvplan.search import attempt, layouts, requests, varied
from kvplan.units import format_gib

# Largest share that --mem-fraction-static is raised to: above it nothing is left for activations.
_LEAST_STATIC, _MOST_STATIC = 80, 95
_MOST_TP = 64


def remedies(model: Architecture, asked: Deployment) -> tuple[Advice, ...]:
    """What makes a deployment fit that does not: the smallest change of each sort that is enough."""
    return tuple(found for sort in _SORTS if (found := _first_fit(model, sort(model, asked))) is not None)


def fits(made: Plan) -> bool:
    """Whether the asked requests (or one) of the asked context run at once."""
    return requests(made) >= (made.deployment.concurrency or 1)


def _first_fit(model: Architecture, changes: Iterator[Change]) -> Advice | None:
    for change in changes:
        after = attempt(model, change.asked)
        if after is not None and fits(after):
            return advice_of(change, after, after)
    return None


def _more_gpus(model: Architecture, asked: Deployment) -> Iterator[Change]:
    if not asked.wants_estimate:
        return
    tp = asked.tp * 2
    while tp <= _MOST_TP:
        changed = varied(asked, tp=tp)
        if changed is not None:
            yield Change(flag=f"--tp {tp}", why=lambda before, after: _weights(after), asked=changed)
        tp *= 2


def _weights(made: Plan) -> str:
    used = made.budget.weights_bytes if made.budget else None
    return f"{format_gib(used or 0)} of weights on each GPU"


def _next_gpu(model: Architecture, asked: Deployment) -> Iterator[Change]:
    if not asked.wants_estimate or asked.gpu is None:
        return
    own = gpu_by_name(asked.gpu, asked.gpu_memory)
    larger = [gpu for gpu in GPUS.values() if gpu.memory_mib > own.memory_mib and not gpu.is_rocm]
    for gpu in sorted((gpu for gpu in larger if not gpu.unified), key=lambda gpu: gpu.memory_mib):
        changed = varied(asked, gpu=gpu.name, gpu_memory=None)
        if changed is not None:
            yield Change(
                flag=f"--gpu {gpu.name}",
                why=_memory_of_gpu,
                asked=changed,
            )


def _memory_of_gpu(before: Plan, after: Plan) -> str:
    return f"{format_gib(gpu_by_name(after.resolved.gpu).memory_bytes)} on each GPU"


def _smaller_kv(model: Architecture, asked: Deployment) -> Iterator[Change]:
    changed = varied(asked, kv_cache_dtype="fp8_e4m3") if asked.kv_cache_dtype == "auto" else None
    if changed is not None:
        why = "half the bytes of bfloat16"
        yield Change(flag="--kv-cache-dtype fp8_e4m3", why=lambda before, after: why, asked=changed)


def _larger_fraction(model: Architecture, asked: Deployment) -> Iterator[Change]:
    if asked.available_bytes is not None or asked.mem_fraction_static is not None:
        return
    for percent in range(_LEAST_STATIC, _MOST_STATIC + 1):
        changed = varied(asked, mem_fraction_static=percent / 100)
        if changed is not None:
            yield Change(
                flag=f"--mem-fraction-static {percent / 100:g}",
                why=lambda before, after: "less is kept free for activations",
                asked=changed,
            )


def _shorter(model: Architecture, asked: Deployment) -> Iterator[Change]:
    """The longest context at which the asked requests fit."""
    wanted = replace(asked, concurrency=asked.concurrency or 1)
    made = attempt(model, wanted)
    longest = None if made is None else made.capacity.context_at_concurrency
    if longest:
        changed = varied(asked, ctx=longest)
        if changed is not None:
            yield Change(
                flag=f"--ctx {longest}", why=lambda before, after: "a shorter context", asked=changed
            )


def _dealt(model: Architecture, asked: Deployment) -> Iterator[Change]:
    """Attention DP on the same GPUs."""
    for changed in (
        layouts(model, asked, asked.tp) if asked.pp == 1 and asked.dp == 1 and asked.tp > 1 else ()
    ):
        if changed.enable_dp_attention:
            yield Change(
                flag=f"--enable-dp-attention --dp {changed.dp}",
                why=lambda before, after: "requests are dealt over ranks",
                asked=changed,
            )


_SORTS = (_more_gpus, _smaller_kv, _dealt, _larger_fraction, _shorter, _next_gpu)
