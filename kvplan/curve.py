"""M(S), M(S)/S and r(S) over a range of contexts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from kvplan.accounting import Ledger, ledger
from kvplan.frozen import dataclass
from kvplan.layers import Layer
from kvplan.records import Plan
from kvplan.units import parse_tokens

DEFAULT_RANGE = (1_000, 1_000_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One context of one series; bytes per GPU."""

    context: int
    bytes: int
    read_bytes_per_step: int

    @property
    def bytes_per_token(self) -> float:
        """M(S) / S."""
        return self.bytes / self.context


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One model, or one layer of it. `knees`: windows in tokens; `s_star`: where tokens outweigh gamma."""

    name: str
    points: tuple[Point, ...]
    knees: tuple[int, ...]
    s_star: Fraction | None


def parse_range(text: str) -> tuple[int, int]:
    """`1k:1M` -> (1000, 1000000); raises ValueError for anything else."""
    start, colon, end = text.partition(":")
    if not colon:
        raise ValueError(f"{text!r} is not a range such as 1k:1M")
    first, last = parse_tokens(start), parse_tokens(end)
    if not 0 < first < last:
        raise ValueError(f"{text!r} does not start above 0 and end above its start")
    return first, last


def contexts(first: int, last: int, count: int) -> tuple[int, ...]:
    """`count` contexts from `first` to `last`, evenly spaced on a log scale and rounded to whole tokens."""
    span = math.log(last / first)
    return (*(round(first * math.exp(span * step / (count - 1))) for step in range(count - 1)), last)


def of_plan(plan: Plan, at: Sequence[int], *, per_layer: bool = False) -> tuple[Series, ...]:
    """The curve of a model, or one for a layer of each kind (named by the kind's place in the model)."""
    if plan.ledger is None:
        return ()
    if not per_layer:
        return (_series(plan.architecture.id, plan.ledger, at),)
    return tuple(
        _series(layer.kind, _one(layer, plan), at)
        for layer in dict.fromkeys(row.layer for row in plan.ledger.rows)
    )


def kinds_of(plan: Plan) -> tuple[Layer, ...]:
    """The layers that `of_plan` draws one by one, in its order."""
    return () if plan.ledger is None else tuple(dict.fromkeys(row.layer for row in plan.ledger.rows))


def _one(layer: Layer, plan: Plan) -> Ledger:
    return ledger(((layer, 1),), plan.storage)


def _series(name: str, book: Ledger, at: Sequence[int]) -> Series:
    points = tuple(
        Point(context=tokens, bytes=book.request_bytes(tokens), read_bytes_per_step=book.read_bytes(tokens))
        for tokens in at
    )
    windows = {row.part.entries.at_most for row in book.rows if row.part.copies and row.part.entries.at_most}
    return Series(name=name, points=points, knees=tuple(sorted(windows)), s_star=book.s_star or None)
