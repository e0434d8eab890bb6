"""How fast one decode step could be at best, by memory traffic alone."""

from __future__ import annotations


def decode_floor_ms(read_bytes: int, weight_bytes: int, bandwidth: float) -> float:
    """Milliseconds that one step takes at least: bytes that must be read over bytes per second.

    `read_bytes`: cache reads of all requests of the batch, `weight_bytes`: active weights, both on one
    GPU; `bandwidth` of its memory in bytes per second. A floor, not a forecast: kernels reach less of
    the bandwidth, and compute and communication come on top. Raises ValueError for a bandwidth that is
    not positive.
    """
    if not bandwidth > 0:
        raise ValueError(f"a memory bandwidth of {bandwidth!r} bytes per second")
    return (read_bytes + weight_bytes) / bandwidth * 1000
