"""From a GPU to a KV budget, the way the engine subtracts: each line shown, estimates kept apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from kvplan.architecture import Architecture
from kvplan.deployment import Deployment
from kvplan.errors import DoesNotFitError, Problem, RefusedError, bad_option
from kvplan.frozen import dataclass
from kvplan.hardware import Gpu
from kvplan.memory import Bound, Budget, Range, exactly
from kvplan.records import Capacity, Plan
from kvplan.sglang.settings import Settings
from kvplan.units import GIB, MIB, format_gib
from kvplan.weights.choice import ESTIMATE, GIVEN, Weights, weights_of

# Memory that is gone before weights are loaded: what the driver keeps of memory.total, the CUDA context
# and NCCL's buffers. Boot logs show 1.1 GiB (RTX 3090, TP 2), 1.2 (H100), 1.5 (B200) and 1.6 (RTX PRO
# 6000, TP 8) between memory.total and "avail mem" before loading.
OVERHEAD = Range(low=1 * GIB, value=3 * GIB // 2, high=2 * GIB)
# Where the CPU shares the memory its system and other programs are in it: GB10s start with 111.3 to 111.7
# GiB free of 119.7, one of them with 105.5.
UNIFIED_OVERHEAD = Range(low=8 * GIB, value=9 * GIB, high=15 * GIB)
# ROCm's libraries take more: 4.4 GiB of an MI355X at TP 8.
ROCM_OVERHEAD = Range(low=2 * GIB, value=4 * GIB, high=5 * GIB)

Planner = Callable[[Architecture, Deployment], Plan]


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The lines above the pools; `free_after` follows from the first two unless it is given."""

    free_before: Range
    weights: Weights
    free_after: Range
    overhead: int | None

    @property
    def is_exact(self) -> bool:
        """Whether every line was given."""
        return self.free_before.is_exact and self.free_after.is_exact


def estimate(settings: Settings) -> Estimate:
    """Free memory before and after loading on the fullest GPU, given or worked out.

    Raises InputError where the size of the weights is not known.
    """
    asked = settings.deployment
    memory, taken = settings.gpu.memory_bytes, overhead_of(settings.gpu)
    before = Range(low=memory - taken.high, value=memory - taken.value, high=memory - taken.low)
    if asked.pre_model_load_gib is not None:
        before = exactly(int(asked.pre_model_load_gib * GIB))
    weights = weights_of(settings)
    used = weights.on_gpu
    after = Range(low=before.low - used.high, value=before.value - used.value, high=before.high - used.low)
    if asked.free_gib is not None:
        after = exactly(int(asked.free_gib * GIB))
        if after.value > before.high:
            what = f"{asked.free_gib!r} GiB are more than the {format_gib(before.high)} before loading"
            raise bad_option("free_gib", what)
        weights = replace(weights, on_gpu=_between(before, after.value), by_kind=())
        if asked.weights is None or isinstance(asked.weights, str):
            weights = replace(weights, total=None, source=GIVEN)
    overhead = taken.value if asked.pre_model_load_gib is None else None
    return Estimate(free_before=before, weights=weights, free_after=after, overhead=overhead)


def overhead_of(gpu: Gpu) -> Range:
    """What is gone of a GPU's memory before weights are loaded, in bytes."""
    if gpu.unified:
        return UNIFIED_OVERHEAD
    return ROCM_OVERHEAD if gpu.is_rocm else OVERHEAD


def _between(before: Range, after: int) -> Range:
    """What loading took, by free memory before and after it."""
    return Range(low=before.low - after, value=before.value - after, high=before.high - after)


def estimated(settings: Settings, plan: Planner) -> Plan:
    """The plan of a deployment whose budget has to be worked out; `plan` sizes one with a budget.

    Raises DoesNotFitError with the shortfall where nothing is left for the pools.
    """
    lines = estimate(settings)
    made = _planned(settings, lines.free_before.value, lines.free_after.value, lines.weights, plan)
    budget = _lines(settings, lines, made.capacity)
    if not lines.is_exact:
        before, after, used = lines.free_before, lines.free_after, lines.weights.on_gpu
        least, most = (used.low, used.high) if after.is_exact else (used.high, used.low)
        ends = ((before.low, after.low, least), (before.high, after.high, most))
        bounds = (_bound(settings, *end, lines.weights, plan) for end in ends)
        # More that is free before loading means more that is kept free, where free_after is given.
        low, high = sorted(bounds, key=lambda bound: bound.available_bytes)
        budget = replace(budget, low=low, high=high)
    assumed = (*made.assumed, *weight_assumptions(settings.model.architecture, lines.weights.source))
    return replace(made, deployment=settings.deployment, budget=budget, assumed=assumed)


def weight_assumptions(architecture: Architecture, source: str) -> tuple[str, ...]:
    """What an estimate of the weights takes for granted; nothing where they come from elsewhere."""
    if source != ESTIMATE or architecture.dtype is not None or architecture.quantization is not None:
        return ()
    return ("weights of 16 bits: the config names no dtype, and a checkpoint in float32 is twice as large",)


