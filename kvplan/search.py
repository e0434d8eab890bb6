"""Trying deployments: plan one, and see whether it does what is asked."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeGuard

from kvplan.architecture import Architecture
from kvplan.choices import Choice
from kvplan.deployment import Deployment
from kvplan.errors import KvplanError
from kvplan.hardware import gpu_by_name
from kvplan.planning import plan
from kvplan.pools.concurrency import MAX_RUNNING_REQUESTS, STATE_SLOTS
from kvplan.records import Plan
from kvplan.sglang.model import uneven_kv_heads
from kvplan.sglang.rules import rules_for
from kvplan.units import ceil_div

# Flags of the server, by fields of a deployment; what only kvplan asks is not among them.
SERVER_FLAGS = {
    "tp": "--tp",
    "dp": "--dp",
    "pp": "--pp-size",
    "dcp": "--dcp-size",
    "ep": "--ep-size",
    "moe_a2a_backend": "--moe-a2a-backend",
    "moe_dense_tp_size": "--moe-dense-tp-size",
    "ep_num_redundant_experts": "--ep-num-redundant-experts",
    "enable_dp_lm_head": "--enable-dp-lm-head",
    "enable_dp_attention": "--enable-dp-attention",
    "kv_cache_dtype": "--kv-cache-dtype",
    "page_size": "--page-size",
    "attention_backend": "--attention-backend",
    "dsa_prefill_backend": "--dsa-prefill-backend",
    "dsa_decode_backend": "--dsa-decode-backend",
    "mem_fraction_static": "--mem-fraction-static",
    "chunked_prefill_size": "--chunked-prefill-size",
    "context_length": "--context-length",
    "max_total_tokens": "--max-total-tokens",
    "max_running_requests": "--max-running-requests",
    "disable_radix_cache": "--disable-radix-cache",
    "swa_full_tokens_ratio": "--swa-full-tokens-ratio",
    "disable_hybrid_swa_memory": "--disable-hybrid-swa-memory",
    "mamba_full_memory_ratio": "--mamba-full-memory-ratio",
    "max_mamba_cache_size": "--max-mamba-cache-size",
    "mamba_ssm_dtype": "--mamba-ssm-dtype",
    "speculative_algorithm": "--speculative-algorithm",
    "speculative_num_steps": "--speculative-num-steps",
    "speculative_eagle_topk": "--speculative-eagle-topk",
    "speculative_num_draft_tokens": "--speculative-num-draft-tokens",
    "enable_hisparse": "--enable-hisparse",
    "prefill_only_disable_kv_cache": "--prefill-only-disable-kv-cache",
}
# What a server over several machines is told besides; the address is the reader's own.
_HEAD = "HOST:5000"


GPUS_OF_A_MACHINE = 8
_DP_SIZES = (2, 4, 8, 16, 32, 64)


def attempt(model: Architecture, asked: Deployment) -> Plan | None:
    """The plan, None where the engine does not size it or the deployment can't be; it may have `stops`."""
    try:
        return plan(model, asked)
    except KvplanError:
        return None


def start(model: Architecture, asked: Deployment) -> Plan | None:
    """The plan with experts dealt over as few GPUs as let the engine start; None where it does not."""
    made = attempt(model, asked)
    if made is None or not made.stops:
        return made
    if asked.exchanges_experts or model.parameters is None or model.parameters.experts is None:
        return None
    for ep in (size for size in range(asked.ep + 1, asked.tp + 1) if asked.tp % size == 0):
        one = varied(asked, ep=ep)
        made = None if one is None else attempt(model, one)
        if made is not None and not made.stops:
            return made
    return None


def no_worse(after: Plan | None, stops: Sequence[str]) -> TypeGuard[Plan]:
    """Whether there is a plan, and its reasons not to start are among those of another one, word for word."""
    return after is not None and set(after.stops) <= set(stops)


def varied(asked: Deployment, **changes: object) -> Deployment | None:
    """The deployment with other values, None where they can't go together."""
    try:
        return replace(asked, **changes)  # type: ignore[arg-type]
    except KvplanError:
        return None


def ranks(asked: Deployment) -> int:
    """Places that hold different requests: attention-DP ranks, or replicas."""
    return asked.dp


def requests(made: Plan) -> int:
    """Requests of the asked context at once, over all ranks and replicas."""
    return (made.capacity.requests_at_context or 0) * ranks(made.deployment)


def tokens(made: Plan) -> int:
    """Tokens over all ranks and replicas."""
    return (made.capacity.max_total_num_tokens or 0) * ranks(made.deployment)


def worth(made: Plan) -> tuple[int, int]:
    """What plans are ranked by: requests, then tokens."""
    return requests(made), tokens(made)


