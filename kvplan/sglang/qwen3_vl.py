"""Qwen3-VL on a large Hopper GPU, where 0.5.23 serves it by settings of its own.

Source: arg_groups/model_overrides/qwen3_vl.py, large_hopper_qwen3_vl_model_type,
_qwen3vl_hopper_serving_overrides and expand_multimodal_decode_graph_to_running_limit.
"""

from __future__ import annotations

from kvplan.hardware import Gpu
from kvplan.sglang.model import EngineModel
from kvplan.sglang.rule_set import Rules

_LARGE_MIB = 60 * 1024
_MODEL_TYPES = ("qwen3_vl", "qwen3_vl_moe")
DECODE_BACKEND = "flashinfer"
# Image features travel over CUDA IPC (SGLANG_MM_FEATURE_CACHE_MB), and no embeddings are kept
# (SGLANG_VLM_CACHE_SIZE_MB = 0); more of them where many requests run.
QWEN3_VL_RESERVE_MIB = 1024
QWEN3_VL_BUSY_REQUESTS = 400
QWEN3_VL_BUSY_RESERVE_MIB = 3 * 1024
# Running requests up to which decode graphs follow --max-running-requests.
MOST_GRAPH_REQUESTS = 512


def large_hopper_qwen3_vl(model: EngineModel, gpu: Gpu, rules: Rules) -> bool:
    """Whether those settings apply."""
    return (
        rules.qwen3_vl_on_hopper
        and gpu.is_hopper
        and gpu.memory_mib >= _LARGE_MIB
        and model.multimodal
        and model.architecture.model_type in _MODEL_TYPES
    )
