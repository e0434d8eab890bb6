"""Which attention backend runs, and the page size that follows from it."""

from __future__ import annotations

from kvplan.deployment import Deployment
from kvplan.hardware import Gpu
from kvplan.layers import LatentAttention
from kvplan.sglang.backend_defaults import PAGED_STATE_HYBRIDS
from kvplan.sglang.model import EngineModel
from kvplan.sglang.rules import Rules
from kvplan.sglang.state_cache import StateCache

DSA_PAGE = 64
DSV4_PAGE = 256
# Pages that kernels read where the user gives no size that they allow (overrides.py,
# _mla_backend_page_constraints and _fa4_page_constraint).
KERNEL_PAGE = 64
FA4_PAGE = 128
TRTLLM_MLA_PAGES = (32, 64)


def attention_backend(
    model: EngineModel, deployment: Deployment, gpu: Gpu, rules: Rules, states: StateCache
) -> str:
    """The backend that the engine picks: the user's, else the model's own default, else one by design."""
    chosen = deployment.attention_backend or _default(model, deployment, gpu, rules, states)
    if chosen == "fa3" and deployment.kv_cache_dtype == "fp8_e5m2":
        return "triton"  # FlashAttention 3 reads e4m3 only
    return chosen


def _default(model: EngineModel, deployment: Deployment, gpu: Gpu, rules: Rules, states: StateCache) -> str:
    if model.dsv4:
        return "dsv4"
    if model.dsa and deployment.attention_backend is None:
        return "dsa"
    preferred = rules.backends.get(model.name)
    if preferred is not None:
        named = preferred.hopper if gpu.is_hopper else preferred.sm100 if gpu.is_sm100 else preferred.other
        if named is not None:
            return named
    general = _by_design(model, deployment, gpu, rules)
    if gpu.is_sm100 and model.name in PAGED_STATE_HYBRIDS and not _state_allows_pages(deployment, states):
        return "triton"
    return general


def _state_allows_pages(deployment: Deployment, states: StateCache) -> bool:
    return states.tracks or not states.radix_cache or deployment.speculative_algorithm is not None


def _by_design(model: EngineModel, deployment: Deployment, gpu: Gpu, rules: Rules) -> str:
    """Source: get_default_attn_backend in model_override_base.py (0.5.23) and server_args.py (0.5.12)."""
    if model.name == "WhisperForConditionalGeneration":
        return "flashinfer"
    if model.mla:
        return "fa3" if gpu.is_hopper else "flashinfer" if gpu.is_sm100 else "triton"
    single_path = (deployment.speculative_eagle_topk or 1) <= 1
    if gpu.is_hopper and single_path:
        return "fa3"
    drafts_known = deployment.speculative_algorithm is None or deployment.speculative_eagle_topk is not None
    if gpu.is_sm100 and single_path and drafts_known:
        return "fa4" if model.asymmetric and rules.fa4_for_asymmetric else "trtllm_mha"
    return "triton" if model.attention_sinks else "flashinfer"


def page_size(
    model: EngineModel,
    deployment: Deployment,
    backend: str,
    gpu: Gpu,
    rules: Rules,
    states: StateCache,
) -> int:
    """The page size after the model's and the backend's demands; 1 where nobody asks for more."""
    if model.dsv4:
        return DSV4_PAGE
    asked = DSA_PAGE * _index_pool(model) if model.dsa else deployment.page_size
    if model.has_state and not rules.extra_buffer_strategy and states.radix_cache:
        asked = 1  # states are cached at single tokens (no_buffer)
    page = _backend_page(asked, model, deployment, backend, gpu, rules)
    return page or 1


def _index_pool(model: EngineModel) -> int:
    # A page holds whole groups of pooled index keys (model_overrides/deepseek_v2.py).
    pools = [layer.index_kpool for layer, _ in model.groups if isinstance(layer, LatentAttention)]
    return max(pools, default=1)


def _backend_page(
    asked: int | None, model: EngineModel, deployment: Deployment, backend: str, gpu: Gpu, rules: Rules
) -> int | None:
    if backend == "flashmla":
        return KERNEL_PAGE
    if backend in ("trtllm_mla", "cutedsl_mla"):
        return asked if asked in TRTLLM_MLA_PAGES else KERNEL_PAGE
    if backend == "trtllm_mha":
        return asked if asked in rules.trtllm_mha_pages else KERNEL_PAGE
    single_path = (deployment.speculative_eagle_topk or 0) <= 1
    if backend == "fa4" and not model.mla and gpu.is_sm100 and single_path:
        return FA4_PAGE
    return asked
