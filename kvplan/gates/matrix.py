"""Options with several values: every combination is a gate of its own, named after its values."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping

from kvplan.frozen import dataclass

# More come from a slip: ten options with ten values each would make 10^10.
MAX_GATES = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """The values of an option and their key path; `many` where they are a list, no texts where it is null."""

    place: str
    texts: tuple[str | bool, ...] | None
    many: bool = False


def count(settings: Iterable[Setting]) -> int:
    """How many combinations there are."""
    return math.prod(len(setting.texts or ()) for setting in settings)


def combinations(settings: Mapping[str, Setting]) -> Iterator[dict[str, str | bool]]:
    """One value for each option, the last option changing fastest."""
    for values in itertools.product(*(setting.texts or () for setting in settings.values())):
        yield dict(zip(settings, values, strict=True))


def tagged(name: str, values: Mapping[str, str | bool], settings: Mapping[str, Setting]) -> str:
    """`small[tp=4,ctx=32k]`: the values of the options that are lists."""
    tags = [f"{key}={_shown(values[key], setting)}" for key, setting in settings.items() if setting.many]
    return f"{name}[{','.join(tags)}]" if tags else name


def _shown(value: str | bool, setting: Setting) -> str:
    """The value as the file has it, or its number in the list where it is a whole launch line."""
    if isinstance(value, bool):
        return str(value).lower()
    return str((setting.texts or ()).index(value) + 1) if len(value.split()) > 1 else value
