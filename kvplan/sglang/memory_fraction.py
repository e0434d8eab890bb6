"""The default of --mem-fraction-static: what the engine keeps free for activations and CUDA graphs.

Source: arg_groups/memory_hook.py, handle_gpu_memory_settings (0.5.23); server_args.py,
_handle_gpu_memory_settings (0.5.12). The engine computes it in double precision from MiB; the same
operations follow here in the same order.
"""

from __future__ import annotations

from functools import lru_cache

from kvplan.architecture import Vision
from kvplan.deployment import UNCHUNKED, Deployment
from kvplan.frozen import dataclass
from kvplan.hardware import Gpu
from kvplan.sglang.backend_defaults import NEMOTRON_H
from kvplan.sglang.families import KDA_BY_CONFIG
from kvplan.sglang.memory_tiers import MemoryTier
from kvplan.sglang.model import EngineModel
from kvplan.sglang.qwen3_vl import MOST_GRAPH_REQUESTS, large_hopper_qwen3_vl
from kvplan.sglang.rule_set import Rules
from kvplan.units import ceil_to_page

_METADATA_MIB = 512
_MIB_PER_PREFILL_TOKEN = 1.5
_LEAST_PREFILL_TOKENS = 2048
# --max-prefill-tokens, which counts where prompts are not cut into chunks.
_UNCHUNKED_PREFILL_TOKENS = 16384
_LARGE_GPU_MIB = 60 * 1024
_LARGE_GPU_RESERVE_MIB = 10 * 1024
_MIB_PER_GRAPH_BATCH = 2
_MLA_PREFILL_GRAPH_MIB = 1.5 * 1024
_MIB_PER_PREFILL_GRAPH = 8
# DeepEP captures prefill graphs for multiples of 8 tokens up to these, and needs a pool beside them.
_DEEPEP = "deepep"
_DEEPEP_GRAPH_TOKENS, _DEEPEP_GRAPH_STEP, _DEEPEP_GRAPH_MIB = 2048, 8, 1024
# A vision tower takes 5 % of the fraction, and more or less than that by its size against ViT-L/14.
_VISION_FACTOR = 0.95
_VISION_LAYERS, _VISION_HIDDEN = 24, 1024
_VISION_SENSITIVITY = 0.1
_VISION_BOUNDS = (0.8, 1.05)
# What stays free where the pool is sized once graphs are captured: a floor, and room for the image encoder.
_AFTER_CAPTURE_MIB = 1536
_AFTER_CAPTURE_VISION_MIB = 8 * 1024
# Llama-2 checkpoints capture prefill graphs up to this many tokens only, told by the path.
_LLAMA2_GRAPH_TOKENS = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySettings:
    """Prefill chunk in tokens (-1: whole prompts) and the share of free memory for weights and pools."""

    chunked_prefill_size: int
    mem_fraction_static: float


def memory_settings(model: EngineModel, deployment: Deployment, gpu: Gpu, rules: Rules) -> MemorySettings:
    """Chunk and fraction, each the user's where given."""
    tier = next(tier for tier in rules.tiers if gpu.memory_mib < tier.below_mib)
    chunk = deployment.chunked_prefill_size or tier.chunked_prefill_size
    if deployment.prefill_only_disable_kv_cache:
        chunk = UNCHUNKED  # the engine demands it
    fraction = deployment.mem_fraction_static
    if fraction is None:
        fraction = _default_fraction(model, deployment, gpu, rules, tier, chunk)
    return MemorySettings(chunked_prefill_size=chunk, mem_fraction_static=fraction)


def _default_fraction(
    model: EngineModel, deployment: Deployment, gpu: Gpu, rules: Rules, tier: MemoryTier, chunk: int
) -> float:
    if _sized_after_capture(model, deployment, rules, chunk):
        return _fraction_after_capture(deployment, gpu)
    batch = _graph_batch(model, deployment, gpu, rules, tier)
    reserved: float = _METADATA_MIB
    prefill = _UNCHUNKED_PREFILL_TOKENS if chunk == UNCHUNKED else chunk
    reserved += max(prefill, _LEAST_PREFILL_TOKENS) * _MIB_PER_PREFILL_TOKEN
    reserved += deployment.tp * deployment.pp / 8 * 1024
    reserved += _graph_reserve(model, deployment, rules, batch, chunk)
    if gpu.memory_mib > _LARGE_GPU_MIB:
        reserved = max(reserved, _LARGE_GPU_RESERVE_MIB)
    if deployment.speculative_algorithm not in (None, "NGRAM"):
        reserved += rules.draft_headroom_mib
    if deployment.moe_a2a_backend == _DEEPEP:
        reserved += rules.deepep_buffers_mib
    fraction = round((gpu.memory_mib - reserved) / gpu.memory_mib, 3)
    vision = model.architecture.vision
    if not model.multimodal or vision is None:
        return fraction
    if model.name in rules.vision_unread:
        vision = Vision(layers=None, hidden_size=None)
    return fraction * _VISION_FACTOR * _vision_adjustment(vision)


