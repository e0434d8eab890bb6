"""Models whose layers are all plain attention: MHA, GQA or MQA, with or without windows."""

from __future__ import annotations

from kvplan.layers import FullAttention, Layer, SharedAttention, SlidingAttention
from kvplan.readers.reading import Reading
from kvplan.readers.schedule import WINDOW_KEYS, has_schedule, slides

# Keys that tell of a cache design which plain attention does not have. A config that sets one is not
# priced by the standard formula, whatever its class is called.
FOREIGN_KEYS = tuple(
    """
    attn_layer_period block_configs cca compress_ratios conv_L_cache efficient_attention_config
    full_attention_interval full_attention_layers full_attn_idxs H_cycles hybrid_override_pattern
    index_head_dim index_topk indexer_n_heads indexer_types kv_lora_rank kv_source_layer_ids
    layer_group_size layers_block_type lightning_nh linear_attention_type linear_attn_config
    linear_key_head_dim linear_num_key_heads linear_num_value_heads local_layer_ids mamba_d_ssm
    mamba_d_state mamba_n_heads mamba_num_heads mixer_types qk_nope_head_dim short_conv_kernel_size
    sparse_attention_config sparse_config ssm_cfg ssm_state_size state_size swa_kv_lora_rank use_sconv
    """.split()
)
# Keys by which the engine multiplies the layers of any class (model_runner_components/layer_setup.py).
_LOOP_KEYS = ("loop_num", "num_loops")
_LOOPED = ("IQuestLoopCoderForCausalLM", "NanbeigeForCausalLM", "NanbeigeForSequenceClassification")
# Gemma-4 texts whose num_global_key_value_heads counts without attention_k_eq_v (transformers,
# configuration_gemma4.py, __post_init__).
_ALWAYS_OWN_GLOBAL_HEADS = frozenset({"diffusion_gemma_text"})


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
    for key in _LOOP_KEYS:
        if config.get(key) not in (None, 1) and reading.architecture not in _LOOPED:
            config.problem(key, f"{reading.architecture} is not read as a looped stack")
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
        sliding = _own_sliding(reading, full)
    placed = slides(reading, count)
    if reading.model_type == "laguna" and not any(placed):
        reading.config.problem("layer_types", "has no sliding layer, though sliding_window is set")
    return _shared(reading, [sliding if slide else full for slide in placed])


def _window(reading: Reading) -> int | None:
    """Tokens that a sliding layer keeps; None where the model has no windows."""
    if not reading.config.flag("use_sliding_window", default=True):
        return None
    key = reading.config.first(*WINDOW_KEYS)
    if key is None:
        return reading.optional(*WINDOW_KEYS) if has_schedule(reading) else None
    value = reading.config.integer(key, least=-1)
    return value if value > 0 else None


def _shared(reading: Reading, layers: list[Layer]) -> list[Layer]:
    """Layers that read an earlier layer's K and V: Gemma's tail, Hunyuan's groups."""
    tail = reading.optional("num_kv_shared_layers", least=0)
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
    full = reading.attention()
    return windowed(reading, full, sliding=_own_sliding(reading, full))


def _own_sliding(reading: Reading, full: FullAttention) -> SlidingAttention:
    """The shape of sliding layers: that of full ones where no key says otherwise."""
    config = reading.config
    head_dim = config.optional_integer("swa_head_dim") or full.head_dim
    other = config.mapping("attention_other_setting")
    kv_heads = config.optional_integer("swa_num_key_value_heads")
    if kv_heads is None and other is not None:
        kv_heads = other.optional_integer("num_attention_groups")
    return SlidingAttention(
        kv_heads=kv_heads or full.kv_heads,
        head_dim=head_dim,
        v_head_dim=_sliding_value_dim(reading, full, head_dim),
        window=_window(reading) or 1,
    )


def _sliding_value_dim(reading: Reading, full: FullAttention, head_dim: int) -> int:
    """swa_v_head_dim; where it is missing, SGLang takes the sliding head's own width, whatever V's is."""
    declared = reading.config.optional_integer("swa_v_head_dim")
    if declared is None and full.v_head_dim != full.head_dim:
        reading.assume(f"swa_v_head_dim {head_dim}: the config leaves it out")
    return declared or head_dim


def read_gemma4(reading: Reading) -> list[Layer]:
    """Gemma-4: global layers have wider and fewer heads than sliding ones, the tail shares."""
    config = reading.config
    local = reading.attention()
    wide = reading.optional("global_head_dim") or local.head_dim
    kv_heads = local.kv_heads
    if config.flag("attention_k_eq_v", default=reading.model_type in _ALWAYS_OWN_GLOBAL_HEADS):
        kv_heads = config.optional_integer("num_global_key_value_heads") or kv_heads
    full = FullAttention(kv_heads=kv_heads, head_dim=wide, v_head_dim=wide)
    window = reading.integer("sliding_window")
    sliding = SlidingAttention(
        kv_heads=local.kv_heads, head_dim=local.head_dim, v_head_dim=local.v_head_dim, window=window
    )
    return windowed(reading, full, sliding=sliding)
