"""From token counts to tensors: the pools of one GPU of the first pipeline stage, and their buffers.

Each pool has two figures: bytes that the sizing formula charges for it (together they are what the
sizing takes off the budget), and bytes of the tensors that are allocated: an extra page of padding
rows, a padding slot of states, rows that are wider than charged, pools that are not charged at all.
Buffers are named by the attributes of SGLang that hold them. Sources: mem_cache/kv_cache_configurator.py,
_build_token_to_kv_pool (0.5.23); model_runner_kv_cache_mixin.py, _init_pools (0.5.12).
"""

from __future__ import annotations

from kvplan.frozen import dataclass
from kvplan.pools.base import Sizes
from kvplan.pools.dsa import indexed_layers
from kvplan.pools.layout_dsv4_parts import dsv4_parts
from kvplan.pools.layout_heads import index_buffers as block_index_buffers
from kvplan.pools.layout_heads import model_heads, plain, quantised
from kvplan.pools.layout_latent import index_buffers, latent_buffers
from kvplan.pools.layout_states import state_parts
from kvplan.pools.layout_swa import swa_parts
from kvplan.pools.mha import block_indexed
from kvplan.pools.parts import Layout, Part, part, tensors
from kvplan.pools.states import StatePool
from kvplan.pools.swa import outstanding_draft_tokens
from kvplan.records import Buffer, Term
from kvplan.sglang.model import Stage
from kvplan.sglang.settings import Settings

# Columns of the request table beyond the context (get_req_to_token_extra_context_len).
_EXTRA_CONTEXT = 4
_INDEX_TERMS = frozenset({"index", "index keys"})
_DRAFT_TERM = "draft layers"


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """What a budget gave one GPU: slots of the pools, states, running requests."""

    sizes: Sizes
    states: StatePool | None
    running: int


def lay_out(settings: Settings, link: str, stage: Stage, terms: tuple[Term, ...], counts: Counts) -> Layout:
    """Pools and buffers of the link named `link`, with `terms` as its cell."""
    parts = []
    if counts.states is not None:
        parts = state_parts(settings, stage, counts.states, counts.running)
    parts += _token_parts(settings, link, stage, terms, counts)
    return Layout(
        pools=tuple(one.pool for one in parts),
        buffers=tuple(buffer for one in parts if not one.draft for buffer in one.buffers),
        draft_buffers=tuple(buffer for one in parts if one.draft for buffer in one.buffers),
        uncharged_buffers=(request_table(settings, counts.running),),
    )


def _draft_reserve(settings: Settings) -> int:
    """Tokens of drafts in flight, past the context (allocation_sizing.get_req_to_token_extra_context_len)."""
    rules = settings.rules
    if rules.draft_reserve_in_request_table:
        return outstanding_draft_tokens(settings) + settings.page - 1
    trees = (settings.deployment.speculative_eagle_topk or 1) > 1
    return outstanding_draft_tokens(settings) if trees and rules.draft_reserve_for_trees else 0


def request_table(settings: Settings, running: int) -> Buffer:
    """req_to_token: where each token of each request lies; a row more than requests for padding."""
    extra = _EXTRA_CONTEXT + settings.draft_tokens
    if settings.draft_tokens and settings.page > 1:
        extra = max(extra, _draft_reserve(settings))
    return tensors("req_to_token", (running + 1, settings.context + extra), "int32")


def _token_parts(
    settings: Settings, link: str, stage: Stage, terms: tuple[Term, ...], counts: Counts
) -> list[Part]:
    if link == "DSV4":
        return dsv4_parts(settings, stage, terms, counts.sizes, counts.running)
    if link == "SWA":
        return swa_parts(settings, stage, counts.sizes)
    if link in ("DSA", "MLA"):
        return _latent_parts(settings, stage, terms, counts)
    layers = stage.attention if link == "MAMBA" else stage.total
    return _head_parts(settings, stage, terms, counts.sizes.max_total, layers=layers)


