"""Texts that several plans share, each said once with whom it is about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kvplan.render.blocks import Remark


def about(tag: str, said: Iterable[tuple[str, Sequence[str]]], *, alarm: bool = False) -> Iterator[Remark]:
    """A remark for each text of `said`, pairs of a name and its texts; without names where all have it."""
    pairs = list(said)
    names: dict[str, list[str]] = {}
    for name, texts in pairs:
        for text in texts:
            names.setdefault(text, []).append(name)
    for text, found in names.items():
        whose = "" if len(found) == len(pairs) else f"{', '.join(dict.fromkeys(found))}: "
        yield Remark(tag=tag, text=whose + text, alarm=alarm)
