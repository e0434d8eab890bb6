"""From a reference to a located document.

Tried in this order: an existing path, the bundled models, the local Hugging Face cache, the Hub.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from kvplan import catalog, local
from kvplan.architecture import Source
from kvplan.config import near
from kvplan.errors import InputError, Problem, bad_option
from kvplan.files import JSON_SUFFIXES, YAML_SUFFIXES, printable, read_mapping, read_text
from kvplan.frozen import dataclass
from kvplan.weights import headers

SOURCES = ("bundled", "cache", "hub")
# The one part of an index that is of use; the rest names the file of each tensor.
_INDEX_METADATA = re.compile(r'"metadata"\s*:\s*(\{[^{}]{0,65536}\})')

# Patterns are compiled when a name has to be checked: most runs name a file or a bundled model.
# The Hub's own rule for names (huggingface_hub, validate_repo_id): up to 96 letters, digits, `-`, `_`,
# `.`, no `--` or `..`, neither `-` nor `.` at an end.
_NAME = r"(?!.*(--|\.\.))[A-Za-z0-9_]([A-Za-z0-9._-]{0,94}[A-Za-z0-9_])?"
# A branch (`refs/pr/1` is one), a tag or a commit.
_REVISION = r"(?!.*(\.\.|//))[A-Za-z0-9_][A-Za-z0-9._/-]{0,254}(?<![/.])"

OnFetch = Callable[[str], AbstractContextManager[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A config as it was found, not understood yet.

    `file` is what errors call it, `model_id` what to show where it names no model itself.
    `quantization` is the content of the hf_quant_config.json beside a config.json, and `weights_bytes`
    the total of the safetensors index beside it; None where there is none. `unasked`: in the cache lies no
    hf_quant_config.json, and nobody asked the Hub for one.
    """

    data: Mapping[str, Any]
    file: str
    source: Source
    model_id: str
    quantization: Mapping[str, Any] | None = None
    weights_bytes: int | None = None
    unasked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _HubId:
    repo: str
    revision: str | None


def resolve(
    reference: str | os.PathLike[str],
    *,
    source: str | None = None,
    on_fetch: OnFetch | None = None,
    problems: list[Problem] | None = None,
) -> Document:
    """Find and read what `reference` means; `source` is one of SOURCES, to look nowhere else.

    A path object is a path and never sent to the Hub. `on_fetch(repo)` is entered while something is
    fetched. Duplicate keys are added to `problems` where a list is given (hand it to `Config`, so that
    all problems of the file come out together). Raises InputError for everything else that is wrong.
    """
    name = os.fspath(reference)
    if source is not None and source not in SOURCES:
        raise bad_option("source", f"unknown value {source!r}", near(source, SOURCES))
    if not name.strip():
        raise _error("", "the reference is empty", "give a file, a folder or a model id")
    if source is None:
        path = Path(os.path.expanduser(name))
        if os.path.lexists(path):
            return _from_path(path, name, problems)
        if not isinstance(reference, str) or _is_path_like(name):
            raise _no_such_file(name)
    if source in (None, "bundled"):
        bundled = catalog.find(name)
        if bundled is not None:
            return _from_bundled(bundled, problems)
        if source == "bundled":
            raise _not_bundled(name)
    return _from_hub(_hub_id(name), name, source, on_fetch, problems)


def _error(file: str, what: str, hint: str = "") -> InputError:
    return InputError(Problem(file=printable(file), key="", what=what, hint=hint))


def _is_path_like(name: str) -> bool:
    return (
        name.startswith((".", "~", os.sep))
        or name.partition("@")[0].count(os.sep) > 1
        or name.lower().endswith((*JSON_SUFFIXES, *YAML_SUFFIXES))
    )


def _no_such_file(name: str) -> InputError:
    if "://" in name:
        return _error(name, "is a URL, which kvplan does not read", "give the model id: org/name")
    return _error(name, "no such file")


