"""HiCache: the pools in host memory that mirror those of the device, in every layout.

Sizes: `--hicache-size` decimal GB (10^9) per rank and pool, or `--hicache-ratio` times the device's slots;
one page always comes on top. All layouts hold the same bytes, in another order. Sources of 0.5.12:
mem_cache/memory_pool_host.py, mem_cache/hybrid_cache/hybrid_pool_assembler.py; of 0.5.23: mem_cache/
pool_host/, the same assembler.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import prod

from kvplan.errors import bad_option, refused
from kvplan.frozen import dataclass
from kvplan.pools.parts import tensors
from kvplan.records import Buffer, Plan
from kvplan.sglang.rule_set import Rules
from kvplan.sglang.rules import rules_for
from kvplan.transfer import REQUEST, WINDOW_PAGE, item_of
from kvplan.units import ceil_div

LAYOUTS = ("layer_first", "page_first", "page_first_direct", "page_head")
GB = 10**9
DEFAULT_RATIO = 2.0
_SCALES = frozenset({"k_scale_buffer", "v_scale_buffer", "kv_scale_buffer"})
# managers/cache_controller.py, storage_batch_size.
DEFAULT_BATCH_PAGES = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRequest:
    """`--hicache-ratio`, or `--hicache-size` in decimal GB per rank, which goes first where it is set."""

    ratio: float = DEFAULT_RATIO
    size_gb: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class HostPool:
    """One pool in host memory of one rank: `pages` of `page` slots, and its buffers by layout.

    `page_bytes`: one page of all layers, as it goes to storage (L3). A layout that the pool does not have
    is left out.
    """

    name: str
    page: int
    device_slots: int
    pages: int
    page_bytes: int
    layouts: tuple[tuple[str, tuple[Buffer, ...]], ...]

    @property
    def slots(self) -> int:
        """Tokens, or states of requests."""
        return self.pages * self.page

    @property
    def bytes(self) -> int:
        """What the engine asks the host for."""
        return self.pages * self.page_bytes


def host_pools(plan: Plan, request: HostRequest) -> tuple[HostPool, ...]:
    """The host pools of one rank; `plan` needs its buffers (a budget).

    Raises RefusedError where the engine would stop, InputError for an impossible ratio or size.
    """
    if not 0 < request.ratio < float("inf"):
        raise bad_option("hicache_ratio", f"{request.ratio!r} is not a positive number")
    rules = rules_for(plan.deployment.engine_version)
    if _SCALES & {buffer.name.rpartition(".")[2] for buffer in plan.buffers}:
        return ()  # FP4 has no host pool; that of mxfp8 (0.5.23) is not modelled
    if plan.pool.link == "DSV4":
        return tuple(_v4_pools(plan, request, rules))
    return tuple(_plain_pools(plan, request, rules))


def _plain_pools(plan: Plan, request: HostRequest, rules: Rules) -> Iterator[HostPool]:
    by_pool: dict[str, list[Buffer]] = {}
    for buffer in plan.buffers:
        by_pool.setdefault(buffer.name.rpartition(".")[0], []).append(buffer)
    for prefix, buffers in by_pool.items():
        kinds = {buffer.name.rpartition(".")[2]: buffer for buffer in buffers}
        if prefix == "mamba_pool.mamba_cache":
            yield _states(plan, list(kinds.values()), request, rules)
        elif "k_buffer" in kinds:
            name = {"swa_kv_pool": "window", "index_k_pool": "index keys"}.get(prefix, "KV")
            yield _heads(plan, name, kinds["k_buffer"], kinds.get("v_buffer"), request, rules)
        elif "kv_buffer" in kinds:
            latent = _latent(plan, kinds["kv_buffer"], request, rules)
            yield latent
            if "index_k_with_scale_buffer" in kinds:
                yield _index(plan, latent, kinds["index_k_with_scale_buffer"])


def _slots(device: int, slot_bytes: int, page: int, request: HostRequest, rules: Rules) -> int:
    """Whole pages and one more. Raises RefusedError where the host must hold more than the device."""
    wanted = int(request.size_gb * 1e9 // slot_bytes) if request.size_gb > 0 else int(device * request.ratio)
    slots = (wanted // page + 1) * page
    if rules.host_pool_above_device and slots <= device:
        raise refused(
            f"the host pool of {slots:,} slots is not larger than the device pool of {device:,}",
            "a larger --hicache-ratio or --hicache-size",
        )
    return slots


def _heads(
    plan: Plan, name: str, k: Buffer, v: Buffer | None, request: HostRequest, rules: Rules
) -> HostPool:
    """K and V in one tensor; 0.5.23 splits them where their heads differ, 0.5.12 takes K's width for both."""
    page, layers = plan.resolved.page_size, k.count
    rows, heads, _ = k.shape
    if rules.host_v_as_wide_as_k and v is not None:
        v = replace(k, name="v_buffer")
    sides = [k] if v is None else [k, v]
    element = k.bytes // k.count // prod(k.shape)
    slot_bytes = sum(side.shape[2] for side in sides) * heads * layers * element
    slots = _slots(rows - page, slot_bytes, page, request, rules)
    together = v is not None and v.shape == k.shape
    layouts: dict[str, tuple[Buffer, ...]] = {}
    for layout in LAYOUTS if together else LAYOUTS[1:3] if v is not None else LAYOUTS[:3]:
        shapes = [_head_shape(layout, layers, slots, page, heads, side.shape[2]) for side in sides]
        if together:
            layouts[layout] = (tensors("kv_buffer", (2, *shapes[0]), k.dtype),)
        else:
            named = zip(("k_buffer", "v_buffer"), shapes, strict=False)
            layouts[layout] = tuple(tensors(side, shape, k.dtype) for side, shape in named)
    return _pool(name, page, rows - page, slots, slot_bytes, layouts)


