"""What if the model were different: `KEY=VALUE` changes of an architecture, named in every report.

Keys: a field of the layers that use it (`kv_heads`, `window`, `kv_lora_rank` ...), the same of one kind
alone (`sliding.window`), the number of layers of a kind (`layers.full`, the others stay as they are), or
a fact of the model (`context_length`, `attention_heads` ...). `v_head_dim` follows `head_dim` where the
two were equal. Values are checked as those of a model YAML.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from kvplan.architecture import Architecture
from kvplan.config import MAX_LAYERS, Config, near
from kvplan.errors import InputError, Problem
from kvplan.frozen import dataclass
from kvplan.layers import LAYER_KINDS, Layer
from kvplan.readers.native_facts import Fact, facts_of
from kvplan.readers.native_layers import layer_of, values_of
from kvplan.units import parse_tokens

FLAG = "--set"
LAYERS = "layers"
MODEL_KEYS = (
    "context_length",
    "dtype",
    "attention_heads",
    "hidden_size",
    "draft_layers",
    "loops",
    "weights",
)
# Head fields that the config has for all layers, which an engine may read instead of a layer's own.
_CONFIG_HEADS = ("kv_heads", "head_dim", "v_head_dim")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    """One change: its key and value as given, and the values that were there before."""

    key: str
    value: str
    before: tuple[Any, ...] = ()

    def __str__(self) -> str:
        was = " and ".join(str(value) for value in dict.fromkeys(self.before))
        return f"{self.key}={self.value}" + (f" (was {was})" if was else "")


def changed(model: Architecture, changes: Iterable[str]) -> Architecture:
    """The model with every change applied in turn, under an id that names them.

    Raises InputError with every change that can't be made; an unknown key comes with near ones.
    """
    problems: list[Problem] = []
    made: list[_Change] = []
    for text in changes:
        key, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not key or not value:
            problems.append(_problem(f"{text!r} is not KEY=VALUE", "for instance --set kv_heads=4"))
            continue
        known = _keys(model)
        if key not in known:
            problems.append(_unknown(key, tuple(known)))
            continue
        model, before = known[key](model, value, problems)
        made.append(_Change(key=key, value=value, before=before))
    if problems:
        raise InputError(list(dict.fromkeys(problems)))
    if not made:
        return model
    named = ", ".join(f"{change.key}={change.value}" for change in made)
    return replace(
        model, id=f"{model.id} [{named}]", changes=(*model.changes, *(str(change) for change in made))
    )


Apply = Callable[[Architecture, str, list[Problem]], tuple[Architecture, tuple[Any, ...]]]


def _keys(model: Architecture) -> dict[str, Apply]:
    """What can be changed of this model, by key."""
    found: dict[str, Apply] = {key: _fact_change(key) for key in MODEL_KEYS}
    for layer in _kinds(model):
        found.setdefault(f"{LAYERS}.{layer.kind}", _count_change(layer.kind))
    for layer in _kinds(model, nested=True):
        for fact in _facts(layer):
            if fact.types[0] in (int, str, bool):
                found.setdefault(f"{layer.kind}.{fact.key}", _field_change(fact.name, kind=layer.kind))
                if getattr(layer, fact.name):
                    found.setdefault(fact.key, _field_change(fact.name, kind=None))
    return found


def _kinds(model: Architecture, *, nested: bool = False) -> Iterator[Any]:
    for layer, _ in model.groups:
        yield layer
        if nested:
            yield from (part for part in _fields(layer).values() if dataclasses.is_dataclass(part))


def _facts(layer: Any) -> tuple[Fact, ...]:
    kind: Any = type(layer)
    return facts_of(kind)


def _fields(record: Any) -> dict[str, Any]:
    return {field.name: getattr(record, field.name) for field in dataclasses.fields(record)}


def _fact_change(key: str) -> Apply:
    def apply(
        model: Architecture, value: str, problems: list[Problem]
    ) -> tuple[Architecture, tuple[Any, ...]]:
        fact = next(fact for fact in facts_of(Architecture) if fact.key == key)
        view = Config({key: _parsed(value, fact)}, file=FLAG, problems=problems)
        before, wrong = getattr(model, fact.name), len(problems)
        values = values_of(view, (fact,))
        return (model if len(problems) > wrong else replace(model, **values)), (before,)

    return apply


def _count_change(kind: str) -> Apply:
    def apply(
        model: Architecture, value: str, problems: list[Problem]
    ) -> tuple[Architecture, tuple[Any, ...]]:
        places = [place for place, layer in enumerate(model.layers) if layer.kind == kind]
        others = len(model.layers) - len(places)
        wanted = int(value) if value.isdecimal() and len(value) <= len(str(MAX_LAYERS)) else -1
        if not 0 <= wanted <= MAX_LAYERS - others or wanted + others == 0:
            problems.append(_problem(f"{LAYERS}.{kind}: {value!r} is not a possible number of layers"))
            return model, (len(places),)
        return replace(model, layers=_recounted(model.layers, places, wanted)), (len(places),)

    return apply


def _recounted(layers: Sequence[Layer], places: Sequence[int], wanted: int) -> tuple[Layer, ...]:
    """`wanted` layers at the given places, as evenly spread over the stack as before."""
    had = len(places)
    times = dict.fromkeys(range(len(layers)), 1)
    for index, place in enumerate(places):
        times[place] = (index + 1) * wanted // had - index * wanted // had
    return tuple(layer for place, layer in enumerate(layers) for _ in range(times[place]))


def _field_change(name: str, *, kind: str | None) -> Apply:
    def apply(
        model: Architecture, value: str, problems: list[Problem]
    ) -> tuple[Architecture, tuple[Any, ...]]:
        before: list[Any] = []
        new = {layer: _edited(layer, name, kind, value, before, problems) for layer, _ in model.groups}
        layers = tuple(new[layer] for layer in model.layers)
        heads = model.config_heads
        if heads is not None and name in _CONFIG_HEADS and kind in (None, "full"):
            heads = next(
                (
                    replace(heads, **{field: getattr(layer, field) for field in _CONFIG_HEADS})
                    for layer in new.values()
                    if layer.kind == "full"
                ),
                heads,
            )
        return replace(model, layers=layers, config_heads=heads), tuple(before)

    return apply


def _edited(
    layer: Any, name: str, kind: str | None, value: str, before: list[Any], problems: list[Problem]
) -> Any:
    """The layer with the field set, in itself or in its parts; where it uses the field, or `kind` says so."""
    own = _fields(layer)
    if name in own and kind in (None, layer.kind) and (own[name] or kind):
        before.append(own[name])
        fact = next(fact for fact in _facts(layer) if fact.name == name)
        follows = fact.name == "head_dim" and _follows(layer)
        values = {fact.key: own[fact.name] for fact in _facts(layer)}
        values |= {fact.key: _parsed(value, fact)} | ({"v_head_dim": None} if follows else {})
        view = Config({"kind": layer.kind, **values}, file=FLAG, problems=problems)
        return layer_of(view, LAYER_KINDS) or layer
    parts = {field: part for field, part in own.items() if dataclasses.is_dataclass(part)}
    if not parts:
        return layer
    new = {field: _edited(part, name, kind, value, before, problems) for field, part in parts.items()}
    return replace(layer, **new)


def _follows(layer: Any) -> bool:
    """Whether v_head_dim is what the YAML fills in when it is left out."""
    facts = {fact.name: fact for fact in _facts(layer)}
    fallback = "v_head_dim" in facts and facts["v_head_dim"].fallback == "head_dim"
    return fallback and bool(layer.v_head_dim == layer.head_dim)


def _parsed(text: str, fact: Fact) -> Any:
    """The value as a YAML would hold it; what is not one is left for the reader to name."""
    if fact.types[0] is bool:
        return {"true": True, "false": False}.get(text.lower(), text)
    if fact.types[0] is int and not fact.is_size:
        try:
            return parse_tokens(text)
        except ValueError:
            return text
    return text


def _problem(what: str, hint: str = "") -> Problem:
    return Problem(file="", key=FLAG, what=what, hint=hint)


def _unknown(key: str, known: Sequence[str]) -> Problem:
    plain = [name for name in known if "." not in name]
    hint = near(key, known)
    return _problem(
        f"unknown key {key!r}",
        hint if hint.startswith("did") else f"known: {', '.join(plain)}, KIND.FIELD, {LAYERS}.KIND",
    )
