"""Deployments at which the engine stops before any pool is sized, with its reason and what helps."""

from __future__ import annotations

from kvplan.architecture import Architecture
from kvplan.deployment import Deployment
from kvplan.errors import bad_option, refused
from kvplan.hardware import Gpu
from kvplan.sglang.model import EngineModel, has_windows, head_shape
from kvplan.sglang.rule_set import Rules

FP4_MHA_BACKENDS = ("triton", "torch_native", "flex_attention", "trtllm_mha")
FP4_FA4_DECODE_BACKENDS = ("triton", "torch_native", "flex_attention")


def refuse_unsupported(model: EngineModel, deployment: Deployment, rules: Rules) -> None:
    """The model's class is not in the registry of this version."""
    if not model.supported and not deployment.assume_supported:
        raise refused(
            f"SGLang {rules.version} has no model class {model.architecture.architecture}",
            "--assume-supported plans it all the same",
        )


def refuse_parallelism(model: EngineModel, deployment: Deployment, rules: Rules) -> None:
    """Heads, states or projections that can't be split the way the deployment asks."""
    attention_tp = deployment.attention_tp
    architecture = model.architecture
    _refuse_uneven_width(architecture, attention_tp)
    for state, _ in architecture.states:
        what = state.undivided(attention_tp)
        if what is not None:
            raise refused(f"{what} can't be split over {attention_tp} GPUs", "another --tp")
    expected = architecture.fused_qkv_tp
    fits = attention_tp == expected or (
        rules.fused_qkv_may_divide and expected is not None and expected % attention_tp == 0
    )
    if expected is not None and not fits:
        # configs/model_config.py, get_mimo_v2_fused_qkv_expected_tp_size.
        raise refused(
            f"{model.name} has fused projections for an attention TP of {expected}, not {attention_tp}",
            f"--tp {expected}, or a larger --tp with --enable-dp-attention and --dp tp/{expected}",
        )
    if architecture.model_type == "deepseek_v41":
        _refuse_v41(deployment)
    if deployment.dcp > attention_tp:
        raise bad_option("dcp", f"{deployment.dcp} ranks don't fit in an attention TP of {attention_tp}")
    if len(architecture.layers) < deployment.pp:
        raise bad_option("pp", f"{len(architecture.layers)} layers don't fill {deployment.pp} stages")


def _refuse_uneven_width(architecture: Architecture, attention_tp: int) -> None:
    """Projections of `heads x head_dim` columns are cut into equal parts (layers/linear.py, divide)."""
    heads, hidden = architecture.attention_heads, architecture.hidden_size
    if heads is None or hidden is None:
        return
    if heads % attention_tp and hidden % attention_tp:
        fitting = ", ".join(str(tp) for tp in (1, 2, 4, 8, 16) if heads % tp == 0)
        raise bad_option(
            "tp",
            f"neither {heads} attention heads nor {hidden} hidden dimensions divide by {attention_tp} GPUs",
            f"--tp {fitting} would do",
        )


def _refuse_v41(deployment: Deployment) -> None:
    # arg_groups/deepseek_v4_hook.py (0.5.23).
    if deployment.pp > 1:
        raise refused("DeepSeek-V4.1 has no pipeline parallelism yet", "--pp 1 with a larger --tp")
    if deployment.enable_hisparse:
        raise refused("DeepSeek-V4.1 does not support HiSparse yet", "leave --enable-hisparse out")
    if deployment.speculative_algorithm not in (None, "DSPARK"):
        raise refused("DeepSeek-V4.1 drafts with DSPARK only", "leave --speculative-algorithm out")


def refuse_hisparse(model: EngineModel, deployment: Deployment, rules: Rules) -> None:
    """HiSparse swaps what an index picks from; it needs one (hisparse_hook.py, validate_hisparse)."""
    if not deployment.enable_hisparse:
        return
    blocks = rules.hisparse_for_index_blocks and "indexed" in model.architecture.kinds
    if not (model.dsa or model.dsv4 or blocks):
        raise refused(
            f"HiSparse needs a model with a sparse index, not {model.name}", "leave --enable-hisparse out"
        )
    if not deployment.disable_radix_cache:
        raise refused("HiSparse does not go with the radix cache", "--disable-radix-cache")


def refuse_mixed_heads(model: EngineModel, rules: Rules) -> None:
    """Layers of two head shapes in a class that is read as having one."""
    heads = {shape.kv_heads for layer, _ in model.groups if (shape := head_shape(layer)) is not None}
    if model.name == "DeciLMForCausalLM" and len(heads) > 1:
        # configs/model_config.py, get_total_num_kv_heads.
        raise refused(
            f"{model.name} takes one number of KV heads, and its layers have "
            f"{' or '.join(map(str, sorted(heads)))}",
            "another engine",
        )
    widths = {shape.head_dim for layer, _ in model.groups if (shape := head_shape(layer)) is not None}
    if model.name in rules.one_head_dim and len(widths) > 1:
        # utils/hf_transformers/config.py flattens the two shapes of multimodal configs only.
        raise refused(
            f"{model.name} with head dimensions {', '.join(map(str, sorted(widths)))}: the text config alone "
            "can't be loaded",
            "the multimodal checkpoint (Gemma4ForConditionalGeneration)",
        )


