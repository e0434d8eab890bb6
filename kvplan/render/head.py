"""What stands at the top of every report: the engine, the GPU, and what was changed of the model."""

from __future__ import annotations

from kvplan.architecture import Architecture
from kvplan.records import Plan

_SHORT_DTYPES = {
    "bfloat16": "bf16",
    "float16": "fp16",
    "float32": "fp32",
    "float8_e4m3fn": "fp8_e4m3",
    "float8_e5m2": "fp8_e5m2",
    "float4_e2m1fn_x2": "fp4",
}


def changes(model: Architecture) -> tuple[str, ...]:
    """What a what-if changed of the published model, as a line of the head."""
    return (f"changed: {'; '.join(model.changes)}",) if model.changes else ()


def engine_facts(plan: Plan) -> tuple[str, ...]:
    """Engine, GPU, parallelism, KV dtype and page, each a short phrase."""
    asked, resolved = plan.deployment, plan.resolved
    assumed = " (assumed)" if asked.gpu is None else ""
    return (
        f"SGLang {asked.engine_version}",
        f"{resolved.gpu.upper()}{assumed}",
        f"TP {asked.tp}",
        *([f"attention DP {resolved.attention_dp}"] if resolved.attention_dp > 1 else []),
        *([f"{asked.dp} replicas"] if asked.dp > 1 and not asked.enable_dp_attention else []),
        *([f"EP {asked.expert_parallel}"] if asked.expert_parallel > 1 else []),
        *([asked.moe_a2a_backend] if asked.exchanges_experts and asked.moe_a2a_backend else []),
        *([f"PP {asked.pp}"] if asked.pp > 1 else []),
        *([f"DCP {asked.dcp}"] if asked.dcp > 1 else []),
        f"KV {resolved.kv_cache_dtype}",
        f"page {resolved.page_size}",
    )


def short_dtype(name: str) -> str:
    """`float8_e4m3fn` -> `fp8_e4m3`, as SGLang's flag has it."""
    return _SHORT_DTYPES.get(name, name)
