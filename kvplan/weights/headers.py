"""Bytes of the tensors in *.safetensors files, from their headers alone.

A file begins with the length of its header in 8 bytes, little-endian, and the header is JSON: dtype,
shape and data_offsets of each tensor (safetensors, format.md). The tensors themselves are never read.
"""

from __future__ import annotations

import json
import stat
from collections.abc import Mapping
from pathlib import Path

from kvplan.local import leads_out

SUFFIX = ".safetensors"
_LENGTH_BYTES = 8
# Some 60,000 tensors. The library's own limit of 100 MB (safetensors, MAX_HEADER_SIZE) would take a GB here.
_MAX_HEADER_BYTES = 8 << 20
_METADATA = "__metadata__"
# Far more shards than any model has.
_MAX_FILES = 2_000


def folder_bytes(folder: Path) -> int | None:
    """Bytes of all tensors of the folder's files, each name once; None where one can't be read or is cut.

    Mistral's models come twice: beside the usual shards as consolidated files with other names.
    """
    files = sorted(folder.glob(f"*{SUFFIX}"))
    usual = [path for path in files if not path.name.startswith("consolidated")]
    sizes: dict[str, int] = {}
    for path in (usual or files)[:_MAX_FILES]:
        found = _tensor_bytes(path)
        if found is None:
            return None
        sizes |= found
    return sum(sizes.values()) or None


def _tensor_bytes(path: Path) -> dict[str, int] | None:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode) or leads_out(path):
            return None
        with path.open("rb") as file:
            length = int.from_bytes(file.read(_LENGTH_BYTES), "little")
            if not 2 <= length <= min(_MAX_HEADER_BYTES, status.st_size - _LENGTH_BYTES):
                return None
            header = json.loads(file.read(length))
    except (OSError, ValueError, RecursionError):
        return None
    return _sizes(header, status.st_size - _LENGTH_BYTES - length)


def _sizes(header: object, data_bytes: int) -> dict[str, int] | None:
    if not isinstance(header, Mapping):
        return None
    sizes = {}
    for name, tensor in header.items():
        if name == _METADATA:
            continue
        offsets = tensor.get("data_offsets") if isinstance(tensor, Mapping) else None
        if not isinstance(offsets, list) or len(offsets) != 2 or not all(type(it) is int for it in offsets):
            return None
        start, end = offsets
        if not 0 <= start <= end <= data_bytes:
            return None
        sizes[str(name)] = end - start
    return sizes