def _graph_batch(model: EngineModel, deployment: Deployment, gpu: Gpu, rules: Rules, tier: MemoryTier) -> int:
    batch = tier.graph_batch if deployment.tp < 4 else tier.graph_batch_from_tp4
    asked = deployment.max_running_requests
    if asked is None or not rules.running_requests_lower_graph_batch:
        return batch
    if batch < asked <= MOST_GRAPH_REQUESTS and large_hopper_qwen3_vl(model, gpu, rules):
        return asked
    return min(batch, asked)


def _sized_after_capture(model: EngineModel, deployment: Deployment, rules: Rules, chunk: int) -> bool:
    """Source: arg_groups/overrides.py, post_capture_kv_sizing_planned."""
    captured = chunk if deployment.max_total_tokens is None else min(chunk, deployment.max_total_tokens)
    if deployment.moe_a2a_backend == _DEEPEP:
        captured = _DEEPEP_GRAPH_TOKENS
    return (
        model.name in rules.sized_after_capture
        and _captures_prefill(model, deployment, rules)
        and 0 < chunk <= captured
    )


def _fraction_after_capture(deployment: Deployment, gpu: Gpu) -> float:
    reserved = _AFTER_CAPTURE_MIB + deployment.tp * deployment.pp / 8 * 1024
    return round((gpu.memory_mib - reserved) / gpu.memory_mib, 3) - _AFTER_CAPTURE_VISION_MIB / gpu.memory_mib


def _graph_reserve(model: EngineModel, deployment: Deployment, rules: Rules, batch: int, chunk: int) -> float:
    reserved: float = batch * _MIB_PER_GRAPH_BATCH
    if deployment.attention_dp > 1 or deployment.enable_dp_attention:
        reserved += batch * deployment.attention_dp * 3
        if batch > 300:
            reserved += batch * deployment.attention_dp * 1.5
    if _captures_prefill(model, deployment, rules):
        if model.mla:
            reserved += _MLA_PREFILL_GRAPH_MIB
        elif deployment.moe_a2a_backend == _DEEPEP:
            reserved += _prefill_graphs(_DEEPEP_GRAPH_TOKENS, _DEEPEP_GRAPH_STEP) * _MIB_PER_PREFILL_GRAPH
        else:
            reserved += (
                _prefill_graphs(_most_graph_tokens(model, deployment, chunk, rules)) * _MIB_PER_PREFILL_GRAPH
            )
        if deployment.moe_a2a_backend == _DEEPEP:
            reserved += _DEEPEP_GRAPH_MIB
    return reserved


def _captures_prefill(model: EngineModel, deployment: Deployment, rules: Rules) -> bool:
    """Source: cuda_graph_hook.disable_breakable_cudagraph_if_incompatible; _handle_piecewise_cuda_graph."""
    if model.multimodal and model.name in rules.piecewise_multimodal:
        exchanges = deployment.exchanges_experts
        return deployment.pp == 1 and not deployment.enable_dp_attention and not exchanges
    if model.name in rules.no_prefill_graph:
        return False
    reasons = {
        "pp": deployment.pp > 1,
        "a2a": deployment.exchanges_experts
        and deployment.moe_a2a_backend not in rules.a2a_with_prefill_graph,
        "dcp": deployment.dcp > 1,
        "attention dp": deployment.enable_dp_attention,
        "multimodal": model.multimodal and model.name not in rules.multimodal_prefill_graph,
        "mla": model.mla,
        "mla without index": model.mla and not model.dsa,
        "dsv4": model.dsv4,
        "kda": model.name in KDA_BY_CONFIG,
        "nemotron": model.name in NEMOTRON_H,
    }
    return not any(reasons[name] for name in (*rules.no_prefill_graph_with, "a2a"))


def _most_graph_tokens(model: EngineModel, deployment: Deployment, chunk: int, rules: Rules) -> int:
    most = min(chunk, rules.prefill_graph_tokens.get(model.name, chunk))
    if deployment.max_total_tokens is not None:
        most = min(most, deployment.max_total_tokens)
    if rules.graph_tokens_within_context and deployment.context_length is not None:
        most = min(most, deployment.context_length)
    paths = (model.architecture.source.location, model.architecture.id)
    if rules.llama2_graph_cap and any("llama-2" in path.lower() for path in paths):
        most = min(most, _LLAMA2_GRAPH_TOKENS)
    return most


@lru_cache(maxsize=64)
def _prefill_graphs(most_tokens: int, step: int = 1) -> int:
    """How many graphs are captured: one for each size up to `most_tokens`, rounded up to a `step`."""
    sizes = [
        *range(4, 33, 4),
        *range(48, 257, 16),
        *range(288, 513, 32),
        *range(576, 1025, 64),
        *range(1280, 4097, 256),
        *range(4608, most_tokens + 1, 512),
    ]
    return len({ceil_to_page(size, step) for size in sizes if size <= most_tokens})


def _vision_adjustment(vision: Vision) -> float:
    layers = _VISION_LAYERS if vision.layers is None else vision.layers
    hidden = _VISION_HIDDEN if vision.hidden_size is None else vision.hidden_size
    complexity = layers * hidden**2 / (_VISION_LAYERS * _VISION_HIDDEN**2)
    low, high = _VISION_BOUNDS
    return max(low, min(high, 1.0 - _VISION_SENSITIVITY * (complexity - 1.0)))
