"""The files of a model on disk: the config that the user pointed at, and what belongs to it beside it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from math import inf
from pathlib import Path
from typing import Any

from kvplan import catalog
from kvplan.config import shown as quoted
from kvplan.errors import InputError, Problem
from kvplan.files import JSON_SUFFIXES, MAX_CONFIG_BYTES, YAML_SUFFIXES, printable, read_mapping
from kvplan.frozen import dataclass

CONFIG = "config.json"
QUANTIZATION = "hf_quant_config.json"
INDEX = "model.safetensors.index.json"
# The index of a model with 384 experts in 60 layers is about 15 MB.
MAX_INDEX_BYTES = 64 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalFiles:
    """Paths of one model on disk; errors call its config `shown`. None for a file that is not there."""

    config: Path
    shown: str
    quantization: Path | None
    index: Path | None


def locate(path: Path, name: str) -> LocalFiles:
    """The files behind an existing path that the user wrote as `name`: a config, or a folder with one.

    A link that the user names is followed, a link in a folder only where it stays in there. Raises
    InputError.
    """
    if not path.exists():
        raise _error(name, "is a link to something that does not exist")
    config, shown = path, name
    if path.is_dir():
        shown = os.path.join(name, CONFIG)
        found = _beside(path, CONFIG, shown)
        if found is None:
            raise _no_config(path, name)
        config = found
    quantization = index = None
    if config.name == CONFIG:  # under any other name, the file and its neighbours need not be one model's
        folder = os.path.dirname(shown)
        quantization = _beside(config.parent, QUANTIZATION, os.path.join(folder, QUANTIZATION))
        index = _beside(config.parent, INDEX, os.path.join(folder, INDEX))
    return LocalFiles(config=config, shown=printable(shown), quantization=quantization, index=index)


def index_fault(index: Path) -> str:
    """Why the size of the weights in an index can't be used: `FILE is not readable (why)`.

    Empty where it names none, which published ones do.
    """
    try:
        # To hold all of a larger one would take 15 times its size.
        large = index.stat().st_size > MAX_CONFIG_BYTES
        why = (
            "no total_size is found in it"
            if large
            else _no_total(read_mapping(index, shown=INDEX, problems=[]))
        )
    except OSError as error:
        why = error.strerror or "it can't be opened"
    except InputError as error:
        why = error.problems[0].what
    return f"{INDEX} is not readable ({why})" if why else ""


def _no_total(index: Mapping[str, Any]) -> str:
    metadata = index.get("metadata")
    if metadata is not None and not isinstance(metadata, Mapping):
        return f"metadata is {quoted(metadata)}"
    total = None if metadata is None else metadata.get("total_size")
    if total is None or (isinstance(total, (int, float)) and not isinstance(total, bool) and 0 < total < inf):
        return ""
    return f"metadata.total_size is {quoted(total)}"


def id_of(config: Path) -> str:
    """A name for a model that has none: from the file's name, or the folder's if that is config.json."""
    if config.name != CONFIG:
        suffix = config.suffix if config.suffix.lower() in (*JSON_SUFFIXES, *YAML_SUFFIXES) else ""
        return catalog.id_of(config.name.removesuffix(suffix))
    folder = _real(config.parent)
    if folder.parent.name == "snapshots":  # of the Hugging Face cache: models--org--name/snapshots/commit
        return folder.parent.parent.name.removeprefix("models--").replace("--", "/", 1)
    return catalog.id_of(folder.name)


def _error(file: str, what: str, hint: str = "") -> InputError:
    return InputError(Problem(file=printable(file), key="", what=what, hint=hint))


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))  # Path.resolve() raises on a loop of links before Python 3.13


def leads_out(path: Path) -> bool:
    """Whether a path is a link to somewhere outside its folder.

    The Hugging Face cache is the exception: its snapshots are links to blobs of the repository or, from
    huggingface_hub 2 on, of the whole cache.
    """
    if not path.is_symlink():
        return False
    real = _real(path.parent)
    allowed = [real]
    if real.parent.name == "snapshots":
        repository = real.parent.parent
        allowed += [repository / "blobs", repository.parent / "blobs"]
    return not any(_real(path).is_relative_to(root) for root in allowed)


def _beside(folder: Path, name: str, shown: str) -> Path | None:
    """The file `name` in `folder`, None without one; a link must not lead out of where the user pointed."""
    path = folder / name
    if not os.path.lexists(path):
        return None
    if leads_out(path):
        raise _error(shown, "is a link that leads out of its folder", "name the file itself")
    return path


def _no_config(folder: Path, name: str) -> InputError:
    models = sorted(path.name for path in folder.glob("*") if path.suffix.lower() in YAML_SUFFIXES)
    if models:
        hint = f"a model YAML is named itself: {printable(os.path.join(name, models[0]))}"
    elif catalog.find(name) is not None:
        hint = "--source bundled takes the bundled model of this name"
    else:
        hint = "give the folder of a model, or the file itself"
    return _error(name, f"has no {CONFIG}", hint)
