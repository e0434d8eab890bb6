"""Tensors and the pools that they make up: charged by the sizing formula, and really allocated."""

from __future__ import annotations

from math import prod

from kvplan.dtypes import BITS, element_bytes
from kvplan.frozen import dataclass
from kvplan.records import Buffer, Number, Pool

# torch can't index FP8 tensors, so they are kept as bytes (mem_cache/memory_pool.py, KVCache.store_dtype).
_STORED_AS = {"float8_e4m3fn": "uint8", "float8_e5m2": "uint8"}
# Scales of mxfp8, exponents of one byte.
E8M0 = "float8_e8m0fnu"
_BYTES = {E8M0: 1, **{dtype: element_bytes(dtype) for dtype in BITS}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One pool with its buffers; `draft`: a draft worker builds them, beside the target's own."""

    pool: Pool
    buffers: tuple[Buffer, ...]
    draft: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Pools in order, and tensors on one GPU: of the server, of its draft worker, and not charged."""

    pools: tuple[Pool, ...] = ()
    buffers: tuple[Buffer, ...] = ()
    draft_buffers: tuple[Buffer, ...] = ()
    uncharged_buffers: tuple[Buffer, ...] = ()


def part(
    name: str,
    buffers: tuple[Buffer, ...],
    *,
    layers: int,
    tokens: int,
    bytes_per_token: Number,
    charged: int,
    draft: bool = False,
) -> Part:
    """A pool of `tokens` slots; `charged` bytes on one GPU, allocated as its buffers add up."""
    pool = Pool(
        name=name,
        layers=layers,
        tokens=tokens,
        bytes_per_token=bytes_per_token,
        charged_bytes=charged,
        allocated_bytes=sum(buffer.bytes for buffer in buffers),
    )
    return Part(pool=pool, buffers=buffers, draft=draft)


def tensors(name: str, shape: tuple[int, ...], dtype: str, count: int = 1) -> Buffer:
    """`count` tensors of one shape; the dtype is torch's name."""
    size = prod(shape) * _BYTES[dtype] * count
    return Buffer(name=name, shape=shape, dtype=dtype, count=count, bytes=size)


def stored(dtype: str) -> str:
    """The dtype of the tensor that holds values of `dtype`."""
    return _STORED_AS.get(dtype, dtype)
