"""From a model and a deployment to a plan: one step after another, each a pure function."""

from __future__ import annotations

from kvplan import budget
from kvplan.accounting import Ledger, ledger
from kvplan.architecture import Architecture
from kvplan.capacity import Sized, capacity, size
from kvplan.deployment import Deployment
from kvplan.hardware import ASSUMED_GENERATION, ASSUMED_GPU
from kvplan.pools import states
from kvplan.pools.base import Link, Price
from kvplan.pools.chain import choose
from kvplan.pools.parts import Layout
from kvplan.records import Capacity, Plan, PoolChoice, Request, Resolved, number
from kvplan.remarks import assumptions, warnings
from kvplan.sglang.model import Stage, classify, whole_of
from kvplan.sglang.prefill_only import refuse_prefill_only
from kvplan.sglang.rules import rules_for
from kvplan.sglang.settings import UNNAMED_CONTEXT, Settings, settle
from kvplan.stages import pipeline_stages, stage_groups
from kvplan.stops import stops
from kvplan.weights.choice import split_of

# The context that a report assumes where none is asked for, or the model's own where that is shorter.
DEFAULT_CONTEXT = 100_000


def plan(architecture: Architecture, deployment: Deployment) -> Plan:
    """What the engine will size for this model and deployment.

    Raises InputError for options that can't be, RefusedError where the engine itself would stop, and
    DoesNotFitError where the budget holds no page of tokens.
    """
    settings = resolve(architecture, deployment)
    if deployment.wants_estimate:
        return budget.estimated(settings, plan)
    link, verdicts = choose(settings.model)
    stages = pipeline_stages(settings)
    whole = whole_of(settings.model)
    request, book = _request(settings)
    distinct = dict.fromkeys(stages) if len(stages) > 1 else stages
    priced = [(stage, link.price(settings, stage)) for stage in distinct]
    price = priced[0][1]
    sized = size(settings, link, whole, priced) if deployment.has_budget else None
    laid = Layout() if sized is None else _laid_out(settings, link, priced[0], sized)
    reasons = stops(settings)
    fitting = Capacity() if sized is None else capacity(settings, sized, stages, request)
    return Plan(
        architecture=architecture,
        deployment=deployment,
        resolved=_resolved(settings),
        pool=PoolChoice(
            link=link.name,
            why=verdicts,
            cell_size=price.cell,
            state_bytes_per_request=states.bytes_per_request(settings, whole),
            terms=price.terms,
        ),
        request=request,
        capacity=fitting,
        budget=None if sized is None else budget.given(settings, fitting),
        pools=laid.pools,
        buffers=laid.buffers,
        draft_buffers=laid.draft_buffers,
        uncharged_buffers=laid.uncharged_buffers,
        assumed=assumptions(settings),
        warnings=(
            *reasons,
            *warnings(settings, request, laid.pools, None if sized is None else sized.fewest_tokens),
        ),
        stops=reasons,
        ledger=book,
        storage=settings.storage,
        split=None if deployment.gpu is None else split_of(settings),
    )


def _laid_out(settings: Settings, link: Link, first: tuple[Stage, Price], sized: Sized) -> Layout:
    from kvplan.pools.layout import Counts, lay_out  # noqa: PLC0415 - without a budget there are no pools

    counts = Counts(sizes=sized.sizes, states=sized.states, running=sized.running)
    stage, price = first
    return lay_out(settings, link.name, stage, price.terms, counts)


def resolve(architecture: Architecture, deployment: Deployment) -> Settings:
    """The deployment after the engine's own rules; InputError or RefusedError where it would stop."""
    rules = rules_for(deployment.engine_version)
    model = classify(architecture, rules, disable_hybrid_swa_memory=deployment.disable_hybrid_swa_memory)
    unnamed = ASSUMED_GPU if deployment.gpu_memory is None else ASSUMED_GENERATION
    settings = settle(model, deployment, deployment.gpu or unnamed, rules)
    refuse_prefill_only(settings)
    return settings


def _request(settings: Settings) -> tuple[Request, Ledger]:
    """The accounting view: what the architecture needs, on the GPUs that hold one request.

    The ledger is that of the pipeline stage that keeps most.
    """
    context = _context(settings)
    architecture, storage = settings.model.architecture, settings.storage
    books = [
        ledger(groups, storage, architecture.loops)
        for groups in stage_groups(architecture, settings.deployment.pp)
    ]
    kept = [book.request_bytes(context) for book in books]
    fullest = books[kept.index(max(kept))]
    request = Request(
        context=context,
        bytes_per_token=number(fullest.alpha),
        fixed_bytes=fullest.gamma,
        bytes=max(kept),
        bytes_total=sum(kept) * settings.attention_tp,
    )
    return request, fullest


def _context(settings: Settings) -> int:
    asked = settings.deployment.ctx
    if asked is not None:
        return asked
    longest = settings.model.architecture.context_length or UNNAMED_CONTEXT
    return min(DEFAULT_CONTEXT, longest, settings.deployment.context_length or longest)


def _resolved(settings: Settings) -> Resolved:
    kernels = settings.dsa_backends if settings.model.dsa else (None, None)
    return Resolved(
        gpu=settings.gpu.name,
        attention_tp=settings.attention_tp,
        attention_dp=settings.attention_dp,
        kv_cache_dtype=settings.kv.dtype,
        kv_cache_flag=settings.flag,
        page_size=settings.page,
        attention_backend=settings.backend,
        dsa_prefill_backend=kernels[0],
        dsa_decode_backend=kernels[1],
        mem_fraction_static=settings.memory.mem_fraction_static,
        chunked_prefill_size=settings.memory.chunked_prefill_size,
        context_length=settings.context,
        swa_full_tokens_ratio=settings.swa_ratio,
        mamba_full_memory_ratio=settings.state_ratio,
        state_slots_per_request=settings.states.slots_per_request,
        draft_layers=settings.draft_layers,
        speculative_num_draft_tokens=settings.draft_tokens or None,
    )
