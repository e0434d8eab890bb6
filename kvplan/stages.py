"""Which layers each pipeline stage is sized for, and which it runs."""

from __future__ import annotations

from kvplan.architecture import Architecture, state_of
from kvplan.layers import Layer
from kvplan.sglang.model import Stage, stage_of, whole_of
from kvplan.sglang.settings import Settings


def pipeline_stages(settings: Settings) -> list[Stage]:
    """The layers that each pipeline stage is sized for; all of them for classes without a range.

    The remainder goes to the later stages (distributed/utils.py, get_pp_indices).
    """
    architecture, pp = settings.model.architecture, settings.deployment.pp
    if pp == 1 or settings.model.name in settings.rules.sized_for_all_stages:
        return [whole_of(settings.model)] * pp
    split = settings.model.hybrid_swa and not settings.model.dsv4
    overlap = settings.rules.stages_overlap if split else 0
    return [
        stage_of(_grouped(architecture.layers[start : end + overlap]), architecture.loops)
        for start, end in stage_ranges(len(architecture.layers), pp)
    ]


def stage_ranges(layers: int, stages: int) -> list[tuple[int, int]]:
    """First and past-the-last layer of each stage."""
    base, extra = divmod(layers, stages)
    sizes = [base + (index >= stages - extra) for index in range(stages)]
    ends = [sum(sizes[: index + 1]) for index in range(stages)]
    return list(zip([0, *ends], ends, strict=False))


def stage_groups(architecture: Architecture, pp: int) -> list[tuple[tuple[Layer, int], ...]]:
    """Distinct layers with their counts, for each pipeline stage."""
    if pp == 1:
        return [architecture.groups]
    layers = architecture.layers
    return [_grouped(layers[start:end]) for start, end in stage_ranges(len(layers), pp)]


def _grouped(layers: tuple[Layer, ...]) -> tuple[tuple[Layer, int], ...]:
    counts: dict[Layer, int] = {}
    for layer in layers:
        counts[layer] = counts.get(layer, 0) + 1
    return tuple(counts.items())


def state_shares(settings: Settings) -> list[int]:
    """State layers of each pipeline stage, by the layers it runs (not by those it is sized for)."""
    return [
        sum(count for layer, count in groups if state_of(layer) is not None)
        for groups in stage_groups(settings.model.architecture, settings.deployment.pp)
    ]
