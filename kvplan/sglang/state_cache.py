"""How recurrent states live beside the radix cache: slots per running request, and what that switches off."""

from __future__ import annotations

from kvplan.deployment import Deployment
from kvplan.frozen import dataclass
from kvplan.hardware import Gpu
from kvplan.sglang.model import EngineModel
from kvplan.sglang.rule_set import Rules

# kv_cache_configurator.py, MAMBA_CACHE_SIZE_MAX_RUNNING_REQUESTS_RATIO: slots with the radix cache on.
RADIX_SLOTS = 3
# get_mamba_tracking_slots: two more for the ping-pong snapshots of the overlap scheduler.
TRACKING_SLOTS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class StateCache:
    """`slots_per_request`: state slots one running request may hold; 0 for models without state."""

    slots_per_request: int
    radix_cache: bool
    overlap: bool


def state_cache(model: EngineModel, deployment: Deployment, gpu: Gpu, rules: Rules) -> StateCache:
    """The strategy that `auto` resolves to.

    Source: arg_groups/overrides.py, _mamba_radix_cache_resolution, and _calculate_mamba_ratio (0.5.23);
    server_args.py, _handle_mamba_radix_cache (0.5.12).
    """
    radix = not deployment.disable_radix_cache
    if not model.has_state:
        return StateCache(slots_per_request=0, radix_cache=radix, overlap=True)
    if not rules.extra_buffer_strategy:
        return _without_tracking(model, deployment, rules, radix=radix)
    if not radix or model.name in rules.no_radix:
        return StateCache(slots_per_request=1, radix_cache=False, overlap=True)
    if model.name in rules.extra_buffer:
        # Pipeline parallelism runs without the overlap scheduler, and so without ping-pong snapshots.
        overlap = deployment.pp == 1
        tracking = TRACKING_SLOTS if overlap else 1
        return StateCache(slots_per_request=RADIX_SLOTS + tracking, radix_cache=True, overlap=overlap)
    # no_buffer turns the overlap scheduler off for the classes whose strategy is resolved.
    overlap = model.name not in rules.radix_states
    return StateCache(slots_per_request=RADIX_SLOTS, radix_cache=True, overlap=overlap)


def _without_tracking(model: EngineModel, deployment: Deployment, rules: Rules, *, radix: bool) -> StateCache:
    if model.name in rules.no_radix:
        radix = False
    elif (
        radix
        and model.name in rules.states_at_single_tokens
        and deployment.attention_backend == "trtllm_mha"
        and deployment.speculative_algorithm is None
    ):
        radix = False  # trtllm_mha can't read the pages of 1 that the radix cache of states needs
    slots = RADIX_SLOTS if radix else 1
    return StateCache(slots_per_request=slots, radix_cache=radix, overlap=not radix)
