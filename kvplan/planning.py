"""From a model and a deployment to a plan: one step after another, each a pure function."""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace
from fractions import Fraction

from kvplan.architecture import Architecture, state_of
from kvplan.deployment import Deployment
from kvplan.hardware import ASSUMED_GPU
from kvplan.layers import Layer, Storage
from kvplan.pools import states
from kvplan.pools.base import Link, Sizes
from kvplan.pools.chain import choose
from kvplan.pools.concurrency import context_at_concurrency, requests_at_context
from kvplan.pools.dsv4_slots import c128_state_slots
from kvplan.records import Capacity, Plan, PoolChoice, Request, Resolved, number
from kvplan.remarks import assumptions, warnings
from kvplan.sglang.model import Stage, classify, stage_of
from kvplan.sglang.rules import rules_for
from kvplan.sglang.settings import UNNAMED_CONTEXT, Settings, settle
from kvplan.units import GIB, ceil_div

# The context that a report assumes where none is asked for, or the model's own where that is shorter.
DEFAULT_CONTEXT = 100_000
# Running requests where none are asked for (resolve_max_num_reqs).
_LEAST_ESTIMATE, _MOST_ESTIMATE = 2048, 4096


def plan(architecture: Architecture, deployment: Deployment) -> Plan:
    """What the engine will size for this model and deployment.

    Raises InputError for options that can't be, RefusedError where the engine itself would stop, and
    DoesNotFitError where the budget holds no page of tokens.
    """
    rules = rules_for(deployment.engine_version)
    model = classify(architecture, rules, disable_hybrid_swa_memory=deployment.disable_hybrid_swa_memory)
    settings = settle(model, deployment, deployment.gpu or ASSUMED_GPU, rules)
    link, verdicts = choose(model)
    stages = pipeline_stages(settings)
    whole = stage_of(architecture.groups, architecture.loops)
    request = _request(settings)
    sized = _size(settings, link, whole, stages) if deployment.has_budget else None
    return Plan(
        architecture=architecture,
        deployment=deployment,
        resolved=_resolved(settings),
        pool=PoolChoice(
            link=link.name,
            why=verdicts,
            cell_size=link.cell(settings, stages[0]),
            state_bytes_per_request=states.bytes_per_request(settings, whole),
            terms=link.terms(settings, stages[0]),
        ),
        request=request,
        capacity=Capacity() if sized is None else _capacity(settings, sized, request),
        assumed=assumptions(settings),
        warnings=warnings(settings, request, None if sized is None else sized.fewest_tokens),
    )


def pipeline_stages(settings: Settings) -> list[Stage]:
    """The layers that each pipeline stage is sized for; all of them for classes without a range.

    The remainder goes to the later stages (distributed/utils.py, get_pp_indices).
    """
    architecture, pp = settings.model.architecture, settings.deployment.pp
    if pp == 1 or settings.model.name in settings.rules.sized_for_all_stages:
        return [stage_of(architecture.groups, architecture.loops)] * pp
    overlap = settings.rules.stages_overlap if settings.model.hybrid_swa else 0
    return [
        stage_of(_grouped(architecture.layers[start : end + overlap]), architecture.loops)
        for start, end in stage_ranges(len(architecture.layers), pp)
    ]


def stage_ranges(layers: int, stages: int) -> list[tuple[int, int]]:
    """First and past-the-last layer of each stage."""
    base, extra = divmod(layers, stages)
    sizes = [base + (index >= stages - extra) for index in range(stages)]
    ends = [sum(sizes[: index + 1]) for index in range(stages)]
    return list(zip([0, *ends], ends, strict=False))


def _stage_groups(architecture: Architecture, pp: int) -> list[tuple[tuple[Layer, int], ...]]:
    """Distinct layers with their counts, for each pipeline stage."""
    if pp == 1:
        return [architecture.groups]
    layers = architecture.layers
    return [_grouped(layers[start:end]) for start, end in stage_ranges(len(layers), pp)]


def _grouped(layers: tuple[Layer, ...]) -> tuple[tuple[Layer, int], ...]:
    counts: dict[Layer, int] = {}
    for layer in layers:
        counts[layer] = counts.get(layer, 0) + 1
    return tuple(counts.items())


def _request(settings: Settings) -> Request:
    """The accounting view: what the architecture needs, on the GPUs that hold one request."""
    context = _context(settings)
    architecture, storage = settings.model.architecture, settings.storage
    needs = [
        _needs(groups, context, storage, architecture.loops)
        for groups in _stage_groups(architecture, settings.deployment.pp)
    ]
    alpha, gamma, exact = max(needs, key=lambda need: need[2])
    total = sum(need[2] for need in needs) * settings.attention_tp
    return Request(
        context=context, bytes_per_token=number(alpha), fixed_bytes=gamma, bytes=exact, bytes_total=total
    )


def _needs(
    groups: tuple[tuple[Layer, int], ...], context: int, storage: Storage, loops: int
) -> tuple[Fraction, int, int]:
    alpha, gamma, exact = Fraction(0), 0, 0
    for layer, count in groups:
        alpha += layer.token_bytes(storage) * count * loops
        gamma += layer.fixed_bytes(storage) * count * loops
        exact += layer.request_bytes(context, storage) * count * loops
    return alpha, gamma, exact


def _context(settings: Settings) -> int:
    asked = settings.deployment.ctx
    if asked is not None:
        return asked
    longest = settings.model.architecture.context_length or UNNAMED_CONTEXT
    return min(DEFAULT_CONTEXT, longest)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sized:
    """What a budget gave: sizes of the first stage, the fewest tokens of any stage, states, requests."""

    kv_bytes: int
    sizes: Sizes
    fewest_tokens: int
    states: states.StatePool | None
    running: int


