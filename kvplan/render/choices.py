"""Sets of GPUs side by side, and flags with their effects."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

from kvplan.choices import Advice, Choice
from kvplan.fit import COMMON_GPUS, MOST_GPUS, wanted_on_common
from kvplan.hardware import Gpu, find
from kvplan.records import SCHEMA_VERSION, Plan
from kvplan.render.blocks import Column, Grid, Remark, Report
from kvplan.render.budget import between, estimated_told, token_range
from kvplan.render.formats import Document
from kvplan.render.text import exact, plural
from kvplan.units import GIB

_SHORT = {"bfloat16": "bf16", "float16": "fp16", "float8_e4m3fn": "fp8", "float8_e5m2": "fp8_e5m2"}
_TIGHT = "the careful end of a tight setting does not hold all requests"
_COLUMNS = (
    Column(heading="GPUs"),
    Column(heading="layout"),
    Column(heading="KV"),
    Column(heading="weights\nGiB", figures=True),
    Column(heading="KV\nGiB", figures=True),
    Column(heading="tokens", figures=True),
    Column(heading="requests", figures=True),
    Column(heading="headroom", figures=True),
)


def tries(found: Sequence[Advice]) -> tuple[Remark, ...]:
    """One `try` line each, flags under each other."""
    width = max((len(advice.flag) for advice in found), default=0)
    return tuple(
        Remark(tag="try", text=f"{advice.flag:<{width}}  {advice.why}: {_effect(advice)}") for advice in found
    )


def common_grid(plan: Plan) -> tuple[Grid, ...]:
    """Common GPUs, for a plan that names none."""
    if not plan.common_gpus:
        return ()
    wanted = wanted_on_common(plan.deployment)
    held = "one request" if wanted == 1 else plural(wanted, "request")
    held += f" of {exact(plan.request.context)} tokens"
    return (
        Grid(
            title=f"on common GPUs, the fewest that hold {held}; per GPU",
            columns=_without(_COLUMNS, "headroom"),
            rows=tuple(_cells(row)[:-1] for row in plan.common_gpus),
        ),
    )


def too_small(plan: Plan) -> tuple[Remark, ...]:
    """The common GPUs on which the model does not fit, where others are shown."""
    shown = {row.gpu for row in plan.common_gpus}
    missing = [name for name in COMMON_GPUS if name not in shown]
    if not shown or not missing:
        return ()
    most = plan.deployment.tp if plan.deployment.tp > 1 else MOST_GPUS
    return (Remark(tag="too small", text=f"{most} of {', '.join(missing)}"),)


def fit_document(rows: Sequence[Choice], *, plan: Plan, total: int, wanted: int) -> Document:
    """Settings that fit: `kvplan fit`; `total` of them, of which `rows` are shown."""
    return Document(
        report=lambda: fit_report(rows, plan=plan, total=total, wanted=wanted),
        data=lambda: {
            "schema_version": SCHEMA_VERSION,
            "model": plan.to_dict()["model"],
            "context": plan.request.context,
            "concurrency": wanted,
            "settings_total": total,
            "settings": records(rows),
        },
        records=lambda: records(rows),
    )


def fit_report(rows: Sequence[Choice], *, plan: Plan, total: int, wanted: int) -> Report:
    """The table of `kvplan fit`: `rows` of `total` settings, cheapest first, and how to start each."""
    shown = f"; the {len(rows)} cheapest" if len(rows) < total else ""
    return Report(
        title=plan.architecture.id,
        facts=(
            f"{plural(wanted, 'request')} of {exact(plan.request.context)} tokens at once: "
            f"{plural(total, 'setting')} that fit{shown}",
            f"SGLang {plan.deployment.engine_version}; weights and KV per GPU, tokens per rank, "
            "requests in all",
        ),
        grids=(Grid(columns=_COLUMNS, rows=tuple(_cells(row) for row in rows)),),
        answers=tuple(Remark(tag=f"{place}.", text=row.command) for place, row in enumerate(rows, start=1)),
        remarks=(
            *(Remark(tag="assumed:", text=text) for text in (*_assumed(plan), *_unverified(rows))),
            *(Remark(tag="warning:", text=text, alarm=True) for text in (*plan.warnings, *_rocm(rows))),
            *estimated(rows),
            *((Remark(tag="tight:", text=_TIGHT),) if any(row.tight for row in rows) else ()),
        ),
    )


def estimated(rows: Sequence[Choice]) -> tuple[Remark, ...]:
    """What of the rows is no exact figure; no rows, nothing."""
    told = dict.fromkeys(estimated_told(row.weights_source, row.weights_bytes_total) for row in rows)
    return tuple(Remark(tag="estimated:", text=text) for text in told)


def records(rows: Sequence[Choice]) -> list[dict[str, Any]]:
    """The rows under the names of the JSON."""
    return [dataclasses.asdict(row) for row in rows]


def _assumed(plan: Plan) -> list[str]:
    return [text for text in plan.assumed if not text.startswith("GPU ")]


def _unverified(rows: Sequence[Choice]) -> Iterator[str]:
    for gpu in _known(rows):
        if not gpu.verified:
            yield f"GPU {gpu.name.upper()}: {gpu.memory_mib:,} MiB are not verified on a device"


def _rocm(rows: Sequence[Choice]) -> Iterator[str]:
    for gpu in _known(rows):
        if gpu.is_rocm:
            yield f"{gpu.title}: kvplan has SGLang's rules for CUDA; others apply on ROCm"


def _known(rows: Sequence[Choice]) -> Iterator[Gpu]:
    found = (find(name) for name in dict.fromkeys(row.gpu for row in rows))
    yield from (gpu for gpu in found if gpu is not None)


def _effect(advice: Advice) -> str:
    if advice.context:
        return f"{plural(advice.context, 'token')} each"
    if advice.requests:
        return plural(advice.requests, "request")
    return plural(advice.tokens, "token")


def _cells(row: Choice) -> tuple[str, ...]:
    return (
        f"{row.gpus} x {row.gpu}",
        row.layout,
        _SHORT.get(row.kv_cache_dtype, row.kv_cache_dtype),
        f"{row.weights_bytes / GIB:.1f}",
        f"{row.kv_pool_bytes / GIB:.1f}",
        token_range(row.tokens_low, row.tokens_high),
        between(exact(row.requests_low), exact(row.requests_high)),
        "" if row.headroom is None else f"{row.headroom:+.0%}{' tight' if row.tight else ''}",
    )


def _without(columns: tuple[Column, ...], heading: str) -> tuple[Column, ...]:
    return tuple(column for column in columns if column.heading != heading)
