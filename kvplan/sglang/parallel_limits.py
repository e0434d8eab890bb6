"""Ways to spread a model over GPUs that its class does not take, by release; see parallel_names."""

from __future__ import annotations

from kvplan.config import near
from kvplan.deployment import Deployment
from kvplan.errors import bad_option, refused
from kvplan.hardware import Gpu
from kvplan.layers import LatentAttention
from kvplan.sglang.model import EngineModel
from kvplan.sglang.parallel_names import ASCEND_A2A
from kvplan.sglang.rule_set import Rules

# Deals prompts, not requests, over GPUs (--enable-layernorm-sp).
_SHARDS_PREFILL = frozenset({"MuseSparkForConditionalGeneration"})
_MEGAMOE = {"megamoe": "Hopper and data-centre Blackwell", "flashinfer_megamoe": "data-centre Blackwell"}
_LEAST_PPLX_RANKS = 2


def check_a2a(deployment: Deployment, rules: Rules) -> None:
    """InputError for a way to spread experts and dense layers that this version does not know."""
    name, choices = deployment.moe_a2a_backend, sorted(rules.a2a_backends)
    if name in ASCEND_A2A:
        raise bad_option("moe_a2a_backend", f"{name} is for Ascend, which kvplan has no rules of")
    if deployment.moe_dense_tp_size not in (None, 1) and not rules.dense_over_all_gpus:
        raise bad_option("moe_dense_tp_size", f"SGLang {rules.version} takes no value but 1", "leave it out")
    if name is not None and name not in choices:
        what = f"SGLang {rules.version} has no backend {name!r} to send tokens to experts"
        raise bad_option("moe_a2a_backend", what, near(name, choices))


def refuse_parallel(model: EngineModel, deployment: Deployment, gpu: Gpu, rules: Rules) -> None:
    """RefusedError for a kind of parallelism that the model's class or the GPU does not support."""
    if model.name in rules.no_attention_dp and deployment.attention_dp > 1:
        raise refused(f"{model.name} does not support DP attention", "leave --enable-dp-attention out")
    if model.name in rules.no_pipeline and deployment.pp > 1:
        raise refused(f"{model.name} does not support pipeline parallelism", "--pp 1 with a larger --tp")
    if deployment.enable_dp_lm_head and deployment.dp > 1 and not deployment.enable_dp_attention:
        raise refused("--enable-dp-lm-head asks for DP attention", "--enable-dp-attention as well")
    if deployment.exchanges_experts:
        _refuse_a2a(model, deployment, gpu, rules)
    if deployment.dcp > 1:
        _refuse_dcp(model, deployment, rules)


def _refuse_a2a(model: EngineModel, deployment: Deployment, gpu: Gpu, rules: Rules) -> None:
    """Source: arg_groups/moe_hook.py, handle_a2a_moe, and mega_moe_hook.py, check_mega_moe_compat."""
    name = deployment.moe_a2a_backend
    whole = deployment.enable_dp_attention and deployment.dp == deployment.tp
    if name in rules.a2a_needs_attention_dp and not whole and model.name not in _SHARDS_PREFILL:
        raise refused(
            f"--moe-a2a-backend {name} goes with an attention-DP rank on each GPU alone",
            f"--enable-dp-attention --dp {deployment.tp}, or another --moe-a2a-backend",
        )
    if name == "pplx" and deployment.attention_dp < _LEAST_PPLX_RANKS:
        raise refused(
            f"--moe-a2a-backend pplx goes with {_LEAST_PPLX_RANKS} attention-DP ranks or more alone",
            f"--enable-dp-attention --dp {_LEAST_PPLX_RANKS}, or another --moe-a2a-backend",
        )
    old_gpu = not (gpu.is_hopper or gpu.is_sm100 or gpu.is_rocm)
    checked = rules.megamoe_checks_gpu and old_gpu if name == "megamoe" else not gpu.is_sm100
    if name in _MEGAMOE and checked:
        raise refused(
            f"--moe-a2a-backend {name} does not run on {gpu.name.upper()}: it is made for {_MEGAMOE[name]}",
            "another --moe-a2a-backend",
        )


def _refuse_dcp(model: EngineModel, deployment: Deployment, rules: Rules) -> None:
    if not rules.splits_context:
        raise bad_option(
            "dcp",
            f"kvplan has no rules of decode context parallelism in SGLang {rules.version}",
            "--engine-version 0.5.22 or later",
        )
    if model.name in rules.no_dcp:
        raise refused(f"{model.name} does not support decode context parallelism", "--dcp 1")
    if not model.dsa:
        return
    pools = [layer.index_kpool for layer, _ in model.groups if isinstance(layer, LatentAttention)]
    if max(pools, default=1) > 1:
        raise refused(
            "an index key that pools tokens can't be split by decode context parallelism", "--dcp 1"
        )
    if deployment.enable_hisparse:
        raise refused("sparse MLA with --dcp does not go with --enable-hisparse", "--dcp 1")
    if deployment.speculative_eagle_topk not in (None, 1):
        raise refused("sparse MLA with --dcp verifies chains of drafts alone", "--speculative-eagle-topk 1")
