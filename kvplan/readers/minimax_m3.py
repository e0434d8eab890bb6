"""MiniMax-M3: full attention on every layer, with a block index on the sparse ones."""

from __future__ import annotations

from kvplan.layers import IndexedAttention, Layer
from kvplan.readers.reading import Reading

# model_overrides/minimax_m3.py: checkpoints that run the native NVFP4 stack.
_NATIVE_NVFP4 = "nvfp4-pack-quantized"


def read_minimax_m3(reading: Reading) -> list[Layer]:
    """sparse_attention_config: which layers are sparse, and which of these keep index keys alone."""
    quantization = reading.outer.mapping("quantization_config")
    if quantization is not None and quantization.get("moe_quant_format") == _NATIVE_NVFP4:
        quantization.problem("moe_quant_format", "packs KV rows in a layout that kvplan does not have")
    full = reading.attention()
    sparse = reading.config.mapping("sparse_attention_config")
    if sparse is None:
        reading.config.problem("sparse_attention_config", "is missing")
        return []
    count = reading.layers
    schedule = sparse.items("sparse_attention_freq", int, length=count)
    if schedule is None:
        sparse.problem("sparse_attention_freq", "is missing")
        return []
    keys_only = sparse.items("sparse_disable_index_value", int, length=count) or [0] * count
    index_dim = sparse.integer("sparse_index_dim")
    topk = sparse.integer("sparse_topk_blocks") * sparse.integer("sparse_block_size")
    return [
        IndexedAttention(
            kv_heads=full.kv_heads,
            head_dim=full.head_dim,
            v_head_dim=full.v_head_dim,
            index_dim=index_dim,
            index_value=not keys_only[layer],
            index_topk=topk,
        )
        if schedule[layer]
        else full
        for layer in range(count)
    ]