def _size(settings: Settings, link: Link, whole: Stage, stages: list[Stage]) -> Sized:
    """State pool first, then tokens, then running requests."""
    deployment, pool = settings.deployment, None
    if deployment.available_bytes is not None:
        kv_bytes, rest = deployment.available_bytes, deployment.available_bytes / GIB
    else:
        rest = _profiled_gib(settings)
        kv_bytes = int(rest * GIB)
    if settings.model.has_state:
        pool = states.reserve(settings, whole, _state_shares(settings), rest)
        kv_bytes = int(pool.rest_gib * GIB)
    local = [link.from_bytes(settings, stage, kv_bytes) for stage in dict.fromkeys(stages)]
    fewest = min(sizes.max_total for sizes in local)
    sizes = _constrained(settings, link, stages, local[0], fewest)
    return Sized(
        kv_bytes=kv_bytes,
        sizes=sizes,
        fewest_tokens=min(fewest, sizes.max_total),
        states=pool,
        running=_running_requests(settings, sizes, pool),
    )


def _constrained(settings: Settings, link: Link, stages: list[Stage], first: Sizes, fewest: int) -> Sizes:
    """Sizes of the first stage under the user's cap and, where the engine shares it, the fewest tokens."""
    tokens = fewest if settings.rules.minimum_over_stages else first.max_total
    limit = settings.deployment.max_total_tokens
    if limit is not None:
        tokens = min(tokens, limit)
    return first if tokens == first.max_total else link.from_tokens(settings, stages[0], tokens)


def _capacity(settings: Settings, sized: Sized, request: Request) -> Capacity:
    sizes, pool, running = sized.sizes, sized.states, sized.running
    c128_state = sizes.c128_state
    if settings.model.dsv4 and settings.rules.dsv4_fixed_states:
        c128_state = c128_state_slots(settings, pipeline_stages(settings)[0], running)
    slots = None if pool is None else pool.slots
    held = replace(sizes, max_total=sized.fewest_tokens)
    at_once, limit = requests_at_context(
        settings, held, state_slots=slots, running=running, context=request.context
    )
    asked = settings.deployment.concurrency
    longest = None
    if asked is not None:
        per_rank = ceil_div(asked, settings.attention_dp)
        longest = context_at_concurrency(settings, held, running=running, requests=per_rank)
    return Capacity(
        available_bytes=settings.deployment.available_bytes,
        state_bytes=None if pool is None else pool.bytes,
        kv_bytes=sized.kv_bytes,
        max_total_num_tokens=sizes.max_total,
        full_max_total_num_tokens=sizes.full,
        swa_max_total_num_tokens=sizes.swa,
        c4_max_total_num_tokens=sizes.c4,
        c128_max_total_num_tokens=sizes.c128,
        c4_state_pool_size=sizes.c4_state,
        c128_state_pool_size=c128_state,
        max_mamba_cache_size=slots,
        max_running_requests=running,
        requests_at_context=at_once,
        limited_by=limit,
        context_at_concurrency=longest,
    )


def _state_shares(settings: Settings) -> list[int]:
    """State layers of each pipeline stage, by the layers it runs (not by those it is sized for)."""
    layers = settings.model.architecture.layers
    return [
        sum(state_of(layer) is not None for layer in layers[start:end])
        for start, end in stage_ranges(len(layers), settings.deployment.pp)
    ]


def _profiled_gib(settings: Settings) -> float:
    """Free after loading, less the share of free-before-loading that is not static, in GiB."""
    deployment = settings.deployment
    before = deployment.pre_model_load_gib or 0.0
    # The engine reads free memory in bytes and turns it into GiB.
    free = float(int((deployment.free_gib or 0.0) * GIB))
    if settings.rules.profile_rounds_to_float32 and deployment.tp * deployment.pp > 1:
        free = struct.unpack("f", struct.pack("f", free))[0]
    rest = free / GIB - before * (1 - settings.memory.mem_fraction_static)
    if settings.model.multimodal and settings.rules.multimodal_reserve_mib:
        return rest - settings.rules.multimodal_reserve_mib / 1024
    return rest


def _running_requests(settings: Settings, sizes: Sizes, pool: states.StatePool | None) -> int:
    """Requests that run at once on one attention-DP rank (resolve_max_num_reqs)."""
    tokens = sizes.max_total
    estimate = max(min(int(tokens / settings.context * 512), _MOST_ESTIMATE), _LEAST_ESTIMATE)
    if settings.requests is None:
        running = min(estimate, tokens // 2)
    elif settings.rules.requested_below_estimate:
        running = min(settings.requests // settings.attention_dp, estimate)
    else:
        running = min(settings.requests_per_rank or 1, tokens // 2)
    if pool is not None:
        running = min(running, pool.slots // settings.states.slots_per_request)
    return running


def _resolved(settings: Settings) -> Resolved:
    return Resolved(
        gpu=settings.gpu.name,
        attention_tp=settings.attention_tp,
        attention_dp=settings.attention_dp,
        kv_cache_dtype=settings.kv.dtype,
        kv_cache_flag=settings.flag,
        page_size=settings.page,
        attention_backend=settings.backend,
        mem_fraction_static=settings.memory.mem_fraction_static,
        chunked_prefill_size=settings.memory.chunked_prefill_size,
        context_length=settings.context,
        swa_full_tokens_ratio=settings.swa_ratio,
        mamba_full_memory_ratio=settings.state_ratio,
        state_slots_per_request=settings.states.slots_per_request,
        draft_layers=settings.draft_layers,
    )
