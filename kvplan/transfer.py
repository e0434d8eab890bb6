"""What a prefill server sends to a decode server: items, and the bytes of one prompt, per GPU.

An item is what one index addresses in one layer's buffer: a page of K, of V or of latents, a page of
index keys, a ring of block states, the state of one request. It follows from the buffers of the device.
Source: get_contiguous_buf_infos and get_state_buf_infos of the pools (mem_cache/memory_pool.py,
swa_memory_pool.py, deepseek_v4_memory_pool.py); disaggregation/prefill.py for what a prompt sends.
"""

from __future__ import annotations

from math import prod

from kvplan.deployment import UNCHUNKED
from kvplan.frozen import dataclass
from kvplan.layers import CompressedAttention, SlidingAttention
from kvplan.pools.dsv4_shapes import ring_slots
from kvplan.records import Buffer, Plan
from kvplan.sglang.families import EXCLUSIVE_WINDOW
from kvplan.sglang.model import head_shape
from kvplan.sglang.rules import rules_for
from kvplan.units import ceil_div, floor_to_page

# DeepSeek-V4 and index buffers are (pages, bytes); rows of K, V and latents have more dimensions.
_PAGED_DIMENSIONS = 2
# Vectors of one slot of a state that overlaps two blocks (CompressStatePool).
_OVERLAPPING_VECTORS = 4
PAGE, WINDOW_PAGE, REQUEST = "page", "page of the window", "request"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """`layers` buffers whose items have `item_bytes`; one is sent `per` page, page of the window, request.

    `state`: sent with the last chunk, after all of the KV.
    """

    name: str
    per: str
    layers: int
    item_bytes: int
    state: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """One prompt of `context` tokens. A chunk but the last is cut to full pages: of `chunk` tokens it sends
    `chunk_sent`, the rest goes with the next one.
    """

    context: int
    pages: int
    window_pages: int
    items: tuple[Item, ...]
    chunk: int
    chunk_sent: int

    @property
    def bytes(self) -> int:
        """Bytes that one GPU sends for the prompt."""
        return sum(self.item_total(item) for item in self.items)

    def item_count(self, item: Item) -> int:
        """How often one layer's item is sent."""
        return {PAGE: self.pages, WINDOW_PAGE: self.window_pages, REQUEST: 1}[item.per]

    def item_total(self, item: Item) -> int:
        """Bytes of the item over all layers."""
        return self.item_count(item) * item.layers * item.item_bytes

    def seconds(self, bandwidth: int) -> float:
        """Time on a link of `bandwidth` bytes per second and GPU."""
        return self.bytes / bandwidth


