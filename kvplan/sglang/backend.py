"""Which attention backend runs, and the page size that follows from it."""

from __future__ import annotations

from kvplan.deployment import Deployment
from kvplan.errors import refused
from kvplan.hardware import Gpu
from kvplan.layers import LatentAttention
from kvplan.sglang.backend_defaults import (
    EXAONE_WINDOWS,
    FA3_SINCE_AMPERE,
    FLASHINFER_PREFILL,
    NEMOTRON_H,
    PAGED_STATE_HYBRIDS,
    STATES_DECIDE,
)
from kvplan.sglang.model import EngineModel
from kvplan.sglang.qwen3_vl import DECODE_BACKEND, large_hopper_qwen3_vl
from kvplan.sglang.rule_set import Rules
from kvplan.sglang.state_cache import StateCache

DSA_PAGE = 64
DSV4_PAGE = 256
# Pages that kernels read where the user gives no size that they allow (overrides.py,
# _mla_backend_page_constraints and _fa4_page_constraint).
KERNEL_PAGE = 64
FA4_PAGE = 128
# server_args.py (0.5.12); later versions have no such backend.
CUTLASS_PAGE = 128
TRTLLM_MLA_PAGES = (32, 64)
# Blocks of the sparse index (model_overrides/minimax_m3.py).
MINIMAX_M3 = frozenset({"MiniMaxM3SparseForCausalLM", "MiniMaxM3SparseForConditionalGeneration"})
MINIMAX_M3_PAGE = 128


def attention_backends(
    model: EngineModel, deployment: Deployment, gpu: Gpu, rules: Rules, states: StateCache
) -> tuple[str, str]:
    """(prefill, decode) backend: the user's, else the model's own default, else one by design."""
    if model.dsv4:
        return "dsv4", "dsv4"  # whatever --attention-backend says
    if deployment.kv_cache_dtype == "nvfp4":
        return _nvfp4_prefill(model, deployment, gpu, rules), "trtllm_mha"
    chosen = deployment.attention_backend or _default(model, deployment, gpu, rules, states)
    if chosen == "fa3" and deployment.kv_cache_dtype == "fp8_e5m2":
        chosen = "triton"  # FlashAttention 3 reads e4m3 only
    if deployment.attention_backend is None and large_hopper_qwen3_vl(model, gpu, rules):
        return chosen, DECODE_BACKEND
    if deployment.attention_backend is None and model.name in FLASHINFER_PREFILL:
        return "flashinfer", chosen
    return chosen, chosen


def _nvfp4_prefill(model: EngineModel, deployment: Deployment, gpu: Gpu, rules: Rules) -> str:
    """Prefill on nvfp4: natively on SM100, else through FlashInfer with an FP8 workspace.

    Source: arg_groups/kv_cache_hook.py, handle_nvfp4_prefill_kv_dequant_dtype.
    """
    explicit = deployment.attention_backend or _preferred(model, deployment, gpu, rules)
    if explicit is None:
        return "trtllm_mha" if gpu.is_sm100 else "flashinfer"
    if explicit not in ("flashinfer", "trtllm_mha"):
        raise refused(
            f"nvfp4 KV is not read by the {explicit} backend", "--attention-backend trtllm_mha or flashinfer"
        )
    return explicit


def _preferred(model: EngineModel, deployment: Deployment, gpu: Gpu, rules: Rules) -> str | None:
    """The model class's own preference on this GPU."""
    preferred = rules.backends.get(model.name)
    if rules.nemotron_by_drafts and model.name in NEMOTRON_H:
        return _nemotron(deployment, gpu)
    if rules.extra_buffer_strategy and model.name in EXAONE_WINDOWS and "sliding" in model.architecture.kinds:
        preferred = FA3_SINCE_AMPERE
    if preferred is None or (model.name in STATES_DECIDE and not model.has_state):
        return None
    fp8_blocks = MINIMAX_M3_PAGE in rules.trtllm_mha_pages and deployment.kv_cache_dtype == "fp8_e4m3"
    if model.name in MINIMAX_M3 and gpu.is_sm100 and fp8_blocks:
        return "trtllm_mha"  # the backend of its FP8 attention GEMMs
    if gpu.is_hopper:
        return preferred.hopper
    if gpu.is_sm100:
        return "triton" if _fp4_experts_on_triton(model, rules) else preferred.sm100
    return (preferred.sm120 if gpu.is_blackwell else None) or preferred.other


def _fp4_experts_on_triton(model: EngineModel, rules: Rules) -> bool:
    quantization, parameters = model.architecture.quantization, model.architecture.parameters
    return (
        model.name in rules.triton_for_fp4_experts
        and quantization is not None
        and "FP4" in (quantization.weights_algo or "")
        and parameters is not None
        and parameters.experts is not None
    )


