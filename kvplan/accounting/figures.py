"""The figures of the ledger for one request: what it keeps, what a step reads, and equivalents."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from kvplan.accounting.ledger import Ledger, ledger
from kvplan.architecture import Architecture
from kvplan.frozen import dataclass
from kvplan.layers import LatentAttention, Storage


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """What is asked about, beside the model: tokens of one request, a budget, copies of states.

    `budget_bytes` per GPU for cache and states. `snapshot_every`: tokens between states that a prefix
    cache keeps. `draft_tokens`: positions whose states speculative decoding holds until it verified them.
    """

    context: int
    budget_bytes: int | None = None
    snapshot_every: int | None = None
    draft_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Bytes of one request with every byte counted once, over all GPUs that hold it."""

    alpha: Fraction
    gamma: int
    request_bytes: int
    read_bytes_per_step: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Accounting:
    """One request of `context` tokens by the architecture's own needs, per GPU; None: does not apply.

    `s_star = gamma / alpha`: above that length tokens cost more than what is fixed. `max_requests`:
    `B_max` of the budget. `stored_copies`: bytes over all GPUs for each byte of `whole`. `snapshots`:
    states that a cached prefix of `context` tokens holds.
    """

    context: int
    alpha: Fraction
    gamma: int
    s_star: Fraction | None
    request_bytes: int
    read_bytes_per_step: int
    state_bytes: int
    equivalent_kv_heads: Fraction | None
    break_even_tokens: Fraction | None
    max_requests: int | None
    snapshots: int | None
    snapshot_bytes: int | None
    draft_state_bytes: int | None
    stored_copies: Fraction | None
    whole: Totals


def account(
    model: Architecture, book: Ledger, storage: Storage, work: Workload, *, stored_bytes: int | None = None
) -> Accounting:
    """The figures of one ledger, that of the fullest GPU; `stored_bytes` over all GPUs of the request."""
    kept = book.request_bytes(work.context)
    states = book.state_bytes
    whole = _totals(model, storage, work.context)
    spread = stored_bytes is not None and whole.request_bytes > 0
    snapshots = work.context // work.snapshot_every if work.snapshot_every and states else None
    return Accounting(
        context=work.context,
        alpha=book.alpha,
        gamma=book.gamma,
        s_star=book.s_star,
        request_bytes=kept,
        read_bytes_per_step=book.read_bytes(work.context),
        state_bytes=states,
        equivalent_kv_heads=_equivalent_heads(model),
        break_even_tokens=book.break_even,
        max_requests=work.budget_bytes // kept if work.budget_bytes is not None and kept else None,
        snapshots=snapshots,
        snapshot_bytes=None if snapshots is None else snapshots * states,
        draft_state_bytes=work.draft_tokens * states if work.draft_tokens and states else None,
        stored_copies=Fraction(stored_bytes or 0, whole.request_bytes) if spread else None,
        whole=whole,
    )


def _totals(model: Architecture, storage: Storage, context: int) -> Totals:
    once = ledger(model.groups, replace(storage, attention_tp=1), model.loops)
    return Totals(
        alpha=once.alpha,
        gamma=once.gamma,
        request_bytes=once.request_bytes(context),
        read_bytes_per_step=once.read_bytes(context),
    )


def _equivalent_heads(model: Architecture) -> Fraction | None:
    """Of the latent; models with one have it in one shape."""
    latents = [layer for layer, _ in model.groups if isinstance(layer, LatentAttention)]
    return latents[0].equivalent_kv_heads if latents else None
