"""Models whose layers are all plain attention: MHA, GQA or MQA, with or without windows."""

from __future__ import annotations

from collections.abc import Sequence

from kvplan.layers import FullAttention, Layer, SharedAttention, SlidingAttention
from kvplan.readers.reading import Reading

# Keys that tell of a cache design which plain attention does not have. A config that sets one is not
# priced by the standard formula, whatever its class is called.
FOREIGN_KEYS = (
    "kv_lora_rank",
    "compress_ratios",
    "index_topk",
    "linear_attn_config",
    "linear_num_key_heads",
    "mamba_d_state",
    "mamba_num_heads",
    "ssm_state_size",
    "state_size",
    "conv_L_cache",
    "hybrid_override_pattern",
    "layers_block_type",
    "sparse_attention_config",
    "attn_layer_period",
)
_WINDOW_KEYS = ("sliding_window", "sliding_window_size", "attention_chunk_size")
# Every p-th layer is full where the config gives no list (transformers, configuration_*.py).
_PATTERNS = {
    "gemma2": 2,
    "gpt_oss": 2,
    "gemma3_text": 6,
    "cohere2": 4,
    "cohere2_moe": 4,
    "exaone4": 4,
    "exaone_moe": 4,
    "olmo3": 4,
    "afmoe": 4,
    "llama4_text": 4,
}
# Classes that slide over every layer once a window is set.
_WINDOW_ON_ALL = frozenset({"mistral", "mixtral", "phi3", "phimoe", "starcoder2", "ministral", "phi3_v"})
_KINDS_OF_WINDOW = ("sliding_attention", "chunked_attention", "local_attention", "sliding")
_KINDS_OF_FULL = ("full_attention", "global_attention", "full", "attention")


def refuse_foreign(reading: Reading) -> None:
    """Note each key that says that these are not plain attention layers."""
    config = reading.config
    for key in FOREIGN_KEYS:
        if config.get(key):
            config.problem(
                key,
                f"{reading.architecture} is read as plain attention, which has no such thing",
                "declare the layers in a YAML of kvplan's own",
            )
    attention = config.get("attn_type_list")
    if isinstance(attention, list) and any(kind != 1 for kind in attention):
        config.problem("attn_type_list", "has layers that are not full attention")


def read_standard(reading: Reading) -> list[Layer]:
    """All layers of one shape, full or sliding."""
    refuse_foreign(reading)
    full = reading.attention()
    return windowed(reading, full, sliding=None)


def windowed(reading: Reading, full: FullAttention, *, sliding: SlidingAttention | None) -> list[Layer]:
    """Full and sliding layers as the config lays them out; `sliding` where it has a shape of its own."""
    count = reading.layers
    window = _window(reading)
    if window is None and sliding is None:
        return _shared(reading, [full] * count)
    if sliding is None:
        sliding = SlidingAttention(
            kv_heads=full.kv_heads,
            head_dim=full.head_dim,
            v_head_dim=full.v_head_dim,
            window=window or 1,
        )
    slides = _slides(reading, count)
    return _shared(reading, [sliding if slide else full for slide in slides])


def _window(reading: Reading) -> int | None:
    """Tokens that a sliding layer keeps; None where the model has no windows."""
    if not reading.config.flag("use_sliding_window", default=True):
        return None
    key = reading.config.first(*_WINDOW_KEYS)
    if key is None:
        return reading.optional(*_WINDOW_KEYS) if reading.model_type in _PATTERNS else None
    value = reading.config.integer(key, least=-1)
    return value if value > 0 else None


def _slides(reading: Reading, count: int) -> list[bool]:
    config = reading.config
    names = config.items("layer_types", str, at_least=count)
    if names is not None:
        return _by_names(reading, names[:count])
    for key in ("hybrid_layer_pattern", "sliding_window_layout"):
        flags = config.items(key, int, at_least=count)
        if flags is not None:
            return [flag == 1 for flag in flags[:count]]
    if reading.model_type == "llama4_text":
        return _llama4(reading, count)
    pattern = _pattern(reading)
    if pattern is not None:
        return [(index + 1) % pattern != 0 for index in range(count)]
    return _by_class(reading, count)


