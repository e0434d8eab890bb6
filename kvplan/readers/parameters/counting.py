"""Parameters of a whole checkpoint by kind, before anything is said of how they are stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from kvplan.frozen import dataclass
from kvplan.layers import Layer, NoCache, Recurrent
from kvplan.readers.parameters.attention import Mixer, mixer
from kvplan.readers.parameters.feed_forward import EXPERT_KEYS, FeedForward, feed_forward
from kvplan.readers.parameters.sizes import Sizes
from kvplan.readers.parameters.towers import towers

_VOCABULARY = ("padded_vocab_size", "vocab_size", "embedding_size")
# Learned positions beside the embedding (transformers, modeling_*.py).
_LEARNED_POSITIONS = frozenset({"bert", "gpt2", "gpt_bigcode", "opt"})
_POSITIONS = ("n_positions", "max_position_embeddings")
# Classes that share embedding and head where the config does not say, and that the table of class
# defaults does not know.
_TIED = frozenset({"minicpm3", "telechat"})
# Checkpoints that hold the head although their class shares it (the published index of falcon-40b and
# falcon-180B-chat).
_HEAD_STORED = frozenset({"RefinedWeb", "falcon"})
# MTP layers with an embedding and a head of their own in the checkpoint (SGLang, models/*_nextn.py:
# shared_head.head and embed_tokens are read and dropped).
_DRAFT_WITH_VOCABULARY = frozenset(
    """
    deepseek_v3 deepseek_v32 glm4_moe glm4_moe_lite glm5_next_text glm_moe_dsa
    """.split()
)
# Published without the MTP layers that the config counts (the checkpoint's files).
_DRAFT_NOT_PUBLISHED = frozenset({"minimax_m2"})
_DRAFTS = ("num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules")
_NORMS_PER_LAYER = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Parameters by kind, over all layers."""

    embedding: int
    lookup_tables: int
    head: int
    mixer: Mixer
    feed_forward: FeedForward
    norms: int
    towers: int
    draft: int
    unused: int


def count(sizes: Sizes, layers: Sequence[Layer]) -> Counts | None:
    """All parameters of the checkpoint; None where the config lacks a size that decides them."""
    hidden, vocabulary = sizes.hidden, sizes.whole(*_VOCABULARY)
    if hidden is None or vocabulary is None:
        return None
    heads = sizes.heads or 1
    mixers = _mixers(sizes, layers, hidden, heads)
    feeds = feed_forward(sizes, layers, hidden)
    embedding, number = vocabulary * hidden, sizes.whole(*_DRAFTS) or 0
    draft = number * _draft_layer(sizes, layers, feeds)
    return Counts(
        embedding=embedding,
        lookup_tables=_positions(sizes, hidden) + _per_layer_inputs(sizes, len(layers), hidden),
        head=0 if _tied(sizes) else vocabulary * hidden,
        mixer=mixers,
        feed_forward=feeds,
        norms=hidden * (_NORMS_PER_LAYER * len(layers) + 1),
        towers=towers(sizes, hidden),
        draft=draft,
        unused=2 * embedding * number if draft and sizes.model_type in _DRAFT_WITH_VOCABULARY else 0,
    )


def _mixers(sizes: Sizes, layers: Sequence[Layer], hidden: int, heads: int) -> Mixer:
    total = Mixer()
    for layer, number in Counter(layers).items():
        one = mixer(sizes, layer, hidden, heads)
        total += Mixer(split=one.split * number, kv=one.kv * number, copied=one.copied * number)
    return total


def _tied(sizes: Sizes) -> bool:
    if sizes.model_type in _HEAD_STORED:
        return False
    for key in ("tie_word_embeddings", "tie_embedding", "weight_tying"):
        told = sizes.flag(key)
        if told is not None:
            return told
    return sizes.model_type in _TIED


def _positions(sizes: Sizes, hidden: int) -> int:
    return hidden * (sizes.whole(*_POSITIONS) or 0) if sizes.model_type in _LEARNED_POSITIONS else 0


def _per_layer_inputs(sizes: Sizes, layers: int, hidden: int) -> int:
    """Gemma's E models: an embedding for each layer, and projections from and to the model's width."""
    width, vocabulary = sizes.whole("hidden_size_per_layer_input"), sizes.whole("vocab_size_per_layer_input")
    if not width or not vocabulary:
        return 0
    return layers * width * (vocabulary + 3 * hidden)


def _draft_layer(sizes: Sizes, layers: Sequence[Layer], feeds: FeedForward) -> int:
    """One MTP layer: a full layer, and the projection of two hidden states into one."""
    attention = [layer for layer in layers if not isinstance(layer, Recurrent | NoCache)]
    if not attention or sizes.model_type in _DRAFT_NOT_PUBLISHED:
        return 0
    hidden = sizes.hidden or 0
    one = mixer(sizes, attention[-1], hidden, sizes.heads or 1)
    total = one.split + one.kv + one.copied + 2 * hidden * hidden
    if feeds.moe_layers:
        experts = sizes.whole(*EXPERT_KEYS) or 1
        own = sizes.whole("dspark_n_routed_experts") or experts
        total += (feeds.experts * own // experts + feeds.shared + feeds.router) // feeds.moe_layers
    elif feeds.dense_layers:
        total += feeds.mlp // feeds.dense_layers
    return total
