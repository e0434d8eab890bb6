"""MLA models, with or without DeepSeek's sparse indexer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kvplan.config import MAX_LAYERS
from kvplan.layers import LatentAttention, Layer
from kvplan.readers.reading import Reading
from kvplan.readers.standard import read_standard

# Every fourth layer has an indexer of its own where indexer_types is missing (SGLang, configs/hy_v4.py).
_HY_V4_GROUP = 4


def read_latent(reading: Reading) -> list[Layer]:
    """One latent per token and layer; an indexer where index_topk is set."""
    latent = latent_attention(reading)
    return [*indexed(reading, latent, reading.layers)]


def read_latent_or_heads(reading: Reading) -> list[Layer]:
    """Classes of either design: MLA where kv_lora_rank is set (DeepSeek-VL2, DeepSeek-OCR, Pixtral)."""
    if reading.config.get("kv_lora_rank") and reading.config.flag("use_mla", default=True):
        return read_latent(reading)
    return read_standard(reading)


def read_longcat(reading: Reading) -> list[Layer]:
    """LongCat-Flash: two attention blocks in each layer."""
    count = reading.integer("num_layers", "num_hidden_layers", most=MAX_LAYERS)
    return [*indexed(reading, latent_attention(reading), 2 * count)]


def latent_attention(reading: Reading) -> LatentAttention:
    """The latent's shape; models without RoPE on it (use_mla_nope) may say 0."""
    topk = reading.optional("index_topk")
    return LatentAttention(
        kv_lora_rank=reading.integer("kv_lora_rank"),
        qk_rope_head_dim=reading.integer("qk_rope_head_dim", least=0),
        index_head_dim=reading.integer("index_head_dim") if topk else 0,
        index_topk=topk or 0,
        index_kpool=reading.config.integer("index_kpool", default=1),
        head_dim=reading.optional("qk_nope_head_dim", least=0) or 0,
        v_head_dim=reading.optional("v_head_dim", least=0) or 0,
    )


def indexed(reading: Reading, latent: LatentAttention, count: int) -> list[LatentAttention]:
    """Layers with their own indexer, and layers with the top-k of an earlier one."""
    if not latent.index_topk:
        return [latent] * count
    shared = replace(latent, index_shared=True)
    return [shared if reuses else latent for reuses in _reusing_topk(reading, count)]


def _reusing_topk(reading: Reading, count: int) -> list[bool]:
    """The first key that is set counts (SGLang 0.5.23, configs/model_config.py, dsa_layer_skips_topk)."""
    config = reading.config
    types = config.items("indexer_types", str)
    if types is not None:
        return [layer < len(types) and types[layer] == "shared" for layer in range(count)]
    if reading.model_type == "hy_v4":
        return [layer > 0 and (layer - 1) % _HY_V4_GROUP != 0 for layer in range(count)]
    factor = config.integer("cli_factor", default=1)
    if factor > 1:
        return [layer % factor != 0 for layer in range(count)]
    pattern = _topk_pattern(reading)
    if pattern is not None:
        return [layer < len(pattern) and pattern[layer] == "S" for layer in range(count)]
    every = config.integer("index_topk_freq", default=1)
    offset = config.integer("index_skip_topk_offset", default=2)
    return [max(layer - offset + 1, 0) % every != 0 for layer in range(count)]


def _topk_pattern(reading: Reading) -> Sequence[str] | None:
    """A letter per layer, as one text or as a list."""
    if isinstance(reading.config.get("index_topk_pattern"), list):
        return reading.config.items("index_topk_pattern", str)
    return reading.config.text("index_topk_pattern")
