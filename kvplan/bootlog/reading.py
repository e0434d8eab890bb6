"""From the lines of a log, ranks interleaved as they are, to what each rank said while it started."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field  # noqa: TID251 - what a log says is gathered line by line

from kvplan.bootlog import patterns
from kvplan.bootlog.arguments import read_server_args
from kvplan.bootlog.lines import read_line
from kvplan.bootlog.records import BootLog, Rank, States, Tokens, Weights

# More than any start has, so that a log can't fill the memory.
_MAX_RANKS, _MAX_PARTS = 4_096, 64


@dataclass(slots=True)
class _Draft:
    """A rank while its lines come in; `sized` once its own pools are there."""

    free_before: float | None = None
    loaded: list[Weights] = field(default_factory=list)
    loaded_before_pools: int = 0
    pools: list[Tokens] = field(default_factory=list)
    draft_pools: list[Tokens] = field(default_factory=list)
    states: States | None = None
    sizing: dict[str, float] = field(default_factory=dict)
    totals: dict[str, int] = field(default_factory=dict)
    sized: bool = False


@dataclass(slots=True)
class _Start:
    """One start while its lines come in."""

    server_args: str = ""
    newer: bool = False
    ranks: dict[str, _Draft] = field(default_factory=dict)


def read_log(lines: Iterable[str]) -> BootLog:
    """The last start of a log; lines that say nothing about memory are passed over."""
    start, starts = _Start(), 0
    for text in lines:
        if not any(beginning in text for beginning in patterns.BEGINNINGS):
            continue
        line = read_line(text)
        if patterns.SERVER_ARGS.match(line.message):
            start, starts = _Start(), starts + 1
            start.server_args = line.message.partition("=")[2]
        start.newer = start.newer or patterns.NEWER.search(line.message) is not None
        if line.rank in start.ranks or len(start.ranks) < _MAX_RANKS:
            _note(start.ranks, line.rank, line.message)
    return BootLog(
        ranks=tuple(_rank(name, draft) for name, draft in sorted(start.ranks.items())),
        server_args=read_server_args(start.server_args),
        newer=start.newer,
        starts=max(starts, 1),
    )


def _note(ranks: dict[str, _Draft], name: str, message: str) -> None:
    """Add what one message says to its rank."""
    beginning = patterns.LOAD_BEGIN.match(message)
    if beginning:
        rank = ranks.setdefault(name, _Draft())
        rank.free_before = float(beginning[1]) if rank.free_before is None else rank.free_before
    elif patterns.LOAD_END.match(message):
        _note_weights(ranks.setdefault(name, _Draft()), message)
    elif patterns.KV_CACHE.match(message):
        _note_pool(ranks.setdefault(name, _Draft()), message)
    elif states := patterns.STATES.match(message):
        rank = ranks.setdefault(name, _Draft())
        if not rank.sized:
            rank.states = States(slots=int(states[1]), conv_gib=float(states[2]), ssm_gib=float(states[3]))
    elif patterns.SIZING.match(message):
        rank = ranks.setdefault(name, _Draft())
        if rank.sized:
            return
        rank.sizing.update({key: float(value) for key, value in patterns.SIZING_FIGURE.findall(message)})
    elif patterns.POOL_END.match(message):
        ranks.setdefault(name, _Draft()).sized = True
    elif patterns.TOTALS.match(message):
        rank = ranks.setdefault(name, _Draft())
        rank.totals.update({key: int(value) for key, value in patterns.TOTALS_FIGURE.findall(message)})


def _note_weights(rank: _Draft, message: str) -> None:
    free, usage = patterns.AVAILABLE.search(message), patterns.USAGE.search(message)
    loaded = patterns.LOADED_CLASS.search(message)
    if free is None:
        return  # weights that are committed after graph capture are announced by other words
    weights = Weights(
        model_class=loaded[1] if loaded else "",
        gib=float(usage[1]) if usage else None,
        free_after_gib=float(free[1]),
    )
    if len(rank.loaded) < _MAX_PARTS:
        rank.loaded.append(weights)
    if not rank.sized and not rank.pools:
        rank.loaded_before_pools = len(rank.loaded)


def _note_pool(rank: _Draft, message: str) -> None:
    tokens, dtype = patterns.KV_TOKENS.search(message), patterns.KV_DTYPE.search(message)
    pool = Tokens(
        tokens=int(tokens[1]) if tokens else None,
        sizes_gib=tuple(float(size) for size in patterns.KV_SIZES.findall(message)),
        dtype=dtype[1] if dtype else None,
        virtual="VA upper bound" in message,
    )
    pools = rank.draft_pools if rank.sized else rank.pools
    if pool.sizes_gib and len(pools) < _MAX_PARTS:
        pools.append(pool)


def _rank(name: str, draft: _Draft) -> Rank:
    return Rank(
        name=name,
        free_before_gib=draft.free_before,
        weights=draft.loaded[0] if draft.loaded else None,
        draft_weights=draft.loaded[-1] if len(draft.loaded) > 1 else None,
        drafts_before_pools=draft.loaded_before_pools > 1,
        pools=tuple(draft.pools),
        draft_pools=tuple(draft.draft_pools),
        states=draft.states,
        sizing=draft.sizing,
        totals=draft.totals,
    )
