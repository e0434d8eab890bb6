"""From the lines of a log, ranks interleaved as they are, to what each rank said while it started."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field  # noqa: TID251 - what a log says is gathered line by line

from kvplan.bootlog import patterns
from kvplan.bootlog.arguments import read_server_args
from kvplan.bootlog.lines import read_line
from kvplan.bootlog.records import BootLog, Rank, States, Tokens, Weights

# More than any start has, so that a log can't fill the memory.
_MAX_RANKS, _MAX_PARTS, _MAX_STARTS = 4_096, 64, 100

# Arguments that differ between the nodes of one server.
_OF_A_NODE = frozenset({"node_rank", "host", "port", "nccl_port", "random_seed"})


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

    @property
    def is_done(self) -> bool:
        """Whether it went as far as the last line about memory; every draft is loaded before."""
        return any(draft.totals for draft in self.ranks.values())

    @property
    def is_sized(self) -> bool:
        """Whether it made pools."""
        return any(draft.pools or draft.sizing or draft.totals for draft in self.ranks.values())


def read_log(lines: Iterable[str]) -> BootLog:
    """The last start of a log that made pools, or the last of all where none did.

    Lines that say nothing about memory are passed over.
    """
    starts = [_Start()]
    for text in lines:
        if not any(beginning in text for beginning in patterns.BEGINNINGS):
            continue
        line = read_line(text)
        if patterns.SERVER_ARGS.match(line.message):
            _begin(starts, line.message.partition("=")[2])
        elif starts[-1].is_done and patterns.LOAD_BEGIN.match(line.message):
            starts.append(_Start())
        del starts[:-_MAX_STARTS]
        start = starts[-1]
        start.newer = start.newer or patterns.NEWER.search(line.message) is not None
        if line.rank in start.ranks or len(start.ranks) < _MAX_RANKS:
            _note(start.ranks, line.rank, line.message)
    started = [start for start in starts if start.ranks]
    sized = [start for start in started if start.is_sized]
    last = (sized or started or starts)[-1]
    return BootLog(
        ranks=tuple(_rank(name, draft) for name, draft in sorted(last.ranks.items())),
        server_args=read_server_args(last.server_args),
        newer=last.newer,
        starts=max(len(started), 1),
        later_starts=len(started) - 1 - started.index(last) if started else 0,
    )


def _begin(starts: list[_Start], arguments: str) -> None:
    """A new start, or another node of the one that goes on."""
    before = starts[-1]
    if not before.ranks or (not before.is_done and _is_another_node(before.server_args, arguments)):
        before.server_args = arguments
    else:
        starts.append(_Start(server_args=arguments))


def _is_another_node(before: str, after: str) -> bool:
    one, other = read_server_args(before), read_server_args(after)
    differing = {name for name in {*one, *other} if one.get(name) != other.get(name)}
    return "node_rank" in differing and differing <= _OF_A_NODE


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
    keys_and_values = "K size:" in message  # the line is cut where only one of them is there
    pools = rank.draft_pools if rank.sized else rank.pools
    if pool.sizes_gib and len(pool.sizes_gib) >= 1 + keys_and_values and len(pools) < _MAX_PARTS:
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
