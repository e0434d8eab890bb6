"""How a checkpoint is quantised, as far as the KV cache and the GPU are concerned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kvplan.architecture import Quantization
from kvplan.config import MAX_NAME, Config
from kvplan.readers.reading import Reading

_MIXED = "MIXED_PRECISION"
# Multimodal types that SGLang brings classes of its own for (_CONFIG_REGISTRY): those do not take over what
# stands in the text part, unless they say so (configs/kimi_k25.py, kimi_k3.py, glm5_next.py).
_KEEPS_APART = frozenset(
    """
    NemotronH_Nano_Omni_Reasoning_V3 NemotronH_Nano_VL_V2 bailing_moe_v3_vl bailingmm_moe_v2_lite deepseek-ocr
    deepseek_vl_v2 dots_vlm gemma4_unified inkling_mm_model intern_s2_preview interns2_mobius jet_vlm kimi_vl
    locateanything minicpmv4_6 minicpmv4_7 minimax_m3_vl multi_modality muse_glimmer nemotron_h_omni qwen3_5
    qwen3_5_moe qwen4_exp step3_vl step3p7
    """.split()
)


def quantization(reading: Reading, beside: Mapping[str, Any] | None) -> Quantization | None:
    """How the checkpoint stores K and V, from quantization_config or the hf_quant_config.json beside it.

    The file beside counts where config.json is silent, or names mixed layers without their formats.
    Source: SGLang, configs/model_config.py, _parse_quant_hf_config, and model_loader/weight_utils.py,
    get_quant_config.
    """
    config = _quantization_config(reading)
    if beside is not None and (config is None or _incomplete(config)):
        return _quantization_beside(beside)
    if config is None:
        return None
    method = config.name("quant_method")
    if (method or "modelopt").startswith("modelopt"):
        weights = _algo(config.get("quant_algo"))
        algo, bare = _modelopt_algo(config)
        return _modelopt(weights, algo, bare=bare)
    if method == "compressed-tensors":
        return Quantization(method=method, kv_cache_algo="FP8" if _fp8_scheme(config) else None)
    return Quantization(method=method or "", kv_cache_algo=_kv_algo(config))


def _quantization_config(reading: Reading) -> Config | None:
    """The part of the file that says how weights are stored: at the top, else in the text part.

    Source: SGLang, utils/hf_transformers/config.py: keys of the text part are copied where the whole has
    none.
    """
    found = reading.outer.mapping("quantization_config")
    if found is None and reading.outer.text("model_type") not in _KEEPS_APART:
        found = reading.config.mapping("quantization_config")
    return found or reading.outer.mapping("compression_config")


def _quantization_beside(beside: Mapping[str, Any]) -> Quantization:
    inner = beside.get("quantization", beside)
    found = inner if isinstance(inner, Mapping) else {}
    weights, algo = (found.get(key) for key in ("quant_algo", "kv_cache_quant_algo"))
    return _modelopt(_algo(weights), _algo(algo), bare=False)


def _modelopt(weights: str | None, kv: str | None, *, bare: bool) -> Quantization:
    return Quantization(
        method="modelopt",
        kv_cache_algo=kv,
        bare_kv_algo=bare and kv is not None,
        weights_algo=weights,
        mixed=weights == _MIXED,
    )


def _incomplete(config: Config) -> bool:
    if config.get("quant_algo") != _MIXED:
        return False
    named = "kv_cache_quant_algo" in config or "kv_cache_scheme" in config
    return "quantized_layers" not in config or not named


def _modelopt_algo(config: Config) -> tuple[str | None, bool]:
    """The format of K and V, and whether it is a bare key beside the weights' format.

    Source: layers/quantization/modelopt_quant.py, from_config of the FP8 and FP4 classes.
    """
    algo = config.text("quant_algo")
    nested = config.mapping("quantization") if algo is None else None
    if nested is not None:
        return _kv_algo(nested), False
    scheme = config.get("kv_cache_scheme")
    if isinstance(scheme, Mapping):
        return ("FP8" if (scheme.get("type"), scheme.get("num_bits")) == ("float", 8) else None), False
    if isinstance(scheme, str) and "FP4" in (algo or ""):
        return ("FP8" if scheme.strip().upper() in ("FP8", "FLOAT8") else None), False
    return _kv_algo(config), True


def _kv_algo(config: Config) -> str | None:
    return _algo(config.get("kv_cache_quant_algo"))


def _algo(value: object) -> str | None:
    return value if isinstance(value, str) and len(value) <= MAX_NAME else None


def _fp8_scheme(config: Config) -> bool:
    scheme = config.get("kv_cache_scheme")
    return (
        isinstance(scheme, Mapping)
        and scheme.get("type") == "float"
        and scheme.get("num_bits") == 8
        and scheme.get("strategy") == "tensor"
        and scheme.get("symmetric", True) is True
        and not scheme.get("dynamic")
    )
