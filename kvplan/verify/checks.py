"""The terms of a log, each beside the plan's: buffers at the logged slots, then what a budget gives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kvplan.bootlog import BootLog, Rank, Tokens
from kvplan.bootlog.records import ROUNDING_GIB
from kvplan.records import Buffer, Capacity, Number, Plan, Pool
from kvplan.units import GIB
from kvplan.verify.records import TOKENS, Check

_FULL, _SLIDING = "full layers", "sliding layers"
_STATES = ("state", "draft states")
_DRAFT = "draft layers"
_INDEX = "index keys"
# Builds of October 2025 and before leave the index out of the size that they print (sglang#11309).
_WITHOUT_INDEX = "bytes per token, without index keys"
# Figures of the sizing lines by the plan's names: DeepSeek-V4's pools, and those of hybrid SWA.
_SUB_POOLS = {
    "full_layer_tokens": "full_max_total_num_tokens",
    "swa_layer_tokens": "swa_max_total_num_tokens",
    "full": "full_max_total_num_tokens",
    "swa": "swa_max_total_num_tokens",
    "c4": "c4_max_total_num_tokens",
    "c128": "c128_max_total_num_tokens",
}
# DeepSeek-V4's bytes per token are printed with two decimals.
_CELL_ROUNDING = 0.005


def cost_checks(log: BootLog, costs: Plan) -> Iterator[Check]:
    """Bytes of a token and of a state slot; `costs` is a plan with any budget."""
    rank = next((one for one in log.ranks if one.pools or one.states or one.sizing), None)
    if rank is None:
        return
    page = costs.resolved.page_size
    for name, logged, pools in _named_pools(rank, costs):
        for check in _token_bytes(name, logged, _row_bytes(pools, page), page):
            keys_left_out = [pool for pool in pools if pool.name != _INDEX]
            alone = list(_token_bytes(_WITHOUT_INDEX, logged, _row_bytes(keys_left_out, page), page))
            yield check if check.agrees or not alone[0].agrees else alone[0]
    if rank.draft_pools and costs.draft_buffers:
        rows = max(buffer.shape[0] for buffer in costs.draft_buffers)
        per_token = sum(buffer.bytes for buffer in costs.draft_buffers) / rows
        yield from _token_bytes("bytes per token, draft", rank.draft_pools[0], per_token, page)
    yield from _state_checks(rank, costs)
    cell = rank.sizing.get("bytes_per_full_token")
    if cell is not None:
        predicted = costs.pool.cell_size
        yield _check("bytes per full token", "bytes", [predicted], cell, slack=_CELL_ROUNDING)


def _row_bytes(pools: Sequence[Pool], page: int) -> float:
    return sum(pool.allocated_bytes / (pool.tokens + page) for pool in pools)


def capacity_checks(log: BootLog, plans: Sequence[Plan], tolerance: float) -> Iterator[Check]:
    """What the logged free memory gives; `plans` are for the middle and both ends of its rounding."""
    capacities = [plan.capacity for plan in plans]
    rank = next((one for one in log.ranks if one.sizing or one.states), Rank(name=""))
    available = rank.sizing.get("available_bytes")
    if available is not None:
        kept = [(one.kv_bytes or 0) / GIB for one in capacities]
        yield _check("available for KV", "GiB", kept, available, slack=ROUNDING_GIB)
    if rank.states is not None:
        found = _figures(capacities, "max_mamba_cache_size")
        if found:
            yield _check("max_mamba_cache_size", "slots", found, rank.states.slots, share=tolerance)
    for line, name in _SUB_POOLS.items():
        found = _figures(capacities, name)
        if line in rank.sizing and found:
            yield _check(name, "slots", found, int(rank.sizing[line]), share=tolerance)
    yield from _total_checks(log, capacities, tolerance)


def _total_checks(log: BootLog, capacities: Sequence[Capacity], tolerance: float) -> Iterator[Check]:
    tokens = logged_tokens(log)
    if tokens is not None:
        yield _check(TOKENS, "tokens", _figures(capacities, TOKENS), tokens, share=tolerance)
    for one in log.ranks:
        requests = one.totals.get("max_running_requests")
        if requests is not None:
            yield _check(
                "max_running_requests", "requests", _figures(capacities, "max_running_requests"), requests
            )
            return


def logged_tokens(log: BootLog) -> int | None:
    """max_total_num_tokens, or where the log ends before it the tokens of the pool that stands for it."""
    if log.max_total_num_tokens is not None:
        return log.max_total_num_tokens
    for rank in log.ranks:
        if "full_layer_tokens" in rank.sizing or "full" in rank.sizing:
            return int(rank.sizing.get("full_layer_tokens", rank.sizing.get("full", 0)))
        counts = [pool.tokens for pool in rank.pools if pool.tokens is not None]
        if counts:
            return max(counts)
    return None


def _named_pools(rank: Rank, costs: Plan) -> Iterator[tuple[str, Tokens, list[Pool]]]:
    """Each logged pool with the pools of the plan that are in it."""
    planned = [pool for pool in costs.pools if pool.name not in (*_STATES, _DRAFT)]
    if costs.pool.link == "DSV4" or not planned:
        return
    if {_FULL, _SLIDING} <= {pool.name for pool in planned}:
        for name, logged in _full_and_sliding(rank.pools):
            yield (
                f"bytes per token, {name.removesuffix(' layers')}",
                logged,
                [pool for pool in planned if pool.name == name],
            )
    elif rank.pools:
        yield "bytes per token", rank.pools[0], planned


def _full_and_sliding(pools: Sequence[Tokens]) -> Iterator[tuple[str, Tokens]]:
    """The sliding pool is made first (swa_memory_pool.py) and never holds more tokens."""
    if len(pools) < 2 or pools[0].tokens is None or pools[1].tokens is None:
        return
    names = (_SLIDING, _FULL) if pools[0].tokens <= pools[1].tokens else (_FULL, _SLIDING)
    yield from zip(names, pools[:2], strict=True)


def _token_bytes(name: str, logged: Tokens, predicted: float, page: int) -> Iterator[Check]:
    if not logged.tokens or logged.virtual:
        return
    rows = logged.tokens + page
    yield _check(name, "bytes", [predicted], logged.gib * GIB / rows, slack=logged.rounding_gib * GIB / rows)


def _state_checks(rank: Rank, costs: Plan) -> Iterator[Check]:
    states = rank.states
    pool = next((pool for pool in costs.pools if pool.name == "state"), None)
    if states is None or pool is None:
        return
    for name, ending, logged in (
        ("conv states", ".conv", states.conv_gib),
        ("recurrent states", ".temporal", states.ssm_gib),
    ):
        per_slot = _bytes_of(costs.buffers, ending) / (pool.tokens + 1)
        yield _check(name, "GiB", [per_slot * (states.slots + 1) / GIB], logged, slack=ROUNDING_GIB)


def _bytes_of(buffers: Sequence[Buffer], ending: str) -> int:
    return sum(buffer.bytes for buffer in buffers if buffer.name.endswith(ending))


def _figures(capacities: Sequence[Capacity], name: str) -> list[int]:
    return [value for one in capacities if (value := getattr(one, name)) is not None]


def _check(
    name: str, unit: str, predicted: Sequence[Number], logged: Number, *, slack: float = 0, share: float = 0
) -> Check:
    """`slack` is the rounding of the logged figure, `share` the tolerance."""
    low, high = min(predicted) - slack, max(predicted) + slack
    return Check(
        name=name,
        unit=unit,
        predicted=predicted[0],
        logged=logged,
        low=low,
        high=high,
        agrees=low * (1 - share) <= logged <= high * (1 + share),
    )
