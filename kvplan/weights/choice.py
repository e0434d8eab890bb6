"""Which figure for the weights holds, in this order: given, the checkpoint's metadata, an estimate."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from kvplan.architecture import Architecture
from kvplan.deployment import Deployment
from kvplan.dtypes import BITS
from kvplan.errors import InputError, bad_option
from kvplan.frozen import dataclass
from kvplan.memory import Range, exactly
from kvplan.sglang.expert_names import COPIES_EXPERTS, DENSE_WHOLE, SHARED_WHOLE
from kvplan.sglang.kv_dtype import model_dtype
from kvplan.sglang.settings import Settings
from kvplan.weights.sharding import FLOAT32, Split, shares

GIVEN, METADATA, YAML, ESTIMATE = "given", "metadata", "yaml", "estimate"
# --weights where nothing is said: the checkpoint's metadata, else an estimate.
AUTO = "auto"
# What a server reports as used by weights is a little more than their tensors: workspaces, scales that
# are kept in a second layout, the allocator's rounding (boot logs: from 0.1 % for dense models to 3.4 %).
_LOADING_MARGIN = Fraction(4, 100)
# How far the estimate from a config may be off the published size.
_ESTIMATE_ERROR = Fraction(3, 100)
_YAML_SUFFIXES = (".yaml", ".yml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """`on_gpu`: bytes that the fullest GPU loads. `total`: the checkpoint, None where only that is given.

    `source` is one of the names above, `by_kind` the parts of `on_gpu` where the kinds are known.
    """

    on_gpu: Range
    total: int | None
    source: str
    by_kind: tuple[tuple[str, int], ...] = ()


def with_weights(model: Architecture, asked: Deployment) -> Deployment:
    """The deployment with weights to work its budget out from, where a GPU is named and no budget given."""
    known = model.weights_bytes is not None or model.parameters is not None
    named = asked.gpu is not None or asked.gpu_memory is not None
    if asked.has_budget or asked.wants_estimate or not named or not known:
        return asked
    return replace(asked, weights=AUTO)


def weights_of(settings: Settings) -> Weights:
    """The weights of a deployment. Raises InputError where nothing says how large they are."""
    asked, model = settings.deployment, settings.model.architecture
    if asked.weights_per_gpu is not None:
        return Weights(on_gpu=exactly(asked.weights_per_gpu), total=model.weights_bytes, source=GIVEN)
    split = split_of(settings)
    total, source = _total(model, asked)
    if total is None:
        if model.parameters is None:
            raise _unknown(model)
        kinds = shares(model, model.parameters, split)
        on_gpu = _around(sum(kinds.values()), error=_ESTIMATE_ERROR)
        stored = model.parameters.stored_bytes
        return Weights(on_gpu=on_gpu, total=stored, source=ESTIMATE, by_kind=tuple(kinds.items()))
    return _scaled(model, split, total, source)


def _total(model: Architecture, asked: Deployment) -> tuple[int | None, str]:
    """Bytes of the checkpoint and where they come from; None asks for an estimate."""
    if isinstance(asked.weights, int):
        return asked.weights, GIVEN
    if asked.weights == ESTIMATE:
        return None, ESTIMATE
    if model.weights_bytes is None:
        if asked.weights == METADATA:
            raise bad_option(
                "weights",
                f"{model.id} has no metadata of its weights here",
                "name a folder with its *.safetensors or their index, or give --source hub, a size, or "
                "--weights estimate",
            )
        return None, ESTIMATE
    source = model.source
    declared = source.kind == "bundled" or source.location.lower().endswith(_YAML_SUFFIXES)
    return model.weights_bytes, YAML if declared else METADATA


def _scaled(model: Architecture, split: Split, total: int, source: str) -> Weights:
    """A known checkpoint, cut in the proportions of the estimate; in equal parts where there is none."""
    parameters = model.parameters
    if parameters is None or not parameters.stored_bytes:
        narrowed = total * BITS[split.dtype] // BITS[FLOAT32] if model.dtype == FLOAT32 else total
        part = narrowed // (split.tp * split.pp)
        return Weights(on_gpu=_around(part), total=total, source=source)
    factor = Fraction(total, parameters.stored_bytes)
    kinds = {kind: int(size * factor) for kind, size in shares(model, parameters, split).items()}
    return Weights(
        on_gpu=_around(sum(kinds.values())), total=total, source=source, by_kind=tuple(kinds.items())
    )


def split_of(settings: Settings) -> Split:
    """How a deployment lays its weights out."""
    asked, name = settings.deployment, settings.model.name
    return Split(
        tp=asked.tp,
        attention_tp=settings.attention_tp,
        head_tp=settings.attention_tp if asked.enable_dp_lm_head else asked.tp,
        dense_tp=1 if asked.moe_dense_tp_size == 1 and name in DENSE_WHOLE else asked.tp,
        shared_tp=1 if asked.moe_a2a_backend in SHARED_WHOLE.get(name, ()) else asked.tp,
        redundant_experts=asked.ep_num_redundant_experts if name in COPIES_EXPERTS else 0,
        pp=asked.pp,
        drafts=asked.speculative_algorithm is not None and bool(settings.model.architecture.draft_layers),
        dtype=model_dtype(settings.model),
    )


def _around(value: int, *, error: Fraction = Fraction(0)) -> Range:
    return Range(low=int(value * (1 - error)), value=value, high=int(value * (1 + error + _LOADING_MARGIN)))


def _unknown(model: Architecture) -> InputError:
    return bad_option(
        "weights",
        f"the size of {model.id} is not known, and its config does not say enough to estimate it",
        "--weights SIZE for the whole checkpoint, or --weights-per-gpu SIZE",
    )
