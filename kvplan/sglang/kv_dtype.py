"""What `--kv-cache-dtype auto` becomes, and which formats a model and a GPU can take."""

from __future__ import annotations

from kvplan.config import near
from kvplan.deployment import Deployment
from kvplan.dtypes import KvFormat
from kvplan.errors import bad_option, refused
from kvplan.hardware import Gpu
from kvplan.sglang.model import EngineModel
from kvplan.sglang.rule_set import Rules

AUTO = "auto"


def model_dtype(model: EngineModel) -> str:
    """The dtype that weights are loaded in: the config's; float32 or none is halved.

    Source: configs/model_config.py, _get_and_verify_dtype; gpt-oss in MXFP4 runs in bfloat16
    (model_overrides/gpt_oss.py).
    """
    published = model.architecture.dtype
    if published not in (None, "float32"):
        return published or ""
    quantization = model.architecture.quantization
    if model.name == "GptOssForCausalLM" and quantization is not None and quantization.method == "mxfp4":
        return "bfloat16"
    return "bfloat16" if model.architecture.model_type.startswith("gemma") else "float16"


def check_flag(deployment: Deployment, rules: Rules) -> None:
    """InputError for a format that this version does not know."""
    flag = deployment.kv_cache_dtype
    if flag != AUTO and flag not in rules.formats:
        known = (AUTO, *rules.formats)
        raise bad_option(
            "kv_cache_dtype", f"SGLang {rules.version} has no KV dtype {flag!r}", near(flag, known)
        )


def kv_flag(model: EngineModel, deployment: Deployment, gpu: Gpu, rules: Rules) -> str:
    """The flag after the engine's defaults; stays `auto` where the model's own dtype decides."""
    flag = deployment.kv_cache_dtype
    if model.dsv4:
        return _checked_dsv4(model, "fp8_e4m3" if flag == AUTO else flag, rules)
    if model.dsa:
        return _checked_dsa(model, _dsa_default(model, gpu) if flag == AUTO else flag)
    if flag != AUTO:
        return flag
    if model.name in _FP8_BY_DEFAULT:
        return "fp8_e4m3"
    return "fp8_e4m3" if _checkpoint_wants_fp8(model, rules) else AUTO


# arg_groups/overrides.py, _muse_spark_overrides.
_FP8_BY_DEFAULT = frozenset({"MuseSparkForConditionalGeneration"})


def kv_format(flag: str, model: EngineModel, rules: Rules) -> KvFormat:
    """The storage format of a resolved flag."""
    return KvFormat(dtype=model_dtype(model)) if flag == AUTO else rules.formats[flag]


def _checkpoint_wants_fp8(model: EngineModel, rules: Rules) -> bool:
    quantization = model.architecture.quantization
    return (
        quantization is not None
        and quantization.method in rules.kv_algo_methods
        and (quantization.kv_cache_algo or "").upper() == "FP8"
        and model.name not in rules.drops_quant_config
        and (rules.mixed_keeps_kv_algo or not quantization.mixed)
        and (rules.reads_bare_kv_algo or not quantization.bare_kv_algo)
    )


def _dsa_default(model: EngineModel, gpu: Gpu) -> str:
    return "fp8_e4m3" if gpu.sm >= 100 and not model.architecture.attention_sinks else "bfloat16"


def _checked_dsa(model: EngineModel, flag: str) -> str:
    # arg_groups/overrides.py, _dsa_kv_cache_dtype_default.
    if flag == "fp8_e4m3" and model.architecture.attention_sinks:
        raise refused("learned attention sinks of sparse MLA need bfloat16 KV", "--kv-cache-dtype bfloat16")
    if flag not in ("bf16", "bfloat16", "fp8_e4m3"):
        raise refused(
            f"sparse MLA (DSA) keeps KV as bfloat16 or fp8_e4m3, not {flag}",
            "--kv-cache-dtype fp8_e4m3 or bfloat16",
        )
    return flag


def _checked_dsv4(model: EngineModel, flag: str, rules: Rules) -> str:
    # overrides.py, _deepseek_v4_kv_cache_dtype; deepseek_v4_hook.py in 0.5.12 allows fp8_e4m3 alone.
    allowed = ("fp8_e4m3", "bfloat16") if rules.dsv4_takes_bfloat16 else ("fp8_e4m3",)
    if flag not in allowed:
        raise refused(f"{flag} is not a KV dtype of {model.name}", f"--kv-cache-dtype {' or '.join(allowed)}")
    return flag
