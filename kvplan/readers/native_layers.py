"""Mappings of the model YAML as the records that they declare: layers, and the small ones of a model."""

from __future__ import annotations

import functools
from collections.abc import Collection
from decimal import Decimal, InvalidOperation
from typing import Any

from kvplan.config import MAX_DIMENSION, Config, near, shown
from kvplan.dtypes import BITS, canonical
from kvplan.layers import CompressedAttention, Layer
from kvplan.layers.compressed import HCA_RATIO
from kvplan.readers.native_facts import MAX_BYTES, Fact, facts_of
from kvplan.units import parse_size, parse_tokens

# The field's words for designs that have another name here.
_OTHER_NAMES = {
    "attention": "full",
    "mha": "full",
    "gqa": "full",
    "mqa": "full",
    "swa": "sliding",
    "mla": "latent",
    "dsa": "latent",
    "csa": "compressed",
    "hca": "compressed",
    "mamba": "mamba2",
    "conv": "short_conv",
    "mlp": "none",
    "moe": "none",
}


def values_of(view: Config, facts: Collection[Fact]) -> dict[str, Any]:
    """Field values by name; None where one is missing or wrong, which `view` then has noted."""
    values: dict[str, Any] = {}
    for fact in facts:
        if view.get(fact.key) is not None:
            values[fact.name] = _value(view, fact)
        elif fact.fallback:
            values[fact.name] = values.get(fact.fallback)
        else:
            values[fact.name] = fact.default
            if fact.required:
                view.problem(fact.key, "is missing")
    return values


def layer_of(view: Config, kinds: Collection[type[Layer]], *, also: Collection[str] = ()) -> Layer | None:
    """The layer that a mapping declares, one of `kinds`; None when something in it is wrong.

    `also`: keys that belong to the list that the layer stands in.
    """
    by_name = _by_name(tuple(kinds))
    name = view.get("kind")
    if name is None:
        view.problem("kind", "is missing", f"known: {', '.join(by_name)}")
        return None
    if not isinstance(name, str):
        view.problem("kind", f"{shown(name)} is not a string", f"known: {', '.join(by_name)}")
        return None
    if name not in by_name:
        other = _OTHER_NAMES.get(name.lower())
        hint = f"write {other}" if other in by_name else near(name, tuple(by_name))
        view.problem("kind", f"unknown kind of layer {shown(name)}", hint)
        return None
    layer: Layer | None = _record(view, by_name[name], also=("kind", *also))
    if isinstance(layer, CompressedAttention):
        _check_compressed(view, layer)
    return layer


@functools.cache
def _by_name(kinds: tuple[type[Layer], ...]) -> dict[str, type[Layer]]:
    return {kind.kind: kind for kind in kinds}


def _record(view: Config, record: Any, *, also: Collection[str] = ()) -> Any:
    facts = facts_of(record)
    view.only((*also, *(fact.key for fact in facts)))
    values = values_of(view, facts)
    if any(values[fact.name] is None and not fact.nullable for fact in facts):
        return None
    return record(**values)


def _check_compressed(view: Config, layer: CompressedAttention) -> None:
    if layer.qk_rope_head_dim > layer.head_dim:
        what = f"{layer.qk_rope_head_dim} is more than the whole head_dim {layer.head_dim}"
        view.problem("qk_rope_head_dim", what)
    if layer.keeps_compressed and layer.ratio != HCA_RATIO and not layer.index_head_dim:
        view.problem("index_head_dim", f"is missing, and a layer of ratio {layer.ratio} keeps index keys")


def _value(view: Config, fact: Fact) -> Any:
    kind = fact.types[0]
    if fact.many:
        items = view.items(fact.key, kind)
        return None if items is None else tuple(items)
    if kind is int:
        return _size(view, fact) if fact.is_size else _number(view, fact)
    if kind is bool:
        return view.flag(fact.key, default=bool(fact.default))
    if kind is str:
        return _dtype(view, fact.key) if fact.is_dtype else _text(view, fact)
    return _nested(view, fact)


def _nested(view: Config, fact: Fact) -> Any:
    kind = fact.types[0]
    nested = view.mapping(fact.key)
    if nested is None:
        return None
    return layer_of(nested, fact.types) if hasattr(kind, "kind") else _record(nested, kind)


def whole(
    view: Config, key: str, *, least: int = 1, most: int = MAX_DIMENSION, choices: Collection[int] = ()
) -> int | None:
    """A whole number within bounds; None where the value is not one, which `view` then has noted."""
    value = view.get(key)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        view.problem(key, f"{shown(value)} is not a whole number", _as_number(value))
    elif choices and value not in choices:
        view.problem(key, f"{shown(value)} is not one of {', '.join(map(str, choices))}")
    elif not least <= value <= most:
        view.problem(key, f"{shown(value)} is not between {least} and {most}")
    else:
        return value
    return None


def _number(view: Config, fact: Fact) -> int | None:
    return whole(view, fact.key, least=fact.least, most=fact.most, choices=fact.choices)


def _size(view: Config, fact: Fact) -> int | None:
    text = view.get(fact.key)
    if not isinstance(text, str):
        return _number(view, fact)
    try:
        size = parse_size(text)
    except ValueError as error:
        view.problem(fact.key, str(error), _as_number(text))
        return None
    if not fact.least <= size <= fact.most:
        view.problem(fact.key, f"{shown(text)} is not between {fact.least} and {fact.most} bytes")
        return None
    return size


def _dtype(view: Config, key: str) -> str | None:
    text = view.text(key)
    name = canonical(text) if text is not None else None
    if text is not None and name is None:
        view.problem(key, f"unknown dtype {shown(text)}", near(text, tuple(BITS)))
    return name


def _text(view: Config, fact: Fact) -> str | None:
    text = view.name(fact.key)
    if text is not None and not fact.may_be_empty and not text.strip():
        view.problem(fact.key, "is empty")
        return None
    return text


def _as_number(value: Any) -> str:
    """What to write for a text that means a number: YAML reads `1e6` and quoted figures as text."""
    if not isinstance(value, str):
        return ""
    try:
        number = Decimal(parse_tokens(value))
    except ValueError:
        try:
            number = Decimal(value)
        except InvalidOperation:
            return ""
    fits = number.is_finite() and 0 < number < MAX_BYTES and number == number.to_integral_value()
    return f"write {int(number)}" if fits else ""
