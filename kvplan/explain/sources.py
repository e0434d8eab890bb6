"""Where each rule comes from: files and classes of SGLang, and the designs that they implement."""

from __future__ import annotations

# By layer kind: the class whose buffers have these shapes.
LAYER_SOURCES = {
    "full": "SGLang mem_cache/memory_pool.py, MHATokenToKVPool",
    "sliding": "SGLang mem_cache/swa_memory_pool.py, SWAKVPool; outside the window nothing is read again",
    "latent": "SGLang mem_cache/memory_pool.py, MLATokenToKVPool; indexer: its DSA subclass",
    "compressed": "SGLang mem_cache/deepseek_v4_memory_pool.py; block states: deepseek_v4_compress_state.py",
    "indexed": "SGLang mem_cache/memory_pool.py, MiniMaxSparseKVPool",
    "gdn": "SGLang configs/mamba_utils.py, Mamba2StateShape",
    "kda": "SGLang configs/mamba_utils.py, KimiLinearStateShape",
    "mamba2": "SGLang configs/mamba_utils.py, Mamba2StateShape",
    "mamba1": "transformers, modeling_falcon_mamba.py: conv_states and ssm_states",
    "lightning": "SGLang configs/bailing_hybrid.py: the recurrent state, no convolution",
    "short_conv": "SGLang configs/lfm2.py: the convolution state alone",
    "parallel": "both parts as they are in a layer of their own",
    "shared": "transformers, modeling_gemma3n.py: kv_shared_layer_index",
    "none": "no cache",
}

# By link of the chain.
_DEFAULT = "model_executor/pool_configurator.py, DefaultPoolConfigurator"
LINK_SOURCES = {
    "DSV4": "model_executor/pool_configurator.py, DSV4PoolConfigurator",
    "DSA": f"{_DEFAULT}, with the indexer's cell",
    "MLA": _DEFAULT,
    "SWA": "model_executor/pool_configurator.py, HybridSWAPoolConfigurator",
    "MAMBA": f"{_DEFAULT}, attention layers alone; configs/mamba_utils.py for states",
    "MHA": _DEFAULT,
}
ORDER_SOURCE = "order of the chain: model_executor/pool_configurator.py, create_memory_pool_configurator"

# By term of the cell, in the symbols of `kvplan explain --symbols`.
TERM_SYMBOLS = {
    "K and V": "K (D + Dv) L e",
    "K and V in FP4": "2 K L D (1/2 + 1/16)",
    "scales": "K (D + Dv) L / 32",
    "index": "d_I L e_I",
    "latent": "(R + Dr) e L",
    "latent in FP4": "(R + Dr) L (1/2 + 1/16)",
    "index keys": "(d_I + d_I/128 x 4) L",
    "full layers": "E_full L_full",
    "sliding layers": "r E_swa L_swa",
    "draft layers": "the cost of one layer x draft layers",
    "draft layer": "bytes x (T + 1)/T",
    "window KV": "r B_kv L",
    "C4 KV": "1/(4 s) B_kv L_c4",
    "C128 KV": "1/128 B_kv L_c128",
    "C4 index keys": "1/4 B_idx L_c4",
    "C4 states": "r (R_c4/W) B_c4s L_c4",
    "C128 states": "r (R_c128/W) B_c128s L_c128",
    "C4 index states": "r (R_c4/W) B_c4is L_c4",
    "window slots": "r B_slot",
    "ratio-4 KV": "(B_kv/s + B_idx)/4 L_c4",
    "ratio-128 KV": "B_kv/128 L_c128",
    "ratio-1 KV": "(B_kv + B_idx) L_1",
    "ratio-2 KV": "(B_kv + B_idx)/2 L_2",
}