def missing_bytes(made: Plan) -> int:
    """Bytes per GPU that all asked requests would take above what there is; 0 where no tokens bind.

    By the architecture's own costs, so about what the engine would need.
    """
    if made.capacity.limited_by in (MAX_RUNNING_REQUESTS, STATE_SLOTS):
        return 0
    wanted = ceil_div(made.deployment.concurrency or 1, ranks(made.deployment))
    there = made.capacity.available_bytes or (made.budget and made.budget.available_bytes) or 0
    return max(0, wanted * made.request.bytes - there)


def layouts(model: Architecture, asked: Deployment, gpus: int) -> Iterator[Deployment]:
    """Ways to lay a server over `gpus` GPUs: TP, attention DP inside it, and stages where they apply.

    Pipeline stages apply over several machines, and where the heads do not divide by the GPUs: as few as
    leave each to one machine and to heads that divide; never for a class that takes none.
    """
    sizes = [1, *(size for size in _DP_SIZES if size <= gpus and gpus % size == 0)]
    for dp in sizes:
        found = varied(asked, tp=gpus, pp=1, dp=dp, enable_dp_attention=dp > 1)
        if found is not None:
            yield found
    if gpus <= GPUS_OF_A_MACHINE and _divide(model, gpus):
        return
    rules = rules_for(asked.engine_version)
    if rules.alias.get(model.architecture, model.architecture) not in rules.pipeline:
        return
    for pp in (size for size in _DP_SIZES if gpus % size == 0 and gpus // size <= GPUS_OF_A_MACHINE):
        found = varied(asked, tp=gpus // pp, pp=pp, dp=1, enable_dp_attention=False)
        if found is not None and _divide(model, found.tp):
            yield found
            return


def _divide(model: Architecture, tp: int) -> bool:
    """Whether query heads divide by so many GPUs, and KV heads do or can be copied to them evenly."""
    return (model.attention_heads or 0) % tp == 0 and not uneven_kv_heads(model.groups, tp)


def choice(made: Plan, *, wanted: int | None = None) -> Choice:
    """The plan as one row of a table; `wanted` requests are asked for."""
    asked, budget = made.deployment, made.budget
    if budget is None:
        raise AssertionError("a choice is made of a plan with a budget")
    gpu = gpu_by_name(budget.gpu, asked.gpu_memory)
    fitting, many = requests(made), ranks(asked)
    low, high = budget.low, budget.high
    careful = fitting if low is None else low.requests_at_context * many
    tokens_here = made.capacity.max_total_num_tokens or 0
    return Choice(
        gpu=budget.gpu,
        gpus=budget.gpus,
        tp=asked.tp,
        dp=asked.dp,
        pp=asked.pp,
        ep=asked.expert_parallel,
        enable_dp_attention=asked.enable_dp_attention,
        kv_cache_dtype=made.resolved.kv_cache_dtype,
        memory_total_bytes=gpu.memory_bytes * budget.gpus,
        weights_bytes=budget.weights_bytes or 0,
        weights_bytes_total=budget.weights_bytes_total,
        weights_source=budget.weights_source or "",
        kv_pool_bytes=budget.kv_pool_bytes or 0,
        state_pool_bytes=budget.state_pool_bytes,
        tokens=tokens_here,
        tokens_low=tokens_here if low is None else low.max_total_num_tokens,
        tokens_high=tokens_here if high is None else high.max_total_num_tokens,
        requests=fitting,
        requests_low=careful,
        requests_high=fitting if high is None else high.requests_at_context * many,
        limited_by=made.capacity.limited_by,
        headroom=None if not wanted else fitting / wanted - 1,
        tight=careful < (wanted or 0),
        command=launch_line(made.architecture, asked),
    )


def launch_line(model: Architecture, asked: Deployment) -> str:
    """The command that starts such a server, with every option that differs from the default.

    Over several machines of eight GPUs it is that of the first.
    """
    plain = Deployment()
    words = ["python", "-m", "sglang.launch_server", "--model-path", _path(model)]
    for name, flag in SERVER_FLAGS.items():
        value = getattr(asked, name)
        if value == getattr(plain, name) and name != "tp":
            continue
        words += [flag] if value is True else [flag, str(value)]
    machines = ceil_div(asked.tp * asked.pp, GPUS_OF_A_MACHINE)
    if machines > 1:
        words += ["--nnodes", str(machines), "--node-rank", "0", "--dist-init-addr", _HEAD]
    return shlex.join(words)


def _path(model: Architecture) -> str:
    return model.source.location if model.source.kind == "file" and not _is_id(model.id) else model.id


def _is_id(name: str) -> bool:
    return name.count("/") == 1
