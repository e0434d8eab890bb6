"""Lists of names that grow from one release of SGLang to the next."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache


@cache
def _ordinal(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.split("."))


@cache
def _split(text: str) -> frozenset[str]:
    return frozenset(text.split())


def names(added: Mapping[str, str], release: str) -> frozenset[str]:
    """The names that releases up to `release` added; `added` has a text of names for each."""
    wanted = _ordinal(release)
    return frozenset().union(*(_split(text) for since, text in added.items() if _ordinal(since) <= wanted))
