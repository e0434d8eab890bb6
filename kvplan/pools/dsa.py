"""DSA: the latent of MLA, and FP8 index keys on the layers that have an indexer of their own."""

from __future__ import annotations

from kvplan.dtypes import element_bytes
from kvplan.layers import LatentAttention
from kvplan.layers.latent import INDEX_SCALE_BLOCK, INDEX_SCALE_BYTES, index_key_bytes
from kvplan.pools.default import TokenLink, draft_bytes, draft_term
from kvplan.pools.mla import latent_layer
from kvplan.records import Term
from kvplan.sglang.dsa_backends import keeps_plain_rows
from kvplan.sglang.model import EngineModel, Stage
from kvplan.sglang.settings import Settings


def verdict(model: EngineModel) -> tuple[bool, str]:
    """A listed class with index_topk in its config."""
    if model.dsa:
        return True, f"{model.name} has an indexer (index_topk)"
    return False, "no sparse indexer"


def terms(settings: Settings, stage: Stage) -> tuple[Term, ...]:
    """Latent rows, index keys, and both for draft layers."""
    layers = stage.attention if settings.model.has_state else stage.total
    row = charged_row_bytes(settings)
    latent = latent_layer(settings)
    terms = [
        Term(
            name="latent",
            bytes_per_token=row * layers,
            formula=f"{row} B x {layers} layers ({row_formula(settings, row)})",
        )
    ]
    index_layers = indexed_layers(settings, stage, layers)
    scale = _hisparse_ratio(settings) * settings.deployment.dcp
    key = _charged_key_bytes(settings, latent)
    index = key * index_layers * scale
    terms.append(
        Term(
            name="index keys",
            bytes_per_token=index,
            formula=f"{key} B x {index_layers} layers" + (f" x {scale}" if scale > 1 else ""),
        )
    )
    if settings.rules.draft_indexes_apart:
        return (*terms, *_draft_terms(settings, latent, row * layers, layers, scale))
    draft = draft_bytes(settings, int(sum(term.bytes_per_token for term in terms)), layers)
    return (*terms, draft_term(settings, draft, layers)) if draft else tuple(terms)


LINK = TokenLink(name="DSA", verdict=verdict, terms=terms)


def charged_row_bytes(settings: Settings) -> int:
    """Bytes of one latent row as the cell counts it; 0.5.12 counts the plain row whatever the backend."""
    return stored_row_bytes(settings) if settings.rules.dsa_cell_follows_row else _plain_row(settings)


def stored_row_bytes(settings: Settings) -> int:
    """Bytes of one latent row as the backend stores it.

    FP8 rows are plain (576 B) for trtllm; FlashMLA keeps RoPE in bfloat16 and a float32 scale per
    128 elements: 512 + 512 / 128 * 4 + 64 * 2 = 656 B. Source: kv_cache_configurator.py,
    calculate_mla_kv_cache_dim.
    """
    if settings.kv.dtype != "float8_e4m3fn" or keeps_plain_rows(settings.dsa_backends, settings.rules):
        return _plain_row(settings)
    latent = latent_layer(settings)
    scales = latent.kv_lora_rank // INDEX_SCALE_BLOCK * INDEX_SCALE_BYTES
    return latent.kv_lora_rank + scales + latent.qk_rope_head_dim * 2


def _plain_row(settings: Settings) -> int:
    return latent_layer(settings).latent_dim * element_bytes(settings.kv.dtype)


def row_formula(settings: Settings, row: int) -> str:
    """The multiplication behind a row."""
    latent = latent_layer(settings)
    size = element_bytes(settings.kv.dtype)
    if row == latent.latent_dim * size:
        return f"({latent.kv_lora_rank} + {latent.qk_rope_head_dim}) x {size}"
    scales = f"{latent.kv_lora_rank} / {INDEX_SCALE_BLOCK} x {INDEX_SCALE_BYTES}"
    return f"{latent.kv_lora_rank} + {scales} + {latent.qk_rope_head_dim} x 2"


def _hisparse_ratio(settings: Settings) -> int:
    """Index keys stay on the GPU for all host slots; 0.5.12 does not count that."""
    return settings.hisparse_ratio if settings.rules.hisparse_in_dsa_cell else 1


def _charged_key_bytes(settings: Settings, latent: LatentAttention) -> int:
    """Bytes per token of index keys as the cell counts them; early releases count every token's."""
    if settings.rules.dsa_cell_pools_index:
        return latent.pooled_index_bytes
    return index_key_bytes(latent.index_head_dim)


def indexed_layers(settings: Settings, stage: Stage, layers: int) -> int:
    """Layers with index keys of their own, as the version keeps them."""
    everywhere = _hisparse_ratio(settings) > 1 or not settings.rules.dsa_elides_shared_index
    return layers if everywhere else stage.indexed


def _draft_terms(
    settings: Settings, latent: LatentAttention, kv_bytes: int, layers: int, scale: int
) -> tuple[Term, ...]:
    drafts = settings.draft_layers
    if not settings.rules.draft_in_cell or drafts == 0:
        return ()
    kv = int(kv_bytes * drafts / layers)
    if settings.rules.draft_on_host_too:
        kv *= settings.hisparse_ratio * settings.deployment.dcp
    index = _charged_key_bytes(settings, latent) * drafts * scale
    return (
        Term(
            name="draft layers",
            bytes_per_token=kv + index,
            formula=f"{drafts} MTP layers: latent at the cost of one of {layers}, index keys on each",
        ),
    )
