"""Defaults that go by the size of a GPU."""

from __future__ import annotations

from kvplan.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryTier:
    """Defaults for GPUs below `below_mib`: prefill chunk, decode graph batch below and from TP 4."""

    below_mib: float
    chunked_prefill_size: int
    graph_batch: int
    graph_batch_from_tp4: int


_GIB_TIERS = (20 * 1024, 35 * 1024, 60 * 1024, 160 * 1024, float("inf"))


def memory_tiers(second: tuple[int, int, int]) -> tuple[MemoryTier, ...]:
    """The tiers of a version; `second` is that of GPUs with 20 to 35 GiB."""
    # server_args.py / arg_groups/memory_hook.py, handle_gpu_memory_settings: only the second tier changed.
    rows = ((2048, 8, 8), second, (4096, 32, 160), (8192, 256, 512), (16384, 512, 512))
    return tuple(
        MemoryTier(below_mib=limit, chunked_prefill_size=chunk, graph_batch=low, graph_batch_from_tp4=high)
        for limit, (chunk, low, high) in zip(_GIB_TIERS, rows, strict=True)
    )
