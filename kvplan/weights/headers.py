"""Bytes of the tensors in *.safetensors files, from their headers alone.

A file begins with the length of its header in 8 bytes, little-endian, and the header is JSON: dtype,
shape and data_offsets of each tensor (safetensors, format.md). The tensors themselves are never read.
"""

from __future__ import annotations

import json
import stat
from collections.abc import Mapping
from pathlib import Path

from kvplan.files import printable
from kvplan.local import leads_out

SUFFIX = ".safetensors"
_LENGTH_BYTES = 8
# Some 60,000 tensors. The library's own limit of 100 MB (safetensors, MAX_HEADER_SIZE) would take a GB here.
_MAX_HEADER_BYTES = 8 << 20
_METADATA = "__metadata__"
# Far more shards than any model has.
_MAX_FILES = 2_000


class _HeaderError(Exception):
    """A file whose tensors can't be counted: its name, and why."""


def folder_bytes(folder: Path) -> int | None:
    """Bytes of all tensors of the folder's files, each name once; None where one can't be read or is cut.

    Mistral's models come twice: beside the usual shards as consolidated files with other names.
    """
    try:
        return _total(folder)
    except _HeaderError:
        return None


def folder_fault(folder: Path) -> str:
    """The first file that `folder_bytes` can't read: `FILE is not readable (why)`; empty where it can."""
    try:
        _total(folder)
    except _HeaderError as error:
        return str(error)
    return ""


def _total(folder: Path) -> int | None:
    files = sorted(folder.glob(f"*{SUFFIX}"))
    usual = [path for path in files if not path.name.startswith("consolidated")]
    sizes: dict[str, int] = {}
    for path in (usual or files)[:_MAX_FILES]:
        try:
            sizes |= _tensor_bytes(path)
        except _HeaderError as error:
            raise _HeaderError(f"{printable(path.name)} is not readable ({error})") from error
    return sum(sizes.values()) or None


def _tensor_bytes(path: Path) -> dict[str, int]:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise _HeaderError("no regular file")
        if leads_out(path):
            raise _HeaderError("a link that leads out of its folder")
        with path.open("rb") as file:
            length = int.from_bytes(file.read(_LENGTH_BYTES), "little")
            if not 2 <= length <= min(_MAX_HEADER_BYTES, status.st_size - _LENGTH_BYTES):
                raise _HeaderError("no header of safetensors, or a cut one")
            header = json.loads(file.read(length))
    except OSError as error:
        raise _HeaderError(error.strerror or "it can't be opened") from error
    except (ValueError, RecursionError) as error:
        raise _HeaderError("its header is no JSON") from error
    return _sizes(header, status.st_size - _LENGTH_BYTES - length)


def _sizes(header: object, data_bytes: int) -> dict[str, int]:
    if not isinstance(header, Mapping):
        raise _HeaderError("its header is no mapping")
    sizes = {}
    for name, tensor in header.items():
        if name == _METADATA:
            continue
        offsets = tensor.get("data_offsets") if isinstance(tensor, Mapping) else None
        if not isinstance(offsets, list) or len(offsets) != 2 or not all(type(it) is int for it in offsets):
            raise _HeaderError("a tensor has no data_offsets")
        start, end = offsets
        if not 0 <= start <= end <= data_bytes:
            raise _HeaderError("it is cut: a tensor ends behind the file")
        sizes[str(name)] = end - start
    return sizes
