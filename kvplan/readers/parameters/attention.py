"""Parameters of one layer's mixer: attention in all its designs, or a recurrent layer.

Shapes follow the published model code (transformers, modeling_*.py). Biases and norms inside a mixer
are left out: they are below a thousandth of it.
"""

from __future__ import annotations

from kvplan.frozen import dataclass
from kvplan.layers import (
    CompressedAttention,
    FullAttention,
    GatedDeltaNet,
    IndexedAttention,
    KimiDeltaAttention,
    LatentAttention,
    Layer,
    LightningAttention,
    Mamba1,
    Mamba2,
    NoCache,
    ParallelLayer,
    Recurrent,
    SharedAttention,
    SlidingAttention,
)
from kvplan.layers.compressed import CSA_RATIO
from kvplan.readers.parameters.sizes import Sizes, as_size
from kvplan.units import ceil_div

Heads = FullAttention | SlidingAttention | IndexedAttention
# Query projections twice as wide: the second half gates the output (transformers, qwen3_next, qwen3_5).
_GATED_QUERIES = frozenset({"qwen3_next", "qwen3_5_text", "qwen3_5_moe_text"})
# A gate of its own, as wide as the queries (afmoe; kimi_k3, mla_use_output_gate).
_OUTPUT_GATE = frozenset({"afmoe"})
# Channels that share one time step in Mamba-1 where the config names no rank (transformers: auto).
_CHANNELS_PER_TIME_STEP = 16
# Queries, keys, values, gate and output; and three inputs and an output (transformers, lfm2).
_LIGHTNING_PROJECTIONS, _SHORT_CONV_PROJECTIONS = 5, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Mixer:
    """Parameters of one layer: cut by heads, K and V projections, and what every GPU holds whole."""

    split: int = 0
    kv: int = 0
    copied: int = 0

    def __add__(self, other: Mixer) -> Mixer:
        """Both."""
        return Mixer(split=self.split + other.split, kv=self.kv + other.kv, copied=self.copied + other.copied)


def mixer(sizes: Sizes, layer: Layer, hidden: int, heads: int) -> Mixer:
    """Parameters of one layer's mixer; `hidden` is the model's width, `heads` its query heads."""
    match layer:
        case FullAttention() | SlidingAttention() | IndexedAttention():
            found = _heads(sizes, layer, hidden, heads)
        case SharedAttention():
            found = Mixer(split=_heads(sizes, layer.reads, hidden, heads).split)
        case ParallelLayer():
            found = mixer(sizes, layer.attention, hidden, heads) + mixer(sizes, layer.state, hidden, heads)
        case LatentAttention():
            found = _latent(sizes, layer, hidden, heads)
        case CompressedAttention():
            found = _compressed(sizes, layer, hidden, heads)
        case NoCache():
            found = Mixer()
        case _:
            found = Mixer(split=_recurrent(sizes, layer, hidden))
    return found


def _heads(sizes: Sizes, layer: Heads, hidden: int, heads: int) -> Mixer:
    if isinstance(layer, SlidingAttention):
        heads = _sliding_heads(sizes) or heads
    queries = hidden * heads * layer.head_dim
    gates = sizes.model_type in _OUTPUT_GATE
    if sizes.model_type in _GATED_QUERIES and sizes.flag("attn_output_gate") is not False:
        gates = True
    value_dim = layer.v_head_dim
    same = sizes.flag("attention_k_eq_v") and isinstance(layer, FullAttention)
    kv = layer.kv_heads * (layer.head_dim + (0 if same else value_dim)) * hidden
    copied = 0
    if isinstance(layer, IndexedAttention):
        index_heads = as_size(sizes.mapping("sparse_attention_config").get("sparse_num_index_heads")) or 1
        copied = hidden * layer.index_dim * (index_heads + 1)
    return Mixer(split=queries * (2 if gates else 1) + heads * value_dim * hidden, kv=kv, copied=copied)


def _sliding_heads(sizes: Sizes) -> int | None:
    other = sizes.mapping("attention_other_setting").get("num_attention_heads")
    return sizes.whole("swa_num_attention_heads") or as_size(other)


def _latent(sizes: Sizes, layer: LatentAttention, hidden: int, heads: int) -> Mixer:
    rope = layer.qk_rope_head_dim
    nope = sizes.whole("qk_nope_head_dim") or 0
    value = sizes.whole("v_head_dim") or nope
    rank = sizes.whole("q_lora_rank")
    width = heads * (nope + rope)
    queries = rank * width if rank else hidden * width
    down = hidden * (layer.kv_lora_rank + rope + (rank or 0))
    split = queries + layer.kv_lora_rank * heads * (nope + value) + heads * value * hidden
    if sizes.flag("mla_use_output_gate"):
        split += hidden * heads * value
    index = 0
    if layer.index_head_dim and not layer.index_shared:
        index_heads = sizes.whole("index_n_heads") or 1
        index = (rank or hidden) * index_heads * layer.index_head_dim
        index += hidden * (layer.index_head_dim + index_heads)
    return Mixer(split=split, copied=down + index)


def _compressed(sizes: Sizes, layer: CompressedAttention, hidden: int, heads: int) -> Mixer:
    """DeepSeek-V4: queries and a grouped output projection of low rank, one K = V, compressors."""
    query_rank = sizes.whole("q_lora_rank") or hidden
    output_rank, groups = sizes.whole("o_lora_rank") or hidden, sizes.whole("o_groups") or 1
    width = heads * layer.head_dim
    split = query_rank * width + width * output_rank + groups * output_rank * hidden
    copied = hidden * (query_rank + layer.head_dim)
    if not layer.ratio or not layer.source:
        return Mixer(split=split, copied=copied)
    overlap = 2 if layer.ratio == CSA_RATIO else 1
    copied += 2 * overlap * hidden * layer.head_dim
    if layer.index_head_dim:
        index_heads = sizes.whole("index_n_heads") or 1
        copied += query_rank * index_heads * layer.index_head_dim + hidden * index_heads
        copied += 2 * overlap * hidden * layer.index_head_dim
    return Mixer(split=split, copied=copied)


def _recurrent(sizes: Sizes, layer: Recurrent, hidden: int) -> int:
    """Projections of a recurrent layer, which the engine cuts by its heads or channels."""
    match layer:
        case GatedDeltaNet():
            values = layer.v_heads * layer.v_head_dim
            keys = layer.k_heads * layer.k_head_dim
            count = hidden * (2 * keys + 3 * values + 2 * layer.v_heads)
        case KimiDeltaAttention():
            width = layer.heads * layer.head_dim
            count = hidden * (4 * width + 2 * layer.head_dim + layer.heads) + 2 * layer.head_dim * width
        case Mamba2():
            inner = layer.heads * layer.head_dim
            count = hidden * (3 * inner + 2 * layer.groups * layer.state_size + layer.heads)
        case Mamba1():
            rank = _time_step_rank(sizes) or ceil_div(hidden, _CHANNELS_PER_TIME_STEP)
            count = layer.intermediate * (3 * hidden + 2 * rank + 3 * layer.state_size)
        case LightningAttention():
            count = _LIGHTNING_PROJECTIONS * hidden * layer.heads * layer.head_dim
        case _:
            count = _SHORT_CONV_PROJECTIONS * hidden * layer.dim
    return count


def _time_step_rank(sizes: Sizes) -> int | None:
    keys = ("mamba_dt_rank", "time_step_rank")
    return None if any(sizes.reading.config.get(key) == "auto" for key in keys) else sizes.whole(*keys)
