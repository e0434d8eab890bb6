"""The plan: everything that a report shows, as one frozen record. Renderers take it from here alone."""

from __future__ import annotations

from dataclasses import field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from kvplan.accounting import Accounting, Ledger, Workload, account
from kvplan.architecture import Architecture
from kvplan.choices import Advice, Choice
from kvplan.deployment import Deployment
from kvplan.frozen import dataclass
from kvplan.layers import Storage
from kvplan.memory import Budget

if TYPE_CHECKING:
    from kvplan.decode import DecodeStep
    from kvplan.weights.sharding import Split

SCHEMA_VERSION = 1
Number = int | float


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What one link of the chain said of the model."""

    link: str
    matches: bool
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One term of the cell: bytes per token per GPU, and the multiplication that gives them."""

    name: str
    bytes_per_token: Number
    formula: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolChoice:
    """The link that sizes the model, why the earlier ones did not, and what a token and a state cost."""

    link: str
    why: tuple[Verdict, ...]
    cell_size: Number
    state_bytes_per_request: int
    terms: tuple[Term, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request of `context` tokens by the architecture's own needs, copies by replication included.

    Bytes per GPU; `bytes_total` over the GPUs that hold the request.
    """

    context: int
    bytes_per_token: Number
    fixed_bytes: int
    bytes: int
    bytes_total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """One pool: bytes that the sizing formula charges for it, and bytes of the buffers that are allocated.

    `tokens` are slots of this pool (tokens, compressed entries, states); `bytes_per_token` of one slot.
    """

    name: str
    layers: int
    tokens: int
    bytes_per_token: Number
    charged_bytes: int
    allocated_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Buffer:
    """`count` tensors of one shape, as the engine allocates them on one GPU."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    count: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """What fits, per attention-DP rank; None where a pool does not exist or no budget was given.

    `kv_bytes`: what is left for tokens after recurrent states. `requests_at_context`: requests of the
    asked context at once, `limited_by` what runs out first. `context_at_concurrency`: the longest
    context at the asked concurrency. `*_total`: over the attention-DP ranks of one replica.
    """

    available_bytes: int | None = None
    state_bytes: int | None = None
    kv_bytes: int | None = None
    max_total_num_tokens: int | None = None
    full_max_total_num_tokens: int | None = None
    swa_max_total_num_tokens: int | None = None
    c4_max_total_num_tokens: int = 0
    c128_max_total_num_tokens: int = 0
    c4_state_pool_size: int = 0
    c128_state_pool_size: int = 0
    max_mamba_cache_size: int | None = None
    max_running_requests: int | None = None
    requests_at_context: int | None = None
    limited_by: str | None = None
    context_at_concurrency: int | None = None
    max_total_num_tokens_total: int | None = None
    requests_at_context_total: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """The engine's options after its own rules: nothing is `auto` any more.

    `kv_cache_dtype` as torch names it; `state_slots_per_request` is 0 without recurrent state, the
    kernels of sparse MLA are None where the model has none.
    """

    gpu: str
    attention_tp: int
    attention_dp: int
    kv_cache_dtype: str
    kv_cache_flag: str
    page_size: int
    attention_backend: str
    dsa_prefill_backend: str | None
    dsa_decode_backend: str | None
    mem_fraction_static: float
    chunked_prefill_size: int
    context_length: int
    swa_full_tokens_ratio: float
    mamba_full_memory_ratio: float
    state_slots_per_request: int
    draft_layers: int
    speculative_num_draft_tokens: int | None


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A model under a deployment: what was asked, what was chosen and why, what it costs, what fits.

    `buffers` are those of the server on one GPU of the first pipeline stage, `draft_buffers` those of its
    draft worker; `uncharged_buffers` (the request table) are in no pool and no budget. `split`: how weights
    are laid out, where a GPU is named. `stops`: those of the warnings that say why the engine does not start.
    """

    architecture: Architecture
    deployment: Deployment
    resolved: Resolved
    pool: PoolChoice
    request: Request
    capacity: Capacity
    pools: tuple[Pool, ...] = ()
    buffers: tuple[Buffer, ...] = ()
    draft_buffers: tuple[Buffer, ...] = ()
    uncharged_buffers: tuple[Buffer, ...] = ()
    assumed: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    stops: tuple[str, ...] = ()
    ledger: Ledger | None = None
    storage: Storage = field(default_factory=Storage)
    split: Split | None = None
    budget: Budget | None = None
    advice: tuple[Advice, ...] = ()
    common_gpus: tuple[Choice, ...] = ()

    @cached_property
    def accounting(self) -> Accounting | None:
        """What the architecture needs, engine aside; None for a plan without its ledger."""
        if self.ledger is None:
            return None
        asked, capacity = self.deployment, self.capacity
        budget = capacity.available_bytes
        if budget is None and capacity.kv_bytes is not None:
            budget = capacity.kv_bytes + (capacity.state_bytes or 0)
        work = Workload(
            context=self.request.context,
            budget_bytes=budget,
            snapshot_every=asked.snapshot_every,
            draft_tokens=asked.draft_tokens or asked.speculative_num_draft_tokens,
        )
        stored = self.request.bytes_total
        return account(self.architecture, self.ledger, self.storage, work, stored_bytes=stored)

    @cached_property
    def decode(self) -> DecodeStep | None:
        """The floor of a decode step; None where no GPU is named, or nothing is known to run on it."""
        if self.split is None:
            return None
        from kvplan.decode import batch_of, decode_step  # noqa: PLC0415 - most plans name no GPU

        model, asked, held = self.architecture, self.deployment, self.capacity
        fitting, longest = held.requests_at_context, held.context_at_concurrency
        batch = batch_of(asked, context=self.request.context, fitting=fitting, longest=longest)
        return decode_step(model, asked, self.split, batch, storage=self.storage, budget=self.budget)

    def to_dict(self) -> dict[str, Any]:
        """The plan as JSON types; the keys are the public names of every figure."""
        model = self.architecture
        return {
            "schema_version": SCHEMA_VERSION,
            "model": {
                "id": model.id,
                "architecture": model.architecture,
                "source": model.source.kind,
                "location": model.source.location,
                "revision": model.source.revision,
                "changes": list(model.changes),
            },
            "engine": {"name": "sglang", "version": self.deployment.engine_version},
            "deployment": _record(self.deployment) | _record(self.resolved),
            "pool": {
                "link": self.pool.link,
                "why": [_record(verdict) for verdict in self.pool.why],
                "cell_size": self.pool.cell_size,
                "state_bytes_per_request": self.pool.state_bytes_per_request,
                "terms": [_record(term) for term in self.pool.terms],
            },
            "request": _record(self.request),
            "accounting": None if self.accounting is None else _accounting(self.accounting),
            "budget": None if self.budget is None else _budget(self.budget),
            "capacity": _record(self.capacity),
            "decode": None if self.decode is None else _record(self.decode),
            "advice": [_record(one) for one in self.advice],
            "common_gpus": [_record(one) for one in self.common_gpus],
            "pools": [_record(pool) for pool in self.pools],
            "buffers": _buffers(self.buffers),
            "draft_buffers": _buffers(self.draft_buffers),
            "uncharged_buffers": _buffers(self.uncharged_buffers),
            "layers": [dict(row) for row in model.layer_rows],
            "assumed": list(self.assumed),
            "starts": not self.stops,
            "warnings": list(self.warnings),
        }


def number(value: Fraction) -> Number:
    """A whole number as int, anything else as float."""
    return value.numerator if value.denominator == 1 else float(value)


def _accounting(accounting: Accounting) -> dict[str, Any]:
    figures = _record(accounting)
    figures["whole"] = _record(accounting.whole)
    for block in (figures, figures["whole"]):
        for name, value in block.items():
            if isinstance(value, Fraction):
                block[name] = number(value)
    return figures


def _budget(budget: Budget) -> dict[str, Any]:
    return {
        **_record(budget),
        "weights": dict(budget.weights),
        "estimated": list(budget.estimated),
        "low": None if budget.low is None else _record(budget.low),
        "high": None if budget.high is None else _record(budget.high),
    }


def _buffers(buffers: tuple[Buffer, ...]) -> list[dict[str, Any]]:
    return [{**_record(buffer), "shape": list(buffer.shape)} for buffer in buffers]


def _record(record: Any) -> dict[str, Any]:
    return {name: getattr(record, name) for name in record.__slots__}
