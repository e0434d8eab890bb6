"""Bytes of a parameter, scales included."""

from __future__ import annotations

import pytest

from kvplan.weights import formats
from kvplan.weights.formats import WeightFormat


@pytest.mark.parametrize(
    ("stored", "name", "size"),
    [
        (formats.plain("bfloat16"), "bfloat16", 2_097_152),
        (formats.plain("float32"), "float32", 4_194_304),
        (formats.FP8, "fp8", 1_048_576),
        (formats.fp8_blocks(128, 128), "fp8, block 128 x 128", 1_048_832),  # + 64 scales of 4 bytes
        (formats.MXFP4, "mxfp4", 557_056),  # 17/32
        (formats.NVFP4, "nvfp4", 589_824),  # 9/16
        (formats.NF4, "nf4", 589_824),  # 1/2 + 4/64
        (formats.integers(4, 128, zero_points=True), "int4, group 128", 544_768),  # 1/2 + 2.5/128
        (formats.integers(4, 32, zero_points=False), "int4, group 32", 589_824),  # 1/2 + 2/32
        (formats.integers(3, 0, zero_points=True), "int3", 393_216),
    ],
)
def test_a_format_counts_values_and_scales(stored: WeightFormat, name: str, size: int) -> None:
    assert (stored.name, stored.bytes_for(1 << 20)) == (name, size)
