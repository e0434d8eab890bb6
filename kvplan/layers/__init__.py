"""Layer kinds: one frozen record per attention design, each of which knows its own bytes."""

from __future__ import annotations

from kvplan.layers.attention import FullAttention, SlidingAttention
from kvplan.layers.base import LayerKind, StateKind, Storage
from kvplan.layers.composite import IndexedAttention, NoCache, ParallelLayer, SharedAttention
from kvplan.layers.compressed import CompressedAttention
from kvplan.layers.latent import LatentAttention
from kvplan.layers.recurrent import (
    GatedDeltaNet,
    KimiDeltaAttention,
    LightningAttention,
    Mamba1,
    Mamba2,
    ShortConv,
)

Recurrent = GatedDeltaNet | KimiDeltaAttention | Mamba2 | Mamba1 | LightningAttention | ShortConv
Layer = (
    FullAttention
    | SlidingAttention
    | LatentAttention
    | CompressedAttention
    | IndexedAttention
    | GatedDeltaNet
    | KimiDeltaAttention
    | Mamba2
    | Mamba1
    | LightningAttention
    | ShortConv
    | ParallelLayer
    | SharedAttention
    | NoCache
)

LAYER_KINDS: tuple[type[Layer], ...] = (
    FullAttention,
    SlidingAttention,
    LatentAttention,
    CompressedAttention,
    IndexedAttention,
    GatedDeltaNet,
    KimiDeltaAttention,
    Mamba2,
    Mamba1,
    LightningAttention,
    ShortConv,
    ParallelLayer,
    SharedAttention,
    NoCache,
)

__all__ = [
    "LAYER_KINDS",
    "CompressedAttention",
    "FullAttention",
    "GatedDeltaNet",
    "IndexedAttention",
    "KimiDeltaAttention",
    "LatentAttention",
    "Layer",
    "LayerKind",
    "LightningAttention",
    "Mamba1",
    "Mamba2",
    "NoCache",
    "ParallelLayer",
    "Recurrent",
    "SharedAttention",
    "ShortConv",
    "SlidingAttention",
    "StateKind",
    "Storage",
]
