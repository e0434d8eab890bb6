"""What a rule set makes of a model: which of the engine's designs it is, by class name and layers."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from kvplan.architecture import Architecture, state_of
from kvplan.frozen import dataclass
from kvplan.layers import (
    CompressedAttention,
    FullAttention,
    IndexedAttention,
    LatentAttention,
    Layer,
    NoCache,
    ParallelLayer,
    Recurrent,
    SharedAttention,
    SlidingAttention,
)
from kvplan.sglang.as_loaded import as_loaded
from kvplan.sglang.families import DSV4, LOOPED, PLAIN_WITHOUT_WINDOWS, SINKS, TEXT_ALONE
from kvplan.sglang.rule_set import Rules

Groups = Iterable[tuple[Layer, int]]
HeadShape = FullAttention | SlidingAttention | IndexedAttention


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineModel:
    """A model as the engine classifies it under one rule set and deployment.

    `name` is the class it is loaded as. `hybrid_swa`: full and sliding layers get pools of their own.
    """

    architecture: Architecture
    name: str
    supported: bool
    dsv4: bool
    dsa: bool
    mla: bool
    hybrid_swa: bool
    has_state: bool
    multimodal: bool
    attention_sinks: bool
    asymmetric: bool

    @property
    def groups(self) -> tuple[tuple[Layer, int], ...]:
        """Distinct layers of the whole model with their counts."""
        return self.architecture.groups


@lru_cache(maxsize=256)
def classify(architecture: Architecture, rules: Rules, *, disable_hybrid_swa_memory: bool) -> EngineModel:
    """Look the model's class up in the lists of a rule set."""
    architecture = as_loaded(architecture, rules)
    name = rules.alias.get(architecture.architecture, architecture.architecture)
    kinds = architecture.kinds
    hybrid = name in rules.hybrid_swa and (name not in PLAIN_WITHOUT_WINDOWS or has_windows(architecture))
    shapes = [shape for layer, _ in architecture.groups if (shape := head_shape(layer)) is not None]
    return EngineModel(
        architecture=architecture,
        name=name,
        supported=name in rules.registry,
        dsv4=name in DSV4 and "compressed" in kinds,
        dsa=name in rules.dsa and any(_has_index(layer) for layer, _ in architecture.groups),
        mla=name in rules.mla and "latent" in kinds,
        hybrid_swa=hybrid and not disable_hybrid_swa_memory,
        has_state=bool(architecture.states),
        multimodal=_is_multimodal(architecture, name, rules),
        attention_sinks=name in SINKS or architecture.attention_sinks,
        asymmetric=any(shape.head_dim != shape.v_head_dim for shape in shapes),
    )


def has_windows(architecture: Architecture) -> bool:
    """Whether any layer slides."""
    return bool(architecture.kinds & {"sliding", "compressed"})


def _is_multimodal(architecture: Architecture, name: str, rules: Rules) -> bool:
    """Source: configs/model_config.py, enable_multimodal and is_multimodal."""
    if name in TEXT_ALONE:
        return False
    if name == "MiMoV2ForCausalLM":
        return {"vision", "audio"} <= set(architecture.modalities)
    return name in rules.multimodal or architecture.nested_text


def head_shape(layer: Layer) -> HeadShape | None:
    """The KV heads that a layer keeps or reads, or None for designs without heads."""
    if isinstance(layer, ParallelLayer):
        return layer.attention
    if isinstance(layer, SharedAttention):
        return layer.reads
    return layer if isinstance(layer, HeadShape) else None


def uneven_kv_heads(groups: Groups, tp: int) -> tuple[int, ...]:
    """Numbers of KV heads that `tp` GPUs can neither divide nor hold as even copies."""
    shapes = (head_shape(layer) for layer, _ in groups)
    heads = sorted({shape.kv_heads for shape in shapes if shape is not None})
    return tuple(number for number in heads if number % tp and tp % number)


def _has_index(layer: Layer) -> bool:
    return isinstance(layer, LatentAttention) and layer.index_topk > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Layer counts of one pipeline stage (or of the whole model).

    `total`: decoder layers. `attention`: layers that keep or read K and V or a latent. `full` and
    `sliding`: the split of hybrid-SWA models. `indexed`: latent layers with an indexer of their own.
    """

    groups: tuple[tuple[Layer, int], ...]
    total: int
    attention: int
    full: int
    sliding: int
    indexed: int

    @property
    def states(self) -> list[tuple[Recurrent, int]]:
        """Recurrent states of the stage with their counts."""
        return [(state, n) for layer, n in self.groups if (state := state_of(layer)) is not None]

    @property
    def compressed(self) -> list[tuple[CompressedAttention, int]]:
        """DeepSeek-V4 layers of the stage with their counts."""
        return [(layer, n) for layer, n in self.groups if isinstance(layer, CompressedAttention)]


@lru_cache(maxsize=256)
def whole_of(model: EngineModel) -> Stage:
    """The whole model as the engine counts it: listed classes have their loops multiplied twice.

    Source: configs/model_config.py, num_attention_layers, times loop_num again in
    model_runner_components/layer_setup.py, resolve_layer_indices.
    """
    loops = model.architecture.loops
    return stage_of(model.groups, loops**2 if model.name in LOOPED else loops)


def stage_of(groups: tuple[tuple[Layer, int], ...], loops: int = 1) -> Stage:
    """Count the layers of a stage; a looped stack has one cache per loop."""
    total = sum(count for _, count in groups)
    attention = sum(count for layer, count in groups if not isinstance(layer, NoCache | Recurrent))
    sliding = sum(count for layer, count in groups if isinstance(head_shape(layer), SlidingAttention))
    indexed = sum(
        count for layer, count in groups if isinstance(layer, LatentAttention) and not layer.index_shared
    )
    return Stage(
        groups=groups,
        total=total * loops,
        attention=attention * loops,
        full=(attention - sliding) * loops,
        sliding=sliding * loops,
        indexed=indexed * loops,
    )
