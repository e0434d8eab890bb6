"""DSV4: DeepSeek-V4's window, compressed entries and block states, each in a pool of its own.

`max_total_num_tokens` counts full tokens; every pool is a share of them or a fixed part per request.
SGLang computes this in double precision; the operations here are the same in the same order. What is
charged differs: see `dsv4_seven_terms` (to 0.5.20) and `dsv4_slots` (since 0.5.21).
"""

from __future__ import annotations

from kvplan.pools import dsv4_seven_terms, dsv4_slots
from kvplan.pools.base import Price, Sizes
from kvplan.sglang.model import EngineModel, Stage
from kvplan.sglang.settings import Settings


class Dsv4Link:
    """DSV4PoolConfigurator of every version."""

    name = "DSV4"

    def verdict(self, model: EngineModel) -> tuple[bool, str]:
        """A DeepSeek-V4 class with compress_ratios, and hybrid SWA memory not disabled."""
        if model.dsv4 and model.hybrid_swa:
            return True, f"{model.name} compresses its KV (compress_ratios)"
        return False, "not a DeepSeek-V4 class"

    def price(self, settings: Settings, stage: Stage) -> Price:
        """What one full token costs, the cell in the engine's own order of additions."""
        if settings.rules.dsv4_padded_pages:
            cell = dsv4_slots.bytes_per_full_token(settings, stage)
            return Price(cell=cell, terms=dsv4_slots.terms(settings, stage))
        cell = dsv4_seven_terms.bytes_per_full_token(settings, stage)
        return Price(cell=cell, terms=dsv4_seven_terms.terms(settings, stage))

    def from_bytes(self, settings: Settings, stage: Stage, price: Price, kv_bytes: int) -> Sizes:
        """Full tokens from bytes, and the pools that follow from them."""
        if settings.rules.dsv4_padded_pages:
            return dsv4_slots.from_bytes(settings, stage, kv_bytes)
        return dsv4_seven_terms.from_bytes(settings, stage, kv_bytes)

    def from_tokens(self, settings: Settings, stage: Stage, price: Price, tokens: int) -> Sizes:
        """The pools that follow from a number of full tokens."""
        if settings.rules.dsv4_padded_pages:
            return dsv4_slots.from_tokens(settings, stage, tokens)
        return dsv4_seven_terms.from_tokens(settings, tokens)


LINK = Dsv4Link()
