"""From a reference to an Architecture: find the document, then read it in its dialect."""

from __future__ import annotations

import os
from dataclasses import replace

from kvplan.architecture import Architecture
from kvplan.config import Config
from kvplan.errors import Problem
from kvplan.readers import native
from kvplan.sources import Document, OnFetch, resolve

_UNASKED = "no hf_quant_config.json: the local cache holds none, and nothing says that the Hub has none"


def load(
    reference: str | os.PathLike[str], *, source: str | None = None, on_fetch: OnFetch | None = None
) -> Architecture:
    """The model behind a path, a bundled name or a Hugging Face id `org/name[@revision]`.

    `source` (bundled, cache or hub) forces one; `on_fetch` wraps what is fetched from the Hub. Raises
    InputError with every problem of the file.
    """
    problems: list[Problem] = []
    document = resolve(reference, source=source, on_fetch=on_fetch, problems=problems)
    return read(document, problems)


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
        return replace(model, weights_bytes=document.weights_bytes)
    return model
