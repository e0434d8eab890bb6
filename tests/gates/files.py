"""Gate files for the tests, written where a test wants them.

Llama-3.1-8B keeps 2 x 32 layers x 8 heads x 128 x 2 bytes = 131,072 bytes per token at TP 1, so 10 GiB
hold 81,920 tokens and 2 requests of 32,000.
"""

from __future__ import annotations

from pathlib import Path

GATES = """\
defaults:
  model: meta-llama/Llama-3.1-8B
  available_bytes: 10GiB
  ctx: 32k

gates:
  chat:
    require:
      max_total_num_tokens: ">= 80k"
      requests_at_context: 2
  long:
    tp: [1, 2]
    require:
      request.bytes: "<= 5GB"
"""
FAILING = GATES.replace(">= 80k", ">= 4M").replace("<= 5GB", "<= 3GB")
CHAT_ALONE = GATES.partition("    require:")[0]

# Llama-3.1-8B in the shape of its config.json, without the keys that nothing here needs.
CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "vocab_size": 128256,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "max_position_embeddings": 131072,
    "torch_dtype": "bfloat16",
}


def written(folder: Path, text: str, name: str = "kvplan.gates.yaml") -> str:
    """The path of a new file with that text."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)
