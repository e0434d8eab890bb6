"""A model as kvplan sees it: its layers in order and the few facts that sizing needs beside them.

Readers build it from a config; nothing behind them sees a mapping. It is free of any engine.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import fields, is_dataclass
from functools import cached_property
from typing import Any

from kvplan.frozen import dataclass
from kvplan.layers import CompressedAttention, Layer, ParallelLayer, Recurrent
from kvplan.weights.records import Parameters


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a model came from: `kind` is file, bundled, cache, hub or built; `revision` a commit."""

    kind: str
    location: str
    revision: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Vision:
    """Size of the vision tower (the engine reserves memory by it); None where its config has no such key."""

    layers: int | None = None
    hidden_size: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantization:
    """How the checkpoint is quantised, as far as the KV cache is concerned.

    `kv_cache_algo`: the format that the checkpoint declares for K and V (FP8, NVFP4 ...), None if none.
    `bare_kv_algo`: that format stands as a key of its own beside the weights' one in config.json.
    `weights_algo`: ModelOpt's name of the weights' format. `mixed`: its layers are quantised in different
    ways.
    """

    method: str
    kv_cache_algo: str | None = None
    bare_kv_algo: bool = False
    weights_algo: str | None = None
    mixed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigHeads:
    """The generic head fields of the config, which an engine uses where it has no rule for the design."""

    kv_heads: int
    head_dim: int
    v_head_dim: int


@dataclass(frozen=True, kw_only=True)
class Architecture:
    """Layers in order, plus model facts.

    `architecture` is the class name that the engine looks up, `dtype` the published one as torch names
    it (None where the config is silent), `context_length` what the engine derives (RoPE scaling
    included), `attention_heads` the query heads. `draft_layers`: MTP layers that ship with the model,
    `draft_local_layers` those of them that its config lists as local, `dspark_block` the tokens that a
    DSpark draft in the checkpoint proposes at once.
    `mtp_ratios`: entries of compress_ratios past the last layer, which belong to MTP. `loops`: how
    often the stack is run, each time with a cache of its own. `nested_text`: the config nests its
    language model; `modalities`: vision and audio, where it has parts for them. `oddities`: entries of the
    config, as `key: value`, that some version of an engine reads in a way of its own. `assumed`: defaults
    that were used because the config leaves a value out. `notes`: remarks on the config.
    `weights_bytes`: the checkpoint's size as published, `parameters` what it holds by the config's sizes.
    `changes`: what a what-if changed of the published model, none for the model itself.
    """

    id: str
    architecture: str
    layers: tuple[Layer, ...]
    model_type: str = ""
    context_length: int | None = None
    dtype: str | None = None
    attention_heads: int | None = None
    hidden_size: int | None = None
    config_heads: ConfigHeads | None = None
    draft_layers: int | None = None
    draft_local_layers: int | None = None
    dspark_block: int | None = None
    loops: int = 1
    attention_sinks: bool = False
    fused_qkv_tp: int | None = None
    mtp_ratios: tuple[int, ...] = ()
    nested_text: bool = False
    modalities: tuple[str, ...] = ()
    oddities: tuple[str, ...] = ()
    vision: Vision | None = None
    quantization: Quantization | None = None
    weights_bytes: int | None = None
    parameters: Parameters | None = None
    source: Source = Source(kind="built", location="")
    assumed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()

    def __hash__(self) -> int:
        """Computed once, so that models can key caches."""
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.id, self.architecture, self.layers))

    @cached_property
    def groups(self) -> tuple[tuple[Layer, int], ...]:
        """Distinct layers with their counts, in order of first appearance."""
        return tuple(Counter(self.layers).items())

    @cached_property
    def states(self) -> tuple[tuple[Recurrent, int], ...]:
        """Distinct recurrent states with their counts."""
        found = [(state_of(layer), count) for layer, count in self.groups]
        return tuple((state, count) for state, count in found if state is not None)

    @cached_property
    def listed_ratios(self) -> tuple[int, ...]:
        """compress_ratios as the config lists them, the tail of MTP included."""
        own = [layer.ratio for layer in self.layers if isinstance(layer, CompressedAttention)]
        return (*own, *self.mtp_ratios)

    @cached_property
    def layer_rows(self) -> tuple[dict[str, Any], ...]:
        """Distinct layers with their counts as JSON types: kind, count and the fields of the kind."""
        return tuple({"kind": layer.kind, "count": count, **_fields(layer)} for layer, count in self.groups)

    @cached_property
    def kinds(self) -> frozenset[str]:
        """Names of the layer kinds that occur."""
        return frozenset(layer.kind for layer, _ in self.groups)


def state_of(layer: Layer) -> Recurrent | None:
    """The recurrent state of a layer, or None."""
    if isinstance(layer, ParallelLayer):
        return layer.state
    return layer if isinstance(layer, Recurrent) else None


def _fields(record: Any) -> dict[str, Any]:
    return {
        field.name: _fields(value) if is_dataclass(value) else value
        for field in fields(record)
        for value in (getattr(record, field.name),)
    }
