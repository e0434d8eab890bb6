"""What of a plan is worth keeping: who, under which options, with which figures."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping, Sequence

from kvplan.architecture import Architecture, Source
from kvplan.deployment import Deployment
from kvplan.export import to_yaml
from kvplan.gates.records import Scalar, Snapshot
from kvplan.records import Resolved

CONFIG = "model.config"  # a digest of everything that kvplan has read from the config
ENGINE = "engine.version"
LAYERS = "layers["
_DIGITS = 16  # of the digest: enough to tell configs apart
_BLOCKS = ("pool.", "request.", "accounting.", "budget.", "capacity.", "decode.", LAYERS)
_RESOLVED = frozenset(f"deployment.{field.name}" for field in dataclasses.fields(Resolved))
# Sentences, and numbers that others follow from: they would make a diff long and say nothing new.
_LEFT_OUT = ("pool.why", "pool.terms", "budget.estimated", "decode.unknown")


def snapshot(
    model: Architecture, asked: Deployment, changes: Sequence[str], figures: Mapping[str, Scalar]
) -> Snapshot:
    """The figures of a plan that can be compared, without those that are absent.

    Where the model was found is left out: a cached model and a fetched one are the same.
    """
    bare = without_plan(model, asked, changes)
    kept = {
        path: value
        for path, value in figures.items()
        if (path.startswith(_BLOCKS) and not path.startswith(_LEFT_OUT)) or path in _RESOLVED
        if value is not None
    }
    return dataclasses.replace(bare, figures={**bare.figures, **kept})


def without_plan(model: Architecture, asked: Deployment, changes: Sequence[str]) -> Snapshot:
    """What is known of a gate before it is planned."""
    options: dict[str, Scalar] = {
        field.name: value
        for field in dataclasses.fields(asked)
        if (value := getattr(asked, field.name)) != field.default and field.name != "engine_version"
    }
    if changes:
        options["set"] = ", ".join(changes)
    figures: dict[str, Scalar] = {
        "model.id": model.id,
        CONFIG: _digest(model),
        ENGINE: asked.engine_version,
    }
    if model.source.revision is not None:
        figures["model.revision"] = model.source.revision
    return Snapshot(options=options, figures=figures)


def _digest(model: Architecture) -> str:
    facts = dataclasses.replace(model, id="", source=Source(kind="built", location=""))
    return hashlib.sha256(to_yaml(facts).encode()).hexdigest()[:_DIGITS]
