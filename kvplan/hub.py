"""The few files of a model on the Hugging Face Hub, from the local cache or over the network.

The only module that imports huggingface_hub, and inside functions: most runs need neither. Paths,
token, endpoint and offline mode are that library's own: HF_HOME, HF_HUB_CACHE, HF_TOKEN, HF_ENDPOINT,
HF_HUB_OFFLINE. No text of its exceptions is passed on, since one may quote the request's headers and
with them the token.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from kvplan import hub_cache
from kvplan.errors import InputError, Problem
from kvplan.files import MAX_CONFIG_BYTES
from kvplan.frozen import dataclass
from kvplan.hub_errors import (
    NOT_FOUND,
    NotAHubError,
    OfflineModeError,
    check_endpoint,
    explain,
    host_of,
    root_of,
    status_of,
)
from kvplan.local import CONFIG, INDEX, MAX_INDEX_BYTES, QUANTIZATION

# A checkpoint in one file has no index; its header says the same.
SINGLE = "model.safetensors"

# How long the Hub may take to say what it has. huggingface_hub alone would try six times, a minute each.
TIMEOUT_SECONDS = 10.0
# How long all files together may take: the largest indexes are about 15 MB.
TRANSFER_SECONDS = 120.0
MAX_TRANSFER_BYTES = MAX_INDEX_BYTES
GLANCE_SECONDS = 0.25
_NOT_ITS_ANSWER = "check HF_ENDPOINT and the proxy settings"

# The spinner is the command line's; telemetry would be one more request to the Hub.
_QUIET = {
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_VERBOSITY": "critical",
}

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class HubFiles:
    """Local paths of one snapshot; `revision` is its commit. None for a file that the snapshot lacks.

    `index`: of the safetensors files, or the same written from the header of a single one. `unasked`: nobody
    asked the Hub for a hf_quant_config.json; other programs fetch the config alone.
    """

    config: Path
    revision: str
    quantization: Path | None
    index: Path | None
    unasked: bool = False


def cached(repo: str, revision: str | None) -> HubFiles | None:
    """The model's files in the local cache, None where its config.json is not there; no network.

    Without a revision it is the newest that was fetched as `main`.
    """
    config = _cached_file(repo, CONFIG, revision)
    if config is None:
        return None
    commit = config.parent.name
    return HubFiles(
        config=config,
        revision=commit,
        quantization=_cached_file(repo, QUANTIZATION, commit),
        index=_cached_file(repo, INDEX, commit) or _kept_header(repo, commit),
        unasked=_library().try_to_load_from_cache(repo, QUANTIZATION, revision=commit) is None,
    )


def download(
    repo: str, revision: str | None, *, otherwise: str = "", timeout: float = TIMEOUT_SECONDS
) -> HubFiles:
    """Fetch the model's files into the local cache.

    `otherwise` is the hint where the Hub has no such model or is out of reach, `timeout` in seconds.
    Raises InputError for everything that goes wrong.
    """
    try:
        commit = _within(timeout, lambda: _look_up(repo, revision, timeout))
        found = _within(
            TRANSFER_SECONDS, lambda: _fetch(repo, revision, commit, timeout), lambda: _watch_transfer(repo)
        )
        _check_content(repo, found)
        return found
    except InputError:
        raise
    except Exception as error:
        # Broad on purpose: the HTTP library behind huggingface_hub, and so what it raises, changes
        # with its version. Nothing of kvplan's own runs in there but the calls.
        endpoint: str = _library().constants.ENDPOINT
        what, hint = explain(error, endpoint=endpoint, revision=revision)
        raise InputError(Problem(file=repo, key="", what=what, hint=hint or otherwise)) from None


def _library() -> Any:
    check_endpoint(os.environ.get("HF_ENDPOINT"))  # a bad one makes the import itself fail
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    # A quarter of a second, for the runs that need it. `constants` is no attribute until it is imported.
    import huggingface_hub.constants  # noqa: PLC0415

    return huggingface_hub


def _cached_file(repo: str, name: str, revision: str | None) -> Path | None:
    found = _library().try_to_load_from_cache(repo, name, revision=revision)
    return Path(found) if isinstance(found, str) else None  # else None, or a mark that the Hub has none


def _look_up(repo: str, revision: str | None, timeout: float) -> str:
    """The commit, by the config's metadata: one request, not repeated, so that failures show at once."""
    library = _library()
    if library.constants.HF_HUB_OFFLINE:
        raise OfflineModeError
    url = library.hf_hub_url(repo, CONFIG, revision=revision)
    metadata = library.get_hf_file_metadata(url, timeout=timeout)
    if metadata.commit_hash is None:
        raise NotAHubError
    if (metadata.size or 0) > MAX_CONFIG_BYTES:
        what = f"has a config.json larger than {MAX_CONFIG_BYTES >> 20} MiB"
        raise InputError(Problem(file=repo, key="", what=what))
    return str(metadata.commit_hash)


