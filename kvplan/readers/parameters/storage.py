"""How a checkpoint stores each kind of weight, from its quantisation config."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from kvplan.readers.parameters.modules import NAMES, algorithms, module_list, names_of
from kvplan.readers.parameters.sizes import NoSizeError, Sizes, as_size, as_text
from kvplan.weights.formats import (
    FP8,
    INT8,
    MXFP4,
    MXFP8,
    NF4,
    NVFP4,
    WeightFormat,
    fp8_blocks,
    integers,
)

# Keys of lists of modules that stay as they are.
_KEPT = ("modules_to_not_convert", "ignored_layers", "ignore", "exclude_modules", "llm_int8_skip_modules")
_INTEGER_METHODS = ("awq", "gptq", "auto-round", "awq_marlin", "gptq_marlin", "auto_round")
# DeepSeek-V4 and V4.1 publish their experts so (expert_dtype).
_EXPERT_DTYPES = {"fp4": MXFP4}
_MIXED = "MIXED_PRECISION"
_FOUR_BITS, _EIGHT_BITS = 4, 8
# Wider numbers are no quantisation.
_MOST_BITS = 16
# Engines and checkpoints write a group of a whole channel so.
_WHOLE_CHANNEL = -1
_MX_GROUP = 32
# Published configs have up to three.
_MAX_GROUPS = 32

Formats = dict[str, WeightFormat]


def quantised(sizes: Sizes, layers: int, beside: Mapping[str, Any] | None) -> Formats | None:
    """The format of each kind that is quantised; None where the method is not known.

    `beside` is the content of hf_quant_config.json. Raises NoSizeError for impossible sizes.
    """
    config = _config(sizes, beside)
    if config is None:
        return {}
    method = as_text(config.get("quant_method")).lower()
    reader = _METHODS.get(method) or (_integers if method in _INTEGER_METHODS else None)
    if reader is None:
        return None
    formats = reader(config, layers)
    experts = _EXPERT_DTYPES.get(
        as_text(sizes.reading.outer.get("expert_dtype") or config.get("expert_dtype"))
    )
    listed = config.get("quantized_layers")
    if experts is not None and not isinstance(listed, Mapping):
        fp8 = formats.get("experts")
        formats["experts"] = experts if fp8 is None else replace(experts, block=fp8.block)
    return formats


def _config(sizes: Sizes, beside: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    for part in sizes.reading.parts:
        config = part.get("quantization_config")
        if isinstance(config, Mapping):
            return config
    if beside is None:
        return None
    inner = beside.get("quantization", beside)
    return {**inner, "quant_method": "modelopt"} if isinstance(inner, Mapping) else None


def _everywhere(found: WeightFormat, config: Mapping[str, Any], layers: int, keys: Sequence[str]) -> Formats:
    """All linear layers but those that the config keeps."""
    return dict.fromkeys(_quantised_kinds(config, layers, keys), found)


def _quantised_kinds(config: Mapping[str, Any], layers: int, keys: Sequence[str]) -> list[str]:
    entries: list[object] = []
    for key in keys:
        listed = config.get(key)
        entries += listed if isinstance(listed, list) else []
    kept = module_list(entries, layers)
    return [kind for kind in NAMES if not entries or not any(kept.covers(name) for name in names_of(kind))]


def _fp8(config: Mapping[str, Any], layers: int) -> Formats:
    block = _block(config.get("weight_block_size"))
    found = FP8 if block is None else fp8_blocks(*block)
    formats = _everywhere(found, config, layers, ("modules_to_not_convert", "ignored_layers"))
    # Experts in another format beside FP8 (nvidia/DeepSeek-V4-Flash-NVFP4).
    listed = config.get("quantized_layers")
    if isinstance(listed, Mapping):
        formats |= _by_algorithm(listed)
    return formats


def _integers(config: Mapping[str, Any], layers: int) -> Formats:
    found = integers(_bits(config.get("bits")) or _FOUR_BITS, _group(config), zero_points=True)
    return _everywhere(found, config, layers, _KEPT)


def _mxfp4(config: Mapping[str, Any], layers: int) -> Formats:
    return {"experts": MXFP4}


def _bitsandbytes(config: Mapping[str, Any], layers: int) -> Formats:
    return _everywhere(INT8 if config.get("load_in_8bit") else NF4, config, layers, _KEPT)


def _compressed_tensors(config: Mapping[str, Any], layers: int) -> Formats:
    groups = config.get("config_groups")
    formats: Formats = {}
    kinds = _quantised_kinds(config, layers, _KEPT)
    for group in islice(groups.values(), _MAX_GROUPS) if isinstance(groups, Mapping) else ():
        weights = group.get("weights") if isinstance(group, Mapping) else None
        found = _scheme(weights) if isinstance(weights, Mapping) else None
        if found is None:
            continue
        covered = dict.fromkeys(kinds, found)
        targets = group.get("targets")
        named = [target for target in targets if target != "Linear"] if isinstance(targets, list) else []
        if named:
            listed = module_list(named, layers)
            covered = {
                kind: value
                for kind, value in covered.items()
                if any(listed.covers(name) for name in names_of(kind))
            }
        formats |= covered
    return formats


def _scheme(weights: Mapping[str, Any]) -> WeightFormat | None:
    bits, group = _bits(weights.get("num_bits")), _group(weights)
    if weights.get("type") == "float":
        if bits == _FOUR_BITS:
            return MXFP4 if group == _MX_GROUP else NVFP4
        listed = weights.get("block_structure")
        # compressed-tensors once wrote it as text.
        block = None if isinstance(listed, str) else _block(listed)
        if block is not None:
            return fp8_blocks(*block)
        return MXFP8 if bits == _EIGHT_BITS and group == _MX_GROUP else FP8
    if bits is None:
        return None
    return integers(bits, group, zero_points=weights.get("symmetric") is False)


def _modelopt(config: Mapping[str, Any], layers: int) -> Formats:
    listed = config.get("quantized_layers")
    if config.get("quant_algo") == _MIXED and isinstance(listed, Mapping):
        return _by_algorithm(listed)
    found = _algorithm(config)
    return {} if found is None else _everywhere(found, config, layers, _KEPT)


def _by_algorithm(listed: Mapping[str, Any]) -> Formats:
    found = {kind: _algorithm(value) for kind, value in algorithms(listed).items()}
    return {kind: value for kind, value in found.items() if value is not None}


def _algorithm(config: Mapping[str, Any]) -> WeightFormat | None:
    """The format of one of modelopt's algorithms, by the name that it gives them."""
    algorithm = as_text(config.get("quant_algo")).upper()
    for name, found in (("NVFP4", NVFP4), ("MXFP8", MXFP8), ("MXFP4", MXFP4), ("FP8", FP8), ("INT8", INT8)):
        if name in algorithm:
            return found
    if "INT4" in algorithm or "W4A" in algorithm:
        return integers(_FOUR_BITS, _group(config), zero_points=False)
    return None


