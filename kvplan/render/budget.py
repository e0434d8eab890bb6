"""Where a GPU's memory goes, as lines that are subtracted one after the other."""

from __future__ import annotations

from kvplan.memory import Budget
from kvplan.render.blocks import Column, Grid
from kvplan.render.text import exact, joined
from kvplan.units import GIB, format_bytes_decimal, format_gib
from kvplan.weights.choice import ESTIMATE, GIVEN, METADATA, YAML

_SOURCES = {
    GIVEN: "given",
    METADATA: "from the checkpoint's metadata",
    YAML: "from the model YAML",
    ESTIMATE: "estimated from the config",
}
_COLUMNS = (
    Column(heading=""),
    Column(heading="bytes", figures=True),
    Column(heading="GiB", figures=True),
    Column(heading=""),
)
_MILLION = 1_000_000
# Fewer tokens than this have every digit.
_LEAST_IN_MILLIONS = _MILLION // 10
_MOST_DECIMALS = 6


def lines(budget: Budget) -> tuple[Grid, ...]:
    """The lines from the GPU's memory down to what states and KV share; none where nobody knows them."""
    if budget.free_before_bytes is None:
        return ()
    fraction = budget.mem_fraction_static or 0.0
    rows = (
        (f"memory of one {budget.gpu.upper()}", budget.memory_bytes, ""),
        ("- driver, context", budget.overhead_bytes, _overhead(budget)),
        ("free before load", budget.free_before_bytes, _told(budget, "free_before_bytes")),
        ("- weights", budget.weights_bytes, _weights(budget)),
        ("free after load", budget.free_after_bytes, _told(budget, "free_after_bytes")),
        ("- kept free", budget.slack_bytes, f"1 - {fraction:.4g} of free before load"),
        ("- multimodal reserve", budget.multimodal_reserve_bytes or None, "SGLang's embedding cache"),
        ("for state and KV", budget.available_bytes, _bounds(budget)),
    )
    return (
        Grid(
            title=f"memory per GPU, {budget.gpus} x {budget.gpu.upper()}",
            columns=_COLUMNS,
            rows=tuple(
                (label, exact(value), f"{value / GIB:,.2f}", note)
                for label, value, note in rows
                if value is not None
            ),
        ),
    )


def tokens_range(budget: Budget) -> str:
    """`1.98M to 2.07M tokens`; empty where the budget is exact."""
    if budget.low is None or budget.high is None:
        return ""
    return f"{token_range(budget.low.max_total_num_tokens, budget.high.max_total_num_tokens)} tokens"


def requests_range(budget: Budget | None, ranks: int) -> str:
    """`5 to 6`, over all ranks; empty where both ends are the same."""
    if budget is None or budget.low is None or budget.high is None:
        return ""
    low, high = budget.low.requests_at_context * ranks, budget.high.requests_at_context * ranks
    return "" if low == high else f"{exact(low)} to {exact(high)}"


def context_range(budget: Budget | None) -> str:
    """`6,300 to 6,500`, of the longest context; empty where both ends are the same or not known."""
    if budget is None or budget.low is None or budget.high is None:
        return ""
    low, high = budget.low.context_at_concurrency, budget.high.context_at_concurrency
    return "" if low is None or high is None or low == high else f"{exact(low)} to {exact(high)}"


def token_range(low: int, high: int) -> str:
    """`1.98M to 2.07M`: both in one unit, with as many digits as tell them apart."""
    if low == high or low < _LEAST_IN_MILLIONS:
        return between(exact(low), exact(high))
    for decimals in range(2, _MOST_DECIMALS):
        ends = [f"{tokens / _MILLION:.{decimals}f}M" for tokens in (low, high)]
        if ends[0] != ends[1]:
            return between(*ends)
    return between(exact(low), exact(high))


def between(low: str, high: str) -> str:
    """Both ends, or the one figure that they are."""
    return low if low == high else f"{low} to {high}"


def _overhead(budget: Budget) -> str:
    if budget.memory_bytes is None or budget.low is None or budget.high is None:
        return "estimate"
    free = sorted((budget.low.free_before_bytes, budget.high.free_before_bytes))
    least, most = budget.memory_bytes - free[1], budget.memory_bytes - free[0]
    return f"estimate: {least / GIB:.2f} to {format_gib(most)}"


def _told(budget: Budget, name: str) -> str:
    return "" if name in budget.estimated else "given"


def _weights(budget: Budget) -> str:
    if budget.weights_source == GIVEN and "weights_bytes" not in budget.estimated:
        return "given per GPU"
    told = weights_told(budget.weights_source or "", budget.weights_bytes_total)
    if "free_after_bytes" not in budget.estimated:
        told = "free before less free after"
    if budget.low is None or budget.high is None:
        return told
    least, most = sorted((budget.low.weights_bytes, budget.high.weights_bytes))
    return joined([f"{least / GIB:.2f} to {format_gib(most)}", told])


def estimated_told(source: str, total: int | None = None) -> str:
    """What is no exact figure where a budget was worked out from a GPU and the weights."""
    return f"free memory, and each GPU's share of the weights ({weights_told(source, total)})"


def weights_told(source: str, total: int | None) -> str:
    """Where the size of a checkpoint is from, and the size: `given, 40.00 GB in all`."""
    whole = f"{format_bytes_decimal(total)} in all" if total is not None else ""
    return joined([_SOURCES.get(source, ""), whole])


def _bounds(budget: Budget) -> str:
    low, high = budget.low, budget.high
    if budget.shortfall_bytes:
        return f"{exact(budget.shortfall_bytes)} bytes are missing"
    if low is None or high is None:
        return ""
    return f"{low.available_bytes / GIB:.2f} to {format_gib(high.available_bytes)}"
