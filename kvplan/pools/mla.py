"""MLA: one latent and one RoPE key per token and layer, whole on every GPU."""

from __future__ import annotations

from dataclasses import replace

from kvplan.dtypes import element_bytes
from kvplan.layers import LatentAttention
from kvplan.pools.default import TokenLink, draft_bytes
from kvplan.records import Term
from kvplan.sglang.model import EngineModel, Stage
from kvplan.sglang.settings import Settings

FP4_BLOCK = 16


def verdict(model: EngineModel) -> tuple[bool, str]:
    """By class name: a latent in an unlisted class is priced as KV heads."""
    if model.mla:
        return True, f"{model.name} keeps one latent per token"
    return False, f"{model.name} is not one of SGLang's MLA classes"


def terms(settings: Settings, stage: Stage) -> tuple[Term, ...]:
    """The latent, and draft layers."""
    layers = stage.attention if settings.model.has_state else stage.total
    latent = latent_term(settings, layers)
    draft = draft_bytes(settings, int(latent.bytes_per_token), layers)
    if not draft:
        return (latent,)
    formula = f"{settings.draft_layers} MTP layers at the cost of one of {layers}"
    return latent, Term(name="draft layers", bytes_per_token=draft, formula=formula)


LINK = TokenLink(name="MLA", verdict=verdict, terms=terms)


def latent_layer(settings: Settings) -> LatentAttention:
    """The latent as the engine reads it from the config; MLA models have one shape."""
    latent = next(layer for layer, _ in settings.model.groups if isinstance(layer, LatentAttention))
    generic = settings.model.architecture.config_heads
    if settings.model.name in settings.rules.rope_dim_is_head_dim and generic is not None:
        return replace(latent, qk_rope_head_dim=generic.head_dim)
    return latent


def latent_term(settings: Settings, layers: int) -> Term:
    """`(R + Dr) * layers * e`; FP4 halves it and adds a scale per 16 elements."""
    latent = latent_layer(settings)
    dim = latent.latent_dim
    shape = f"({latent.kv_lora_rank} + {latent.qk_rope_head_dim})"
    if settings.flag in settings.rules.fp4_flags:
        return Term(
            name="latent in FP4",
            bytes_per_token=dim * layers // 2 + dim // FP4_BLOCK * layers,
            formula=f"{shape} x {layers} layers x (1/2 + 1/{FP4_BLOCK} scales) B",
        )
    size = element_bytes(settings.kv.dtype)
    return Term(
        name="latent", bytes_per_token=dim * layers * size, formula=f"{shape} x {layers} layers x {size} B"
    )
