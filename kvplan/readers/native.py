"""kvplan's own model YAML: the layers in order and the facts beside them, written out.

    kvplan: 1
    id: Qwen/Qwen3.5-397B-A17B
    architecture: Qwen3_5MoeForConditionalGeneration
    num_layers: 60
    layers:
      - repeat: 15
        layers:
          - {kind: gdn, count: 3, k_heads: 16, v_heads: 64, k_head_dim: 128, v_head_dim: 128, conv_kernel: 4}
          - {kind: full, kv_heads: 2, head_dim: 256}

A key holds the field of the record that has its name; a field with a default may be left out, and
`v_head_dim` beside `head_dim` is the same as that where it is left out.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from kvplan.architecture import Architecture, Source
from kvplan.config import MAX_LAYERS, Config, shown
from kvplan.frozen import dataclass
from kvplan.layers import LAYER_KINDS, Layer
from kvplan.readers.native_facts import facts_of
from kvplan.readers.native_layers import layer_of, values_of, whole
from kvplan.weights.records import Parameters

NATIVE_VERSION = 1
# Groups inside groups; one level writes every published pattern.
MAX_DEPTH = 4
SOURCE_KEYS = ("kind", "location", "file", "revision", "note")
_GROUP_KEYS = ("repeat", "layers")
# Facts with rules of their own: the id may come from the file's name, the source from its place.
_OWN = ("id", "layers", "source")
FACTS = tuple(fact for fact in facts_of(Architecture) if fact.name not in _OWN)
KEYS = ("kvplan", "id", *(fact.key for fact in FACTS), "source", "num_layers", "layers")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """`times` copies of a layer or of a group; None stands for what can't be read."""

    times: int | None
    body: Layer | tuple[_Run, ...] | None


_UNREADABLE = _Run(times=None, body=None)


def is_native(mapping: Mapping[str, Any]) -> bool:
    """Whether a file declares its layers in this form: it has the key `kvplan`, or a list of layers."""
    layers = mapping.get("layers")
    listed = isinstance(layers, list) and all(isinstance(layer, Mapping) for layer in layers)
    return "kvplan" in mapping or listed


def read(config: Config, *, source: Source, model_id: str) -> Architecture:
    """The model that a native file declares; InputError with all its problems.

    `source`: where the file was found; it takes the `revision` that the file declares where it has
    none of its own. `model_id`: the id of a file that gives none.
    """
    config.only(KEYS)
    _check_version(config)
    name = config.name("id")
    values = values_of(config, FACTS)
    revision = _declared_revision(config)
    runs = _runs(config, depth=0)
    _check_counts(config, _total(runs))
    _check_experts(config, values.get("parameters"))
    config.finish()
    return Architecture(
        id=name or model_id,
        layers=tuple(_flat(runs)),
        source=dataclasses.replace(source, revision=source.revision or revision),
        **values,
    )


def _check_version(config: Config) -> None:
    if config.get("kvplan") is None:
        return
    version = whole(config, "kvplan")
    if version is not None and version != NATIVE_VERSION:
        config.problem("kvplan", f"this release reads version {NATIVE_VERSION} of the format, not {version}")


def _declared_revision(config: Config) -> str | None:
    provenance = config.mapping("source")
    if provenance is None:
        return None
    provenance.only(SOURCE_KEYS)
    for key in SOURCE_KEYS:
        value = provenance.get(key)
        if value is not None and not isinstance(value, str):
            provenance.problem(key, f"{shown(value)} is not a string", "put it in quotes")
    revision = provenance.get("revision")
    return revision if isinstance(revision, str) else None


def _runs(view: Config, *, depth: int) -> tuple[_Run, ...]:
    listed = view.get("layers")
    if listed is None:
        view.problem("layers", "is missing")
        return (_UNREADABLE,)
    if listed == []:
        view.problem("layers", "holds no layer")
    if isinstance(listed, list) and len(listed) > MAX_LAYERS:
        view.problem("layers", f"has {len(listed)} entries, and no model has more than {MAX_LAYERS} layers")
        return (_UNREADABLE,)
    if depth > MAX_DEPTH:
        view.problem("layers", f"groups are nested more than {MAX_DEPTH} deep")
        return (_UNREADABLE,)
    entries = view.mappings("layers")
    runs = tuple(_run(entry, depth=depth) for entry in entries)
    complete = isinstance(listed, list) and len(listed) == len(entries) > 0
    return runs if complete else (*runs, _UNREADABLE)


def _run(entry: Config, *, depth: int) -> _Run:
    if "kind" not in entry and any(key in entry for key in _GROUP_KEYS):
        entry.only(_GROUP_KEYS)
        return _Run(times=_times(entry, "repeat"), body=_runs(entry, depth=depth + 1))
    times = _times(entry, "count")
    return _Run(times=times, body=layer_of(entry, LAYER_KINDS, also=("count",)))


def _times(entry: Config, key: str) -> int | None:
    return 1 if entry.get(key) is None else whole(entry, key, most=MAX_LAYERS)


def _total(runs: Sequence[_Run]) -> int | None:
    """How many layers there are, counted without building them; None where a count is unknown."""
    total = 0
    for run in runs:
        inside = _total(run.body) if isinstance(run.body, tuple) else 1
        if run.times is None or inside is None:
            return None
        total += run.times * inside
    return total


def _check_counts(config: Config, total: int | None) -> None:
    declared = None
    if config.get("num_layers") is not None:
        declared = whole(config, "num_layers", most=MAX_LAYERS)
    if total is None:
        return
    if total > MAX_LAYERS:
        config.problem("layers", f"holds {total} layers, and no model has more than {MAX_LAYERS}")
    elif declared is not None and declared != total:
        config.problem("num_layers", f"{declared} does not agree with the {total} layers under layers")


def _check_experts(config: Config, parameters: Parameters | None) -> None:
    if parameters is None or parameters.routed_experts is None or parameters.experts_per_token is None:
        return
    held, picked = parameters.routed_experts, parameters.experts_per_token
    if picked > held:
        config.problem("parameters.experts_per_token", f"{picked} experts can't be picked of {held}")


def _flat(runs: Sequence[_Run]) -> list[Layer]:
    layers: list[Layer] = []
    for run in runs:
        if run.body is None or run.times is None:
            raise AssertionError("an unreadable layer passed Config.finish()")
        layers += (_flat(run.body) if isinstance(run.body, tuple) else [run.body]) * run.times
    return layers
