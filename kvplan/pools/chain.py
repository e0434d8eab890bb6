"""The chain DSV4 -> DSA -> MLA -> SWA -> MAMBA -> MHA: the first link that takes the model sizes it."""

from __future__ import annotations

from functools import lru_cache

from kvplan.pools import dsa, dsv4, mamba, mha, mla, swa
from kvplan.pools.base import Link
from kvplan.records import Verdict
from kvplan.sglang.model import EngineModel

CHAIN: tuple[Link, ...] = (dsv4.LINK, dsa.LINK, mla.LINK, swa.LINK, mamba.LINK, mha.LINK)


@lru_cache(maxsize=256)
def choose(model: EngineModel) -> tuple[Link, tuple[Verdict, ...]]:
    """The link, and what each one up to it said."""
    verdicts = []
    for link in CHAIN:
        matches, why = link.verdict(model)
        verdicts.append(Verdict(link=link.name, matches=matches, why=why))
        if matches:
            return link, tuple(verdicts)
    raise AssertionError("the last link takes every model")