def _nemotron(deployment: Deployment, gpu: Gpu) -> str | None:
    # model_overrides/nemotron_h.py: drafts run on triton where trtllm_mha can't verify them.
    if deployment.speculative_algorithm is None:
        return "trtllm_mha" if gpu.is_sm100 else None
    if gpu.is_sm100 and deployment.speculative_eagle_topk in (None, 1):
        return "trtllm_mha"
    return "triton" if gpu.is_blackwell else None


def _default(model: EngineModel, deployment: Deployment, gpu: Gpu, rules: Rules, states: StateCache) -> str:
    if model.dsa and deployment.attention_backend is None:
        return "dsa"
    preferred = _preferred(model, deployment, gpu, rules)
    if preferred is not None:
        return preferred
    general = _by_design(model, deployment, gpu, rules)
    if gpu.is_sm100 and model.name in PAGED_STATE_HYBRIDS:
        paged = general == "trtllm_mha" and _state_allows_pages(deployment, states)
        return general if paged else "triton"
    return general


def _state_allows_pages(deployment: Deployment, states: StateCache) -> bool:
    # The override runs before the state strategy is resolved, so tracking slots do not count yet.
    return not states.radix_cache or deployment.speculative_algorithm is not None


def _page_follows_state(model: EngineModel, deployment: Deployment, gpu: Gpu, rules: Rules) -> bool:
    """Whether the override of the backend sets the page size as well, over the user's."""
    return (
        rules.extra_buffer_strategy
        and gpu.is_sm100
        and model.name in PAGED_STATE_HYBRIDS
        and deployment.attention_backend is None
    )


def _by_design(model: EngineModel, deployment: Deployment, gpu: Gpu, rules: Rules) -> str:
    """Source: get_default_attn_backend in model_override_base.py (0.5.23) and server_args.py (0.5.12)."""
    if model.name == "WhisperForConditionalGeneration":
        return "flashinfer"
    if model.mla:
        return "fa3" if gpu.is_hopper else "flashinfer" if gpu.is_sm100 else "triton"
    # utils/common.py, is_no_spec_infer_or_topk_one.
    topk = deployment.speculative_eagle_topk
    single_path = topk is None or (topk == 1 and deployment.page_size in (None, 1))
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
    if _page_follows_state(model, deployment, gpu, rules):
        return KERNEL_PAGE if backend == "trtllm_mha" else 1
    asked = DSA_PAGE * _index_pool(model, rules) if model.dsa else deployment.page_size
    if asked is None and model.name in MINIMAX_M3:
        asked = _index_block(model, deployment, gpu, rules)
    if model.name in rules.states_at_single_tokens and states.radix_cache:
        asked = 1  # states are cached at single tokens (no_buffer)
    page = _backend_page(asked, model, deployment, backend, gpu, rules)
    return page or 1


def _index_block(model: EngineModel, deployment: Deployment, gpu: Gpu, rules: Rules) -> int | None:
    # model_overrides/minimax_m3.py: pages of one index block where the kernels of this GPU read them.
    kernels = ("fa3",) if gpu.is_hopper else ("fa4", "trtllm_mha") if gpu.is_sm100 else ()
    named = deployment.attention_backend or _preferred(model, deployment, gpu, rules)
    return MINIMAX_M3_PAGE if named in kernels else None


def _index_pool(model: EngineModel, rules: Rules) -> int:
    if not rules.dsa_cell_pools_index:
        return 1
    # A page holds whole groups of pooled index keys (model_overrides/deepseek_v2.py).
    pools = [layer.index_kpool for layer, _ in model.groups if isinstance(layer, LatentAttention)]
    return max(pools, default=1)


def _backend_page(
    asked: int | None, model: EngineModel, deployment: Deployment, backend: str, gpu: Gpu, rules: Rules
) -> int | None:
    if backend in ("flashmla", "hpc_ops"):
        return KERNEL_PAGE
    if backend == "cutlass_mla":
        return CUTLASS_PAGE
    if backend in ("trtllm_mla", "cutedsl_mla", "tokenspeed_mla"):
        return asked if asked in TRTLLM_MLA_PAGES else KERNEL_PAGE
    if backend == "trtllm_mha":
        return asked if asked in rules.trtllm_mha_pages else KERNEL_PAGE
    single_path = (deployment.speculative_eagle_topk or 0) <= 1
    if backend == "fa4" and not model.mla and gpu.is_sm100 and single_path and rules.fa4_sets_page:
        return FA4_PAGE
    return asked
