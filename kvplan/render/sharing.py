"""How one request's cache lies on the GPUs, in words: what is split, what is stored more than once."""

from __future__ import annotations

from kvplan.layers import (
    CompressedAttention,
    FullAttention,
    IndexedAttention,
    LatentAttention,
    Layer,
    ParallelLayer,
    SlidingAttention,
)
from kvplan.records import Plan


def copies(plan: Plan) -> str:
    """`2 KV heads on 8 GPUs: stored 4 times`; empty on one GPU."""
    tp = plan.resolved.attention_tp
    if tp == 1:
        return ""
    layers = [layer for layer, _ in plan.architecture.groups]
    heads = sorted({count for layer in layers if (count := _kv_heads(layer))})
    said = [_heads_on(count, tp) for count in heads]
    if any(isinstance(layer, LatentAttention | CompressedAttention) for layer in layers):
        said.append(f"latents stored on each of {tp} GPUs")
    return "; ".join(said)


def fixed_parts(plan: Plan) -> str:
    """What a request takes whatever its length: states with their dtypes, windows."""
    asked = plan.deployment.mamba_ssm_dtype
    dtypes = set()
    for state, _ in plan.architecture.states:
        convolution, recurrent = state.state_elements(1)
        dtypes |= {f"state {asked or state.state_dtype}"} if recurrent else set()
        dtypes |= {f"conv {state.conv_dtype}"} if convolution else set()
    parts = [", ".join(sorted(dtypes, reverse=True))] if dtypes else []
    windows = sorted({size for layer, _ in plan.architecture.groups if (size := _window(layer))})
    if windows:
        parts.append("windows of " + ", ".join(f"{size:,}" for size in windows))
    return " and ".join(parts)


def _heads_on(kv_heads: int, tp: int) -> str:
    if tp > kv_heads:
        return f"{kv_heads} KV head{'s' * (kv_heads > 1)} on {tp} GPUs: stored {tp // kv_heads} times"
    return f"{kv_heads // tp} of {kv_heads} KV heads on each GPU"


def _kv_heads(layer: Layer) -> int:
    match layer:
        case FullAttention() | SlidingAttention() | IndexedAttention():
            return layer.kv_heads
        case ParallelLayer():
            return layer.attention.kv_heads
        case _:
            return 0


def _window(layer: Layer) -> int:
    match layer:
        case SlidingAttention() | CompressedAttention() | LatentAttention():
            return layer.window
        case ParallelLayer():
            return _window(layer.attention)
        case _:
            return 0
