"""MLA models, with or without DeepSeek's sparse indexer."""

from __future__ import annotations

from dataclasses import replace

from kvplan.layers import LatentAttention, Layer
from kvplan.readers.reading import Reading
from kvplan.readers.standard import read_standard

# Every fourth layer has an indexer of its own where indexer_types is missing (SGLang, configs/hy_v4.py).
_HY_V4_GROUP = 4


def read_latent(reading: Reading) -> list[Layer]:
    """One latent per token and layer; an indexer where index_topk is set."""
    latent = latent_attention(reading)
    return [with_index(reading, latent, index) for index in range(reading.layers)]


def read_latent_or_heads(reading: Reading) -> list[Layer]:
    """Classes of either design: MLA where kv_lora_rank is set (DeepSeek-VL2, DeepSeek-OCR, Pixtral)."""
    if reading.config.get("kv_lora_rank") and reading.config.flag("use_mla", default=True):
        return read_latent(reading)
    return read_standard(reading)


def read_longcat(reading: Reading) -> list[Layer]:
    """LongCat-Flash: two attention blocks in each layer."""
    count = reading.integer("num_layers", "num_hidden_layers")
    latent = latent_attention(reading)
    return [with_index(reading, latent, index) for index in range(2 * count)]


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


def with_index(reading: Reading, latent: LatentAttention, layer: int) -> LatentAttention:
    """The layer with its own indexer, or with the top-k of an earlier layer."""
    if not latent.index_topk or not _reuses_topk(reading, layer):
        return latent
    return replace(latent, index_shared=True)


def _reuses_topk(reading: Reading, layer: int) -> bool:
    """The first key that is set counts (SGLang 0.5.23, configs/model_config.py, dsa_layer_skips_topk)."""
    config = reading.config
    types = config.items("indexer_types", str)
    if types is not None:
        return layer < len(types) and types[layer] == "shared"
    if reading.model_type == "hy_v4":
        return layer > 0 and (layer - 1) % _HY_V4_GROUP != 0
    factor = config.integer("cli_factor", default=1)
    if factor > 1:
        return layer % factor != 0
    pattern = config.get("index_topk_pattern")
    if pattern is not None:
        return layer < len(pattern) and pattern[layer] == "S"
    every = config.integer("index_topk_freq", default=1)
    offset = config.integer("index_skip_topk_offset", default=2)
    return max(layer - offset + 1, 0) % every != 0
