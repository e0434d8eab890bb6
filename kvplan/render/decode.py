"""The floor of a decode step in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.records import Plan
from kvplan.render.blocks import Remark
from kvplan.render.text import exact, joined, plural
from kvplan.units import format_bytes_decimal

if TYPE_CHECKING:
    from kvplan.decode import DecodeStep

# Experts in the mean that differ by less from the fewest say nothing.
_NOTABLE_EXPERTS = 0.05


def floor(plan: Plan) -> tuple[Remark, ...]:
    """The least time of a step with what is read for it, and the experts that it rests on."""
    step = plan.decode
    if step is None:
        return ()
    if step.floor_ms is None:
        return (Remark(tag="decode", text=f"no floor: {step.unknown}"),)
    return (Remark(tag="decode", text=_floor(plan, step)), *_experts(step))


def _floor(plan: Plan, step: DecodeStep) -> str:
    stages = plan.deployment.pp
    return joined(
        [
            f"floor of {_ms(step.floor_ms)} a step, not a forecast: for {_batch(plan, step)} each GPU reads "
            f"{_size(step.cache_bytes)} of cache and {_size(step.weight_bytes)} of active weights "
            f"(estimated) at {_size(step.bandwidth)}/s",
            f"summed over {stages} stages" if stages > 1 else "",
            "the draft left out" if plan.deployment.speculative_algorithm is not None else "",
        ]
    )


def _batch(plan: Plan, step: DecodeStep) -> str:
    requests = f"{plural(step.requests, 'request')} of {exact(step.context)} tokens"
    requests += " in a micro-batch" if plan.deployment.pp > 1 else ""
    return f"{requests} on each rank" if plan.resolved.attention_dp > 1 else requests


def _experts(step: DecodeStep) -> tuple[Remark, ...]:
    fewest, expected = step.experts_per_token, step.uniform_experts
    if fewest is None:
        return ()
    text = f"{fewest} of {step.routed_experts} in each layer are the fewest"
    if expected is not None and expected > fewest + _NOTABLE_EXPERTS:
        usual = f"{_size(step.uniform_weight_bytes)} of weights, {_ms(step.uniform_ms)}"
        text += f"; if each request picks by chance, {expected:,.1f} in the mean: {usual}"
    return (Remark(tag="experts", text=text),)


def _size(value: int | None) -> str:
    return format_bytes_decimal(value or 0)


def _ms(value: float | None) -> str:
    return f"{value or 0:,.2f} ms"