def refuse_windows(model: EngineModel) -> None:
    """A class with split windows whose layers are all full (HybridSWAPoolConfigurator)."""
    if model.hybrid_swa and not has_windows(model.architecture):
        raise refused(
            f"{model.name} keeps full and sliding layers in two pools, and this model has no sliding layer",
            "--disable-hybrid-swa-memory",
        )


def refuse_context(deployment: Deployment, longest: int) -> None:
    """A longer context than the model has (configs/model_config.py, _derive_context_length)."""
    asked = deployment.context_length
    if asked is not None and asked > longest:
        raise refused(
            f"--context-length {asked} is above the model's {longest}",
            f"--context-length {longest}, or SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN=1 for the server",
        )


def refuse_rocm(model: EngineModel, gpu: Gpu) -> None:
    """Designs whose pools are other ones on AMD, where kvplan would have to guess.

    Source: arg_groups/overrides.py and model_overrides/deepseek_v2.py, deepseek_v4.py, minimax_m3.py
    (0.5.23): backends, pages and indexer formats that depend on ROCm.
    """
    indexed = "indexed" in model.architecture.kinds
    if gpu.is_rocm and (model.dsa or model.dsv4 or indexed):
        raise bad_option(
            "gpu",
            f"{gpu.title}: on ROCm SGLang lays {model.name}'s cache out by rules that kvplan does not have",
            f"--gpu-memory {gpu.memory_mib}MiB --gpu sm90 plans with Hopper's rules",
        )


def refuse_weights(model: EngineModel, gpu: Gpu, rules: Rules) -> None:
    """Weights in a format that this GPU has no kernels for (model_loader/loader.py)."""
    quantization = model.architecture.quantization
    if quantization is None or quantization.mixed or gpu.is_rocm:
        return
    algo = quantization.weights_algo or ""
    needed = next((sm for name, sm in rules.modelopt_needs_sm.items() if name in algo), 0)
    if gpu.sm < needed:
        raise refused(
            f"SGLang {rules.version} loads {algo} weights on SM {needed} and later, not on {gpu.name}",
            "another --gpu or checkpoint",
        )


def refuse_kv_format(
    model: EngineModel, deployment: Deployment, flag: str, backends: tuple[str, str], gpu: Gpu, rules: Rules
) -> None:
    """KV formats that the GPU or the attention backend can't read (arg_groups/kv_cache_hook.py)."""
    if flag == "mxfp8" and not gpu.is_blackwell:
        raise refused("mxfp8 KV needs a Blackwell GPU", "--kv-cache-dtype fp8_e4m3")
    if flag == "nvfp4" and not gpu.is_blackwell:
        raise refused("nvfp4 KV needs a Blackwell GPU", "--kv-cache-dtype fp4_mx_block16")
    prefill, backend = backends
    if flag in rules.fp4_flags and prefill == backend:  # a mixed pair is not checked
        _refuse_fp4(model, backend, rules)
    if backend == "trtllm_mla":
        _refuse_trtllm_mla(deployment, gpu, rules)


def _refuse_fp4(model: EngineModel, backend: str, rules: Rules) -> None:
    if model.mla:
        allowed = rules.fp4_mla_backends
    else:
        allowed = FP4_FA4_DECODE_BACKENDS if backend == "fa4" else FP4_MHA_BACKENDS
    if backend not in allowed:
        raise refused(
            f"FP4 KV is not read by the {backend} backend", f"--attention-backend {' or '.join(allowed)}"
        )


def _refuse_trtllm_mla(deployment: Deployment, gpu: Gpu, rules: Rules) -> None:
    # overrides.py, _mla_kv_cache_dtype_checks: the spelling "bfloat16" is refused, "bf16" is not.
    if not gpu.is_blackwell:
        raise refused("the trtllm_mla backend needs a Blackwell GPU", "another --attention-backend")
    allowed = ("auto", "bf16", "fp8_e4m3", *(rules.fp4_flags & {"fp4_e2m1"}))
    if deployment.kv_cache_dtype not in allowed:
        raise refused(
            f"the trtllm_mla backend takes {', '.join(allowed)} KV, not {deployment.kv_cache_dtype}",
            "--kv-cache-dtype fp8_e4m3, or --attention-backend flashinfer",
        )
