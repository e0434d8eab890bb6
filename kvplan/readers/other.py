"""Models that fit no family: pruned layers (Nemotron-NAS) and Whisper."""

from __future__ import annotations

from kvplan.config import MAX_LAYERS
from kvplan.layers import FullAttention, Layer, NoCache
from kvplan.readers.reading import Reading


def read_deci(reading: Reading) -> list[Layer]:
    """Nemotron-NAS: block_configs remove the attention of some layers and size the groups of the others."""
    blocks = reading.config.mappings("block_configs")
    if len(blocks) != reading.layers:
        reading.config.problem("block_configs", f"has {len(blocks)} entries for {reading.layers} layers")
        return []
    head_dim, heads = reading.head_dim(), reading.heads
    layers: list[Layer] = []
    for block in blocks:
        attention = block.mapping("attention")
        if attention is None:
            block.problem("attention", "is missing")
        elif attention.flag("no_op"):
            layers.append(NoCache())
        elif attention.flag("replace_with_linear"):
            attention.integer("n_heads_in_group")  # SGLang counts heads even where there are none
            layers.append(NoCache())
        else:
            group = attention.integer("n_heads_in_group")
            layers.append(FullAttention(kv_heads=heads // group, head_dim=head_dim, v_head_dim=head_dim))
    return layers


def read_whisper(reading: Reading) -> list[Layer]:
    """Whisper: the engine numbers encoder, decoder and cross attention layers in one pool.

    Source: SGLang, configs/model_config.py, _derive_model_shapes: encoder + 2 x decoder layers.
    """
    # WhisperConfig maps num_hidden_layers to encoder_layers (attribute_map): the former wins.
    encoder = reading.config.integer(
        "num_hidden_layers", "encoder_layers", least=0, most=MAX_LAYERS, default=0
    )
    decoder = reading.config.integer("decoder_layers", "num_hidden_layers", most=MAX_LAYERS)
    heads = reading.config.integer("decoder_attention_heads", "num_attention_heads")
    width = reading.config.integer("d_model", "hidden_size")
    shape = FullAttention(kv_heads=heads, head_dim=width // heads, v_head_dim=width // heads)
    return [shape] * (encoder + 2 * decoder)
