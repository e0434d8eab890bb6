"""Sizing shared by all links with one token pool: integer bytes per token, whole pages.

Source: model_executor/pool_configurator.py, DefaultPoolConfigurator.
"""

from __future__ import annotations

from collections.abc import Callable

from kvplan.frozen import dataclass
from kvplan.pools.base import Price, Sizes, nothing_fits, states_exceed
from kvplan.records import Term
from kvplan.sglang.model import EngineModel, Stage
from kvplan.sglang.settings import Settings
from kvplan.units import floor_to_page

# torch.iinfo(torch.int64).max: a stage without attention leaves the count to the others.
NO_LIMIT = (1 << 63) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenLink:
    """A link with one token pool: what it accepts, and the terms of its cell."""

    name: str
    verdict: Callable[[EngineModel], tuple[bool, str]]
    terms: Callable[[Settings, Stage], tuple[Term, ...]]

    def price(self, settings: Settings, stage: Stage) -> Price:
        """The terms and their sum."""
        terms = self.terms(settings, stage)
        return Price(cell=int(sum(term.bytes_per_token for term in terms)), terms=terms)

    def from_bytes(self, settings: Settings, stage: Stage, price: Price, kv_bytes: int) -> Sizes:
        """`kv_bytes // cell`, whole pages; a model without any KV gets its context length."""
        cell = int(price.cell)
        if cell == 0:
            if kv_bytes < 0:
                raise states_exceed(-kv_bytes)
            return Sizes(max_total=floor_to_page(_tokens_without_kv(settings, stage), settings.page))
        tokens = floor_to_page(kv_bytes // cell, settings.page)
        if tokens < settings.fewest_tokens:
            raise nothing_fits(kv_bytes, cell * settings.fewest_tokens, settings.fewest_tokens)
        return Sizes(max_total=tokens)

    def from_tokens(self, settings: Settings, stage: Stage, price: Price, tokens: int) -> Sizes:
        """The cap, whole pages."""
        return Sizes(max_total=floor_to_page(tokens, settings.page))


def _tokens_without_kv(settings: Settings, stage: Stage) -> int:
    if settings.deployment.pp > 1 and stage.attention == 0 and _has_attention(settings):
        return NO_LIMIT
    return settings.deployment.max_total_tokens or settings.context


def _has_attention(settings: Settings) -> bool:
    kinds = settings.model.architecture.kinds
    return bool(kinds & {"full", "sliding", "latent", "indexed", "parallel"})


def draft_bytes(settings: Settings, cell: int, layers: int) -> int:
    """EAGLE and MTP: draft layers at the target's own cost per layer, as the engine assumes."""
    drafts = settings.draft_layers
    if not settings.rules.draft_in_cell or drafts == 0 or layers == 0:
        return 0
    if settings.rules.draft_on_host_too:
        return int(cell * drafts / layers) * settings.hisparse_ratio
    return int(cell * (1 + drafts / layers)) - cell


def draft_term(settings: Settings, draft: int, layers: int) -> Term:
    """What `draft_bytes` counts."""
    return Term(
        name="draft layers",
        bytes_per_token=draft,
        formula=f"{settings.draft_layers} MTP layers at the cost of one of {layers}",
    )
