"""Config dicts as a config.json holds them, and what kvplan reads in them."""

from __future__ import annotations

from typing import Any

from kvplan.architecture import Architecture, Source
from kvplan.config import Config
from kvplan.readers import huggingface

SOURCE = Source(kind="file", location="config.json")
# Sizes of Qwen3-Next's delta nets and of Nemotron-H's Mamba layers.
GDN = {
    "linear_num_key_heads": 16,
    "linear_num_value_heads": 32,
    "linear_key_head_dim": 128,
    "linear_value_head_dim": 128,
    "linear_conv_kernel_dim": 4,
}
MAMBA = {
    "mamba_num_heads": 128,
    "mamba_head_dim": 64,
    "ssm_state_size": 128,
    "n_groups": 8,
    "conv_kernel": 4,
}


def read(config: dict[str, Any]) -> Architecture:
    """The architecture of a config.json with this content."""
    return huggingface.read(Config(config, file="config.json"), source=SOURCE, model_id="model")


def config(architecture: str, model_type: str, **facts: Any) -> dict[str, Any]:
    """A small decoder: 12 layers of 32 heads and 8 KV heads of 128, unless `facts` say otherwise."""
    base: dict[str, Any] = {
        "architectures": [architecture],
        "model_type": model_type,
        "num_hidden_layers": 12,
        "hidden_size": 4096,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "max_position_embeddings": 32768,
        "torch_dtype": "bfloat16",
    }
    merged = base | facts
    return {key: value for key, value in merged.items() if value != "absent"}


def placed(architecture: Architecture) -> str:
    """One letter per layer: F full, S sliding, s shared, L latent, R recurrent, P parallel, - none."""
    letters = {"full": "F", "sliding": "S", "shared": "s", "latent": "L", "parallel": "P", "none": "-"}
    return "".join(letters.get(layer.kind, "R") for layer in architecture.layers)
