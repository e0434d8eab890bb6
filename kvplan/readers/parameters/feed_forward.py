"""Feed-forward parts: which layers have experts, and how many parameters each kind takes."""

from __future__ import annotations

from collections.abc import Sequence

from kvplan.frozen import dataclass
from kvplan.layers import Layer, SharedAttention
from kvplan.readers.parameters.sizes import Sizes, as_size, as_text

EXPERT_KEYS = (
    "num_experts",
    "n_routed_experts",
    "num_local_experts",
    "moe_num_experts",
    "moe_num_primary_experts",
)
# Experts that a router picks for each token.
_PER_TOKEN = (
    "num_experts_per_tok",
    "num_experts_per_token",
    "experts_per_token",
    "moe_topk",
    "moe_top_k",
    "moe_k",
    "top_k_experts",
    "moe_num_active_primary_experts",
)
# Experts that a router may pick and that do nothing (longcat_flash): how many others it picks is open.
_EMPTY_EXPERTS = "zero_expert_num"
_EXPERT_WIDTH = ("moe_intermediate_size", "moe_ffn_hidden_size", "expert_ffn_hidden_size")
_WIDTH = ("intermediate_size", "ffn_hidden_size", "n_inner", "ffn_dim", "block_ff_dim")
_SHARED = ("n_shared_experts", "num_shared_experts", "num_shared_expert", "moe_num_shared_experts")
_SHARED_WIDTH = (
    "moe_shared_expert_intermediate_size",
    "shared_expert_intermediate_size",
    "shared_intermediate_size",
    "share_expert_dim",
)
# First layers that are dense, under any of their names.
_FIRST_DENSE = ("first_k_dense_replace", "num_dense_layers", "moe_layer_start_index", "moe_layer_num_skipped")
# Two projections instead of three: no gate beside the up-projection (transformers, modeling_*.py).
_UNGATED = frozenset(
    """
    RefinedWeb RefinedWebModel bert bloom codegen falcon gpt2 gpt_bigcode gpt_neox gptj mpt nemotron
    nemotron_h opt persimmon phi phi-msft starcoder2 xlm-roberta
    """.split()
)
# The config's size counts gate and up together.
_HALVED = frozenset({"molmo", "qwen"})
# Layers that are a mixer alone.
_NO_FEED_FORWARD = frozenset({"falcon_mamba", "mamba", "mamba2"})
# A feed-forward part four times as wide as the model where the config names no width.
_USUAL_FACTOR = 4
_LFM2_PART, _LFM2_OF = 2, 3
# What lists of layers say of one without experts.
_DENSE_ENTRIES = (0, "dense")


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedForward:
    """Parameters over all layers, and how many layers have each kind.

    `routed_experts` of one layer and how many of them a token uses, None where that is not known. The
    widths are intermediate sizes: of a dense part, of one expert, and of all shared experts together.
    """

    mlp: int = 0
    experts: int = 0
    shared: int = 0
    router: int = 0
    mlp_width: int | None = None
    expert_width: int | None = None
    shared_width: int | None = None
    moe_layers: int = 0
    dense_layers: int = 0
    routed_experts: int | None = None
    experts_per_token: int | None = None


def feed_forward(sizes: Sizes, layers: Sequence[Layer], hidden: int) -> FeedForward:
    """All feed-forward parts of the decoder layers."""
    if sizes.model_type in _NO_FEED_FORWARD:
        return FeedForward()
    experts = sizes.whole(*EXPERT_KEYS) or 0
    sparse, dense = _kinds(sizes, len(layers), has_experts=experts > 1)
    expert_width = sizes.whole(*_EXPERT_WIDTH) or sizes.whole(*_WIDTH) or 0
    shared_width = _shared_width(sizes, expert_width)
    # Experts may work in a narrower space.
    inner = sizes.whole("moe_latent_size", "routed_expert_hidden_size")
    width = _dense_width(sizes, hidden, beside_experts=bool(sparse))
    wide = _double_wide(sizes, layers)
    each = _projections(sizes) * sparse
    return FeedForward(
        mlp=_projections(sizes) * hidden * width * (dense + wide),
        experts=each * experts * (inner or hidden) * expert_width,
        shared=each * hidden * shared_width,
        router=sparse * (hidden * experts + (2 * hidden * inner if inner else 0)),
        mlp_width=width,
        expert_width=expert_width,
        shared_width=shared_width,
        moe_layers=sparse,
        dense_layers=dense,
        routed_experts=(experts or None) if sparse else None,
        experts_per_token=_per_token(sizes, experts) if sparse else None,
    )