def _by_class(reading: Reading, count: int) -> list[bool]:
    """Where the config only sets a window: what the model class does with it."""
    config = reading.config
    if "use_sliding_window" in config or "max_window_layers" in config:
        if not config.flag("use_sliding_window"):
            return [False] * count
        first = config.integer("max_window_layers", least=0, default=0)
        return [index >= first for index in range(count)]
    if reading.model_type not in _WINDOW_ON_ALL:
        key = config.first(*_WINDOW_KEYS)
        reading.notes.append(f"{key} is set, but nothing says which layers use it: all are taken as full")
    return [reading.model_type in _WINDOW_ON_ALL] * count


def _by_names(reading: Reading, names: Sequence[str]) -> list[bool]:
    unknown = sorted(set(names) - set(_KINDS_OF_FULL) - set(_KINDS_OF_WINDOW))
    if unknown:
        known = ", ".join((*_KINDS_OF_FULL, *_KINDS_OF_WINDOW))
        reading.config.problem("layer_types", f"unknown layer type {unknown[0]!r}", f"known: {known}")
    return [name in _KINDS_OF_WINDOW for name in names]


def _llama4(reading: Reading, count: int) -> list[bool]:
    # NoPE layers see everything, RoPE layers a chunk (transformers, Llama4TextConfig).
    rope = reading.config.items("no_rope_layers", int)
    if rope and len(rope) == count:
        return [flag == 1 for flag in rope]
    return [(index + 1) % 4 != 0 for index in range(count)]


def _pattern(reading: Reading) -> int | None:
    config = reading.config
    key = config.first("sliding_window_pattern", "_sliding_window_pattern", "global_attn_every_n_layers")
    if key is None:
        return _PATTERNS.get(reading.model_type)
    value = config.get(key)
    if isinstance(value, str) and value and set(value) <= {"L", "G"}:
        return value.index("G") + 1 if "G" in value else None
    return config.integer(key)


def _shared(reading: Reading, layers: list[Layer]) -> list[Layer]:
    """Layers that read an earlier layer's K and V: Gemma's tail, Hunyuan's groups."""
    tail = reading.config.integer("num_kv_shared_layers", least=0, default=0)
    if tail:
        first = len(layers) - tail
        if first <= 0:
            reading.config.problem(
                "num_kv_shared_layers", f"{tail} of {len(layers)} layers leave none to read"
            )
            return layers
        return [*layers[:first], *(share(layer) for layer in layers[first:])]
    if reading.config.flag("use_cla"):
        factor = reading.config.integer("cla_share_factor", default=2)
        return [layer if index % factor == 0 else share(layer) for index, layer in enumerate(layers)]
    return layers


def share(layer: Layer) -> Layer:
    """A layer that reads the K and V of an earlier one of the same shape."""
    if isinstance(layer, FullAttention | SlidingAttention):
        return SharedAttention(reads=layer)
    return layer


def read_own_windows(reading: Reading) -> list[Layer]:
    """Full and sliding layers with head shapes of their own (MiMo-V2: swa_*; Step-3.5)."""
    config = reading.config
    full = reading.attention()
    head_dim = config.optional_integer("swa_head_dim") or full.head_dim
    other = config.mapping("attention_other_setting")
    kv_heads = config.optional_integer("swa_num_key_value_heads")
    if kv_heads is None and other is not None:
        kv_heads = other.optional_integer("num_attention_groups")
    sliding = SlidingAttention(
        kv_heads=kv_heads or full.kv_heads,
        head_dim=head_dim,
        v_head_dim=config.optional_integer("swa_v_head_dim") or _value_dim(full, head_dim),
        window=_window(reading) or 1,
    )
    return windowed(reading, full, sliding=sliding)


def _value_dim(full: FullAttention, head_dim: int) -> int:
    return full.v_head_dim if head_dim == full.head_dim else head_dim


def read_gemma4(reading: Reading) -> list[Layer]:
    """Gemma-4: global layers have wider and fewer heads than sliding ones, the tail shares."""
    config = reading.config
    local = reading.attention()
    wide = config.optional_integer("global_head_dim") or local.head_dim
    kv_heads = config.optional_integer("num_global_key_value_heads") or local.kv_heads
    full = FullAttention(kv_heads=kv_heads, head_dim=wide, v_head_dim=wide)
    window = reading.integer("sliding_window")
    sliding = SlidingAttention(
        kv_heads=local.kv_heads, head_dim=local.head_dim, v_head_dim=local.v_head_dim, window=window
    )
    return windowed(reading, full, sliding=sliding)
