"""From a model and a deployment to a plan: one step after another, each a pure function."""

from __future__ import annotations

from fractions import Fraction

from kvplan.architecture import Architecture
from kvplan.capacity import capacity, size
from kvplan.deployment import Deployment
from kvplan.hardware import ASSUMED_GPU
from kvplan.layers import Layer, Storage
from kvplan.pools import states
from kvplan.pools.chain import choose
from kvplan.records import Capacity, Plan, PoolChoice, Request, Resolved, number
from kvplan.remarks import assumptions, warnings
from kvplan.sglang.model import classify, stage_of
from kvplan.sglang.rules import rules_for
from kvplan.sglang.settings import UNNAMED_CONTEXT, Settings, settle
from kvplan.stages import pipeline_stages, stage_groups

# The context that a report assumes where none is asked for, or the model's own where that is shorter.
DEFAULT_CONTEXT = 100_000


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
    sized = size(settings, link, whole, stages) if deployment.has_budget else None
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
        capacity=Capacity() if sized is None else capacity(settings, sized, stages, request),
        assumed=assumptions(settings),
        warnings=warnings(settings, request, None if sized is None else sized.fewest_tokens),
    )


def _request(settings: Settings) -> Request:
    """The accounting view: what the architecture needs, on the GPUs that hold one request."""
    context = _context(settings)
    architecture, storage = settings.model.architecture, settings.storage
    needs = [
        _needs(groups, context, storage, architecture.loops)
        for groups in stage_groups(architecture, settings.deployment.pp)
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
