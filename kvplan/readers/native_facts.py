"""The keys of a record, derived from its dataclass.

A new layer kind or a new fact of the architecture needs no change here; the reader of the model YAML,
its JSON Schema and the export all read these facts.
"""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Collection
from typing import Any

from kvplan.architecture import Architecture, ConfigHeads, Vision
from kvplan.config import MAX_DIMENSION, MAX_LAYERS
from kvplan.frozen import dataclass
from kvplan.layers import CompressedAttention, LatentAttention
from kvplan.layers.compressed import RATIOS

_BYTES = "_bytes"
MAX_BYTES = 1 << 60
# A required field that takes the value of another one of its record when it is left out.
_FALLBACKS = {"v_head_dim": "head_dim"}
_CHOICES = {"ratio": RATIOS}
_MOST = {"context_length": 1 << 40, "count": MAX_BYTES, "loops": MAX_LAYERS}
_MOST |= dict.fromkeys(("draft_layers", "draft_local_layers"), MAX_LAYERS)
# Beside the fields whose default is 0: models without MTP layers, latents without RoPE (GLM-5.3-Flash),
# head fields that a config sets to 0 because its design does not use them, and towers without layers.
_MAY_BE_ZERO = {
    (Architecture, "draft_layers"),
    (Architecture, "draft_local_layers"),
    (LatentAttention, "qk_rope_head_dim"),
    (CompressedAttention, "qk_rope_head_dim"),
    (ConfigHeads, "head_dim"),
    (ConfigHeads, "v_head_dim"),
    (Vision, "layers"),
    (Vision, "hidden_size"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One field of a record and its `key` in the file: its name, for a size without the unit.

    `types`: int, str, bool, or the records that a nested mapping may become. `many`: a list of them.
    `least`, `most` and `choices` bound a whole number. `fallback`: the field whose value is used when
    a required one is left out. `default` has no meaning for a required field. `is_size`: a text with
    a unit, such as 806 GB, is understood. `is_dtype`: the text names a number format.
    """

    name: str
    key: str
    types: tuple[type[Any], ...]
    many: bool
    required: bool
    default: Any
    least: int
    most: int
    choices: tuple[int, ...]
    fallback: str | None
    is_size: bool
    is_dtype: bool

    @property
    def nullable(self) -> bool:
        """Whether None is a value of the field."""
        return not self.required and self.default is None

    @property
    def may_be_empty(self) -> bool:
        """Whether a text may be empty; an engine looks models up by the name of their class."""
        return self.name != "architecture"


@functools.cache
def facts_of(record: Any) -> tuple[Fact, ...]:
    """The fields of a record in order; TypeError for one of a type that has no form in the file."""
    hints = typing.get_type_hints(record)
    fields = dataclasses.fields(record)
    names = {field.name for field in fields}
    return tuple(_fact(record, field, hints[field.name], names) for field in fields)


def _fact(record: type[Any], field: dataclasses.Field[Any], hint: Any, names: Collection[str]) -> Fact:
    many = typing.get_origin(hint) is tuple
    members = _members(typing.get_args(hint)[0] if many else hint)
    plain = members[0] in (int, str, bool) and len(members) == 1
    if not plain and not all(dataclasses.is_dataclass(member) for member in members):
        raise TypeError(f"{record.__name__}.{field.name}: {hint} has no form in a model YAML")
    default = field.default_factory() if callable(field.default_factory) else field.default
    required = default is dataclasses.MISSING
    may_be_zero = (default == 0 and default is not False) or (record, field.name) in _MAY_BE_ZERO
    fallback = _FALLBACKS.get(field.name)
    is_size = field.name.endswith(_BYTES)
    choices = _CHOICES.get(field.name, ())
    return Fact(
        name=field.name,
        key=field.name.removesuffix(_BYTES),
        types=members,
        many=many,
        required=required,
        default=None if required else default,
        least=min(choices, default=0 if may_be_zero else 1),
        most=MAX_BYTES if is_size else _MOST.get(field.name, MAX_DIMENSION),
        choices=choices,
        fallback=fallback if required and fallback in names else None,
        is_size=is_size,
        is_dtype=field.name == "dtype" or field.name.endswith("_dtype"),
    )


def _members(hint: Any) -> tuple[type[Any], ...]:
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return tuple(member for member in typing.get_args(hint) if member is not types.NoneType)
    return (hint,)
