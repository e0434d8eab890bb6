"""The ledger of a model: every part of every kind of layer, and the sums that follow from them.

One request of S tokens takes `alpha * S + gamma` bytes on one GPU once S is above every window.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property, lru_cache

from kvplan.frozen import dataclass
from kvplan.layers import Layer, Storage
from kvplan.layers.base import Part

Groups = tuple[tuple[Layer, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One part of `layers` layers of one kind; a looped stack counts once for each loop."""

    layer: Layer
    layers: int
    part: Part


@dataclass(frozen=True, kw_only=True)
class Ledger:
    """Rows with their sums on one GPU: `alpha` bytes per token, `gamma` bytes per request."""

    rows: tuple[Row, ...]
    alpha: Fraction
    gamma: int

    def request_bytes(self, tokens: int) -> int:
        """Exact bytes M(S) that a request of `tokens` tokens keeps."""
        return sum(row.layers * row.part.stored_bytes(tokens) for row in self.rows)

    def read_bytes(self, tokens: int) -> int:
        """Bytes r(S) of the cache that one decode step of one request reads."""
        return sum(row.layers * row.part.read_bytes(tokens) for row in self.rows)

    @cached_property
    def s_star(self) -> Fraction | None:
        """`gamma / alpha`: the length at which tokens cost as much as what is fixed; None if none does."""
        return Fraction(self.gamma) / self.alpha if self.alpha else None

    @cached_property
    def state_bytes(self) -> int:
        """The recurrent part of gamma: what has to be copied whole for a prefix or a draft position."""
        return sum(row.layers * row.part.entry_bytes for row in self.rows if row.part.is_state)

    @cached_property
    def break_even(self) -> Fraction | None:
        """Tokens of one attention layer of the model that take as many bytes as one layer's state.

        Both are means where layers differ. None without states, or without a layer that grows.
        """
        growing = {row.layer: row.layers for row in self.rows if row.part.token_bytes}
        stateful = {row.layer: row.layers for row in self.rows if row.part.is_state}
        if not growing or not stateful:
            return None
        state = Fraction(self.state_bytes, sum(stateful.values()))
        return state * sum(growing.values()) / self.alpha


@lru_cache(maxsize=256)
def ledger(groups: Groups, storage: Storage, loops: int = 1) -> Ledger:
    """The ledger of distinct layers with their counts, stored as a deployment stores them."""
    rows = tuple(
        Row(layer=layer, layers=count * loops, part=part)
        for layer, count in groups
        for part in layer.parts(storage)
    )
    return Ledger(
        rows=rows,
        alpha=sum((row.layers * row.part.token_bytes for row in rows), Fraction(0)),
        gamma=sum(row.layers * row.part.fixed_bytes for row in rows),
    )
