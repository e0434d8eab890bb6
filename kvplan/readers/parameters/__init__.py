"""The parameters of a model by kind, from the sizes in its config."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from kvplan.layers import Layer
from kvplan.readers.parameters.counting import Counts, count
from kvplan.readers.parameters.sizes import NoSizeError, Sizes
from kvplan.readers.parameters.storage import quantised
from kvplan.readers.reading import Reading
from kvplan.weights.formats import WeightFormat, plain
from kvplan.weights.records import Parameters, Tensors

# Most checkpoints whose config names no dtype are 16 bits wide; not all are.
_USUAL_DTYPE = "bfloat16"
# Parts of omni models that make speech of the text model's output (transformers, qwen2_5_omni and
# qwen3_omni_moe). A server of text does without them.
_SPEECH_PARTS = ("talker_config", "code2wav_config", "token2wav_config")


def read_parameters(
    reading: Reading,
    layers: Sequence[Layer],
    *,
    dtype: str | None,
    beside: Mapping[str, Any] | None,
) -> Parameters | None:
    """What the checkpoint holds by kind; None where its config does not say enough.

    `dtype`: what is not quantised is stored so; bfloat16 where it is None. `beside`: the content of
    hf_quant_config.json.
    """
    sizes = Sizes(reading=reading)
    try:
        counts, formats = count(sizes, layers), quantised(sizes, len(layers), beside)
    except NoSizeError as error:
        reading.assume(f"weights: {error}, so they are not estimated")
        return None
    if counts is None or formats is None:
        return None
    speech = [key for key in _SPEECH_PARTS if reading.outer.get(key) is not None]
    if speech:
        reading.assume(
            f"weights: an estimate leaves out the parts for speech ({', '.join(speech)}), the size of a "
            "checkpoint has them"
        )
    return _parameters(counts, formats, plain(dtype or _USUAL_DTYPE))


def _parameters(counts: Counts, formats: Mapping[str, WeightFormat], usual: WeightFormat) -> Parameters:
    def tensors(kind: str, number: int, width: int | None = None) -> Tensors | None:
        found = formats.get(kind, usual)
        if not number:
            return None
        stored = Tensors(count=number, stored_bytes=found.bytes_for(number), format=found.name)
        if width is None or found.block is None:
            return stored
        rows, columns = found.block
        if kind == "experts" and rows == 1:
            return stored  # kernels of experts take parts of a group of integers
        return replace(stored, width=width, block_rows=rows, block_columns=columns)

    feeds = counts.feed_forward
    return Parameters(
        embedding=tensors("embedding", counts.embedding),
        lookup_tables=tensors("embedding", counts.lookup_tables),
        head=tensors("head", counts.head),
        attention=tensors("attention", counts.mixer.split),
        attention_kv=tensors("attention_kv", counts.mixer.kv),
        attention_copied=tensors("attention_copied", counts.mixer.copied),
        mlp=tensors("mlp", feeds.mlp, feeds.mlp_width),
        experts=tensors("experts", feeds.experts, feeds.expert_width),
        shared_experts=tensors("shared_experts", feeds.shared, feeds.shared_width),
        router=tensors("router", feeds.router),
        norms=tensors("norms", counts.norms),
        towers=tensors("towers", counts.towers),
        draft=tensors("experts" if feeds.experts else "mlp", counts.draft),
        unused=tensors("head", counts.unused),
        moe_layers=feeds.moe_layers,
        dense_layers=feeds.dense_layers,
        routed_experts=feeds.routed_experts,
        experts_per_token=feeds.experts_per_token,
    )
