"""Host pools and PD transfers as JSON and as records."""

from __future__ import annotations

from typing import Any

from kvplan.frozen import dataclass
from kvplan.hicache import HostPool
from kvplan.records import SCHEMA_VERSION, Plan
from kvplan.transfer import Item, Transfer


@dataclass(frozen=True, slots=True, kw_only=True)
class HostPlan:
    """Everything that `kvplan host` shows.

    `sized` is off where no budget was given: then only `--hicache-size` says how large host pools are.
    """

    plan: Plan
    pools: tuple[HostPool, ...]
    hisparse: HostPool | None
    transfer: Transfer
    how: str
    batch_pages: int
    bandwidth: int | None
    sized: bool


def data(host: HostPlan) -> dict[str, Any]:
    """Everything, under the names of the JSON."""
    sent = host.transfer
    return {
        "schema_version": SCHEMA_VERSION,
        "model": host.plan.to_dict()["model"],
        "hicache": [_pool(pool, host) for pool in host.pools],
        "hisparse": None if host.hisparse is None else _pool(host.hisparse, host),
        "transfer": {
            "context": sent.context,
            "items": [_item(item, sent) for item in sent.items],
            "bytes": sent.bytes,
            "bandwidth": host.bandwidth,
            "seconds": None if host.bandwidth is None else sent.seconds(host.bandwidth),
            "chunk_tokens": sent.chunk,
            "chunk_sent_tokens": sent.chunk_sent,
        },
    }


def _pool(pool: HostPool, host: HostPlan) -> dict[str, Any]:
    return {
        "name": pool.name,
        "page_size": pool.page,
        "page_bytes": pool.page_bytes,
        "batch_bytes": pool.page_bytes * host.batch_pages,
        "device_slots": pool.device_slots if host.sized else None,
        "slots": pool.slots if host.sized else None,
        "bytes": pool.bytes if host.sized else None,
        "layouts": {
            layout: [
                {"name": it.name, "shape": list(it.shape), "dtype": it.dtype, "count": it.count}
                for it in buffers
            ]
            for layout, buffers in pool.layouts
        }
        if host.sized
        else {},
    }


def _item(item: Item, sent: Transfer) -> dict[str, Any]:
    return {
        "name": item.name,
        "state": item.state,
        "item_bytes": item.item_bytes,
        "layers": item.layers,
        "per": item.per,
        "times": sent.item_count(item),
        "bytes": sent.item_total(item),
    }


def records(host: HostPlan) -> list[dict[str, Any]]:
    """A record for each pool and each item."""
    pools = [
        {"part": "hicache", "name": pool.name, "page_bytes": pool.page_bytes, "bytes": pool.bytes}
        for pool in host.pools
        if host.sized
    ]
    items = [
        {
            "part": "transfer",
            "name": item.name,
            "page_bytes": item.item_bytes * item.layers,
            "bytes": host.transfer.item_total(item),
        }
        for item in host.transfer.items
    ]
    return [*pools, *items]