def _fetch(repo: str, revision: str | None, commit: str, timeout: float) -> HubFiles:
    """The config comes last: where a run is cut off, the next one must not find it without the others."""
    library = _library()

    def fetch(name: str, at: str | None) -> Path:
        return Path(library.hf_hub_download(repo, name, revision=at, etag_timeout=timeout))

    def fetch_optional(name: str) -> Path | None:
        try:
            return fetch(name, commit)
        except Exception as error:
            if status_of(root_of(error)) == NOT_FOUND:
                return None
            raise

    quantization = fetch_optional(QUANTIZATION)
    index = fetch_optional(INDEX) or _fetch_header(repo, commit)
    config = fetch(CONFIG, revision)
    if config.parent.name != commit:
        raise InputError(Problem(file=repo, key="", what="changed while it was fetched", hint="try again"))
    return HubFiles(config=config, revision=commit, quantization=quantization, index=index)


def _watch_transfer(repo: str) -> None:
    """Raise InputError where the Hub sends without end: the library takes what comes."""
    cache = Path(_library().constants.HF_HUB_CACHE)
    if hub_cache.take_back_partial(cache, repo, above=MAX_TRANSFER_BYTES):
        what = f"the Hub sends more than {MAX_TRANSFER_BYTES >> 20} MiB, far more than any config"
        raise InputError(Problem(file=repo, key="", what=what, hint=_NOT_ITS_ANSWER))


def _check_content(repo: str, found: HubFiles) -> None:
    """Raise InputError where a file is no JSON, as a proxy's page is, and take it out of the cache again."""
    wrong = [path for path in (found.config, found.quantization) if path and not hub_cache.is_json(path)]
    for path in wrong:
        hub_cache.take_back(path)
    host = host_of(_library().constants.ENDPOINT)
    if wrong:
        raise InputError(
            [
                Problem(
                    file=repo,
                    key="",
                    what=f"{host} sent a {path.name} that is no JSON",
                    hint=f"try again later, and {_NOT_ITS_ANSWER}",
                )
                for path in wrong
            ]
        )


def _fetch_header(repo: str, commit: str) -> Path | None:
    """The size of a checkpoint in one file, from its header (a request for a range, no tensors), kept.

    None where there is no such file, or nothing that can be read: weights are estimated then, and the
    report says so.
    """
    try:
        header = _library().HfApi().parse_safetensors_file_metadata(repo, SINGLE, revision=commit)
        total = sum(end - start for start, end in (it.data_offsets for it in header.tensors.values()))
    except Exception:
        # Broad on purpose, as in `download`; the config of the same repository could be fetched.
        return None
    kept = _header_file(repo, commit)
    kept.parent.mkdir(parents=True, exist_ok=True)
    partial = kept.with_name(f"{kept.name}.{os.getpid()}")
    partial.write_text(json.dumps({"metadata": {"total_size": total}}), encoding="utf-8")
    return partial.replace(kept)


def _kept_header(repo: str, commit: str) -> Path | None:
    kept = _header_file(repo, commit)
    return kept if kept.is_file() else None


def _header_file(repo: str, commit: str) -> Path:
    """Where libraries keep what they make of the Hub's files (HF_ASSETS_CACHE); the Hub has no such file."""
    assets = Path(_library().constants.HF_ASSETS_CACHE)
    return assets / "kvplan" / repo.replace("/", "--") / commit / INDEX


def _within(seconds: float, call: Callable[[], T], glance: Callable[[], None] = lambda: None) -> T:
    """Run `call`, but wait no longer than `seconds`, and `glance` at what it does in the meantime.

    The time-outs of HTTP libraries hold per attempt and per address, and not for name resolution.
    """
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(call())
        except BaseException as error:
            errors.append(error)

    # A daemon, so that a hanging connection doesn't keep the program alive.
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    end = time.monotonic() + seconds
    while thread.is_alive() and (left := end - time.monotonic()) > 0:
        thread.join(min(left, GLANCE_SECONDS))
        glance()
    if errors:
        raise errors[0]
    if not results:
        raise TimeoutError
    return results[0]