def _bits(value: object) -> int | None:
    """The width of a number, None for null."""
    if value is None:
        return None
    bits = as_size(value)
    if bits is None or bits > _MOST_BITS:
        raise NoSizeError(value, "bits")
    return bits


def _group(config: Mapping[str, Any]) -> int:
    """How many numbers share a scale, 0 for a whole channel."""
    value = config.get("group_size")
    return 0 if value == _WHOLE_CHANNEL else as_size(value) or 0


def _block(value: object) -> tuple[int, int] | None:
    """Rows and columns that share a scale, None for null."""
    if value is None:
        return None
    rows, columns = map(as_size, value) if isinstance(value, list) and len(value) == 2 else (None, None)
    if rows is None or columns is None:
        raise NoSizeError(value, "block size")
    return rows, columns


_METHODS: dict[str, Callable[[Mapping[str, Any], int], Formats]] = {
    "fp8": _fp8,
    "fbgemm_fp8": _fp8,
    "mxfp4": _mxfp4,
    "bitsandbytes": _bitsandbytes,
    "compressed-tensors": _compressed_tensors,
    "modelopt": _modelopt,
    "modelopt_fp4": _modelopt,
    "modelopt_fp8": _modelopt,
    "modelopt_mixed": _modelopt,
    "w8a8_int8": lambda config, layers: _everywhere(INT8, config, layers, _KEPT),
    "w8a8_fp8": lambda config, layers: _everywhere(FP8, config, layers, _KEPT),
}
