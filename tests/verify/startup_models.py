"""Models of published starts that are not bundled: the few facts that a cache needs.

Heads and widths from the models' configs; of Gemma-4 12B and 31B from the pools of the starts themselves.
"""

from __future__ import annotations

from typing import Any

from kvplan import load
from kvplan.architecture import Architecture, Source
from kvplan.layers import (
    FullAttention,
    GatedDeltaNet,
    Layer,
    Mamba2,
    ShortConv,
    SlidingAttention,
)


def _full(kv_heads: int, head_dim: int) -> Layer:
    return FullAttention(kv_heads=kv_heads, head_dim=head_dim, v_head_dim=head_dim)


def _sliding(kv_heads: int) -> Layer:
    return SlidingAttention(kv_heads=kv_heads, head_dim=256, v_head_dim=256, window=1024)


def _model(name: str, architecture: str, layers: tuple[Layer, ...], **facts: Any) -> Architecture:
    return Architecture(
        id=name,
        architecture=architecture,
        layers=layers,
        dtype="bfloat16",
        source=Source(kind="file", location="tests"),
        **facts,
    )


_GEMMA_4 = "Gemma4ForConditionalGeneration"
_GDN = GatedDeltaNet(k_heads=16, v_heads=32, k_head_dim=128, v_head_dim=128, conv_kernel=4)
_MAMBA2 = Mamba2(heads=64, head_dim=64, state_size=128, groups=1, conv_kernel=4)

_MODELS = {
    model.id: model
    for model in (
        _model("gpt2", "GPT2LMHeadModel", (_full(12, 64),) * 12, context_length=1_024),
        _model("Qwen3-1.7B", "Qwen3ForCausalLM", (_full(8, 128),) * 28, context_length=40_960),
        _model("QwQ-32B", "Qwen2ForCausalLM", (_full(8, 128),) * 64, context_length=131_072),
        _model("gemma-4-12B", _GEMMA_4, (*(_sliding(8),) * 5, _full(1, 512)) * 8, context_length=262_144),
        _model("gemma-4-31B", _GEMMA_4, (*(_sliding(16),) * 5, _full(4, 512)) * 10, context_length=262_144),
        _model(
            "granite-4.0-h-micro",
            "GraniteMoeHybridForCausalLM",
            (*(_MAMBA2,) * 36, *(_full(8, 64),) * 4),
            context_length=131_072,
        ),
        _model(
            "LFM2-700M",
            "Lfm2ForCausalLM",
            (*(ShortConv(dim=1536, conv_kernel=3),) * 10, *(_full(8, 64),) * 6),
            context_length=128_000,
        ),
        # Qwen3.5-35B-A3B cut to 8 of 40 layers
        _model(
            "Qwen3.5-35B-A3B, 8 layers",
            "Qwen3_5MoeForConditionalGeneration",
            (_GDN, _GDN, _GDN, _full(2, 256)) * 2,
            context_length=262_144,
        ),
    )
}


def model(name: str) -> Architecture:
    """One of the above, else a bundled model."""
    return _MODELS.get(name) or load(name, source="bundled")
