"""Buffers of latent pools: MLA rows, FP4 rows with their scales, DSA's index keys.

Source: mem_cache/memory_pool.py, MLATokenToKVPool, MLATokenToKVPoolFP4, DSATokenToKVPool (0.5.12:
NSATokenToKVPool); mem_cache/index_key_cache.py.
"""

from __future__ import annotations

from kvplan.dtypes import element_bytes
from kvplan.layers.latent import index_key_bytes
from kvplan.pools.dsa import stored_row_bytes
from kvplan.pools.mla import FP4_BLOCK, latent_layer
from kvplan.pools.parts import stored, tensors
from kvplan.records import Buffer
from kvplan.sglang.settings import Settings

# DSATokenToKVPool._init_kpool_compress_tail_buffers; published models with pooled keys compress them.
_TAIL_DTYPE = "bfloat16"


def latent_buffers(settings: Settings, *, rows: int, layers: int, prefix: str = "") -> tuple[Buffer, ...]:
    """One row per token; packed FP4 with scales, except beside recurrent states (a plain pool)."""
    width = latent_layer(settings).latent_dim
    if settings.flag in settings.rules.fp4_flags and not settings.model.has_state:
        return (
            tensors(f"{prefix}kv_buffer", (rows, 1, width // 2), "uint8", layers),
            tensors(f"{prefix}kv_scale_buffer", (rows, width // FP4_BLOCK), "uint8", layers),
        )
    dtype = settings.kv.dtype
    if settings.model.dsa:
        width = stored_row_bytes(settings) // element_bytes(dtype)
    return (tensors(f"{prefix}kv_buffer", (rows, 1, width), stored(dtype), layers),)


def index_buffers(
    settings: Settings, *, tokens: int, running: int, layers: int, prefix: str = ""
) -> tuple[Buffer, ...]:
    """FP8 index keys with their scales, by pages; HiSparse and DCP keep them for all slots of the host
    or of the group. Pooled keys have a tail of tokens that don't fill a group yet for each request.
    """
    if layers == 0:
        return ()
    latent, page = latent_layer(settings), settings.page
    slots = (tokens * settings.hisparse_ratio + page) * settings.deployment.dcp - page
    width = page // latent.index_kpool * index_key_bytes(latent.index_head_dim)
    shape = ((slots + page + 1) // page, width)
    keys = tensors(f"{prefix}index_k_with_scale_buffer", shape, "uint8", layers)
    if latent.index_kpool == 1:
        return (keys,)
    # Requests, a padding row of the request table and one for invalid requests.
    tail = (running + 2, latent.index_kpool + settings.draft_tokens, latent.index_head_dim)
    names = ("_compress_tail_k", "_compress_tail_score")
    return (keys, *(tensors(prefix + name, tail, _TAIL_DTYPE, layers) for name in names))
