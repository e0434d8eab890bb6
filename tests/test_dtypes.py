"""Number formats cost what their bits and scales say."""

from __future__ import annotations

from fractions import Fraction

import pytest

from kvplan.dtypes import KvFormat, canonical, element_bytes
from kvplan.sglang.kv_formats import BF16, FP4_BLOCK_16, FP8_E4M3, MXFP8


@pytest.mark.parametrize(
    ("kv", "elements", "size"),
    [
        (BF16, 576, 1152),  # 576 x 2
        (FP8_E4M3, 576, 576),
        (FP4_BLOCK_16, 256, 144),  # 256 / 2 + 256 / 16
        (MXFP8, 256, 264),  # 256 + 256 / 32
    ],
)
def test_bytes_of_elements(kv: KvFormat, elements: int, size: int) -> None:
    assert kv.bytes_for(elements) == size


def test_fp4_takes_nine_sixteenths_of_a_byte() -> None:
    # Half a byte and one scale byte per 16 elements: 1/2 + 1/16.
    assert FP4_BLOCK_16.bytes_per_element == Fraction(9, 16)


@pytest.mark.parametrize(
    ("name", "torch_name"),
    [
        ("torch.bfloat16", "bfloat16"),
        ("bf16", "bfloat16"),
        ("half", "float16"),
        ("float", "float32"),
        ("q4", None),
    ],
)
def test_spellings_of_config_files(name: str, torch_name: str | None) -> None:
    assert canonical(name) == torch_name


def test_two_fp4_values_share_a_byte() -> None:
    assert element_bytes("float4_e2m1fn_x2") == 1
    assert element_bytes("float32") == 4
