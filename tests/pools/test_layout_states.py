"""Shapes of recurrent states on one GPU, per slot and layer."""

from __future__ import annotations

import pytest

from kvplan.layers import (
    GatedDeltaNet,
    KimiDeltaAttention,
    LightningAttention,
    Mamba1,
    Mamba2,
    Recurrent,
    ShortConv,
)
from kvplan.pools.layout_states import state_shapes

QWEN_27B = GatedDeltaNet(k_heads=16, v_heads=48, k_head_dim=128, v_head_dim=128, conv_kernel=4)
WIDE_VALUES = GatedDeltaNet(k_heads=12, v_heads=12, k_head_dim=96, v_head_dim=192, conv_kernel=4)


@pytest.mark.parametrize(
    ("layer", "tp", "conv", "recurrent"),
    [
        # 48 x 128 + 2 x 16 x 128 = 10,240 channels
        (QWEN_27B, 1, (10_240, 3), (48, 128, 128)),
        (QWEN_27B, 8, (1_280, 3), (6, 128, 128)),
        # values are wider than keys (Jet-Nemotron): 12 x 192 + 2 x 12 x 96 = 4,608
        (WIDE_VALUES, 1, (4_608, 3), (12, 192, 96)),
        # 64 x 64 + 2 x 8 x 128 = 6,144
        (
            Mamba2(heads=64, head_dim=64, state_size=128, groups=8, conv_kernel=4),
            8,
            (768, 3),
            (8, 64, 128),
        ),
        # one group is copied to each of 2 GPUs: 2,048 + 2 x 2 x 128 = 2,560
        (
            Mamba2(heads=32, head_dim=64, state_size=128, groups=1, conv_kernel=4),
            2,
            (1_280, 3),
            (16, 64, 128),
        ),
        # the window comes first: 3 x 32 x 128 = 12,288
        (KimiDeltaAttention(heads=32, head_dim=128, conv_kernel=4), 1, (3, 12_288), (32, 128, 128)),
        (Mamba1(intermediate=8192, state_size=16, conv_kernel=4), 2, (4_096, 3), (4_096, 1, 16)),
        (LightningAttention(heads=64, head_dim=128), 8, (0,), (8, 128, 128)),
        (ShortConv(dim=2048, conv_kernel=3), 8, (256, 2), (0,)),
    ],
)
def test_states_are_shaped_as_the_engine_keeps_them(
    layer: Recurrent, tp: int, conv: tuple[int, ...], recurrent: tuple[int, ...]
) -> None:
    assert state_shapes(layer, tp) == (conv, recurrent)
    elements = layer.state_elements(tp)
    product = [1, 1]
    for place, shape in enumerate((conv, recurrent)):
        for size in shape:
            product[place] *= size
    assert tuple(product) == elements
