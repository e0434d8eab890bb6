"""What makes a deployment fit that does not: flags again, each computed by planning with it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from kvplan.advice import Change, advice_of
from kvplan.architecture import Architecture
from kvplan.budget import gpus_of
from kvplan.choices import Advice
from kvplan.deployment import Deployment
from kvplan.errors import option_flag
from kvplan.hardware import GPUS, gpu_by_name
from kvplan.records import Plan
from kvplan.search import attempt, layouts, no_worse, ranks, requests, start, varied
from kvplan.units import format_gib

# Shares that --mem-fraction-static is raised to: above the most nothing is left for activations.
_LEAST_STATIC, _MOST_STATIC = 80, 95
_MOST_TP = 64
# Ratios between two pools, requests at once: steps that are tried, from the least change on.
_RATIOS = (0.9, 1.0, 0.7, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002)
_STATE_RATIOS = (*_RATIOS, 1.5, 2.0, 3.0, 5.0)
_RUNNING = (192, 128, 96, 64, 48, 32, 24, 16, 8, 4, 2, 1)


def remedies(model: Architecture, asked: Deployment, *, stops: Sequence[str] = ()) -> tuple[Advice, ...]:
    """What makes a deployment fit that does not: the smallest change of each sort that is enough.

    `stops`: known reasons of its own not to start; no change may add to them. Where no context is
    asked for and nothing holds the default one, enough is what lets the server start.
    """
    found = _enough(model, asked, fits, stops)
    if found or asked.ctx is not None or asked.concurrency is not None:
        return found
    return _enough(model, asked, lambda made: True, stops)


def fits(made: Plan) -> bool:
    """Whether the asked requests (or one) of the asked context run at once; without one, of any context."""
    if made.deployment.ctx is None and made.deployment.concurrency is not None:
        return bool(made.capacity.context_at_concurrency)
    return requests(made) >= (made.deployment.concurrency or 1)


def _enough(
    model: Architecture, asked: Deployment, enough: Callable[[Plan], bool], stops: Sequence[str]
) -> tuple[Advice, ...]:
    tried = (_first(model, sort(model, asked), enough, stops) for sort in _SORTS)
    return tuple(advice for advice in tried if advice is not None)


def _first(
    model: Architecture, changes: Iterator[Change], enough: Callable[[Plan], bool], stops: Sequence[str]
) -> Advice | None:
    for change in changes:
        after = attempt(model, change.asked)
        if no_worse(after, stops) and enough(after):
            return advice_of(change, after, after)
    return None


def _more_gpus(model: Architecture, asked: Deployment) -> Iterator[Change]:
    if not asked.wants_estimate and asked.available_bytes is None:
        return
    tp = asked.tp * 2
    while tp <= _MOST_TP:
        changed = varied(asked, tp=tp)
        made = None if changed is None else start(model, changed)
        if made is not None:
            named = "" if asked.gpu is None else f"--gpu {_counted(asked.gpu, made.deployment)} "
            dealt = f" --ep-size {made.deployment.ep}" if made.deployment.ep > asked.ep else ""
            yield Change(
                flag=f"{named}--tp {tp}{dealt}",
                why=lambda before, after: _on_more_gpus(after),
                asked=made.deployment,
            )
        tp *= 2


def _counted(gpu: str, asked: Deployment) -> str:
    """`h200x8`: a name with the number of GPUs, which holds over one that was given before."""
    count = gpus_of(asked)
    return gpu if count == 1 else f"{gpu}x{count}"


def _on_more_gpus(made: Plan) -> str:
    used = made.budget.weights_bytes if made.budget else None
    if used is None:
        return f"the same budget on each of {made.deployment.tp} GPUs"
    return f"{format_gib(used)} of weights on each GPU"


def _next_gpu(model: Architecture, asked: Deployment) -> Iterator[Change]:
    if not asked.wants_estimate or asked.gpu is None or asked.gpu_memory is not None:
        return
    own = gpu_by_name(asked.gpu)
    larger = [gpu for gpu in GPUS.values() if gpu.memory_mib > own.memory_mib and not gpu.is_rocm]
    known = (gpu for gpu in larger if gpu.verified and not gpu.unified)
    for gpu in sorted(known, key=lambda gpu: gpu.memory_mib):
        changed = varied(asked, gpu=gpu.name)
        if changed is not None:
            yield Change(
                flag=f"--gpu {_counted(gpu.name, changed)}",
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
    if asked.available_bytes is not None:
        return
    given = asked.mem_fraction_static
    least = _LEAST_STATIC if given is None else int(given * 100) + 1
    for percent in range(least, _MOST_STATIC + 1):
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


def _other_ratio(model: Architecture, asked: Deployment) -> Iterator[Change]:
    """Another balance between two pools, for models that have two."""
    if model.kinds & {"sliding", "compressed"}:
        yield from _ratios(asked, "swa_full_tokens_ratio", _RATIOS, "another share of sliding windows")
    if model.states:
        yield from _ratios(asked, "mamba_full_memory_ratio", _STATE_RATIOS, "another share of states")


def _ratios(asked: Deployment, name: str, ratios: tuple[float, ...], why: str) -> Iterator[Change]:
    for ratio in ratios:
        changed = varied(asked, **{name: ratio}) if ratio != getattr(asked, name) else None
        if changed is not None:
            yield Change(flag=f"{option_flag(name)} {ratio:g}", why=lambda before, after: why, asked=changed)


def _fewer_requests(model: Architecture, asked: Deployment) -> Iterator[Change]:
    """What requests have reserved for them, whether they run or not."""
    for running in _RUNNING:
        if (asked.concurrency or 1) <= running < (asked.max_running_requests or math.inf):
            changed = varied(asked, max_running_requests=running)
            if changed is not None:
                yield Change(
                    flag=f"--max-running-requests {running}",
                    why=lambda before, after: "less is reserved for requests",
                    asked=changed,
                )


def _enough_running(model: Architecture, asked: Deployment) -> Iterator[Change]:
    """A cap on running requests that lets all of them run."""
    wanted = asked.concurrency or 1
    made, changed = attempt(model, asked), varied(asked, max_running_requests=wanted)
    held = None if made is None else made.capacity.max_running_requests
    if held is not None and held * ranks(asked) < wanted and changed is not None:
        yield Change(
            flag=f"--max-running-requests {wanted}",
            why=lambda before, after: "more may run at once",
            asked=changed,
        )


_SORTS = (
    _more_gpus,
    _smaller_kv,
    _dealt,
    _other_ratio,
    _fewer_requests,
    _enough_running,
    _larger_fraction,
    _shorter,
    _next_gpu,
)
