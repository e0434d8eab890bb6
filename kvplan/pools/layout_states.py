"""Buffers of recurrent states: one tensor for all layers and slots, one slot of it padding.

Source: mem_cache/memory_pool.py, MambaPool; configs/mamba_utils.py for the shapes.
"""

from __future__ import annotations

from math import prod

from kvplan.layers import (
    GatedDeltaNet,
    KimiDeltaAttention,
    LightningAttention,
    Mamba1,
    Mamba2,
    Recurrent,
    ShortConv,
)
from kvplan.layers.recurrent import padded_groups
from kvplan.pools.parts import Part, part, tensors
from kvplan.pools.states import StatePool
from kvplan.records import Buffer
from kvplan.sglang.model import Stage
from kvplan.sglang.settings import Settings

Shape = tuple[int, ...]
_POOL = "mamba_pool.mamba_cache."


def state_parts(settings: Settings, stage: Stage, pool: StatePool, running: int) -> list[Part]:
    """The state pool, and what a speculative server keeps per running request and draft token."""
    layers = sum(count for _, count in stage.states)
    found = [
        part(
            "state",
            _buffers(settings, stage, pool.slots),
            layers=layers,
            tokens=pool.slots,
            bytes_per_token=pool.slot_bytes,
            charged=pool.charged_slots * pool.slot_bytes,
        )
    ]
    if settings.draft_tokens:
        tokens = running * settings.draft_tokens
        found.append(
            part(
                "draft states",
                _intermediate(settings, stage, running),
                layers=layers,
                tokens=tokens,
                bytes_per_token=pool.slot_bytes,
                charged=pool.draft_bytes,
            )
        )
    return found


def state_shapes(layer: Recurrent, attention_tp: int) -> tuple[Shape, Shape]:
    """(convolution, recurrent) state of one layer and slot on one GPU; (0,) where there is none."""
    match layer:
        case GatedDeltaNet():
            groups = padded_groups(layer.k_heads, attention_tp)
            channels = layer.v_heads * layer.v_head_dim + 2 * groups * layer.k_head_dim
            conv: Shape = (channels // attention_tp, layer.conv_kernel - 1)
            return conv, (layer.v_heads // attention_tp, layer.v_head_dim, layer.k_head_dim)
        case Mamba2():
            groups = padded_groups(layer.groups, attention_tp)
            channels = layer.heads * layer.head_dim + 2 * groups * layer.state_size
            conv = (channels // attention_tp, layer.conv_kernel - 1)
            return conv, (layer.heads // attention_tp, layer.head_dim, layer.state_size)
        case KimiDeltaAttention():
            # The window comes first here (KimiLinearStateShape).
            conv = (layer.conv_kernel - 1, 3 * layer.heads * layer.head_dim // attention_tp)
            return conv, (layer.heads // attention_tp, layer.head_dim, layer.head_dim)
        case Mamba1():
            channels = layer.intermediate // attention_tp
            return (channels, layer.conv_kernel - 1), (channels, 1, layer.state_size)
        case LightningAttention():
            return (0,), (layer.heads // attention_tp, layer.head_dim, layer.head_dim)
        case ShortConv():
            return (layer.dim // attention_tp, layer.conv_kernel - 1), (0,)


def _buffers(settings: Settings, stage: Stage, slots: int) -> tuple[Buffer, ...]:
    found = []
    for layer, count in stage.states:
        conv, recurrent = state_shapes(layer, settings.attention_tp)
        dtype = settings.deployment.mamba_ssm_dtype or layer.state_dtype
        found += _tensor("conv", (count, slots + 1, *conv), layer.conv_dtype)
        found += _tensor("temporal", (count, slots + 1, *recurrent), dtype)
    return tuple(found)


def _intermediate(settings: Settings, stage: Stage, running: int) -> tuple[Buffer, ...]:
    """States after every draft token of every running request, until the drafts are verified."""
    found, drafts = [], settings.draft_tokens
    for layer, count in stage.states:
        conv, recurrent = state_shapes(layer, settings.attention_tp)
        dtype = settings.deployment.mamba_ssm_dtype or layer.state_dtype
        slots: Shape = (count, running + 1)
        found += _tensor("intermediate_ssm", (*slots, drafts, *recurrent), dtype)
        windows = (drafts, *conv)
        if _overlaps_windows(settings, layer):
            windows = (conv[0], drafts + conv[-1] - 1)
        found += _tensor("intermediate_conv_window", (*slots, *windows), layer.conv_dtype)
    return tuple(found)


def _overlaps_windows(settings: Settings, layer: Recurrent) -> bool:
    """One row of inputs for all drafts in place of a window each (conv_window_dedup_enabled)."""
    single_path = (settings.deployment.speculative_eagle_topk or 1) <= 1
    has_window = not isinstance(layer, KimiDeltaAttention | LightningAttention)
    return settings.rules.overlaps_draft_windows and single_path and has_window


def _tensor(name: str, shape: Shape, dtype: str) -> list[Buffer]:
    return [tensors(_POOL + name, shape, dtype)] if prod(shape) else []