def _head_parts(
    settings: Settings, stage: Stage, terms: tuple[Term, ...], tokens: int, *, layers: int
) -> list[Part]:
    """K and V of every layer at one shape; MiniMax-M3's index; draft layers like the target's."""
    beside_state = settings.model.has_state
    heads = model_heads(settings, same_v=beside_state)
    if heads is None or layers == 0:
        return []
    # A pool that nothing is written to keeps one page (NoOpMHATokenToKVPool).
    rows = settings.page
    if not settings.deployment.prefill_only_disable_kv_cache:
        rows += tokens
    index = block_index_buffers(settings, stage, rows=_host_rows(settings, tokens))
    plain_fp4 = beside_state and settings.rules.plain_fp4_beside_states
    build = plain if index or (plain_fp4 and settings.flag in settings.rules.fp4_flags) else quantised
    prefix = "full_kv_pool." if beside_state else "main_pool." if index else ""
    dense = layers - block_indexed(stage) if index and settings.hisparse_ratio > 1 else 0
    target = build(settings, heads, rows=rows, layers=layers - dense, prefix=prefix)
    if dense:
        rows = _host_rows(settings, tokens)
        target += build(settings, heads, rows=rows, layers=dense, prefix="dense_pool.")
    found = [_part("KV", target, _price(terms), layers, tokens)]
    if index:
        price = _price(terms, _INDEX_TERMS)
        found.append(_part("index keys", index, price, block_indexed(stage), tokens))
    drafts = settings.draft_layers
    if drafts:
        rows = _draft_rows(settings, tokens)
        buffers = build(settings, heads, rows=rows, layers=drafts, prefix="")
        found.append(_draft_part(buffers, terms, drafts, tokens))
    return found


def _latent_parts(settings: Settings, stage: Stage, terms: tuple[Term, ...], counts: Counts) -> list[Part]:
    """Latent rows; DSA's index keys; draft layers with both."""
    tokens, running, beside_state = counts.sizes.max_total, counts.running, settings.model.has_state
    layers = stage.attention if beside_state else stage.total
    if layers == 0:
        return []
    prefix = "full_kv_pool." if beside_state else ""
    target = latent_buffers(settings, rows=tokens + settings.page, layers=layers, prefix=prefix)
    found = [_part("KV", target, _price(terms), layers, tokens)]
    if settings.model.dsa:
        count = indexed_layers(settings, stage, layers)
        index = index_buffers(settings, tokens=tokens, running=running, layers=count, prefix=prefix)
        found.append(_part("index keys", index, _price(terms, _INDEX_TERMS), count, tokens))
    drafts = settings.draft_layers
    if drafts:
        buffers = latent_buffers(settings, rows=_draft_rows(settings, tokens), layers=drafts)
        if settings.model.dsa:
            buffers += index_buffers(settings, tokens=tokens, running=running, layers=drafts)
        found.append(_draft_part(buffers, terms, drafts, tokens))
    return found


def _host_rows(settings: Settings, tokens: int) -> int:
    """Rows of what HiSparse keeps on the GPU for every slot of the host."""
    return tokens * settings.hisparse_ratio + settings.page


def _draft_rows(settings: Settings, tokens: int) -> int:
    """A draft's pool is not spread over hosts or DCP ranks (loc_space_scale); read from the source alone."""
    copies = settings.deployment.dcp
    return tokens * settings.hisparse_ratio * copies + settings.page * copies


def _price(terms: tuple[Term, ...], names: frozenset[str] = frozenset()) -> int:
    """Bytes per token of the terms so named; without names, of those that are neither index nor draft."""
    other = _INDEX_TERMS | {_DRAFT_TERM}
    return int(sum(t.bytes_per_token for t in terms if (t.name in names if names else t.name not in other)))


def _draft_part(buffers: tuple[Buffer, ...], terms: tuple[Term, ...], layers: int, tokens: int) -> Part:
    """The draft worker's pool; 0.5.12 does not charge for it."""
    return _part(_DRAFT_TERM, buffers, _price(terms, frozenset({_DRAFT_TERM})), layers, tokens, draft=True)


def _part(
    name: str, buffers: tuple[Buffer, ...], price: int, layers: int, tokens: int, *, draft: bool = False
) -> Part:
    return part(
        name,
        buffers,
        layers=layers,
        tokens=tokens,
        bytes_per_token=price,
        charged=price * tokens,
        draft=draft,
    )
