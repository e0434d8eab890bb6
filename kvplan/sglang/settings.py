"""Everything the pools need to know of a deployment, after the engine's own rules."""

from __future__ import annotations

from dataclasses import replace

from kvplan.deployment import Deployment
from kvplan.dtypes import KvFormat
from kvplan.errors import refused
from kvplan.frozen import dataclass
from kvplan.hardware import Gpu, gpu_by_name
from kvplan.layers import Storage
from kvplan.sglang import backend as backends
from kvplan.sglang import (
    backend_limits,
    kv_dtype,
    parallel_limits,
    refusals,
    speculation,
    speculation_limits,
)
from kvplan.sglang.dsa_backends import dsa_backends, refuse_dsa_backends
from kvplan.sglang.families import ONE_DRAFT_LAYER, PURE_STATE, SELF_DRAFTING
from kvplan.sglang.memory_fraction import MemorySettings, memory_settings
from kvplan.sglang.model import EngineModel
from kvplan.sglang.qwen3_vl import (
    QWEN3_VL_BUSY_REQUESTS,
    QWEN3_VL_BUSY_RESERVE_MIB,
    QWEN3_VL_RESERVE_MIB,
    large_hopper_qwen3_vl,
)
from kvplan.sglang.rule_set import Rules
from kvplan.sglang.state_cache import StateCache, state_cache

