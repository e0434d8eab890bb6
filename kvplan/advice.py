"""Flags that would help, each with the effect that planning again with it shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kvplan.architecture import Architecture
from kvplan.choices import Advice
from kvplan.deployment import Deployment
from kvplan.dtypes import element_bytes
from kvplan.frozen import dataclass
from kvplan.layers import LatentAttention
from kvplan.pools.concurrency import KV_TOKENS
from kvplan.records import Plan
from kvplan.search import attempt, no_worse, requests, start, tokens, varied, worth
from kvplan.sglang.model import head_shape

# Ratios that are tried: two significant digits are enough for a flag.
_DIGITS = (10, 12, 15, 18, 20, 22, 25, 30, 35, 40, 50, 60, 70, 80, 90)
_POWERS = (-4, -3, -2, -1, 0)
# Tokens that are worth a line where the requests stay the same, in percent of those before.
_NOTABLE_PERCENT = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A deployment that differs in one respect: its flag, and what it changes in words.

    `why` is given the plans before and after. `moves_memory`: nothing is gained but by another balance.
    """

    flag: str
    why: Callable[[Plan, Plan], str]
    asked: Deployment
    moves_memory: bool = False


def improvements(made: Plan) -> tuple[Advice, ...]:
    """What serves more requests, or notably more tokens, than the plan does; first what lets it start."""
    model = made.architecture
    if made.capacity.requests_at_context is None:
        return ()
    found = list(_starts(made))
    for change in _changes(made):
        after = attempt(model, change.asked)
        if no_worse(after, made.stops) and _helps(change, made, after):
            found.append(advice_of(change, made, after))
    return tuple(found)


def _starts(made: Plan) -> Iterator[Advice]:
    """What lets a plan start that does not: experts dealt whole over GPUs."""
    after = start(made.architecture, made.deployment) if made.stops else None
    if after is not None:
        flag = f"--ep-size {after.deployment.ep}"
        yield advice_of(
            Change(flag=flag, why=lambda before, after: "SGLang starts", asked=after.deployment), made, after
        )


def _helps(change: Change, before: Plan, after: Plan) -> bool:
    """More requests; or notably more tokens, unless a ratio only moves memory between pools."""
    if requests(after) != requests(before) or change.moves_memory:
        return requests(after) > requests(before)
    if before.capacity.limited_by not in (None, KV_TOKENS):
        return False  # more tokens are of no use where something else binds
    return tokens(after) * 100 >= tokens(before) * _NOTABLE_PERCENT


def advice_of(change: Change, before: Plan, after: Plan) -> Advice:
    """The change with the figures of the plan that it leads to."""
    asked = after.deployment
    alone = asked.concurrency is not None and asked.ctx is None
    return Advice(
        flag=change.flag,
        why=change.why(before, after),
        requests=requests(after),
        tokens=tokens(after),
        context=after.capacity.context_at_concurrency if alone else None,
    )


def _changes(made: Plan) -> Iterator[Change]:
    yield from _balanced(made, "mamba_full_memory_ratio", "state and KV run out together")
    yield from _balanced(made, "swa_full_tokens_ratio", "full and sliding layers run out together")
    asked = made.deployment
    if element_bytes(made.resolved.kv_cache_dtype) > 1 and asked.kv_cache_dtype == "auto":
        smaller = varied(asked, kv_cache_dtype="fp8_e4m3")
        if smaller is not None:
            yield Change(flag="--kv-cache-dtype fp8_e4m3", why=_token_cost, asked=smaller)
    yield from _attention_dp(made)


def _token_cost(before: Plan, after: Plan) -> str:
    return f"{after.pool.cell_size:,} bytes a token instead of {before.pool.cell_size:,}"


def _balanced(made: Plan, name: str, why: str) -> Iterator[Change]:
    """The ratio between two pools at which most requests run, where it matters."""
    capacity = made.capacity
    shared = capacity.max_mamba_cache_size if name.startswith("mamba") else capacity.swa_max_total_num_tokens
    if not shared or getattr(made.deployment, name) is not None:
        return
    best = None
    for ratio in _ratios(most=1.0 if name.startswith("swa") else None):
        asked = varied(made.deployment, **{name: ratio})
        tried = None if asked is None else attempt(made.architecture, asked)
        if tried is not None and (best is None or worth(tried) > best[0]):
            best = (worth(tried), ratio, asked)
    if best is not None and best[2] is not None:
        flag = f"--{name.replace('_', '-')} {best[1]:g}"
        yield Change(flag=flag, why=lambda before, after: why, asked=best[2], moves_memory=True)


def _ratios(*, most: float | None) -> list[float]:
    listed = [float(f"{digits / 10:g}e{power}") for power in _POWERS for digits in _DIGITS]
    return [ratio for ratio in listed if most is None or ratio <= most]


def _attention_dp(made: Plan) -> Iterator[Change]:
    """Requests dealt over ranks instead of copies of their KV on each GPU."""
    asked, tp = made.deployment, made.deployment.tp
    heads = _kv_heads(made.architecture)
    if tp == 1 or asked.dp > 1 or asked.pp > 1 or heads >= tp:
        return
    tried = []
    for dp in (size for size in (2, 4, 8, 16, 32) if size <= tp and tp % size == 0):
        changed = varied(asked, dp=dp, enable_dp_attention=True)
        after = None if changed is None else attempt(made.architecture, changed)
        if no_worse(after, made.stops) and changed is not None:
            tried.append((worth(after), dp, changed))
    if tried:
        _, dp, changed = max(tried, key=lambda each: each[0])
        yield Change(
            flag=f"--enable-dp-attention --dp {dp}",
            why=_fewer_copies,
            asked=changed,
        )


def _fewer_copies(before: Plan, after: Plan) -> str:
    return (
        f"a request's KV on {after.resolved.attention_tp} of {before.deployment.tp} GPUs, "
        f"not on {before.resolved.attention_tp}"
    )


def _kv_heads(model: Architecture) -> int:
    """KV heads that can be split; a latent has none, and counts as one."""
    if any(isinstance(layer, LatentAttention) for layer, _ in model.groups) or "compressed" in model.kinds:
        return 1
    shapes = [shape for layer, _ in model.groups if (shape := head_shape(layer)) is not None]
    return max((shape.kv_heads for shape in shapes), default=1 << 30)
