"""What a version makes of a config that its own classes read in another way than the model means."""

from __future__ import annotations

from dataclasses import replace

from kvplan.architecture import Architecture, state_of
from kvplan.errors import refused
from kvplan.layers import FullAttention, Layer, SharedAttention
from kvplan.sglang.rule_set import Rules

# The entry of `oddities` for a value head of no width (configs/model_config.py, _derive_model_shapes).
_NO_V = "v_head_dim: 0"
# Gemma-4's heads of full layers, which count without attention_k_eq_v too (utils/hf_transformers/config.py).
_GLOBAL_HEADS = "num_global_key_value_heads"


def as_loaded(architecture: Architecture, rules: Rules) -> Architecture:
    """The layers that the engine sizes; the model's own where this version has no reading of its own.

    RefusedError for an entry of the config that this version can't load.
    """
    _refuse_entries(architecture, rules)
    if {architecture.model_type, architecture.architecture} & rules.states_unread and architecture.states:
        return _with(
            architecture,
            _without_states(architecture.layers),
            f"SGLang {rules.version} does not read this config as a hybrid: it sizes K and V for every "
            "layer, and is not likely to serve the model",
        )
    if rules.takes_zero_v_head_dim and _NO_V in architecture.oddities:
        return _with(
            architecture,
            tuple(_without_v(layer) for layer in architecture.layers),
            f"SGLang {rules.version} takes {_NO_V} as it stands and keeps no room for V, so the server is "
            "not likely to run",
        )
    heads = _global_heads(architecture) if rules.always_counts_global_heads else None
    if heads is not None:
        layers = tuple(_with_heads(layer, heads) for layer in architecture.layers)
        return replace(architecture, layers=layers)
    return architecture


def _global_heads(architecture: Architecture) -> int | None:
    entries = (entry.partition(": ") for entry in architecture.oddities)
    return next((int(n) for key, _, n in entries if key == _GLOBAL_HEADS and n.isdecimal()), None)


def _with_heads(layer: Layer, heads: int) -> Layer:
    if isinstance(layer, SharedAttention):
        reads = _with_heads(layer.reads, heads)
        return replace(layer, reads=reads) if isinstance(reads, FullAttention) else layer
    return replace(layer, kv_heads=heads) if isinstance(layer, FullAttention) else layer


def _with(architecture: Architecture, layers: tuple[Layer, ...], note: str) -> Architecture:
    return replace(architecture, layers=layers, notes=(*architecture.notes, note))


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
