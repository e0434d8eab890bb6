"""Sizes of weights in a config. What is no size costs the estimate, never the plan."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from kvplan.config import MAX_DIMENSION, shown
from kvplan.frozen import dataclass
from kvplan.readers.reading import HEAD_KEYS, HIDDEN_KEYS, Reading

_DEFAULTS_FILE = Path(__file__).with_name("class_defaults.json")


class NoSizeError(Exception):
    """A key holds something that no size can be, so that nothing can be estimated from it."""

    def __init__(self, value: object, key: str = "") -> None:
        self.value = value
        super().__init__(f"{key} {shown(value)} is no size".lstrip())


@lru_cache(maxsize=1)
def class_defaults() -> dict[str, Any]:
    """What config classes use where a key is missing: `text` by type, `vision` by the outer type."""
    loaded: dict[str, Any] = json.loads(_DEFAULTS_FILE.read_text(encoding="utf-8"))
    return loaded


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """The text part of a config, with the defaults of its class; None for what is nowhere.

    Raises NoSizeError for what is there and no size.
    """

    reading: Reading

    def whole(self, *keys: str) -> int | None:
        """A number from the first key that has one (of a list, its first entry), else the class's."""
        for key in keys:
            value = self._named(key)
            if value is not None:
                return value
        own = self.defaults
        if any(key in self.reading.config for key in keys):
            return None
        return next((as_size(own[key]) for key in keys if key in own), None)

    def _named(self, key: str) -> int | None:
        try:
            return as_size(self.reading.config.get(key))
        except NoSizeError as error:
            raise NoSizeError(error.value, key) from None

    def flag(self, key: str) -> bool | None:
        """True or false, looked for in the text part, the whole config and the class's defaults."""
        for config in (self.reading.config, self.reading.outer):
            value = config.get(key)
            if isinstance(value, bool):
                return value
        value = self.defaults.get(key)
        return value if isinstance(value, bool) else None

    def listed(self, key: str) -> Sequence[Any] | None:
        """A list as it stands there."""
        value = self.reading.config.get(key)
        return value if isinstance(value, list) else None

    def mapping(self, key: str) -> Mapping[str, Any]:
        """A nested mapping, empty where there is none."""
        value = self.reading.config.get(key)
        return value if isinstance(value, Mapping) else {}

    @property
    def defaults(self) -> Mapping[str, Any]:
        """Defaults of the class of the text part: kvplan's own table for layers, then that for weights."""
        found: Mapping[str, Any] = class_defaults()["text"].get(self.model_type, {})
        return {**found, **self.reading.class_defaults}

    @property
    def model_type(self) -> str:
        """model_type of the text part."""
        return self.reading.model_type

    @property
    def hidden(self) -> int | None:
        """Width of the residual stream."""
        return self.whole(*HIDDEN_KEYS)

    @property
    def heads(self) -> int | None:
        """Query heads."""
        return self.whole(*HEAD_KEYS)


def as_text(value: object) -> str:
    """A string, else an empty one: what is nested too deeply can't even be written as text."""
    return value if isinstance(value, str) else ""


def as_size(value: object) -> int | None:
    """A whole number; None for null and 0, with which configs say that a part is not there.

    Of a list, its first entry. Raises NoSizeError for anything else.
    """
    if isinstance(value, list):
        value = value[0] if value else None
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= MAX_DIMENSION:
        raise NoSizeError(value)
    if value != int(value):
        raise NoSizeError(value)
    return int(value) or None
