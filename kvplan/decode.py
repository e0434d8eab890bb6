"""The least time of one decode step: what a GPU must read of cache and weights, over its bandwidth."""

from __future__ import annotations

from dataclasses import replace

from kvplan.accounting import decode_floor_ms, ledger
from kvplan.architecture import Architecture
from kvplan.deployment import Deployment
from kvplan.frozen import dataclass
from kvplan.hardware import find
from kvplan.layers import Storage
from kvplan.memory import Budget
from kvplan.sglang.families import generates
from kvplan.units import ceil_div
from kvplan.weights.reads import (
    active_parameters,
    expected_experts,
    fewest_experts,
    knows_experts,
    weight_reads,
)
from kvplan.weights.sharding import Split

# Data sheets give bandwidth in 10^9 bytes per second.
_GB = 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """`requests` of `context` tokens each that one GPU decodes in one step, `tokens` over all its ranks."""

    requests: int
    context: int
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodeStep:
    """One step of `requests` requests of `context` tokens: bytes that one GPU reads, over all stages.

    `requests`: on one attention-DP rank, in one micro-batch of a pipeline. `cache_bytes`: their caches and
    states. `weight_bytes`: active weights if all requests pick the same `experts_per_token` of
    `routed_experts` in each layer, the fewest that can be. `floor_ms`: both over `bandwidth`, in bytes per
    second. `uniform_experts`, `uniform_weight_bytes` and `uniform_ms`: the same where each request picks
    by chance, in the mean; None where a step also checks drafts. `active_parameters`: of the whole model,
    for one token. `unknown`: why figures are None.
    """

    requests: int
    context: int
    cache_bytes: int | None = None
    weight_bytes: int | None = None
    bandwidth: int | None = None
    floor_ms: float | None = None
    active_parameters: int | None = None
    routed_experts: int | None = None
    experts_per_token: int | None = None
    uniform_experts: float | None = None
    uniform_weight_bytes: int | None = None
    uniform_ms: float | None = None
    unknown: str | None = None


def batch_of(asked: Deployment, *, context: int, fitting: int | None, longest: int | None) -> Batch | None:
    """What a GPU decodes at once: what is asked, and no more than fits; None for nothing.

    `fitting` requests of `context` tokens on one rank, None where no budget says. `longest`: the context
    that the asked requests can have, which counts where only a number of requests is asked.
    """
    wanted = None if asked.concurrency is None else ceil_div(asked.concurrency, asked.dp)
    requests = min((count for count in (wanted, fitting) if count is not None), default=0)
    if wanted is not None and asked.ctx is None and longest is not None:
        requests, context = (wanted if longest else 0), longest
    if not requests:
        return None
    together = ceil_div(requests, asked.pp)
    return Batch(requests=together, context=context, tokens=together * asked.attention_dp)


def decode_step(
    model: Architecture,
    asked: Deployment,
    split: Split,
    batch: Batch | None,
    *,
    storage: Storage,
    budget: Budget | None,
) -> DecodeStep | None:
    """The step of a batch on the GPU that is asked for; None where nothing runs or the model can't decode.

    With pipeline stages a token passes one after the other, so the step is the sum over all of them.
    """
    loaded = None if budget is None else budget.weights_bytes
    fits = budget is None or not budget.shortfall_bytes
    if batch is None or not fits or not generates(model.architecture):
        return None
    return _step(model, asked, split, batch, cache=_cache(model, storage, batch), loaded=loaded)


def _cache(model: Architecture, storage: Storage, batch: Batch) -> int:
    """Bytes of caches and states that one GPU reads for its requests."""
    return batch.requests * ledger(model.groups, storage, model.loops).read_bytes(batch.context)


def _step(
    model: Architecture, asked: Deployment, split: Split, batch: Batch, *, cache: int, loaded: int | None
) -> DecodeStep:
    step = DecodeStep(requests=batch.requests, context=batch.context)
    if asked.dcp > 1:
        return replace(step, unknown="what each GPU reads under --dcp is not modelled")
    bandwidth, parameters = _bandwidth(asked.gpu), model.parameters
    step = replace(step, cache_bytes=cache, bandwidth=bandwidth)
    if bandwidth is None:
        return replace(step, unknown=f"the memory bandwidth of {asked.gpu} is not known")
    reads = None if parameters is None else weight_reads(model, parameters, split, loaded)
    if parameters is None or reads is None:
        return replace(step, unknown=f"the weights of {model.id} are not known by kind")
    if not knows_experts(parameters):
        what = "how many of its experts a token uses is not known (routed_experts, experts_per_token)"
        return replace(step, unknown=what)
    fewest = reads.with_experts(fewest_experts(parameters, asked.expert_parallel))
    step = replace(
        step,
        weight_bytes=fewest,
        floor_ms=decode_floor_ms(cache, fewest, bandwidth),
        active_parameters=active_parameters(parameters),
        routed_experts=parameters.routed_experts,
        experts_per_token=parameters.experts_per_token,
    )
    if parameters.routed_experts is None or asked.speculative_algorithm is not None:
        return step
    part = expected_experts(parameters, batch.tokens)
    # The busiest GPU reads no less than the mean, nor than where all requests pick the same.
    usual = max(fewest, reads.with_experts(part))
    return replace(
        step,
        uniform_experts=parameters.routed_experts * part,
        uniform_weight_bytes=usual,
        uniform_ms=decode_floor_ms(cache, usual, bandwidth),
    )


def _bandwidth(gpu: str | None) -> int | None:
    """Bytes per second, None for a GPU that is not in the catalogue."""
    found = None if gpu is None else find(gpu)
    return None if found is None or found.bandwidth_gb_s is None else found.bandwidth_gb_s * _GB
