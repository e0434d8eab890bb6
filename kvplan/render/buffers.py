"""`kvplan buffers`: the tensors that the engine allocates, beside what its sizing charges for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kvplan.records import SCHEMA_VERSION, Buffer, Plan, Pool
from kvplan.render.blocks import Column, Grid, Remark, Report
from kvplan.render.formats import Document
from kvplan.render.head import changes, engine_facts
from kvplan.render.text import exact, rounded
from kvplan.render.words import composition

_PLACE = "rank 0 of the first pipeline stage"
_SHARED_KEYS = ("schema_version", "model", "engine", "deployment")
_LISTS = ("pools", "buffers", "draft_buffers", "uncharged_buffers", "assumed", "warnings")


def of_buffers(plan: Plan) -> Document:
    """One plan's buffers as a report, as JSON and as a record for each buffer."""
    return Document(report=lambda: report(plan), data=lambda: data(plan), records=lambda: records(plan))


def report(plan: Plan) -> Report:
    """Pools with both figures, then the buffers behind them, then what they add up to."""
    return Report(
        title=plan.architecture.id,
        facts=(
            composition(plan.architecture),
            *changes(plan.architecture),
            " | ".join(engine_facts(plan)),
        ),
        grids=(_pools(plan.pools), *_tensors(plan)),
        answers=_answers(plan),
        remarks=(
            *(Remark(tag="assumed:", text=text) for text in plan.assumed),
            *(Remark(tag="warning:", text=text, alarm=True) for text in plan.warnings),
        ),
    )


def data(plan: Plan) -> dict[str, Any]:
    """The plan's own keys as far as they are about buffers, and their sums."""
    record = plan.to_dict()
    charged, allocated = sums(plan)
    return {
        **{key: record[key] for key in _SHARED_KEYS},
        "schema_version": SCHEMA_VERSION,
        **{key: record[key] for key in _LISTS},
        "charged_bytes": charged,
        "allocated_bytes": allocated,
        "difference_bytes": allocated - charged,
    }


def records(plan: Plan) -> list[dict[str, Any]]:
    """One record for each row of buffers; `owner` is server, draft or uncharged."""
    owners = (
        ("server", plan.buffers),
        ("draft", plan.draft_buffers),
        ("uncharged", plan.uncharged_buffers),
    )
    return [
        {
            "owner": owner,
            "name": buffer.name,
            "shape": "x".join(map(str, buffer.shape)),
            "dtype": buffer.dtype,
            "count": buffer.count,
            "bytes": buffer.bytes,
        }
        for owner, buffers in owners
        for buffer in buffers
    ]


def sums(plan: Plan) -> tuple[int, int]:
    """(charged, allocated) bytes of all pools on one GPU."""
    return (
        sum(pool.charged_bytes for pool in plan.pools),
        sum(pool.allocated_bytes for pool in plan.pools),
    )


def _pools(pools: Sequence[Pool]) -> Grid:
    return Grid(
        title=f"pools of one GPU ({_PLACE})",
        columns=(
            Column(heading="pool"),
            Column(heading="layers", figures=True),
            Column(heading="slots", figures=True),
            Column(heading="bytes charged", figures=True),
            Column(heading="bytes allocated", figures=True),
            Column(heading="", figures=True),
        ),
        rows=tuple(
            (
                pool.name,
                exact(pool.layers),
                exact(pool.tokens),
                exact(pool.charged_bytes),
                exact(pool.allocated_bytes),
                _share(pool.charged_bytes, pool.allocated_bytes),
            )
            for pool in pools
        ),
    )


def _tensors(plan: Plan) -> tuple[Grid, ...]:
    lists = (
        ("buffers of the server", plan.buffers),
        ("buffers of the draft worker", plan.draft_buffers),
        ("not charged", plan.uncharged_buffers),
    )
    return tuple(_grid(title, buffers) for title, buffers in lists if buffers)


def _grid(title: str, buffers: Sequence[Buffer]) -> Grid:
    rows = [
        (buffer.name, _shape(buffer), buffer.dtype, exact(buffer.count), exact(buffer.bytes))
        for buffer in buffers
    ]
    if len(buffers) > 1:
        count = sum(buffer.count for buffer in buffers)
        rows.append(("sum", "", "", exact(count), exact(sum(buffer.bytes for buffer in buffers))))
    return Grid(
        title=title,
        columns=(
            Column(heading="buffer"),
            Column(heading="shape"),
            Column(heading="dtype"),
            Column(heading="count", figures=True),
            Column(heading="bytes", figures=True),
        ),
        rows=tuple(rows),
    )


def _answers(plan: Plan) -> tuple[Remark, ...]:
    charged, allocated = sums(plan)
    table = sum(buffer.bytes for buffer in plan.uncharged_buffers)
    return (
        Remark(tag="charged", text=f"{_bytes(charged)} per GPU"),
        Remark(tag="allocated", text=f"{_bytes(allocated)} per GPU", strong=True),
        Remark(tag="difference", text=f"{allocated - charged:+,} bytes ({_share(charged, allocated)})"),
        Remark(tag="beside it", text=f"{_bytes(table)} per GPU for the request table, not charged"),
    )


def _shape(buffer: Buffer) -> str:
    return " x ".join(map(str, buffer.shape))


def _bytes(count: int) -> str:
    short = rounded(count)
    return f"{exact(count)} bytes ({short})" if short else f"{exact(count)} bytes"


def _share(charged: int, allocated: int) -> str:
    return f"{allocated / charged - 1:+.1%}" if charged else "not charged"
