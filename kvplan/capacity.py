"""From a memory budget to tokens, state slots and requests, in the order in which the engine sizes them."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import replace

from kvplan.errors import DoesNotFitError, refused
from kvplan.frozen import dataclass
from kvplan.pools import states
from kvplan.pools.base import Link, Price, Sizes
from kvplan.pools.concurrency import context_at_concurrency, requests_at_context
from kvplan.pools.dsv4_shapes import c128_state_slots
from kvplan.records import Capacity, Request
from kvplan.sglang.model import Stage
from kvplan.sglang.settings import Settings
from kvplan.stages import state_shares
from kvplan.units import GIB, ceil_div


@dataclass(frozen=True, slots=True, kw_only=True)
class Sized:
    """What a budget gave: sizes of the first stage, the fewest tokens of any stage, states, requests."""

    kv_bytes: int
    sizes: Sizes
    fewest_tokens: int
    states: states.StatePool | None
    running: int


def size(settings: Settings, link: Link, whole: Stage, stages: Sequence[tuple[Stage, Price]]) -> Sized:
    """State pool first, then tokens, then running requests; `stages` that differ, the first one first.

    Raises DoesNotFitError where the budget holds no page of tokens or no state slot.
    """
    deployment, pool = settings.deployment, None
    if deployment.available_bytes is not None:
        kv_bytes, rest = deployment.available_bytes, deployment.available_bytes / GIB
    else:
        rest = _profiled_gib(settings)
        kv_bytes = int(rest * GIB)
    if settings.model.has_state:
        pool = states.reserve(settings, whole, state_shares(settings), rest)
        kv_bytes = int(pool.rest_gib * GIB)
    try:
        local = _sizes_of_stages(settings, link, stages, kv_bytes)
    except DoesNotFitError as error:
        if pool is None:
            raise
        raise _with_states(settings, whole, rest, kv_bytes, error) from None
    fewest, first = min(sizes.max_total for sizes in local), local[0]
    tokens = _constrained(settings, first.max_total, fewest)
    sizes = first
    if tokens != first.max_total:
        sizes = link.from_tokens(settings, *stages[0], tokens)
    return Sized(
        kv_bytes=kv_bytes,
        sizes=sizes,
        fewest_tokens=min(fewest, sizes.max_total),
        states=pool,
        running=_running_requests(settings, sizes, pool),
    )


def _sizes_of_stages(
    settings: Settings, link: Link, stages: Sequence[tuple[Stage, Price]], kv_bytes: int
) -> list[Sizes]:
    """Sizes of each sort of stage; where some do not fit, the one that lacks most speaks for all."""
    found: list[Sizes] = []
    errors: list[DoesNotFitError] = []
    for stage, price in stages:
        try:
            found.append(link.from_bytes(settings, stage, price, kv_bytes))
        except DoesNotFitError as error:
            errors.append(error)
    if errors:
        raise max(errors, key=lambda error: error.shortfall_bytes)
    return found


def _with_states(
    settings: Settings, whole: Stage, rest_gib: float, kv_bytes: int, error: DoesNotFitError
) -> DoesNotFitError:
    """The same error for the whole budget, of which recurrent states take a share."""
    needed = kv_bytes + error.shortfall_bytes
    budget = states.budget_for(settings, whole, state_shares(settings), rest_gib, needed)
    shortfall = budget - int(rest_gib * GIB)
    problem = error.problems[0]
    if shortfall == error.shortfall_bytes:
        return error
    told = f"{problem.what}; {shortfall:,} with the share of recurrent states"
    return DoesNotFitError(replace(problem, what=told), shortfall_bytes=shortfall)


def _constrained(settings: Settings, first: int, fewest: int) -> int:
    """Tokens of the first stage under the user's cap and, where the engine shares it, the fewest."""
    tokens = fewest if settings.rules.minimum_over_stages else first
    limit = settings.deployment.max_total_tokens
    fewest_tokens = settings.fewest_tokens
    if limit is not None and limit < fewest_tokens:
        raise refused(
            f"--max-total-tokens {limit} is less than the smallest pool, {fewest_tokens} tokens",
            f"at least --max-total-tokens {fewest_tokens}",
        )
    return tokens if limit is None else min(tokens, limit)


def capacity(settings: Settings, sized: Sized, stages: list[Stage], request: Request) -> Capacity:
    """The figures of one rank, under the names that the engine logs them with."""
    sizes, pool, running = sized.sizes, sized.states, sized.running
    c128_state = sizes.c128_state
    if settings.model.dsv4 and settings.rules.dsv4_states_per_request:
        c128_state = c128_state_slots(settings, stages[0], running)
    slots = None if pool is None else pool.slots
    held = sizes
    if sized.fewest_tokens != sizes.max_total:
        held = replace(sizes, max_total=sized.fewest_tokens)
    at_once, limit = requests_at_context(
        settings, held, state_slots=slots, running=running, context=request.context
    )
    asked = settings.deployment.concurrency
    longest = None
    if asked is not None:
        per_rank = ceil_div(asked, settings.deployment.dp)
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
        max_total_num_tokens_total=sizes.max_total * settings.attention_dp,
        requests_at_context_total=at_once * settings.attention_dp,
    )


def _profiled_gib(settings: Settings) -> float:
    """Free after loading, less the share of free-before-loading that is not static, in GiB."""
    deployment = settings.deployment
    before = deployment.pre_model_load_gib or 0.0
    # The engine reads free memory in bytes and turns it into GiB.
    free = float(int((deployment.free_gib or 0.0) * GIB))
    if settings.rules.profile_rounds_to_float32 and deployment.tp * deployment.pp > 1:
        free = struct.unpack("f", struct.pack("f", free))[0]
    rest = free / GIB - before * (1 - settings.memory.mem_fraction_static)
    if settings.multimodal_reserve_mib:
        return rest - settings.multimodal_reserve_mib / 1024
    return rest


def _running_requests(settings: Settings, sizes: Sizes, pool: states.StatePool | None) -> int:
    """Requests that run at once on one attention-DP rank: of the tokens, and of the state slots."""
    running = settings.running_requests(sizes.max_total)
    if pool is not None:
        running = min(running, pool.slots // settings.states.slots_per_request)
    return running
