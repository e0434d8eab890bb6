"""What a decode step reads of the weights: all but rows of tables, towers, and experts that nobody picked.

MLA multiplies with copies made of kv_b_proj (see sharding) instead of that itself. They are no smaller, so
the projection as it is stored stands for them in a lower bound.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from kvplan.architecture import Architecture
from kvplan.frozen import dataclass
from kvplan.units import ceil_div
from kvplan.weights.records import Parameters
from kvplan.weights.sharding import Split, shares

# Kinds that every step reads whole, once for each loop of the stack.
_IN_LAYERS = ("attention", "attention_kv", "attention_copied", "mlp", "shared_experts", "router", "norms")


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightReads:
    """Bytes on one GPU, over all pipeline stages: `common` to all tokens, and `experts`, all routed ones."""

    common: int
    experts: int

    def with_experts(self, part: Fraction | float) -> int:
        """Bytes that a step reads which needs that part of the experts."""
        return self.common + int(self.experts * part)


def weight_reads(
    model: Architecture, parameters: Parameters, split: Split, loaded_bytes: int | None
) -> WeightReads | None:
    """The weights of a step by the sizes in the config, in proportion to what is known of their size.

    `loaded_bytes`: what the fullest GPU loads; else the checkpoint's own size counts, if it is known. None
    where no kind is loaded at all.
    """
    loaded = sum(shares(model, parameters, split).values())
    if not loaded:
        return None
    scale = Fraction(1)
    if loaded_bytes is not None:
        scale = Fraction(loaded_bytes, loaded)
    elif model.weights_bytes is not None:
        scale = Fraction(model.weights_bytes, parameters.stored_bytes)
    kinds = shares(model, parameters, replace(split, pp=1))
    layers = sum(kinds.get(kind, 0) for kind in _IN_LAYERS) * model.loops
    return WeightReads(
        common=int((layers + kinds.get(_head(parameters), 0)) * scale),
        experts=int(kinds.get("experts", 0) * model.loops * scale),
    )


def knows_experts(parameters: Parameters) -> bool:
    """Whether it is known how many of its routed experts a token uses, if there are any."""
    return parameters.experts is None or None not in (parameters.routed_experts, parameters.experts_per_token)


def fewest_experts(parameters: Parameters, ep: int) -> Fraction:
    """The least part of its routed experts that the busiest GPU reads in a layer; 0 without experts.

    All requests may pick the same ones. Each of `ep` groups of GPUs holds other experts, and the busiest
    group at least as many of those that are picked as come to each.
    """
    held, picked = parameters.routed_experts, parameters.experts_per_token
    return min(Fraction(1), Fraction(ceil_div(picked, ep) * ep, held)) if held and picked else Fraction(0)


def expected_experts(parameters: Parameters, tokens: int) -> float:
    """The part of its routed experts that at least one of `tokens` tokens picks, if all are as likely."""
    held, picked = parameters.routed_experts, parameters.experts_per_token
    return 1 - (1 - picked / held) ** tokens if held and picked else 0.0


def active_parameters(parameters: Parameters) -> int:
    """Parameters that one token is multiplied with, over all GPUs: its experts, and the output head."""
    counts = {kind: tensors.count for kind, tensors in parameters.kinds()}
    common = sum(counts.get(kind, 0) for kind in (*_IN_LAYERS, _head(parameters)))
    return common + int(counts.get("experts", 0) * fewest_experts(parameters, 1))


def _head(parameters: Parameters) -> str:
    """The kind that holds the output head: the embedding, where the two are one."""
    return "embedding" if parameters.head is None else "head"
