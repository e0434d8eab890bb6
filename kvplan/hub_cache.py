"""Files in the Hugging Face cache: what must not stay there."""

from __future__ import annotations

import contextlib
from pathlib import Path

from kvplan.errors import InputError
from kvplan.files import read_mapping

# What huggingface_hub calls a file while it is written.
_PARTIAL = "*.incomplete"


def is_json(path: Path) -> bool:
    """Whether a file of the cache holds a mapping, whatever else may be wrong with it."""
    try:
        read_mapping(path, shown=path.name, problems=[])
    except InputError:
        return False
    return True


def take_back(path: Path) -> None:
    """Remove a file of a snapshot and the blob that it links to, so that the next run fetches it again."""
    blob = path.resolve()
    for part in (path, blob):
        with contextlib.suppress(OSError):
            part.unlink()


def take_back_partial(cache: Path, repo: str, *, above: int) -> bool:
    """Remove what has grown beyond `above` bytes while it is fetched; whether there was something."""
    folder = cache / f"models--{repo.replace('/', '--')}" / "blobs"
    found = False
    for path in [*folder.glob(_PARTIAL), *(cache / "blobs").glob(f"**/{_PARTIAL}")]:
        with contextlib.suppress(OSError):
            if path.stat().st_size > above:
                path.unlink()
                found = True
    return found
