"""What a version makes of a config that its own classes read in another way than the model means."""

from __future__ import annotations

from dataclasses import replace

from kvplan.architecture import Architecture, state_of
from kvplan.errors import refused
from kvplan.layers import FullAttention, Layer
from kvplan.sglang.rules import Rules

# The entry of `oddities` for a value head of no width (configs/model_config.py, _derive_model_shapes).
_NO_V = "v_head_dim: 0"


def as_loaded(architecture: Architecture, rules: Rules) -> Architecture:
    """The layers that the engine sizes; the model's own where this version has no reading of its own.

    RefusedError for an entry of the config that this version can't load.
    """
    _refuse_entries(architecture, rules)
    layers = architecture.layers
    if {architecture.model_type, architecture.architecture} & rules.states_unread:
        layers = _without_states(layers)
    if rules.takes_zero_v_head_dim and _NO_V in architecture.oddities:
        layers = tuple(_without_v(layer) for layer in layers)
    return architecture if layers is architecture.layers else replace(architecture, layers=layers)


def _refuse_entries(architecture: Architecture, rules: Rules) -> None:
    for entry in architecture.oddities:
        unused = "head_dim" in entry and architecture.kinds & {"compressed", "latent"}
        if entry.startswith(rules.unloadable) and not unused:
            raise refused(f"SGLang {rules.version} can't load a config with {entry}", "another checkpoint")


def _without_states(layers: tuple[Layer, ...]) -> tuple[Layer, ...]:
    """All layers with the K and V of the full ones."""
    full = next((layer for layer in layers if isinstance(layer, FullAttention)), None)
    if full is None:
        return layers
    return tuple(layer if state_of(layer) is None else full for layer in layers)


def _without_v(layer: Layer) -> Layer:
    # Sliding layers have a width of their own, swa_v_head_dim.
    return replace(layer, v_head_dim=0) if isinstance(layer, FullAttention) else layer
