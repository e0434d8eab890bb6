"""Layers in words, figures in text."""

from __future__ import annotations

import dataclasses

import pytest

from kvplan.architecture import Architecture
from kvplan.layers import (
    LAYER_KINDS,
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
from kvplan.render.sharing import copies, fixed_parts
from kvplan.render.text import exact, rounded, visible
from kvplan.render.words import attention_summary, composition, words
from tests import samples

FULL = FullAttention(kv_heads=8, head_dim=128, v_head_dim=128)
SLIDING = SlidingAttention(kv_heads=8, head_dim=128, v_head_dim=128, window=1_024)
LATENT = LatentAttention(kv_lora_rank=512, qk_rope_head_dim=64)
MAMBA2 = Mamba2(heads=128, head_dim=64, state_size=128, groups=8, conv_kernel=4)
V4 = CompressedAttention(ratio=0, head_dim=512, qk_rope_head_dim=64, window=128)

WORDS: list[tuple[Layer, str, str]] = [
    (FULL, "GQA", "full attention"),
    (dataclasses.replace(FULL, kv_heads=32), "MHA", "full attention"),
    (dataclasses.replace(FULL, kv_heads=1), "MQA", "full attention"),
    (SLIDING, "SWA", "sliding window 1,024"),
    (LATENT, "MLA", "latent (MLA)"),
    (dataclasses.replace(LATENT, window=512), "MLA", "latent (MLA), window 512"),
    (dataclasses.replace(LATENT, index_head_dim=128), "DSA", "latent with indexer (DSA)"),
    (
        dataclasses.replace(LATENT, index_head_dim=128, index_shared=True),
        "DSA",
        "latent with an earlier layer's top-k (DSA)",
    ),
    (V4, "SWA", "window 128 only"),
    (dataclasses.replace(V4, ratio=4), "CSA", "compressed 4:1 (CSA)"),
    (dataclasses.replace(V4, ratio=128), "HCA", "compressed 128:1 (HCA)"),
    (dataclasses.replace(V4, ratio=2), "CSA2", "compressed 2:1 (CSA2, source)"),
    (dataclasses.replace(V4, ratio=1, source=False), "CSA2", "compressed 1:1 (CSA2, reads a source layer)"),
    (
        IndexedAttention(kv_heads=4, head_dim=128, v_head_dim=128, index_dim=128),
        "indexed",
        "full attention with a block index",
    ),
    (
        GatedDeltaNet(k_heads=16, v_heads=64, k_head_dim=128, v_head_dim=128, conv_kernel=4),
        "GDN",
        "gated delta net",
    ),
    (KimiDeltaAttention(heads=32, head_dim=128, conv_kernel=4), "KDA", "Kimi delta attention"),
    (MAMBA2, "Mamba2", "Mamba-2"),
    (Mamba1(intermediate=8_192, state_size=16, conv_kernel=4), "Mamba1", "Mamba-1"),
    (LightningAttention(heads=64, head_dim=128), "lightning", "lightning attention"),
    (ShortConv(dim=2_048, conv_kernel=3), "conv", "short convolution"),
    (ParallelLayer(attention=FULL, state=MAMBA2), "GQA&Mamba2", "full attention beside Mamba-2"),
    (SharedAttention(reads=SLIDING), "", "sliding window 1,024 on an earlier layer's cache"),
    (NoCache(), "", "without cache"),
]


@pytest.mark.parametrize(("layer", "short", "long"), WORDS)
def test_words_of_a_layer(layer: Layer, short: str, long: str) -> None:
    assert words(layer, 32) == (short, long)


def test_every_layer_kind_has_words() -> None:
    assert {type(layer) for layer, _, _ in WORDS} == set(LAYER_KINDS)


def model(*layers: Layer, loops: int = 1) -> Architecture:
    return Architecture(id="m", architecture="", layers=layers, loops=loops, attention_heads=32)


@pytest.mark.parametrize(
    ("architecture", "text", "summary"),
    [
        (model(FULL), "1 layer: 1 full attention", ("GQA", "1")),
        (
            model(SLIDING, FULL, SLIDING, loops=4),
            "3 layers: 2 sliding window 1,024, 1 full attention, run 4 times",
            ("SWA+GQA", "2+1"),
        ),
        (
            model(MAMBA2, NoCache(), FULL),
            "3 layers: 1 Mamba-2, 1 without cache, 1 full attention",
            ("Mamba2+GQA", "1+1"),
        ),
        (model(NoCache()), "1 layer: 1 without cache", ("none", "1")),
        # two head shapes, one kind
        (model(FULL, dataclasses.replace(FULL, kv_heads=4)), "2 layers: 2 full attention", ("GQA", "2")),
    ],
)
def test_composition_of_a_model(architecture: Architecture, text: str, summary: tuple[str, str]) -> None:
    assert composition(architecture) == text
    assert attention_summary(architecture) == summary


@pytest.mark.parametrize(
    ("layers", "attention_tp", "said"),
    [
        ((FULL,), 1, ""),
        ((FULL,), 8, "1 of 8 KV heads on each GPU"),
        ((FULL,), 16, "8 KV heads on 16 GPUs: stored 2 times"),
        ((dataclasses.replace(FULL, kv_heads=1),), 2, "1 KV head on 2 GPUs: stored 2 times"),
        ((LATENT,), 8, "latents stored on each of 8 GPUs"),
        ((MAMBA2,), 8, ""),
    ],
)
def test_copies_are_named(layers: tuple[Layer, ...], attention_tp: int, said: str) -> None:
    plan = dataclasses.replace(
        samples.llama(), architecture=model(*layers), resolved=samples.resolved(attention_tp=attention_tp)
    )
    assert copies(plan) == said


@pytest.mark.parametrize(
    ("layers", "said"),
    [
        ((FULL,), ""),
        ((SLIDING, FULL), "windows of 1,024"),
        ((MAMBA2, SLIDING), "state float32, conv bfloat16 and windows of 1,024"),
        ((ShortConv(dim=2_048, conv_kernel=3),), "conv bfloat16"),
        ((LightningAttention(heads=64, head_dim=128),), "state float32"),
    ],
)
def test_what_a_request_takes_whatever_its_length(layers: tuple[Layer, ...], said: str) -> None:
    assert fixed_parts(dataclasses.replace(samples.llama(), architecture=model(*layers))) == said


@pytest.mark.parametrize(
    ("value", "digits", "short"),
    [
        (0, "0", ""),
        (999, "999", ""),
        (1_560_007_680, "1,560,007,680", "1.56 GB"),
        (7_086.75, "7,086.75", "7.09 kB"),
        (66_355.2, "66,355.2", "66.36 kB"),
        # 64 bytes in 3: what a float of it must not show is its last digits
        (64 / 3, "21.3333", ""),
        (8_064.0, "8,064", "8.06 kB"),
    ],
)
def test_figures_are_exact_beside_rounded(value: float, digits: str, short: str) -> None:
    assert (exact(value), rounded(value)) == (digits, short)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Qwen/Qwen3.5 é 模型", "Qwen/Qwen3.5 é 模型"),
        ("\x1b[31m", r"\x1b[31m"),
        ("a\nb\tc", r"a\nb\tc"),
        ("\u202e", r"\u202e"),
        ("\udc80", r"\udc80"),
    ],
)
def test_unprintable_characters_are_shown_as_escapes(text: str, shown: str) -> None:
    assert visible(text) == shown