def _per_token(sizes: Sizes, experts: int) -> int | None:
    """None where the config does not say it, or where layers differ."""
    if sizes.whole(_EMPTY_EXPERTS):
        return None
    listed = next((found for key in _PER_TOKEN if (found := sizes.listed(key))), ())
    count = sizes.whole(*_PER_TOKEN)
    same = len(set(map(str, listed))) <= 1
    return count if same and count is not None and count <= experts else None


def _shared_width(sizes: Sizes, expert_width: int) -> int:
    if sizes.model_type == "llama4_text":
        return expert_width
    for key in _SHARED_WIDTH:
        if key in sizes.reading.config:
            return sizes.whole(key) or 0
    return (sizes.whole(*_SHARED) or 0) * expert_width


def _kinds(sizes: Sizes, count: int, *, has_experts: bool) -> tuple[int, int]:
    """How many layers have (experts, a dense feed-forward part)."""
    pattern = sizes.reading.config.get("hybrid_override_pattern")
    if isinstance(pattern, str) and sizes.model_type == "nemotron_h":
        return pattern.count("E"), pattern.count("-")
    blocks = sizes.listed("layers_block_type")
    if blocks is not None and {"moe", "mlp"} & set(map(str, blocks)):
        return blocks.count("moe"), blocks.count("mlp")
    if not has_experts:
        return 0, count
    sparse = _sparse_layers(sizes, count)
    # Gemma-4 has both in every layer.
    return sparse, count if sizes.flag("enable_moe_block") else count - sparse


def _sparse_layers(sizes: Sizes, count: int) -> int:
    """How many layers have experts."""
    for key in ("moe_layer_freq", "mlp_layer_types"):
        listed = sizes.listed(key)
        if listed is not None:
            return sum(entry not in _DENSE_ENTRIES for entry in listed[:count])
    enumerated = sizes.reading.config.get("moe_layers_enum")
    if enumerated is not None:
        named = set(as_text(enumerated).replace(" ", "").split(","))
        return sum(str(index) in named for index in range(count))
    return _sparse_by_rule(sizes, count)


def _sparse_by_rule(sizes: Sizes, count: int) -> int:
    config = sizes.reading.config
    dense = {index for index in sizes.listed("mlp_only_layers") or () if isinstance(index, int)}
    others = [index for index in range(count) if index not in dense]
    period = sizes.whole("expert_layer_period")
    if period:
        offset = sizes.whole("expert_layer_offset") or 0
        return sum(index % period == offset for index in others)
    step = sizes.whole("interleave_moe_layer_step", "decoder_sparse_step", "moe_layer_freq") or 1
    first = sizes.whole(*_FIRST_DENSE) or 0
    shift = 0 if "first_k_dense_replace" in config or "moe_layer_freq" in config else 1
    return sum(index >= first and (index + shift) % step == 0 for index in others)


def _dense_width(sizes: Sizes, hidden: int, *, beside_experts: bool) -> int:
    if beside_experts:
        own = sizes.whole("dense_intermediate_size", "intermediate_size_mlp")
        if own:
            return own
    width = sizes.whole(*_WIDTH)
    if width is None:
        factor = as_size(sizes.reading.config.get("expansion_ratio")) or _USUAL_FACTOR
        return factor * hidden
    if sizes.model_type in _HALVED:
        return width // 2
    if sizes.model_type.startswith("lfm2") and sizes.flag("block_auto_adjust_ff_dim"):
        return width * _LFM2_PART // _LFM2_OF
    return width


def _double_wide(sizes: Sizes, layers: Sequence[Layer]) -> int:
    """Layers that count twice: those of Gemma-4's tail that borrow K and V are twice as wide."""
    if not sizes.flag("use_double_wide_mlp"):
        return 0
    return sum(isinstance(layer, SharedAttention) for layer in layers)


def _projections(sizes: Sizes) -> int:
    return 2 if sizes.model_type in _UNGATED else 3
