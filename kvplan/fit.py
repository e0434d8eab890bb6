"""The inverse question: which GPUs, how many, and in which layout serve what is asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kvplan.architecture import Architecture
from kvplan.choices import Choice
from kvplan.deployment import Deployment
from kvplan.errors import DoesNotFitError, KvplanError, Problem
from kvplan.hardware import gpu_by_name
from kvplan.planning import plan
from kvplan.pools.concurrency import MAX_RUNNING_REQUESTS, STATE_SLOTS
from kvplan.records import Plan
from kvplan.search import attempt, choice, layouts, missing_bytes, no_worse, requests, start, varied, worth

# GPUs of a first answer: what clouds rent, from small to large, one of each size and generation.
COMMON_GPUS = ("l40s", "a100", "h100", "h200", "b200", "b300", "rtx6000pro")
# Sizes of a server or a few of them.
COUNTS = (1, 2, 4, 8, 16, 32, 64)
MOST_GPUS = 8
FP8 = "fp8_e4m3"
# Shares of recurrent states above the default 0.9 that are tried where states are what binds.
_MORE_STATES = (1.5, 2.0, 3.0, 5.0, 7.0, 10.0, 20.0)
# What --allow names.
ALLOWED = ("fp8",)


def common(model: Architecture, asked: Deployment, *, given_tp: bool) -> tuple[Choice, ...]:
    """For each common GPU the fewest that hold what is asked, or all of --tp; GPUs without are left out.

    What is asked: --concurrency requests where a context is given, else one.

    Raises InputError where the size of the weights is not known.
    """
    rows, wanted = [], wanted_on_common(asked)
    for gpu in COMMON_GPUS:
        for count in (asked.tp,) if given_tp else COUNTS[: COUNTS.index(MOST_GPUS) + 1]:
            one = varied(asked, gpu=gpu, tp=count)
            made = None if one is None else start(model, one)
            if made is not None and (requests(made) >= wanted or given_tp):
                rows.append(choice(made, wanted=asked.concurrency))
                break
    return tuple(rows)


def wanted_on_common(asked: Deployment) -> int:
    """Requests that each row of common GPUs has to hold."""
    return (asked.concurrency or 1) if asked.ctx is not None else 1


def search(
    model: Architecture,
    asked: Deployment,
    *,
    gpus: Sequence[str],
    most: int,
    allowed: Iterable[str] = (),
) -> tuple[Choice, ...]:
    """Every setting that serves --concurrency requests of --ctx tokens, cheapest first.

    `gpus` are names of the catalogue; at most `most` of one kind are used. Cheapest means fewest GPUs,
    then least memory in all, then most headroom. Raises DoesNotFitError where none does, and InputError
    where nothing at all can be planned.
    """
    wanted = asked.concurrency or 1
    found: dict[tuple[object, ...], Choice] = {}
    best: Plan | None = None
    for one in _candidates(model, asked, gpus, most, tuple(allowed)):
        made = start(model, one)
        if made is None:
            continue
        if requests(made) < wanted:
            made = _eased(model, made, wanted)
        if best is None or worth(made) > worth(best):
            best = made
        if requests(made) >= wanted:
            row = choice(made, wanted=wanted)
            # A format that is the default of this GPU needs no flag, and comes first.
            found.setdefault((row.gpu, row.tp, row.dp, row.pp, row.kv_cache_dtype), row)
    if not found:
        raise _none(model, asked, gpus, most, best, fp8="fp8" in allowed)
    return tuple(sorted(found.values(), key=_cost))


def _eased(model: Architecture, made: Plan, wanted: int) -> Plan:
    """The plan with a higher cap on running requests, or more state slots, where one of them lets all run."""
    asked, binds = made.deployment, made.capacity.limited_by
    tried: list[Deployment | None] = []
    if binds == MAX_RUNNING_REQUESTS and asked.max_running_requests is None:
        tried = [varied(asked, max_running_requests=wanted)]
    elif binds == STATE_SLOTS and asked.mamba_full_memory_ratio is None:
        tried = [varied(asked, mamba_full_memory_ratio=ratio) for ratio in _MORE_STATES]
    for one in tried:
        after = None if one is None else attempt(model, one)
        if no_worse(after, made.stops) and requests(after) >= wanted:
            return after
    return made


def _cost(row: Choice) -> tuple[int, int, int, float]:
    """Of the same cost plain TP comes first, then attention DP, then stages, each by its headroom."""
    layout = 2 if row.pp > 1 else 1 if row.enable_dp_attention else 0
    return row.gpus, row.memory_total_bytes, layout, -(row.headroom or 0.0)


def _candidates(
    model: Architecture, asked: Deployment, gpus: Sequence[str], most: int, allowed: tuple[str, ...]
) -> Iterator[Deployment]:
    formats = [asked.kv_cache_dtype]
    if "fp8" in allowed and asked.kv_cache_dtype == "auto":
        formats.append(FP8)
    for name in gpus:
        for count in (count for count in COUNTS if count <= most):
            for one in layouts(model, asked, count):
                for dtype in formats:
                    found = varied(one, gpu=name, kv_cache_dtype=dtype)
                    if found is not None:
                        yield found


def _none(
    model: Architecture,
    asked: Deployment,
    gpus: Sequence[str],
    most: int,
    best: Plan | None,
    *,
    fp8: bool,
) -> KvplanError:
    """Why nothing fits, told of the best that starts, else of the largest that can be laid out."""
    count = max(count for count in COUNTS if count <= most)
    what = f"nothing fits on up to {count} GPUs of {', '.join(gpus)}"
    if best is not None:
        row = choice(best)
        held = f"{row.gpus} x {row.gpu} ({row.layout}) hold {row.requests:,} of {asked.concurrency or 1:,}"
        return _unfit(
            f"{what}: {held} requests of {best.request.context:,} tokens", missing_bytes(best), fp8=fp8
        )
    largest = max((gpu_by_name(name, asked.gpu_memory) for name in gpus), key=lambda gpu: gpu.memory_mib)
    tried = varied(asked, gpu=largest.name)
    error: KvplanError | None = None
    for one in layouts(model, tried or asked, count):
        try:
            made = plan(model, one)
        except KvplanError as caught:
            # Too little memory says more than a layout that the engine takes in no case.
            error = caught if error is None or isinstance(caught, DoesNotFitError) else error
        else:
            reasons = "; ".join(made.stops)
            error = error or _stops(f"{what}: {count} x {largest.name} ({choice(made).layout}): {reasons}")
    if isinstance(error, DoesNotFitError) and error.shortfall_bytes:
        return _unfit(what, error.shortfall_bytes, fp8=fp8)
    return error or _unfit(what, 0, fp8=fp8)


def _unfit(what: str, shortfall: int, *, fp8: bool) -> DoesNotFitError:
    missing = f"; about {shortfall:,} bytes per GPU are missing there" if shortfall else ""
    hint = f"a larger --max-gpus, {'' if fp8 else '--allow fp8, '}fewer requests or a shorter --ctx"
    return DoesNotFitError(
        Problem(file="", key="", what=what + missing, hint=hint), shortfall_bytes=shortfall
    )


def _stops(what: str) -> DoesNotFitError:
    return DoesNotFitError(Problem(file="", key="", what=what), shortfall_bytes=0)


def named_gpus(names: Iterable[str], memory_bytes: int | None = None) -> tuple[str, ...]:
    """Names of the catalogue, checked; any name with its memory. Raises InputError for others."""
    return tuple(dict.fromkeys(gpu_by_name(name, memory_bytes).name for name in names))
