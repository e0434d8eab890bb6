"""The models of gates; with `--locked` only those that will be the same in the next run."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from kvplan import catalog
from kvplan.architecture import Architecture
from kvplan.errors import InputError, Problem
from kvplan.loading import load
from kvplan.sources import OnFetch

_HINT = "--locked fetches nothing: pin org/name@revision and run once without it"


def load_locked(reference: str, source: str | None) -> Architecture:
    """A model that is a file, bundled, or cached at the revision that `reference` names.

    Never touches the network. Raises InputError for any other.
    """
    if source is None and os.path.lexists(os.path.expanduser(reference)):
        return load(Path(reference))  # as a path object, which is never looked up on the Hub
    if source is None and catalog.find(reference):
        return load(reference, source="bundled")
    if source == "hub":
        raise InputError(Problem(file=reference, key="", what="source hub is the network", hint=_HINT))
    if source not in (None, "cache"):
        return load(reference, source=source)
    try:
        model = load(reference, source="cache")
    except InputError as error:
        told = [replace(one, hint=_HINT if "--source" in one.hint else one.hint) for one in error.problems]
        raise InputError(told) from error
    if "@" not in reference:
        raise InputError(Problem(file=reference, key="", what="no revision is pinned", hint=_HINT))
    return model


def load_any(reference: str, source: str | None, *, locked: bool, on_fetch: OnFetch) -> Architecture:
    """The model behind a reference. Raises InputError with every problem of it."""
    return load_locked(reference, source) if locked else load(reference, source=source, on_fetch=on_fetch)
