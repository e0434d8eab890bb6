"""HiSparse: all entries of a sparse model in host memory, a working set of them on the device.

Source: managers/hisparse_coordinator.py; mem_cache/sparsity/factory.py for the defaults.
"""

from __future__ import annotations

from kvplan.hicache import HostPool
from kvplan.pools.parts import tensors
from kvplan.records import Buffer, Plan
from kvplan.sglang.rules import rules_for
from kvplan.sglang.settings import HISPARSE_RATIO
from kvplan.units import ceil_div

LAYOUT = "layer_first"
# Tokens for each compressed entry on the layers that HiSparse spreads (ratio 4).
_C4_RATIO = 4


def hisparse_pool(plan: Plan) -> HostPool | None:
    """The host pool behind the device pool of one rank; None without --enable-hisparse.

    `plan` needs its buffers (a budget).
    """
    if not plan.deployment.enable_hisparse:
        return None
    ratio = plan.deployment.hisparse_ratio or HISPARSE_RATIO
    paged = rules_for(plan.deployment.engine_version).host_v4_page_first
    for buffer in plan.buffers:
        pool, _, name = buffer.name.rpartition(".")
        if plan.pool.link == "DSV4":
            if pool == "c4_kv_pool":
                return _v4(plan, buffer, paged=paged)
        elif name == "kv_buffer":
            return _rows(plan, (buffer,), ratio, paged=paged)
        elif name == "k_buffer" and not pool:
            values = next(other for other in plan.buffers if other.name == "v_buffer")
            return _rows(plan, (buffer, values), ratio, paged=paged)
    return None


def _rows(plan: Plan, buffers: tuple[Buffer, ...], ratio: int, *, paged: bool) -> HostPool:
    """Slots of the device times the ratio, and a page (0.5.12: a slot) on top."""
    page = plan.resolved.page_size if paged else 1
    device = buffers[0].shape[0] - plan.resolved.page_size
    pages = device * ratio // page + 1
    host = tuple(tensors(one.name, (one.count, pages * page, *one.shape[1:]), one.dtype) for one in buffers)
    return HostPool(
        name="HiSparse",
        page=page,
        device_slots=device,
        pages=pages,
        page_bytes=sum(one.bytes // one.shape[0] for one in buffers) * page,
        layouts=((LAYOUT, host),),
    )


def _v4(plan: Plan, buffer: Buffer, *, paged: bool) -> HostPool:
    """Entries of ratio 4 for all full tokens: in pages of the device pool, or (0.5.12) one by one."""
    entries = (plan.capacity.full_max_total_num_tokens or 0) // _C4_RATIO
    page = plan.resolved.page_size // _C4_RATIO
    if paged:
        pages, item = ceil_div(entries, page), buffer.shape[1]
        host = tensors("kv_buffer", (pages, item), "uint8", buffer.count)
    else:
        layers = [layer for layer, _ in plan.architecture.groups if layer.kind == "compressed"]
        parts = layers[0].parts(plan.storage)
        page, pages, item = 1, entries + 1, parts[0].entry_bytes
        host = tensors("kv_buffer", (buffer.count, pages, item), "uint8")
    return HostPool(
        name="HiSparse",
        page=page,
        device_slots=plan.capacity.c4_max_total_num_tokens,
        pages=pages,
        page_bytes=buffer.count * item,
        layouts=((LAYOUT, (host,)),),
    )
