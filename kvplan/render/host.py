"""Host pools, storage pages and PD transfers as a report, as JSON and as records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kvplan.hicache import GB, HostPool
from kvplan.records import Buffer, Plan
from kvplan.render.blocks import Column, Grid, Remark, Report
from kvplan.render.formats import Document
from kvplan.render.head import changes, engine_facts
from kvplan.render.host_data import HostPlan, data, records
from kvplan.render.text import exact, plural, rounded
from kvplan.render.words import composition
from kvplan.transfer import Transfer

NO_HOST_FORM = "KV with scales (FP4, mxfp8): FP4 has no host pool, that of mxfp8 is not modelled"
NO_ITEMS = "K and V with scales (FP4, mxfp8): SGLang lists no scales of FP4, those of mxfp8 are not modelled"


def of_host(host: HostPlan) -> Document:
    """`kvplan host`."""
    return Document(report=lambda: _report(host), data=lambda: data(host), records=lambda: records(host))


def _report(host: HostPlan) -> Report:
    plan = host.plan
    return Report(
        title=plan.architecture.id,
        facts=(
            composition(plan.architecture),
            *changes(plan.architecture),
            " | ".join(engine_facts(plan)),
        ),
        grids=tuple(_grids(host)),
        answers=tuple(_answers(host)),
        remarks=tuple(_remarks(host)),
    )


def _grids(host: HostPlan) -> Iterator[Grid]:
    pools = [*host.pools, *([host.hisparse] if host.hisparse else [])]
    if host.pools:
        yield _storage(host)
    if pools and host.sized:
        yield _sizes(host)
        yield _shapes(pools)
    if host.transfer.items:
        yield _items(host.transfer)


def _sizes(host: HostPlan) -> Grid:
    pools = [*host.pools, *([host.hisparse] if host.hisparse else [])]
    return Grid(
        title=f"host memory of one rank ({host.how})",
        columns=(
            Column(heading="pool"),
            Column(heading="device slots", figures=True),
            Column(heading="host slots", figures=True),
            Column(heading="bytes", figures=True),
            Column(heading="GB in the log\n(10^9)", figures=True),
        ),
        rows=tuple(
            (pool.name, exact(pool.device_slots), exact(pool.slots), exact(pool.bytes), _gb(pool.bytes))
            for pool in pools
        ),
    )


def _gb(count: int) -> str:
    return f"{count / GB:.2f}"


def _shapes(pools: Sequence[HostPool]) -> Grid:
    return Grid(
        title="shapes in each layout (the same bytes in another order)",
        columns=(
            Column(heading="pool"),
            Column(heading="layout"),
            Column(heading="buffer"),
            Column(heading="shape"),
            Column(heading="dtype"),
            Column(heading="count", figures=True),
        ),
        rows=tuple(
            (pool.name, layout, buffer.name, _shape(buffer), buffer.dtype, exact(buffer.count))
            for pool in pools
            for layout, buffers in pool.layouts
            for buffer in buffers
        ),
    )


def _shape(buffer: Buffer) -> str:
    return f"({', '.join(str(size) for size in buffer.shape)})"


def _storage(host: HostPlan) -> Grid:
    return Grid(
        title=f"storage (L3): pages, and batches of {host.batch_pages} pages",
        columns=(
            Column(heading="pool"),
            Column(heading="slots a page", figures=True),
            Column(heading="bytes a page", figures=True),
            Column(heading="bytes a batch", figures=True),
        ),
        rows=tuple(
            (
                pool.name,
                exact(pool.page),
                exact(pool.page_bytes),
                exact(pool.page_bytes * host.batch_pages),
            )
            for pool in host.pools
        ),
    )


def _items(sent: Transfer) -> Grid:
    return Grid(
        title=f"PD transfer of one prompt of {exact(sent.context)} tokens, per GPU",
        columns=(
            Column(heading="item"),
            Column(heading="bytes", figures=True),
            Column(heading="layers", figures=True),
            Column(heading="sent per"),
            Column(heading="times", figures=True),
            Column(heading="bytes in all", figures=True),
        ),
        rows=tuple(
            (
                item.name,
                exact(item.item_bytes),
                exact(item.layers),
                item.per + (" (state)" if item.state else ""),
                exact(sent.item_count(item)),
                exact(sent.item_total(item)),
            )
            for item in sent.items
        ),
    )


def _answers(host: HostPlan) -> Iterator[Remark]:
    sent = host.transfer
    if host.pools and host.sized:
        total = sum(pool.bytes for pool in host.pools)
        text = f"{exact(total)} bytes ({rounded(total)}) of host memory for each rank"
        yield Remark(tag="RESULT", text=f"HiCache: {text}", strong=True)
    elif host.pools:
        yield Remark(tag="HiCache", text="give a budget (--available-bytes) for host pools of a size")
    if sent.items:
        text = f"{exact(sent.bytes)} bytes ({rounded(sent.bytes)}) for each GPU and prompt"
        if host.bandwidth is not None:
            seconds = sent.seconds(host.bandwidth)
            text += f", {seconds * 1000:,.3f} ms at {exact(host.bandwidth)} bytes per second"
        yield Remark(tag="RESULT", text=f"PD: {text}", strong=True)
        yield Remark(tag="chunks", text=_chunks(host.plan, sent))


def _chunks(plan: Plan, sent: Transfer) -> str:
    page = plan.resolved.page_size
    if sent.chunk == sent.context:
        return f"the prompt is one chunk: {plural(sent.pages, 'page')}, the last one as full as it is"
    held = sent.chunk - sent.chunk_sent
    return (
        f"a chunk of {exact(sent.chunk)} tokens that is not the last sends {exact(sent.chunk_sent)}, "
        f"full pages of {exact(page)}; {exact(held)} wait for the next one"
    )


def _remarks(host: HostPlan) -> Iterator[Remark]:
    if not host.pools:
        yield Remark(tag="HiCache:", text=NO_HOST_FORM)
    if not host.transfer.items:
        yield Remark(tag="PD:", text=NO_ITEMS)
    for text in host.plan.assumed:
        yield Remark(tag="assumed:", text=text)
    for text in host.plan.warnings:
        yield Remark(tag="warning:", text=text, alarm=True)
    yield Remark(tag="not modelled:", text="free host memory (SGLang keeps 10 GiB of it), draft layers")
