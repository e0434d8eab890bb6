"""From a reference to an Architecture: find the document, then read it in its dialect."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from kvplan import local
from kvplan.architecture import Architecture
from kvplan.config import Config
from kvplan.errors import Problem
from kvplan.readers import native
from kvplan.sources import Document, OnFetch, resolve
from kvplan.units import format_bytes_decimal
from kvplan.weights import headers

_UNASKED = "no hf_quant_config.json: the local cache holds none, and nothing says that the Hub has none"

# Further apart, the size of a checkpoint and the estimate are not of one model: 4 bits in the place of
# float32 make no more than this.
_MOST_APART = 8
# Far more than any checkpoint has; the largest published ones have 5 TB.
_LARGEST_CHECKPOINT, _BEYOND = 10**15, "over 1,000 TB"


def load(
    reference: str | os.PathLike[str], *, source: str | None = None, on_fetch: OnFetch | None = None
) -> Architecture:
    """The model behind a path, a bundled name or a Hugging Face id `org/name[@revision]`.

    `source` (bundled, cache or hub) forces one; `on_fetch` wraps what is fetched from the Hub. Raises
    InputError with every problem of the file.
    """
    problems: list[Problem] = []
    document = resolve(reference, source=source, on_fetch=on_fetch, problems=problems)
    model = read(document, problems)
    unread = document.weights_bytes is None and model.weights_bytes is None
    if not unread or document.source.kind != "file":
        return model
    return _told(model, _fault_beside(os.fspath(reference)))


def read(document: Document, problems: list[Problem]) -> Architecture:
    """Read a document; problems found while it was parsed come out with the reader's own."""
    config = Config(document.data, file=document.file, problems=problems)
    if native.is_native(document.data):
        model = native.read(config, source=document.source, model_id=document.model_id)
    else:
        from kvplan.readers import huggingface  # noqa: PLC0415 - a model YAML needs none of its modules

        model = huggingface.read(
            config,
            source=document.source,
            model_id=document.model_id,
            beside=document.quantization,
        )
    if document.unasked:
        model = replace(model, assumed=(*model.assumed, _UNASKED))
    if model.weights_bytes is None and document.weights_bytes is not None:
        return _weighed(model, document.weights_bytes)
    return model


def _weighed(model: Architecture, total: int) -> Architecture:
    """The model with the size of its checkpoint; with neither size where its config has quite another."""
    estimate = model.parameters.stored_bytes if model.parameters is not None else 0
    far = estimate and max(total, estimate) > _MOST_APART * min(total, estimate)
    if not far and total <= _LARGEST_CHECKPOINT:
        return replace(model, weights_bytes=total)
    says = format_bytes_decimal(total) if total <= _LARGEST_CHECKPOINT else _BEYOND
    beside = f" and the sizes in its config {format_bytes_decimal(estimate)}" if estimate else ""
    # Which of the two is wrong can't be told: an estimate misses what it has no key for.
    bare = replace(model, parameters=None)
    return _told(bare, f"the metadata of the checkpoint says {says}{beside}")


def _told(model: Architecture, fault: str) -> Architecture:
    """The model with a line of what is wrong about its weights' own size, if anything is."""
    if not fault:
        return model
    then = "they are estimated" if model.parameters is not None else "their size is not known"
    return replace(model, assumed=(*model.assumed, f"weights: {fault}, so {then}"))


def _fault_beside(name: str) -> str:
    """Why the files beside a config.json don't tell the size of the weights; empty where there are none."""
    files = local.locate(Path(os.path.expanduser(name)), name)
    if files.config.name != local.CONFIG:
        return ""
    fault = local.index_fault(files.index) if files.index is not None else ""
    return fault or headers.folder_fault(files.config.parent)
