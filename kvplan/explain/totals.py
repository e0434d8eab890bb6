"""All layers together: alpha, gamma, exact bytes, reads, and what follows from them."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from kvplan.accounting import Accounting, Ledger, Row
from kvplan.explain.lines import Line, Section, shown, summed
from kvplan.layers import CompressedAttention, LatentAttention
from kvplan.records import Plan
from kvplan.sglang.model import head_shape


def totals(plan: Plan, book: Ledger, figures: Accounting) -> Section:
    """The model on one GPU, or on the fullest of its pipeline stages."""
    return Section(
        title="all layers, per GPU",
        lines=(*_ledger_lines(book, figures), *_copies(plan, figures), *_equivalents(book, figures)),
        sources=("alpha S + gamma: sum over layers of copies x n(S) x E + fixed state",),
    )


def _ledger_lines(book: Ledger, figures: Accounting) -> Iterator[Line]:
    context = figures.context
    growing = [_share(row, row.part.token_bytes) for row in book.rows if row.part.token_bytes]
    fixed = [_share(row, row.part.fixed_bytes) for row in book.rows if row.part.fixed_bytes]
    kept = [_share(row, row.part.stored_bytes(context)) for row in book.rows]
    reads = [_share(row, row.part.read_bytes(context)) for row in book.rows]
    yield Line(what="alpha, a token", symbols="sum copies E / m", numbers=summed(growing), result=book.alpha)
    yield Line(what="gamma, a request", symbols="sum W E + C", numbers=summed(fixed), result=book.gamma)
    yield Line(
        what=f"M({context:,})",
        symbols="sum copies n(S) E",
        numbers=summed([term for term in kept if term]),
        result=figures.request_bytes,
    )
    yield Line(
        what=f"r({context:,})",
        symbols="sum of what each layer reads",
        numbers=summed([term for term in reads if term]),
        result=figures.read_bytes_per_step,
    )
    if figures.s_star:
        yield Line(
            what="S*, tokens",
            symbols="gamma / alpha",
            numbers=f"{book.gamma:,} / {shown(book.alpha)}",
            result=figures.s_star,
        )


def _share(row: Row, each: Fraction | int) -> str:
    """`15 x 1,024`; empty where there is nothing."""
    if not each:
        return ""
    return f"{row.layers} x {shown(each)}" if row.layers > 1 else shown(each)


def _copies(plan: Plan, figures: Accounting) -> Iterator[Line]:
    tp, total = plan.resolved.attention_tp, plan.request.bytes_total
    if figures.stored_copies is not None and tp > 1:
        if figures.stored_copies > 1:
            yield Line(what="copies", symbols="max(1, K // TP)", numbers=copied(plan))
        yield Line(
            what="stored, times",
            symbols="bytes on all GPUs / bytes needed once",
            numbers=f"{total:,} / {figures.whole.request_bytes:,}",
            result=figures.stored_copies,
        )
    if figures.max_requests is not None and plan.capacity.available_bytes is not None:
        yield Line(
            what="B_max, requests",
            symbols="floor(budget / M(S))",
            numbers=f"{plan.capacity.available_bytes:,} / {figures.request_bytes:,}",
            result=figures.max_requests,
        )


def copied(plan: Plan) -> str:
    """`2 KV heads on 8 GPUs: stored 4 times; attention DP 8 would store them once`; empty without copies."""
    tp, layers = plan.resolved.attention_tp, [layer for layer, _ in plan.architecture.groups]
    heads = sorted({shape.kv_heads for layer in layers if (shape := head_shape(layer)) is not None})
    said = [
        f"{count} KV head{'s' * (count > 1)} on {tp} GPUs: stored {tp // count} times"
        for count in heads
        if count < tp
    ]
    if any(isinstance(layer, LatentAttention | CompressedAttention) for layer in layers) and tp > 1:
        said.append(f"latents have no heads to split: stored {tp} times")
    return "; ".join([*said, f"attention DP {tp} would store them once"]) if said else ""


def _equivalents(book: Ledger, figures: Accounting) -> Iterator[Line]:
    latents = [row.layer for row in book.rows if isinstance(row.layer, LatentAttention)]
    if figures.equivalent_kv_heads is not None and latents:
        one = latents[0]
        yield Line(
            what="K_eq, KV heads",
            symbols="(R + Dr) / (D + Dv)",
            numbers=f"({one.kv_lora_rank} + {one.qk_rope_head_dim}) / ({one.head_dim} + {one.v_head_dim})",
            result=figures.equivalent_kv_heads,
        )
    if figures.break_even_tokens is not None:
        stateful = {row.layer: row.layers for row in book.rows if row.part.is_state}
        growing = {row.layer: row.layers for row in book.rows if row.part.token_bytes}
        state = Fraction(book.state_bytes, sum(stateful.values()))
        yield Line(
            what="S_eq, tokens",
            symbols="state of one layer / E of one attention layer",
            numbers=f"{shown(state)} / {shown(book.alpha / sum(growing.values()))}",
            result=figures.break_even_tokens,
        )
    if figures.snapshot_bytes is not None:
        yield Line(
            what="prefix snapshots",
            symbols="floor(S / delta) C",
            numbers=f"{figures.snapshots:,} x {figures.state_bytes:,}",
            result=figures.snapshot_bytes,
        )
    if figures.draft_state_bytes is not None:
        drafts = figures.draft_state_bytes // figures.state_bytes
        yield Line(
            what="speculative copies",
            symbols="d C",
            numbers=f"{drafts} x {figures.state_bytes:,}",
            result=figures.draft_state_bytes,
        )