def _not_bundled(name: str) -> InputError:
    if "@" in name:
        return _error(name, "a bundled model has no revisions", "leave out @..., or --source bundled")
    return _error(name, "is not bundled", catalog.hint(name))


def _hub_id(name: str) -> _HubId:
    """Take `org/name[@revision]` apart; refused before it gets near a path or the network."""
    repo, mark, revision = name.partition("@")
    parts = repo.split("/")
    if len(parts) != 2 or not all(re.fullmatch(_NAME, part) for part in parts):
        raise _error(name, "no such file, and not a bundled name or a model id", catalog.hint(repo))
    if mark and not re.fullmatch(_REVISION, revision):
        raise _error(name, f"{revision!r:.60} is no revision", "a branch, a tag or a commit follows the @")
    return _HubId(repo=repo, revision=revision or None)


def _from_path(path: Path, name: str, problems: list[Problem] | None) -> Document:
    files = local.locate(path, name)
    return Document(
        data=read_mapping(files.config, shown=files.shown, problems=problems),
        file=files.shown,
        source=Source(kind="file", location=printable(name)),
        model_id=printable(local.id_of(files.config)),
        quantization=_quantization(files.quantization, os.path.dirname(files.shown)),
        weights_bytes=_weights_bytes(files.index) or _headers_bytes(files.config),
    )


def _from_bundled(path: Path, problems: list[Problem] | None) -> Document:
    # Relative to wherever kvplan is installed, so that reports are the same on every machine.
    shown = f"configs/{path.name}"
    return Document(
        data=read_mapping(path, shown=shown, problems=problems),
        file=shown,
        source=Source(kind="bundled", location=shown),
        model_id=catalog.id_of(path.name.removesuffix(catalog.SUFFIX)),
    )


def _from_hub(
    wanted: _HubId, name: str, source: str | None, on_fetch: OnFetch | None, problems: list[Problem] | None
) -> Document:
    from kvplan import hub  # noqa: PLC0415 - most runs name a file or a bundled model

    kind = "cache"
    files = hub.cached(wanted.repo, wanted.revision) if source != "hub" else None
    if files is None:
        if source == "cache":
            hint = "leave out --source to fetch it from the Hub"
            raise _error(name, "is not in the local Hugging Face cache", hint)
        kind = "hub"
        with on_fetch(wanted.repo) if on_fetch else nullcontext():
            files = hub.download(wanted.repo, wanted.revision, otherwise=catalog.hint(wanted.repo))
    shown = f"{wanted.repo}/{local.CONFIG}"
    return Document(
        data=read_mapping(files.config, shown=shown, problems=problems),
        file=shown,
        source=Source(kind=kind, location=wanted.repo, revision=files.revision),
        model_id=wanted.repo,
        quantization=_quantization(files.quantization, wanted.repo),
        weights_bytes=_weights_bytes(files.index) or _headers_bytes(files.config),
        unasked=files.unasked,
    )


def _quantization(path: Path | None, folder: str) -> Mapping[str, Any] | None:
    return None if path is None else read_mapping(path, shown=os.path.join(folder, local.QUANTIZATION))


def _headers_bytes(config: Path) -> int | None:
    """The size of the weights beside a config.json, from the headers of their files; None without any."""
    if (
        config.name != local.CONFIG
    ):  # under any other name, the file and its neighbours need not be one model's
        return None
    return headers.folder_bytes(config.parent)


def _weights_bytes(index: Path | None) -> int | None:
    """`metadata.total_size`; None where it can't be read, as a cut index must not stop the planning."""
    if index is None:
        return None
    try:
        text = read_text(index, shown=local.INDEX, limit=local.MAX_INDEX_BYTES)
        found = _INDEX_METADATA.search(text)
        total = json.loads(found[1]).get("total_size") if found is not None else None
    except (InputError, ValueError):
        return None
    if isinstance(total, bool) or not isinstance(total, (int, float)) or not 0 < total < float("inf"):
        return None
    return int(total)  # some published indexes hold it as 1.6e10
