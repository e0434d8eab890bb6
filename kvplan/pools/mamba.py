"""MAMBA: models with recurrent state; tokens are kept by their attention layers alone."""

from __future__ import annotations

from kvplan.pools.default import TokenLink
from kvplan.pools.mha import head_terms
from kvplan.records import Term
from kvplan.sglang.model import EngineModel, Stage
from kvplan.sglang.settings import Settings


def verdict(model: EngineModel) -> tuple[bool, str]:
    """Any recurrent state."""
    if model.has_state:
        layers = sum(count for _, count in model.architecture.states)
        return True, f"recurrent state in {layers} of {len(model.architecture.layers)} layers"
    return False, "no recurrent state"


def terms(settings: Settings, stage: Stage) -> tuple[Term, ...]:
    """K and V of the attention layers; nothing for a model that is state alone."""
    return head_terms(settings, stage, layers=stage.attention)


LINK = TokenLink(name="MAMBA", verdict=verdict, terms=terms)
