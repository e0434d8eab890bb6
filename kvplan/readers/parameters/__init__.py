"""The parameters of a model by kind, from the sizes in its config."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kvplan.layers import Layer
from kvplan.readers.parameters.counting import Counts, count
from kvplan.readers.parameters.sizes import Sizes
from kvplan.readers.parameters.storage import quantised
from kvplan.readers.reading import Reading
from kvplan.weights.formats import WeightFormat, plain
from kvplan.weights.records import Parameters, Tensors

# Checkpoints whose config names no dtype are 16 bits wide but for these (their published indexes:
# TeleChat2-115B, 453,131,665,408 bytes for 113.3 billion parameters).
_STORED_IN_FLOAT32 = frozenset({"Tele-AI/TeleChat2-115B"})
_USUAL_DTYPE = "bfloat16"


def read_parameters(
    reading: Reading,
    layers: Sequence[Layer],
    *,
    model_id: str,
    dtype: str | None,
    beside: Mapping[str, Any] | None,
) -> Parameters | None:
    """What the checkpoint holds by kind; None where its config does not say enough.

    `dtype`: what is not quantised is stored so. `beside`: the content of hf_quant_config.json.
    """
    sizes = Sizes(reading=reading)
    counts, formats = count(sizes, layers), quantised(sizes, len(layers), beside)
    if counts is None or formats is None:
        return None
    usual = "float32" if model_id in _STORED_IN_FLOAT32 else _USUAL_DTYPE
    return _parameters(counts, formats, plain(dtype or usual))


def _parameters(counts: Counts, formats: Mapping[str, WeightFormat], usual: WeightFormat) -> Parameters:
    def tensors(kind: str, number: int) -> Tensors | None:
        found = formats.get(kind, usual)
        if not number:
            return None
        return Tensors(count=number, stored_bytes=found.bytes_for(number), format=found.name)

    feeds = counts.feed_forward
    return Parameters(
        embedding=tensors("embedding", counts.embedding),
        head=tensors("head", counts.head),
        attention=tensors("attention", counts.mixer.split),
        attention_kv=tensors("attention_kv", counts.mixer.kv),
        attention_copied=tensors("attention_copied", counts.mixer.copied),
        mlp=tensors("mlp", feeds.mlp),
        experts=tensors("experts", feeds.experts),
        shared_experts=tensors("shared_experts", feeds.shared),
        router=tensors("router", feeds.router),
        norms=tensors("norms", counts.norms),
        towers=tensors("towers", counts.towers),
        draft=tensors("experts" if feeds.experts else "mlp", counts.draft),
        unused=tensors("head", counts.unused),
        moe_layers=feeds.moe_layers,
        dense_layers=feeds.dense_layers,
    )
