"""Buffers of pools of KV heads: plain K and V, FP4 and mxfp8 with their scales, MiniMax-M3's index.

Source: mem_cache/memory_pool.py, MHATokenToKVPool and its subclasses, MiniMaxSparseKVPool;
layers/quantization/fp4_kv_cache_quant_method.py (0.5.23).
"""

from __future__ import annotations

from kvplan.frozen import dataclass
from kvplan.layers import IndexedAttention
from kvplan.pools.mha import FP4_BLOCK, MXFP8_BLOCK, engine_shape, heads_on_gpu, index_element_bytes
from kvplan.pools.parts import E8M0, stored, tensors
from kvplan.records import Buffer
from kvplan.sglang.model import Stage
from kvplan.sglang.settings import Settings

FP8 = "float8_e4m3fn"
# Scales of mxfp8 lie in the order of FA4's kernel where a page is as long as its tile.
_MXFP8_TILE = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuHeads:
    """KV heads on one GPU and the elements of one head of K and of V."""

    heads: int
    head_dim: int
    v_head_dim: int


def model_heads(settings: Settings, *, same_v: bool = False) -> GpuHeads | None:
    """The one shape of all layers, or None without heads; `same_v`: the pool takes head_dim for V."""
    shape = engine_shape(settings)
    if shape is None:
        return None
    return GpuHeads(
        heads=heads_on_gpu(settings, shape.kv_heads),
        head_dim=shape.head_dim,
        v_head_dim=shape.head_dim if same_v else shape.v_head_dim,
    )


def plain(settings: Settings, heads: GpuHeads, *, rows: int, layers: int, prefix: str) -> tuple[Buffer, ...]:
    """K and V of `layers` layers, one element per value: FP4 has no packed form here."""
    dtype = stored(settings.kv.dtype)
    return (
        tensors(f"{prefix}k_buffer", (rows, heads.heads, heads.head_dim), dtype, layers),
        tensors(f"{prefix}v_buffer", (rows, heads.heads, heads.v_head_dim), dtype, layers),
    )


def quantised(
    settings: Settings, heads: GpuHeads, *, rows: int, layers: int, prefix: str
) -> tuple[Buffer, ...]:
    """K and V in the pool class that the KV format has."""
    if settings.flag == "mxfp8":
        return mxfp8(settings, heads, rows=rows, layers=layers, prefix=prefix)
    if settings.flag == "nvfp4":
        return _nvfp4(settings, heads, rows=rows, layers=layers, prefix=prefix)
    if settings.flag in settings.rules.fp4_flags:
        return _fp4(heads, rows=rows, layers=layers, prefix=prefix)
    return plain(settings, heads, rows=rows, layers=layers, prefix=prefix)


def _packed(heads: GpuHeads, *, rows: int, layers: int, prefix: str) -> tuple[Buffer, ...]:
    """Two FP4 values in a byte; V takes the width of K."""
    shape = (rows, heads.heads, heads.head_dim // 2)
    return (
        tensors(f"{prefix}k_buffer", shape, "uint8", layers),
        tensors(f"{prefix}v_buffer", shape, "uint8", layers),
    )


def _fp4(heads: GpuHeads, *, rows: int, layers: int, prefix: str) -> tuple[Buffer, ...]:
    shape = (rows, heads.heads * heads.head_dim // FP4_BLOCK)
    return (
        *_packed(heads, rows=rows, layers=layers, prefix=prefix),
        tensors(f"{prefix}k_scale_buffer", shape, "uint8", layers),
        tensors(f"{prefix}v_scale_buffer", shape, "uint8", layers),
    )


def _nvfp4(settings: Settings, heads: GpuHeads, *, rows: int, layers: int, prefix: str) -> tuple[Buffer, ...]:
    """Scales in the order of decode, and beside them what a FlashInfer prefill reads: an FP8 copy of
    one layer, and scales token by token. Source: NVFP4KVCacheMethod.create_buffers.
    """
    scales = heads.head_dim // FP4_BLOCK
    workspace = settings.prefill_backend == "flashinfer"
    native = settings.gpu.is_sm100
    found = list(_packed(heads, rows=rows, layers=layers, prefix=prefix))
    if workspace or not native:
        shape: tuple[int, ...] = (rows, heads.heads, scales)
        found += [tensors(f"{prefix}{kv}_scale_buffer", shape, "uint8", layers) for kv in "kv"]
    if native:
        shape = (rows // settings.page, heads.heads, settings.page, scales)
        found += [tensors(f"{prefix}native_{kv}_scale_buffer", shape, "uint8", layers) for kv in "kv"]
    if workspace:
        shape = (rows, heads.heads, heads.head_dim)
        found += [tensors(f"{prefix}dq_{kv}_buffer", shape, FP8) for kv in "kv"]
    return tuple(found)


def mxfp8(settings: Settings, heads: GpuHeads, *, rows: int, layers: int, prefix: str) -> tuple[Buffer, ...]:
    """FP8 values, and one exponent for 32 of them. Source: MHATokenToKVPoolMXFP8."""
    found = []
    for name, width in (("k", heads.head_dim), ("v", heads.v_head_dim)):
        found.append(tensors(f"{prefix}{name}_buffer", (rows, heads.heads, width), FP8, layers))
    for name, width in (("k", heads.head_dim), ("v", heads.v_head_dim)):
        blocks = width // MXFP8_BLOCK
        shape: tuple[int, ...] = (rows, heads.heads, blocks)
        if settings.page == _MXFP8_TILE:
            tile = (MXFP8_BLOCK, settings.page // MXFP8_BLOCK)
            shape = (rows // settings.page, heads.heads, *tile, blocks)
        found.append(tensors(f"{prefix}{name}_scale_buffer", shape, E8M0, layers))
    return tuple(found)


def index_buffers(settings: Settings, stage: Stage, *, rows: int) -> tuple[Buffer, ...]:
    """MiniMax-M3's index: one head of K, and of V where the layer keeps it."""
    found = []
    for layer, count in stage.groups:
        if isinstance(layer, IndexedAttention):
            fp8 = index_element_bytes(settings, layer) == 1
            dtype = "uint8" if fp8 else layer.index_dtype
            pool = "index_kv_pool" if layer.index_value else "index_k_pool"
            shape = (rows, 1, layer.index_dim)
            found.append(tensors(f"{pool}.k_buffer", shape, dtype, count))
            if layer.index_value:
                found.append(tensors(f"{pool}.v_buffer", shape, dtype, count))
    return tuple(found)