def given(settings: Settings, capacity: Capacity) -> Budget:
    """The lines of a budget that was given, as far as they are known."""
    asked = settings.deployment
    budget = Budget(
        gpu=settings.gpu.name,
        gpus=gpus_of(asked),
        available_bytes=asked.available_bytes,
        state_pool_bytes=capacity.state_bytes or 0,
        kv_pool_bytes=capacity.kv_bytes,
    )
    if asked.pre_model_load_gib is None or asked.free_gib is None:
        return budget
    before, after = int(asked.pre_model_load_gib * GIB), int(asked.free_gib * GIB)
    return replace(
        budget,
        free_before_bytes=before,
        weights_bytes=before - after,
        weights_bytes_total=settings.model.architecture.weights_bytes,
        weights_source=GIVEN,
        free_after_bytes=after,
        mem_fraction_static=settings.memory.mem_fraction_static,
        slack_bytes=_slack(settings, before),
        multimodal_reserve_bytes=_reserve(settings),
        available_bytes=_available(settings, before, after),
    )


def unfit(settings: Settings, shortfall_bytes: int) -> Budget:
    """The lines of a budget that leaves no room for the pools."""
    asked, none = settings.deployment, Capacity()
    lines = _lines(settings, estimate(settings), none) if asked.wants_estimate else given(settings, none)
    return replace(lines, shortfall_bytes=shortfall_bytes)


def _lines(settings: Settings, lines: Estimate, capacity: Capacity) -> Budget:
    before, after, weights = lines.free_before, lines.free_after, lines.weights
    doubted = {
        "free_before_bytes": before,
        "weights_bytes": weights.on_gpu,
        "free_after_bytes": after,
        "available_bytes": before if after.is_exact else after,
    }
    return Budget(
        gpu=settings.gpu.name,
        gpus=gpus_of(settings.deployment),
        memory_bytes=None if lines.overhead is None else settings.gpu.memory_bytes,
        overhead_bytes=lines.overhead,
        free_before_bytes=before.value,
        weights_bytes=weights.on_gpu.value,
        weights_bytes_total=weights.total,
        weights_source=weights.source,
        free_after_bytes=after.value,
        mem_fraction_static=settings.memory.mem_fraction_static,
        slack_bytes=_slack(settings, before.value),
        multimodal_reserve_bytes=_reserve(settings),
        available_bytes=_available(settings, before.value, after.value),
        state_pool_bytes=capacity.state_bytes or 0,
        kv_pool_bytes=capacity.kv_bytes,
        weights=weights.by_kind,
        estimated=tuple(name for name, figure in doubted.items() if not figure.is_exact),
    )


def _planned(settings: Settings, before: int, after: int, weights: Weights, plan: Planner) -> Plan:
    missing = -_available(settings, before, after)
    if after <= 0 or missing >= 0:
        raise _nothing_left(settings, before, after, weights, max(1, missing))
    budgeted = replace(
        settings.deployment,
        weights=None,
        weights_per_gpu=None,
        pre_model_load_gib=before / GIB,
        free_gib=after / GIB,
    )
    return plan(settings.model.architecture, budgeted)


def _bound(settings: Settings, before: int, after: int, used: int, weights: Weights, plan: Planner) -> Bound:
    """What fits at one end of the estimate; nothing, where the engine would stop there."""
    asked = settings.deployment.concurrency
    try:
        capacity = _planned(settings, before, after, weights, plan).capacity
    except RefusedError:
        capacity = Capacity()
    return Bound(
        free_before_bytes=before,
        weights_bytes=used,
        available_bytes=max(0, _available(settings, before, after)),
        max_total_num_tokens=capacity.max_total_num_tokens or 0,
        requests_at_context=capacity.requests_at_context or 0,
        context_at_concurrency=None if asked is None else capacity.context_at_concurrency or 0,
    )


def _nothing_left(
    settings: Settings, before: int, after: int, weights: Weights, missing: int
) -> DoesNotFitError:
    gpu, slack = settings.gpu.name.upper(), _slack(settings, before)
    what = (
        f"the model does not fit: weights take {format_gib(weights.on_gpu.value)} of "
        f"{format_gib(before)} free on each {gpu}, and SGLang keeps {format_gib(slack)} free; "
        f"{missing:,} bytes per GPU are missing before a single token"
    )
    return DoesNotFitError(
        Problem(file="", key="", what=what, hint="a higher --tp, a GPU with more memory or smaller weights"),
        shortfall_bytes=missing,
    )


def gpus_of(asked: Deployment) -> int:
    """GPUs of the whole deployment, replicas included."""
    replicas = 1 if asked.enable_dp_attention else asked.dp
    return asked.tp * asked.pp * replicas


def _slack(settings: Settings, before: int) -> int:
    """The share of free memory that stays free: activations, CUDA graphs."""
    return int(before * (1 - settings.memory.mem_fraction_static))


def _reserve(settings: Settings) -> int:
    return settings.multimodal_reserve_mib * MIB


def _available(settings: Settings, before: int, after: int) -> int:
    return after - _slack(settings, before) - _reserve(settings)
