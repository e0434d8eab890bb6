"""Hugging Face config.json -> Architecture: find the text part, pick the reader, add the facts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kvplan.architecture import Architecture, Source
from kvplan.config import MAX_LAYERS, MAX_NAME, Config, shown
from kvplan.layers import CompressedAttention
from kvplan.readers import facts
from kvplan.readers.context import context_length
from kvplan.readers.deepseek_v4 import mtp_ratios
from kvplan.readers.families import DRAFT_ENDINGS, NOT_DECODERS, NOT_PLANNED, READERS
from kvplan.readers.oddities import oddities
from kvplan.readers.parameters import read_parameters
from kvplan.readers.quantization import quantization
from kvplan.readers.reading import HEAD_KEYS, HIDDEN_KEYS, LAYER_KEYS, Reading, is_flat_llava, text_type_of

# In SGLang's order (utils/hf_transformers/common.py, get_hf_text_config); the last two are LLaVA-like
# and VibeVoice configs that it does not serve.
_TEXT_PARTS = ("thinker_config", "llm_config", "language_config", "text_config", "llm_cfg", "decoder_config")
# Published configs nest two. Every part has a path of its own, so that thousands would fill the memory.
_MAX_PARTS = 16
_DECLARE = "declare the layers in a YAML of kvplan's own, see `kvplan schema`"


def read(
    config: Config, *, source: Source, model_id: str, beside: Mapping[str, Any] | None = None
) -> Architecture:
    """The model that a config.json describes; InputError with all its problems.

    `beside` is the content of the hf_quant_config.json that lies beside it.
    """
    name = _class_name(config)
    reader = READERS.get(name or "")
    if reader is None:
        _refuse(config, name)
        raise AssertionError("an unknown class is always a problem")
    reading = _reading(config, name or "")
    layers = tuple(reader(reading))
    loops = _loops(reading)
    dtype = facts.dtype(reading)
    architecture = Architecture(
        id=model_id,
        architecture=name or "",
        model_type=config.name("model_type") or reading.model_type,
        layers=layers,
        context_length=context_length(reading),
        dtype=dtype,
        attention_heads=reading.config.optional_integer(*HEAD_KEYS),
        hidden_size=reading.config.optional_integer(*HIDDEN_KEYS),
        config_heads=facts.config_heads(reading, layers),
        draft_layers=facts.draft_layers(reading),
        draft_local_layers=facts.draft_local_layers(reading),
        dspark_block=facts.dspark_block(reading),
        loops=loops,
        attention_sinks=facts.attention_sinks(reading),
        fused_qkv_tp=facts.fused_qkv_tp(reading),
        mtp_ratios=_mtp_ratios(reading, layers),
        nested_text=reading.config is not config,
        modalities=tuple(kind for kind in ("vision", "audio") if config.get(f"{kind}_config") is not None),
        oddities=oddities(reading),
        vision=facts.vision(reading),
        quantization=quantization(reading, beside),
        parameters=read_parameters(reading, layers, dtype=dtype, beside=beside),
        source=source,
        assumed=tuple(reading.assumed),
        notes=tuple(reading.notes),
    )
    config.finish()
    return architecture


def _class_name(config: Config) -> str | None:
    names = config.items("architectures", str)
    return names[0] if names else None


def _refuse(config: Config, name: str | None) -> None:
    kind = NOT_DECODERS.get(config.text("model_type") or "")
    if name in NOT_PLANNED:
        config.problem("architectures", f"{name} is not planned: {NOT_PLANNED[name]}", _DECLARE)
    elif name is not None and name.endswith(DRAFT_ENDINGS):
        config.problem(
            "architectures",
            f"{name:.{MAX_NAME}} is a draft model",
            "plan its target with --speculative-algorithm",
        )
    elif kind is not None:
        config.problem(
            "architectures",
            f"{(name or 'this'):.{MAX_NAME}} is {kind}: it decodes nothing and keeps no KV cache",
        )
    elif name is None:
        config.problem("architectures", "is missing, so the model class is unknown", _DECLARE)
    else:
        config.problem("architectures", f"unknown model class {shown(name)}", _DECLARE)
    config.finish()


def _reading(config: Config, name: str) -> Reading:
    parts = [config] if is_flat_llava(name) else _text_parts(config)
    text = parts[-1]
    outer_type = config.name("model_type") or ""
    inner_type = text.name("model_type") or ""
    model_type = inner_type if text is not config and inner_type else text_type_of(outer_type)
    return Reading(config=text, outer=config, parts=tuple(parts), architecture=name, model_type=model_type)


def _text_parts(config: Config) -> list[Config]:
    """The whole config and the language model inside it, from the outermost to the innermost."""
    parts = [config]
    while (part := _text_part(parts[-1])) is not None:
        parts.append(part)
        if len(parts) > _MAX_PARTS:
            part.problem("", "is nested in too many text parts")
            break
    return parts


def _text_part(config: Config) -> Config | None:
    """The first part of the engine's order that is there."""
    for key in _TEXT_PARTS:
        part = config.mapping(key)
        if part is not None:
            if config.first(*LAYER_KEYS) is not None and part.first(*LAYER_KEYS) is None:
                # A class default in its place would contradict what the file says.
                part.problem(LAYER_KEYS[0], "is missing, though the config outside has it")
            return part
    return None


def _loops(reading: Reading) -> int:
    if reading.architecture == "IQuestLoopCoderForCausalLM":
        return reading.config.integer("loop_num", most=MAX_LAYERS, default=1)
    if reading.architecture.startswith("Nanbeige"):
        return reading.integer("num_loops", most=MAX_LAYERS)
    return 1


def _mtp_ratios(reading: Reading, layers: tuple[object, ...]) -> tuple[int, ...]:
    if layers and isinstance(layers[0], CompressedAttention):
        return mtp_ratios(reading)
    return ()
