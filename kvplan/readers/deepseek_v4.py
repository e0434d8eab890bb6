"""DeepSeek-V4 and V4.1: a window on each layer, compressed entries by compress_ratios."""

from __future__ import annotations

from collections.abc import Sequence

from kvplan.layers import CompressedAttention, Layer
from kvplan.layers.compressed import RATIOS
from kvplan.readers.reading import Reading


def read_deepseek_v4(reading: Reading) -> list[Layer]:
    """One layer per entry of compress_ratios; entries past the last layer belong to MTP."""
    ratios = listed_ratios(reading)
    sources = set(reading.config.items("kv_source_layer_ids", int) or ())
    # Layers with an indexer but no entries of their own score the blocks that a source layer picked.
    scorers = set(reading.config.items("index_source_layer_ids", int) or ()) - sources
    blocks, size = reading.optional("candidate_topk_blocks"), reading.optional("candidate_block_size")
    candidates = (blocks or 0) * (size or 0)
    head_dim = reading.integer("head_dim")
    return [
        CompressedAttention(
            ratio=ratio,
            head_dim=head_dim,
            qk_rope_head_dim=reading.integer("qk_rope_head_dim"),
            window=reading.integer("sliding_window"),
            index_head_dim=reading.integer("index_head_dim") if ratio in (1, 2, 4) else 0,
            index_topk=reading.integer("index_topk") if ratio in (1, 2, 4) else 0,
            source=ratio not in (1, 2) or index in sources,
            index_candidates=candidates if index in scorers and ratio in (1, 2) else 0,
        )
        for index, ratio in enumerate(ratios[: reading.layers])
    ]


def listed_ratios(reading: Reading) -> Sequence[int]:
    """compress_ratios as they stand in the config."""
    config = reading.config
    if config.get("compress_ratios") is None:
        config.problem("compress_ratios", "is missing")
        return [0] * reading.layers
    ratios = config.items("compress_ratios", int, at_least=reading.layers) or [0] * reading.layers
    for index, ratio in enumerate(ratios):
        if ratio not in RATIOS:
            known = ", ".join(map(str, RATIOS))
            config.problem(f"compress_ratios[{index}]", f"unknown ratio {ratio}", f"known: {known}")
    return ratios


def mtp_ratios(reading: Reading) -> tuple[int, ...]:
    """The entries past the last layer."""
    return tuple(listed_ratios(reading)[reading.layers :])