# schedule defaults (arg_groups/fields/schedule.py; kv_cache_hook.py).
SWA_RATIO = 0.8
DSV4_SWA_RATIO = 0.1
INKLING_RATIO = 0.1
STATE_RATIO = 0.9
# speculative_hook.py and deepseek_v4_hook.py: running requests where the user gives none.
SPECULATIVE_REQUESTS = 48
DSV4_REQUESTS = 256
# kv_cache_configurator.py, resolve_max_num_reqs: 512 requests for every full context, within these.
_LEAST_ESTIMATE, _MOST_ESTIMATE = 2048, 4096
# The same: no more requests than half the tokens. tp_worker.py stops where that leaves none.
_TOKENS_PER_REQUEST = 2
# utils/hf_transformers/common.py, get_context_length, where the config names no length.
UNNAMED_CONTEXT = 2048
# mem_cache/sparsity/factory.py: host slots per device slot under HiSparse.
HISPARSE_RATIO = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """One resolved server start; `requests` is --max-running-requests after defaults, for all DP ranks."""

    model: EngineModel
    deployment: Deployment
    rules: Rules
    gpu: Gpu
    attention_tp: int
    attention_dp: int
    prefill_backend: str
    backend: str
    page: int
    flag: str
    kv: KvFormat
    memory: MemorySettings
    states: StateCache
    requests: int | None
    swa_ratio: float
    swa_ratio_given: bool
    state_ratio: float
    context: int
    draft_tokens: int
    draft_layers: int

    @property
    def storage(self) -> Storage:
        """How layers are stored on one GPU."""
        return Storage(
            attention_tp=self.attention_tp, kv=self.kv, state_dtype=self.deployment.mamba_ssm_dtype
        )

    @property
    def state_storage(self) -> Storage:
        """How recurrent states are stored: pure state models split them over all of TP (configs/mamba.py)."""
        if self.model.name in PURE_STATE:
            return replace(self.storage, attention_tp=self.deployment.tp)
        return self.storage

    @property
    def dsa_backends(self) -> tuple[str, str]:
        """Kernels of sparse MLA for prefill and decode, where the model has it."""
        return dsa_backends(self.model, self.deployment, self.flag, self.gpu, self.rules)

    @property
    def multimodal_reserve_mib(self) -> int:
        """GPU memory kept for embeddings of images, where the server takes any."""
        if not self.model.multimodal or not self.rules.multimodal_reserve_mib:
            return 0
        if not large_hopper_qwen3_vl(self.model, self.gpu, self.rules):
            return self.rules.multimodal_reserve_mib
        busy = (self.deployment.max_running_requests or 0) >= QWEN3_VL_BUSY_REQUESTS
        return QWEN3_VL_BUSY_RESERVE_MIB if busy else QWEN3_VL_RESERVE_MIB

    @property
    def requests_per_rank(self) -> int | None:
        """Running requests that one attention-DP rank is asked to hold."""
        return None if self.requests is None else max(1, self.requests // self.attention_dp)

    def running_requests(self, tokens: int) -> int:
        """Running requests of one attention-DP rank with a pool of `tokens` (resolve_max_num_reqs)."""
        most = tokens // _TOKENS_PER_REQUEST
        estimate = max(min(int(tokens / self.context * 512), _MOST_ESTIMATE), _LEAST_ESTIMATE)
        if self.requests is None:
            return min(estimate, most)
        if self.rules.requested_below_estimate:
            return min(self.requests // self.attention_dp, estimate)
        return min(self.requests_per_rank or 1, most)

    @property
    def fewest_tokens(self) -> int:
        """The smallest pool that the server starts with: one page, and two tokens for the first request."""
        halved = self.requests is None or not self.rules.requested_below_estimate
        return max(self.page, _TOKENS_PER_REQUEST if halved else 1)

    @property
    def chunk(self) -> int:
        """Prefill chunk of one rank: attention DP divides it."""
        return self.memory.chunked_prefill_size // self.attention_dp

    @property
    def hisparse_ratio(self) -> int:
        """Host slots per device slot."""
        return (self.deployment.hisparse_ratio or HISPARSE_RATIO) if self.deployment.enable_hisparse else 1


def settle(model: EngineModel, deployment: Deployment, gpu_name: str, rules: Rules) -> Settings:
    """Apply the rules of one version; InputError or RefusedError where the engine would stop."""
    gpu = gpu_by_name(gpu_name, deployment.gpu_memory)
    kv_dtype.check_flag(deployment, rules)
    backend_limits.check_backend(deployment, rules)
    parallel_limits.check_a2a(deployment, rules)
    refusals.refuse_unsupported(model, deployment, rules)
    refusals.refuse_parallelism(model, deployment, rules)
    refusals.refuse_windows(model)
    refusals.refuse_mixed_heads(model, rules)
    refusals.refuse_context(deployment, model.architecture.context_length or UNNAMED_CONTEXT)
    parallel_limits.refuse_parallel(model, deployment, gpu, rules)
    refusals.refuse_hisparse(model, deployment, rules)
    refusals.refuse_rocm(model, gpu)
    refusals.refuse_weights(model, gpu, rules)
    states = state_cache(model, deployment, gpu, rules)
    prefill, backend = backends.attention_backends(model, deployment, gpu, rules, states)
    backend_limits.refuse_backend(model, deployment, (prefill, backend), gpu, rules)
    backend_limits.refuse_paged_states(model, deployment, states, rules)
    flag = kv_dtype.kv_flag(model, deployment, gpu, rules)
    refuse_dsa_backends(model, deployment, flag, gpu, rules)
    refusals.refuse_kv_format(model, deployment, flag, (prefill, backend), gpu, rules)
    backend_limits.refuse_unnamed_backend(model, deployment, rules)
    page = backends.page_size(model, deployment, backend, gpu, rules, states)
    ratio, given = _swa_ratio(model, deployment, rules)
    speculation_limits.refuse_speculation(model, deployment, states, backend, rules)
    deployment = speculation.resolved(model, deployment)
    speculation.refuse_tree(deployment, (prefill, backend), page, rules)
    drafts = deployment.speculative_algorithm in (*speculation.DRAFT_HEAD, speculation.DSPARK)
    return Settings(
        model=model,
        deployment=deployment,
        rules=rules,
        gpu=gpu,
        attention_tp=deployment.attention_tp,
        attention_dp=deployment.attention_dp,
        prefill_backend=prefill,
        backend=backend,
        page=page,
        flag=flag,
        kv=kv_dtype.kv_format(flag, model, rules),
        memory=memory_settings(model, deployment, gpu, rules),
        states=states,
        requests=_requests(model, deployment, rules),
        swa_ratio=ratio,
        swa_ratio_given=given,
        state_ratio=_state_ratio(model, deployment),
        context=deployment.context_length or model.architecture.context_length or UNNAMED_CONTEXT,
        draft_tokens=(deployment.speculative_num_draft_tokens or 0)
        if deployment.speculative_algorithm
        else 0,
        draft_layers=_draft_layers(model, rules) if drafts else 0,
    )


def _draft_layers(model: EngineModel, rules: Rules) -> int:
    if model.name not in SELF_DRAFTING and not rules.counts_drafts_without_path:
        return 0
    if model.name in ONE_DRAFT_LAYER:
        return 1
    listed = model.architecture.draft_layers
    if listed is None and model.name in SELF_DRAFTING:
        return len(model.architecture.layers)
    return listed or 0


def _requests(model: EngineModel, deployment: Deployment, rules: Rules) -> int | None:
    requests, ranks = deployment.max_running_requests, deployment.attention_dp
    if requests is None and model.dsv4:
        requests = DSV4_REQUESTS
    elif requests is None and deployment.speculative_algorithm is not None:
        requests = SPECULATIVE_REQUESTS
    if requests is not None and requests < ranks and not rules.at_least_one_request:
        # tp_worker.py: "max_running_request is zero"; 0.5.23 rounds up to one request a rank.
        raise refused(
            f"{requests} requests leave none for each of {ranks} attention-DP ranks",
            f"--max-running-requests {ranks} or more",
        )
    return requests


def _swa_ratio(model: EngineModel, deployment: Deployment, rules: Rules) -> tuple[float, bool]:
    """The ratio, and whether the sizing counts it as given (V4's default does, V4.1's does not)."""
    if deployment.swa_full_tokens_ratio is not None:
        return deployment.swa_full_tokens_ratio, True
    if model.dsv4:
        return DSV4_SWA_RATIO, model.architecture.model_type != "deepseek_v41"
    return (INKLING_RATIO if model.name.startswith("Inkling") else SWA_RATIO), False


def _state_ratio(model: EngineModel, deployment: Deployment) -> float:
    if deployment.mamba_full_memory_ratio is not None:
        return deployment.mamba_full_memory_ratio
    return INKLING_RATIO if model.name.startswith("Inkling") else STATE_RATIO
