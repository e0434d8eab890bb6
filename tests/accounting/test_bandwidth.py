"""The floor of a decode step."""

from __future__ import annotations

import pytest

from kvplan.accounting import decode_floor_ms


@pytest.mark.parametrize(
    ("read", "weights", "bandwidth", "milliseconds"),
    [
        # (1.6 GB + 32 GB) / 4,800 GB/s = 7 ms
        (1_600_000_000, 32_000_000_000, 4_800e9, 7.0),
        # weights alone: 4.8 GB / 4.8 TB/s
        (0, 4_800_000_000, 4_800e9, 1.0),
        (0, 0, 1e12, 0.0),
    ],
)
def test_bytes_over_bandwidth(read: int, weights: int, bandwidth: float, milliseconds: float) -> None:
    assert decode_floor_ms(read, weights, bandwidth) == pytest.approx(milliseconds)


@pytest.mark.parametrize("bandwidth", [0.0, -1.0, float("nan")])
def test_a_bandwidth_has_to_be_positive(bandwidth: float) -> None:
    with pytest.raises(ValueError, match="bandwidth"):
        decode_floor_ms(1, 1, bandwidth)