def _head_shape(layout: str, layers: int, slots: int, page: int, heads: int, dim: int) -> tuple[int, ...]:
    match layout:
        case "layer_first":
            return (layers, slots, heads, dim)
        case "page_first":
            return (slots, layers, heads, dim)
        case "page_first_direct":
            return (slots // page, layers, page, heads, dim)
        case _:
            return (slots // page, heads, page, layers, dim)


def _latent(plan: Plan, buffer: Buffer, request: HostRequest, rules: Rules) -> HostPool:
    """One latent a slot, as wide as on the device (656 elements for FP8 DSA rows); no page_head."""
    page, layers = plan.resolved.page_size, buffer.count
    rows, _, dim = buffer.shape
    slot_bytes = buffer.bytes // rows
    slots = _slots(rows - page, slot_bytes, page, request, rules)
    layouts = {
        layout: (tensors("kv_buffer", _head_shape(layout, layers, slots, page, 1, dim), buffer.dtype),)
        for layout in LAYOUTS[:3]
    }
    return _pool("latents", page, rows - page, slots, slot_bytes, layouts)


def _index(plan: Plan, latent: HostPool, buffer: Buffer) -> HostPool:
    """Index keys by pages, as many slots as the latents; their buffer has pages more for padding."""
    page, layers, width = plan.resolved.page_size, buffer.count, buffer.shape[1]
    pages = (latent.slots + page + 1) // page
    layouts = {
        layout: (
            tensors(
                "index_k_with_scale_buffer",
                (layers, pages, width) if layout == LAYOUTS[0] else (pages, layers, 1, width),
                "uint8",
            ),
        )
        for layout in LAYOUTS[:3]
    }
    return _pool("index keys", page, latent.device_slots, latent.slots, width // page * layers, layouts)


def _states(plan: Plan, buffers: list[Buffer], request: HostRequest, rules: Rules) -> HostPool:
    """States of requests, a page of one slot each; each kind of state has a tensor of its own."""
    kept = [buffer for buffer in buffers if not buffer.name.rpartition(".")[2].startswith("intermediate")]
    slots_on_device = kept[0].shape[1]
    slot_bytes = sum(buffer.bytes // slots_on_device for buffer in kept)
    slots = _slots(slots_on_device - 1, slot_bytes, 1, request, rules)
    layouts = {
        layout: tuple(
            tensors(
                buffer.name.rpartition(".")[2],
                (buffer.shape[0], slots, *buffer.shape[2:])
                if layout == LAYOUTS[0]
                else (slots, buffer.shape[0], 1, *buffer.shape[2:]),
                buffer.dtype,
            )
            for buffer in kept
        )
        for layout in LAYOUTS[:3]
    }
    return _pool("states", 1, slots_on_device - 1, slots, slot_bytes, layouts)


def _pool(
    name: str,
    page: int,
    device_slots: int,
    slots: int,
    slot_bytes: int,
    layouts: Mapping[str, tuple[Buffer, ...]],
) -> HostPool:
    return HostPool(
        name=name,
        page=page,
        device_slots=device_slots,
        pages=slots // page,
        page_bytes=page * slot_bytes,
        layouts=tuple(layouts.items()),
    )


def _v4_pools(plan: Plan, request: HostRequest, rules: Rules) -> Iterator[HostPool]:
    """Pages of every V4 pool as flat bytes; the page count follows the full tokens or the window's."""
    if request.size_gb > 0:
        raise refused("DeepSeek-V4 has no --hicache-size", "--hicache-ratio")
    page, capacity = plan.resolved.page_size, plan.capacity
    for buffer in plan.buffers:
        item = item_of(plan, buffer)
        if item is None or item.per == REQUEST:
            continue  # states of a request are rebuilt at the border of a page
        windowed = item.per == WINDOW_PAGE
        tokens = capacity.swa_max_total_num_tokens if windowed else capacity.full_max_total_num_tokens
        device = ceil_div(tokens or 0, page)
        pages = int(device * request.ratio)
        if rules.host_pool_above_device:
            pages = max(pages, device + 1)
        layers, size = item.layers, item.item_bytes
        first = tensors("kv_buffer", (pages, size), "uint8", layers)
        layouts: list[tuple[str, tuple[Buffer, ...]]] = [("layer_first", (first,))]
        if rules.host_v4_page_first:
            for layout, shape in (
                ("page_first", (pages, layers, size)),
                ("page_first_direct", (pages, layers, 1, size)),
            ):
                layouts.append((layout, (tensors("kv_buffer", shape, "uint8"),)))
        yield HostPool(
            name=item.name,
            page=page,
            device_slots=device * page,
            pages=pages,
            page_bytes=layers * size,
            layouts=tuple(layouts),
        )
