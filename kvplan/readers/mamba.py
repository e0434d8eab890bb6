"""Mamba models and hybrids: Nemotron-H, Falcon-H1, Granite-4, Jamba, LFM2, Mamba-1 and -2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kvplan.config import MAX_LAYERS, shown
from kvplan.layers import Layer, Mamba1, Mamba2, NoCache, ParallelLayer, ShortConv
from kvplan.readers.linear import state_dtype
from kvplan.readers.reading import Reading


def read_nemotron_h(reading: Reading) -> list[Layer]:
    """Nemotron-H and Nemotron-3: `M` Mamba-2, `*` attention, `-` and `E` layers without a cache."""
    config = reading.config
    if config.get("mamba_ssm_cache_dtype") is not None:
        reading.notes.append(
            "mamba_ssm_cache_dtype is not read by SGLang; --mamba-ssm-dtype sets the state dtype"
        )
    mamba = Mamba2(
        heads=reading.integer("mamba_num_heads"),
        head_dim=reading.integer("mamba_head_dim"),
        state_size=reading.integer("ssm_state_size"),
        groups=reading.integer("n_groups"),
        conv_kernel=reading.integer("conv_kernel"),
        state_dtype=state_dtype(reading),
    )
    attention = reading.attention()
    named: Mapping[str, Layer] = {"mamba": mamba, "attention": attention, "moe": NoCache(), "mlp": NoCache()}
    blocks = config.items("layers_block_type", str)
    if blocks is not None:
        return _placed(reading, "layers_block_type", blocks, named)
    pattern = config.text("hybrid_override_pattern")
    if pattern is None:
        config.problem("hybrid_override_pattern", "is missing", "or layers_block_type")
        return []
    letters: Mapping[str, Layer] = {"M": mamba, "*": attention, "-": NoCache(), "E": NoCache()}
    return _placed(reading, "hybrid_override_pattern", pattern, letters)


def _placed(reading: Reading, key: str, names: Sequence[str], known: Mapping[str, Layer]) -> list[Layer]:
    """A layer for each of the names, which have to be as many as the config says, if it does."""
    config = reading.config
    if len(names) > MAX_LAYERS:
        config.problem(key, f"has {len(names)} entries, far more than any model has layers")
        return []
    unknown = sorted(set(names) - set(known))
    if unknown:
        config.problem(key, f"unknown layer type {shown(unknown[0])}", f"known: {', '.join(known)}")
        return []
    if config.first("num_hidden_layers") is not None and len(names) != reading.layers:
        config.problem(key, f"has {len(names)} entries for {reading.layers} layers")
    return [known[name] for name in names]


# What block_configs may not change per layer, since the engine sizes all layers alike.
_SHAPE_KEYS = ("num_key_value_heads", "head_dim", "mamba_num_heads", "mamba_head_dim", "ssm_state_size")


def read_nemotron_puzzle(reading: Reading) -> list[Layer]:
    """Nemotron-H pruned layer by layer: block_configs change experts, not the shape of caches."""
    for block in reading.config.mappings("block_configs"):
        for key in _SHAPE_KEYS:
            if key in block and block.get(key) != reading.config.get(key):
                block.problem(key, "differs from that of the whole model, by which SGLang sizes every layer")
    return read_nemotron_h(reading)


def read_falcon_h1(reading: Reading) -> list[Layer]:
    """Falcon-H1: attention and Mamba-2 side by side in every layer."""
    layer = ParallelLayer(attention=reading.attention(), state=_mamba2(reading))
    return [layer] * reading.layers


def _mamba2(reading: Reading, *, default_head_dim: int | None = None) -> Mamba2:
    heads = reading.integer("mamba_n_heads")
    head_dim = reading.config.get("mamba_d_head") or default_head_dim
    inner = reading.optional("mamba_d_ssm")
    if inner is None:
        inner = reading.hidden * reading.config.integer("mamba_expand", default=2)
    if not isinstance(head_dim, int):
        head_dim = inner // heads  # "auto"
    if heads * head_dim != inner:
        reading.config.problem(
            "mamba_d_head", f"{heads} heads of {head_dim} are not the {inner} Mamba channels"
        )
    return Mamba2(
        heads=heads,
        head_dim=head_dim,
        state_size=reading.integer("mamba_d_state"),
        groups=reading.integer("mamba_n_groups"),
        conv_kernel=reading.integer("mamba_d_conv"),
        state_dtype=state_dtype(reading),
    )


def read_granite_hybrid(reading: Reading) -> list[Layer]:
    """Granite-4: `mamba` and `attention` by layer_types or layers_block_type."""
    if isinstance(reading.config.get("mamba_d_head"), str):
        reading.config.problem(
            "mamba_d_head", "'auto' is not computed for Granite-4", "hidden x expand / heads"
        )
    head_dim = reading.optional("mamba_d_head") if reading.config.get("mamba_d_head") is None else None
    named: Mapping[str, Layer] = {
        "mamba": _mamba2(reading, default_head_dim=head_dim),
        "attention": reading.attention(),
    }
    for key in ("layer_types", "layers_block_type"):
        layers = reading.layer_types(named, key=key)
        if layers is not None:
            return layers
    reading.config.problem("layer_types", "is missing")
    return []


def read_jamba(reading: Reading) -> list[Layer]:
    """Jamba: every attn_layer_period-th layer from attn_layer_offset is attention, the rest Mamba-1."""
    config = reading.config
    period, offset = config.integer("attn_layer_period"), config.integer("attn_layer_offset", least=0)
    mamba = Mamba1(
        intermediate=reading.hidden * config.integer("mamba_expand"),
        state_size=config.integer("mamba_d_state"),
        conv_kernel=config.integer("mamba_d_conv"),
    )
    attention = reading.attention()
    return [attention if index % period == offset else mamba for index in range(reading.layers)]


def read_mamba1(reading: Reading) -> list[Layer]:
    """Mamba and Falcon-Mamba: state alone."""
    config = reading.config
    inner = config.optional_integer("intermediate_size", "d_inner")
    if inner is None:
        inner = reading.hidden * reading.integer("expand")
    layer = Mamba1(
        intermediate=inner,
        state_size=reading.integer("state_size"),
        conv_kernel=reading.integer("conv_kernel"),
    )
    return [layer] * reading.layers


def read_mamba2(reading: Reading) -> list[Layer]:
    """Mamba-2: state alone; the engine reads intermediate_size, which transformers derives."""
    reading.config.integer("intermediate_size")
    layer = Mamba2(
        heads=reading.integer("num_heads"),
        head_dim=reading.integer("head_dim"),
        state_size=reading.integer("state_size"),
        groups=reading.integer("n_groups"),
        conv_kernel=reading.integer("conv_kernel"),
    )
    return [layer] * reading.layers


def read_short_conv(reading: Reading) -> list[Layer]:
    """LFM2: `conv` and `full_attention` by layer_types, or attention at full_attn_idxs."""
    conv = ShortConv(dim=reading.hidden, conv_kernel=reading.integer("conv_L_cache"))
    attention = reading.attention()
    named = reading.layer_types({"conv": conv, "full_attention": attention})
    if named is None:
        listed = reading.config.items("full_attn_idxs", int)
        if listed is None:
            reading.config.problem("layer_types", "is missing", "or full_attn_idxs")
            return []
        places = set(listed)
        named = [attention if index in places else conv for index in range(reading.layers)]
    if conv not in named:
        reading.config.problem("layer_types", "has no conv layer, which every LFM2 model has")
    return named
