"""The pool of recurrent states, reserved before tokens are counted, whichever link sizes the KV.

SGLang computes it in GiB as double precision and cuts the rest back to bytes; the operations here
are the same in the same order. Source: kv_cache_configurator.py, _handle_max_mamba_cache (0.5.23);
model_runner_kv_cache_mixin.py, handle_max_mamba_cache (0.5.12).
"""

from __future__ import annotations

from math import ceil

from kvplan.errors import refused
from kvplan.frozen import dataclass
from kvplan.layers.recurrent import state_bytes
from kvplan.pools.base import too_little
from kvplan.sglang.model import Stage
from kvplan.sglang.settings import Settings
from kvplan.units import GIB


@dataclass(frozen=True, slots=True, kw_only=True)
class StatePool:
    """`slots`: max_mamba_cache_size; `slot_bytes` of one slot on one stage; `rest_gib` is left for KV.

    `charged_slots` counts the padding slot where it is charged, `draft_bytes` are the states of drafts.
    """

    slots: int
    charged_slots: int
    slot_bytes: int
    draft_bytes: int
    rest_gib: float

    @property
    def bytes(self) -> int:
        """Bytes per GPU that the state pool takes off the budget."""
        return self.charged_slots * self.slot_bytes + self.draft_bytes


def bytes_per_request(settings: Settings, stage: Stage) -> int:
    """State of one request on one GPU over all layers of the stage."""
    return sum(state_bytes(state, settings.state_storage) * count for state, count in stage.states)


def reserve(settings: Settings, whole: Stage, shares: list[int], rest_gib: float) -> StatePool:
    """Slots of the state pool and what is left for KV, in GiB.

    `whole` is the model, `shares` the state layers of each pipeline stage: every rank charges the
    largest share.
    """
    slot = bytes_per_request(settings, whole)
    if settings.rules.state_follows_pipeline_stage and len(shares) > 1:
        slot = int(slot * (max(shares) / max(sum(shares), 1)))
    if slot == 0:  # a short convolution over one token
        raise refused("a slot of recurrent state takes 0 bytes, by which the memory is divided")
    if settings.rules.draft_states_first:
        return _drafts_first(settings, slot, rest_gib)
    return _solved_together(settings, slot, rest_gib, padding=int(settings.rules.charges_state_padding_slot))


def budget_for(settings: Settings, whole: Stage, shares: list[int], rest_gib: float, kv_bytes: int) -> int:
    """Bytes of states and KV together that leave `kv_bytes` for KV, where `rest_gib` leave less."""

    def leaves_enough(budget: int) -> bool:
        return int(reserve(settings, whole, shares, budget / GIB).rest_gib * GIB) >= kv_bytes

    low, high = int(rest_gib * GIB), 2 * max(kv_bytes, int(rest_gib * GIB))
    while not leaves_enough(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if leaves_enough(middle) else (middle, high)
    return high


def _solved_together(settings: Settings, slot: int, rest: float, padding: int) -> StatePool:
    """Since 0.5.13: draft states are solved for together with K. `padding`: 1 where that slot is charged."""
    deployment, drafts = settings.deployment, settings.draft_tokens
    reserved = 0
    if deployment.max_mamba_cache_size is not None:
        slots = deployment.max_mamba_cache_size // settings.attention_dp
        running = slots // settings.states.slots_per_request
    elif not settings.states.radix_cache and settings.requests is not None:
        slots = running = settings.requests_per_rank or 1
    else:
        slots = _slots_by_ratio(settings, slot, rest, padding)
        running = slots // settings.states.slots_per_request
    _refuse_few_slots(settings, slots, slot, rest, padding)
    if drafts:
        running = min(settings.requests_per_rank or 1, running)
        reserved = slot * (running + padding) * drafts
        rest = rest - (reserved / GIB)
    return StatePool(
        slots=slots,
        charged_slots=slots + padding,
        slot_bytes=slot,
        draft_bytes=reserved,
        rest_gib=rest - (slots + padding) * slot / GIB,
    )


def _slots_by_ratio(settings: Settings, slot: int, rest: float, padding: int) -> int:
    ratio, drafts = settings.state_ratio, settings.draft_tokens
    budget = rest * ratio / (1 + ratio) * GIB
    if drafts:
        per_slot = slot * (1 + drafts / settings.states.slots_per_request)
        return int((budget - slot * (1 + drafts) * padding) // per_slot)
    return int((budget - slot * padding) // slot)


def _drafts_first(settings: Settings, slot: int, rest: float) -> StatePool:
    """0.5.12: draft states first, then slots; the padding slot is not charged."""
    deployment, drafts = settings.deployment, settings.draft_tokens
    reserved = 0
    if drafts and settings.requests is not None:
        reserved = slot * (settings.requests // settings.attention_dp) * drafts
        rest = rest - (reserved / GIB)
    if deployment.max_mamba_cache_size is not None:
        slots = deployment.max_mamba_cache_size // settings.attention_dp
    elif not settings.states.radix_cache and settings.requests is not None:
        slots = settings.requests // settings.attention_dp
    else:
        budget = rest * settings.state_ratio / (1 + settings.state_ratio)
        slots = int((budget * GIB) // slot)
    _refuse_few_slots(settings, slots, slot, rest, padding=0)
    return StatePool(
        slots=slots,
        charged_slots=slots,
        slot_bytes=slot,
        draft_bytes=reserved,
        rest_gib=rest - slots * slot / GIB,
    )


def _refuse_few_slots(settings: Settings, slots: int, slot: int, rest: float, padding: int) -> None:
    """Where not one request runs: how many bytes are missing, or which option gives too few slots."""
    deployment, each = settings.deployment, settings.states.slots_per_request
    if slots >= each:
        return
    if deployment.max_mamba_cache_size is not None:
        given, ranks = deployment.max_mamba_cache_size, settings.attention_dp
        spread = f", of which each of {ranks} attention-DP ranks gets {slots}" if ranks > 1 else ""
        raise refused(
            f"a request takes {each} slots of recurrent state, and --max-mamba-cache-size is {given}{spread}",
            f"--max-mamba-cache-size {each * ranks} or more",
        )
    # Draft states come out of the share of the slots, or before it.
    drafts = 0 if settings.rules.draft_states_first else settings.draft_tokens
    needed = slot * (each + drafts) + slot * (1 + drafts) * padding
    shortfall = ceil(needed * (1 + settings.state_ratio) / settings.state_ratio) - int(rest * GIB)
    what = (
        f"no room for recurrent state: {each} slots of {slot:,} bytes per GPU let one request run, and "
        f"their share of the memory is {settings.state_ratio:g} to 1 of KV"
    )
    raise too_little(what, shortfall, "a larger --mem-fraction-static or a higher --tp")
