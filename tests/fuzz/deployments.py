"""Deployments that are valid by themselves, over every option that leads to code of its own."""

from __future__ import annotations

from typing import Any

from kvplan import Deployment

_GIB = 1 << 30
_OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"available_bytes": 60 * _GIB},
    {"available_bytes": 1},
    {"available_bytes": 1 << 50},
    {"available_bytes": 60 * _GIB, "tp": 8, "ctx": 100_000},
    {"available_bytes": 60 * _GIB, "tp": 16, "concurrency": 32},
    {"available_bytes": 60 * _GIB, "tp": 4, "pp": 2},
    {"available_bytes": 60 * _GIB, "tp": 8, "dp": 8, "enable_dp_attention": True},
    {"available_bytes": 60 * _GIB, "tp": 8, "dp": 2, "enable_dp_attention": True, "ep": 4},
    {"available_bytes": 60 * _GIB, "tp": 8, "dcp": 2},
    {"available_bytes": 60 * _GIB, "tp": 16, "moe_a2a_backend": "deepep", "moe_dense_tp_size": 1},
    {"gpu": "h100", "tp": 8, "ep": 2, "weights": "auto", "moe_a2a_backend": "none"},
    {"available_bytes": 60 * _GIB, "kv_cache_dtype": "fp8_e4m3"},
    {"available_bytes": 60 * _GIB, "kv_cache_dtype": "nvfp4", "gpu": "b200"},
    {"available_bytes": 60 * _GIB, "kv_cache_dtype": "bfloat16", "page_size": 64},
    {"available_bytes": 60 * _GIB, "engine_version": "0.5.12"},
    {"available_bytes": 60 * _GIB, "engine_version": "0.5.12", "tp": 8, "pp": 2},
    {"available_bytes": 60 * _GIB, "engine_version": "0.5.14", "speculative_algorithm": "EAGLE", "tp": 4},
    {"available_bytes": 60 * _GIB, "engine_version": "0.5.18", "kv_cache_dtype": "fp8_e4m3"},
    {"available_bytes": 60 * _GIB, "engine_version": "0.5.21", "gpu": "b200", "tp": 8},
    {"available_bytes": 60 * _GIB, "disable_hybrid_swa_memory": True},
    {"available_bytes": 60 * _GIB, "swa_full_tokens_ratio": 0.1, "tp": 2},
    {"available_bytes": 60 * _GIB, "disable_radix_cache": True, "max_running_requests": 7},
    {"available_bytes": 60 * _GIB, "mamba_full_memory_ratio": 3.0, "mamba_ssm_dtype": "bfloat16"},
    {"available_bytes": 60 * _GIB, "max_mamba_cache_size": 20},
    {"available_bytes": 60 * _GIB, "max_total_tokens": 5_000},
    {"available_bytes": 60 * _GIB, "speculative_algorithm": "EAGLE", "tp": 8},
    {"available_bytes": 60 * _GIB, "speculative_algorithm": "NEXTN", "tp": 4},
    {"available_bytes": 60 * _GIB, "enable_hisparse": True, "tp": 8},
    {"available_bytes": 60 * _GIB, "snapshot_every": 4096, "draft_tokens": 4},
    {"available_bytes": 60 * _GIB, "context_length": 1 << 24, "ctx": 1 << 24},
    {"available_bytes": 60 * _GIB, "assume_supported": True, "tp": 32},
    {"available_bytes": 60 * _GIB, "attention_backend": "flashinfer"},
    {"gpu": "h200", "weights": "auto"},
    {"gpu": "h100", "tp": 8, "weights": "estimate"},
    {"gpu": "b200", "tp": 8, "weights": "metadata", "concurrency": 8},
    {"gpu": "l4", "weights_per_gpu": 8 * _GIB},
    {"gpu": "a100-80gb", "pre_model_load_gib": 78.0, "free_gib": 40.5},
    {"tp": 3},
    {"ctx": 1 << 40},
    {"kv_cache_dtype": "fp8_e5m2", "ctx": 1},
)
DEPLOYMENTS = tuple(Deployment(**options) for options in _OPTIONS)
# For comparing a model with another one: nothing on it depends on how many layers there are.
PLAIN = Deployment(ctx=100_000)
