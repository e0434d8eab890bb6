"""Layers in words: long for the head of a report, short for a column of a comparison."""

from __future__ import annotations

from collections import Counter

from kvplan.architecture import Architecture
from kvplan.layers import (
    CompressedAttention,
    FullAttention,
    GatedDeltaNet,
    IndexedAttention,
    KimiDeltaAttention,
    LatentAttention,
    Layer,
    LightningAttention,
    Mamba1,
    Mamba2,
    NoCache,
    ParallelLayer,
    SharedAttention,
    ShortConv,
    SlidingAttention,
)
from kvplan.layers.compressed import CSA_RATIO, HCA_RATIO
from kvplan.render.text import plural

# Kinds whose words depend on nothing else: (short, long). Short is empty where nothing is kept.
_WORDS = {
    IndexedAttention.kind: ("indexed", "full attention with a block index"),
    GatedDeltaNet.kind: ("GDN", "gated delta net"),
    KimiDeltaAttention.kind: ("KDA", "Kimi delta attention"),
    Mamba2.kind: ("Mamba2", "Mamba-2"),
    Mamba1.kind: ("Mamba1", "Mamba-1"),
    LightningAttention.kind: ("lightning", "lightning attention"),
    ShortConv.kind: ("conv", "short convolution"),
    NoCache.kind: ("", "without cache"),
}


def composition(model: Architecture) -> str:
    """`60 layers: 45 gated delta net, 15 full attention`, in order of first appearance."""
    counts = _counts([(words(layer)[1], count) for layer, count in model.groups])
    parts = ", ".join(f"{count:,} {name}" for name, count in counts)
    loops = f", run {model.loops} times" if model.loops > 1 else ""
    return f"{plural(len(model.layers), 'layer')}: {parts}{loops}"


def attention_summary(model: Architecture) -> tuple[str, str]:
    """Kinds that keep a cache, and their layer counts in the same order: (`GDN+GQA`, `45+15`)."""
    named = [(words(layer, model.attention_heads)[0], count) for layer, count in model.groups]
    cached = [(name, count) for name, count in named if name] or [("none", len(model.layers))]
    counts = _counts(cached)
    return "+".join(name for name, _ in counts), "+".join(str(count) for _, count in counts)


def words(layer: Layer, attention_heads: int | None = None) -> tuple[str, str]:
    """(the usual abbreviation, plain words) of one layer kind.

    `attention_heads`: query heads, to tell MHA, GQA and MQA apart.
    """
    match layer:
        case FullAttention():
            named = (_head_sharing(layer.kv_heads, attention_heads), "full attention")
        case SlidingAttention():
            named = ("SWA", f"sliding window {layer.window:,}")
        case LatentAttention():
            named = _latent(layer)
        case CompressedAttention():
            named = _compressed(layer)
        case ParallelLayer():
            attention, state = words(layer.attention, attention_heads), words(layer.state)
            named = (f"{attention[0]}&{state[0]}", f"{attention[1]} beside {state[1]}")
        case SharedAttention():
            named = ("", f"{words(layer.reads)[1]} on an earlier layer's cache")
        case _:
            named = _WORDS[layer.kind]
    return named


def _head_sharing(kv_heads: int, attention_heads: int | None) -> str:
    if attention_heads is None:
        return "full"
    if kv_heads == attention_heads:
        return "MHA"
    return "MQA" if kv_heads == 1 else "GQA"


def _latent(layer: LatentAttention) -> tuple[str, str]:
    if layer.index_shared:
        return "DSA", "latent with an earlier layer's top-k (DSA)"
    short, long = ("DSA", "latent with indexer (DSA)") if layer.index_head_dim else ("MLA", "latent (MLA)")
    return short, f"{long}, window {layer.window:,}" if layer.window else long


def _compressed(layer: CompressedAttention) -> tuple[str, str]:
    if layer.ratio == 0:
        return "SWA", f"window {layer.window:,} only"
    if layer.ratio in (CSA_RATIO, HCA_RATIO):
        short = "CSA" if layer.ratio == CSA_RATIO else "HCA"
        return short, f"compressed {layer.ratio}:1 ({short})"
    role = "source" if layer.source else "reads a source layer"
    return "CSA2", f"compressed {layer.ratio}:1 (CSA2, {role})"


def _counts(named: list[tuple[str, int]]) -> list[tuple[str, int]]:
    counts: Counter[str] = Counter()
    for name, count in named:
        counts[name] += count
    return list(counts.items())
