"""What has to hold between two plans: of a config, and of the same config changed in a known way."""

from __future__ import annotations

import math
from random import Random
from typing import Any

from kvplan import Architecture, KvplanError, Plan, plan
from tests.fuzz.deployments import PLAIN
from tests.fuzz.oracle import read_mapping

UNKNOWN = "zz_unheard_of"
# Real configs nest four levels; the changed ones go on for hundreds.
_DEEPEST = 20
_COUNTS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")
_TEXT_PARTS = ("thinker_config", "llm_config", "language_config", "text_config", "llm_cfg", "decoder_config")
# Plain attention by the generic keys, nothing else: 2 x layers x KV heads x head_dim x bytes a number.
_PLAIN_CLASSES = frozenset(
    "LlamaForCausalLM Qwen2ForCausalLM Qwen3ForCausalLM Qwen3MoeForCausalLM MistralForCausalLM".split()
)
_PLAIN_TYPES = frozenset("llama qwen2 qwen3 qwen3_moe mistral".split())
# Keys by which such a config would say something else.
_OTHER_KEYS = (
    *("sliding_window", "layer_types", "v_head_dim", "attn_config", "num_kv_heads", "n_head_kv"),
    *("multi_query", "num_kv_shared_layers", "use_cla"),
)
_ELEMENT_BYTES = {"bfloat16": 2, "float8_e4m3fn": 1}


def check_order(mapping: dict[str, Any], model: Architecture, random: Random) -> None:
    """The order of keys is no information."""
    assert read_mapping(_shuffled(mapping, random)) == model, "another order of keys, another model"


def check_unknown_key(mapping: dict[str, Any], model: Architecture, value: Any, *, native: bool) -> None:
    """A key that nobody reads changes nothing; a model YAML has only known keys and names it."""
    try:
        found = read_mapping({**mapping, UNKNOWN: value})
    except KvplanError as error:
        assert native, f"an unknown key is an error: {error}"
        assert UNKNOWN in str(error), f"an unknown key is not named: {error}"
        return
    assert not native, "an unknown key of a model YAML passes"
    assert found == model, "an unknown key, another model"


def check_doubled(mapping: dict[str, Any], model: Architecture, *, native: bool) -> bool:
    """Twice the layers, twice the bytes; whether the pattern permitted twice of each layer."""
    try:
        doubled = read_mapping(_doubled_native(mapping) if native else _doubled(mapping))
        before, after = plan(model, PLAIN), plan(doubled, PLAIN)
    except KvplanError:
        return False  # more layers than any model has, or lists that don't allow it
    exact = dict(doubled.groups) == {layer: 2 * count for layer, count in model.groups}
    if not exact:
        return False
    one, two = _costs(before), _costs(after)
    for name, value in one.items():
        assert math.isclose(two[name], 2 * value, rel_tol=1e-9), f"{name}: {value}, of two stacks {two[name]}"
    return True


def check_plain(mapping: dict[str, Any], made: Plan) -> bool:
    """The field's formula for K and V, from the keys alone; whether the config is that plain."""
    kv_dtype, asked = made.resolved.kv_cache_dtype, made.deployment
    sharded = made.resolved.attention_tp > 1 or asked.pp > 1 or asked.dcp > 1
    values = [mapping.get("num_hidden_layers"), mapping.get("num_key_value_heads"), _head_dim(mapping)]
    if sharded or asked.speculative_algorithm or not _is_plain(mapping) or kv_dtype not in _ELEMENT_BYTES:
        return False
    if not all(type(value) is int and value > 0 for value in values):
        return False
    layers, kv_heads, head_dim = (int(value or 0) for value in values)
    expected = 2 * layers * kv_heads * head_dim * _ELEMENT_BYTES[kv_dtype]
    assert made.request.bytes_per_token == expected, f"{made.request.bytes_per_token}, not {expected}"
    assert made.pool.cell_size == expected, f"cell {made.pool.cell_size}, not {expected}"
    return True


def _is_plain(mapping: dict[str, Any]) -> bool:
    names = mapping.get("architectures")
    named = isinstance(names, list) and bool(names) and names[0] in _PLAIN_CLASSES
    others = any(mapping.get(key) is not None for key in (*_OTHER_KEYS, *_TEXT_PARTS))
    return named and not others and mapping.get("model_type") in _PLAIN_TYPES


def _head_dim(mapping: dict[str, Any]) -> Any:
    """Declared, or the hidden size by heads where the class has no default of its own."""
    hidden, heads = mapping.get("hidden_size"), mapping.get("num_attention_heads")
    if mapping.get("head_dim") is None and mapping.get("model_type") in ("llama", "qwen2", "mistral"):
        return hidden // heads if type(hidden) is int and type(heads) is int and heads > 0 else None
    return mapping.get("head_dim")


def _costs(made: Plan) -> dict[str, float]:
    return {
        "bytes_per_token": made.request.bytes_per_token,
        "fixed_bytes": made.request.fixed_bytes,
        "bytes": made.request.bytes,
        "cell_size": made.pool.cell_size,
        "state_bytes_per_request": made.pool.state_bytes_per_request,
    }


def _shuffled(value: Any, random: Random, depth: int = 0) -> Any:
    if depth > _DEEPEST:
        return value
    if isinstance(value, dict):
        keys = random.sample(list(value), len(value))
        return {key: _shuffled(value[key], random, depth + 1) for key in keys}
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [_shuffled(item, random, depth + 1) for item in value]
    return value


def _doubled_native(mapping: dict[str, Any]) -> dict[str, Any]:
    changed = {**mapping, "layers": [{"repeat": 2, "layers": mapping["layers"]}]}
    if mapping.get("num_layers") is not None:
        changed["num_layers"] = 2 * mapping["num_layers"]
    return changed


def _doubled(mapping: dict[str, Any], depth: int = 0) -> dict[str, Any]:
    """Twice the layers in the innermost text part, and twice each list that has an entry per layer."""
    for part in _TEXT_PARTS:
        if isinstance(mapping.get(part), dict) and depth <= _DEEPEST:
            return {**mapping, part: _doubled(mapping[part], depth + 1)}
    key = next((key for key in _COUNTS if mapping.get(key) is not None), None)
    count = mapping.get(key) if key is not None else None
    if key is None or not isinstance(count, (int, float)):
        return mapping
    return {**_lists_doubled(mapping, int(count)), key: 2 * count}


def _lists_doubled(mapping: dict[str, Any], count: int, depth: int = 0) -> dict[str, Any]:
    return {
        key: value * 2
        if isinstance(value, (list, str)) and len(value) == count
        else _lists_doubled(value, count, depth + 1)
        if isinstance(value, dict) and depth <= _DEEPEST
        else value
        for key, value in mapping.items()
    }