def transfer(plan: Plan) -> Transfer:
    """The transfer of one prompt at the plan's context; `plan` needs its buffers (a budget)."""
    page, context = plan.resolved.page_size, plan.request.context
    found = () if scaled_heads(plan) else (item_of(plan, buffer) for buffer in plan.buffers)
    first = floor_to_page(max(0, context - (_window(plan) or context)), page)
    asked = plan.resolved.chunked_prefill_size
    chunk = context if asked == UNCHUNKED else min(context, asked // plan.resolved.attention_dp)
    return Transfer(
        context=context,
        pages=ceil_div(context, page),
        window_pages=ceil_div(context - first, page),
        items=tuple(item for item in found if item is not None),
        chunk=chunk,
        chunk_sent=chunk if chunk == context else floor_to_page(chunk, page),
    )


def scaled_heads(plan: Plan) -> bool:
    """Whether K and V have scales beside them, which SGLang's list of items leaves out (FP4) or apart."""
    scales = ("k_scale_buffer", "v_scale_buffer")
    return any(buffer.name.rpartition(".")[2] in scales for buffer in plan.buffers)


def _window(plan: Plan) -> int | None:
    """The sliding window as the engine counts it."""
    model = plan.architecture
    windowed = SlidingAttention | CompressedAttention
    shapes = (head_shape(layer) or layer for layer, _ in model.groups)
    window = next((shape.window for shape in shapes if isinstance(shape, windowed)), None)
    rules = rules_for(plan.deployment.engine_version)
    name = rules.alias.get(model.architecture, model.architecture)
    return window - 1 if window and name in EXCLUSIVE_WINDOW else window


def item_of(plan: Plan, buffer: Buffer) -> Item | None:
    """The item of a device buffer; None for what is not sent (scales, copies for prefill, drafts)."""
    page = plan.resolved.page_size
    pool, _, name = buffer.name.rpartition(".")
    each = buffer.bytes // buffer.count // buffer.shape[0]
    if name in ("k_buffer", "v_buffer"):
        return _rows(pool, name, buffer.count, each * page)
    if name == "kv_buffer":
        return _latent_or_v4(pool, buffer, each, page)
    if name == "index_k_with_scale_buffer":
        return _index(plan, pool, buffer, each)
    if name == "kv_score_buffer":
        return _ring(plan, pool, buffer, each)
    return _state_item(name, buffer) if pool == "mamba_pool.mamba_cache" else None


def _latent_or_v4(pool: str, buffer: Buffer, each: int, page: int) -> Item:
    if len(buffer.shape) > _PAGED_DIMENSIONS:
        return Item(name="latent", per=PAGE, layers=buffer.count, item_bytes=each * page)
    if pool.startswith("swa"):
        return Item(name="window", per=WINDOW_PAGE, layers=buffer.count, item_bytes=each, state=True)
    label = f"{pool.partition('_')[0].upper()} entries"
    return Item(name=label, per=PAGE, layers=buffer.count, item_bytes=each)


def _rows(pool: str, name: str, layers: int, item_bytes: int) -> Item:
    """K and V are apart; a window's pool is state, and so are MiniMax-M3's index keys."""
    label, per, state = name[0].upper(), PAGE, False
    if pool == "swa_kv_pool":
        label, per, state = f"{label} of the window", WINDOW_PAGE, True
    elif pool.startswith("index"):
        label, state = "index keys", True
    return Item(name=label, per=per, layers=layers, item_bytes=item_bytes, state=state)


def _state_item(name: str, buffer: Buffer) -> Item | None:
    """(layers, slots, ...): one request has one slot in each layer; states of drafts are not sent."""
    label = {"conv": "convolution state", "temporal": "recurrent state"}.get(name)
    if label is None:
        return None
    layers, slots = buffer.shape[0], buffer.shape[1]
    size = buffer.bytes // (layers * slots)
    return Item(name=label, per=REQUEST, layers=layers, item_bytes=size, state=True)


def _index(plan: Plan, pool: str, buffer: Buffer, each: int) -> Item:
    """DSA's index keys are state; V4's go with the entries, several index pages to a page of tokens."""
    if not pool.startswith("c"):
        return Item(name="index keys", per=PAGE, layers=buffer.count, item_bytes=each, state=True)
    ratio = int(pool[1 : pool.index("_")])
    pages = 1
    if ratio in (1, 2):
        key_bytes = _low_ratio_key_bytes(plan)
        pages = plan.resolved.page_size // ratio // (prod(buffer.shape[1:]) // key_bytes)
    label = f"C{ratio} index keys"
    return Item(name=label, per=PAGE, layers=buffer.count, item_bytes=each * pages)


def _low_ratio_key_bytes(plan: Plan) -> int:
    """Bytes of one CSA2 index key."""
    layers = [layer for layer, _ in plan.architecture.groups if isinstance(layer, CompressedAttention)]
    source = next(layer for layer in layers if layer.ratio in (1, 2) and layer.keeps_compressed)
    return next(part.entry_bytes for part in source.parts(plan.storage) if part.name == "index key")


def _ring(plan: Plan, pool: str, buffer: Buffer, each: int) -> Item:
    """A ring of block states: with the window's pages, or (0.5.23, C128 and C2) once per request."""
    model = plan.architecture
    widths = {layer.head_dim for layer, _ in model.groups if isinstance(layer, CompressedAttention)}
    drafts = plan.resolved.speculative_num_draft_tokens or 0
    overlapping = pool.startswith("indexer") or buffer.shape[1] == _OVERLAPPING_VECTORS * max(widths)
    ratios = {layer.ratio for layer, _ in model.groups if isinstance(layer, CompressedAttention)}
    ratio = 4 if overlapping else 128 if 128 in ratios else 2
    fixed = rules_for(plan.deployment.engine_version).dsv4_states_per_request and not overlapping
    # One page of C128 states is sent, whatever the length of their ring.
    ring = 128 if fixed and ratio == 128 else ring_slots(ratio, drafts)
    label = "C4 index states" if pool.startswith("indexer") else f"C{ratio} states"
    per = REQUEST if fixed else WINDOW_PAGE
    return Item(name=label, per=per, layers=buffer.count, item_bytes=each * ring, state=True)
