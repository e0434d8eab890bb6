"""From the lines of a log, ranks interleaved as they are, to what each rank said while it started."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field  # noqa: TID251 - what a log says is gathered line by line

from kvplan.bootlog import patterns
from kvplan.bootlog.arguments import read_server_args
from kvplan.bootlog.lines import read_line
from kvplan.bootlog.records import BootLog, Rank, States, Tokens, Weights

# More than any start has, so that a log can't fill the memory.
_MAX_RANKS, _MAX_PARTS, _MAX_ARGUMENTS = 4_096, 64, 1 << 16

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


@dataclass(slots=True)
class _Log:
    """The start that goes on, the last one that counts, how many there were, how many came after that one."""

    current: _Start = field(default_factory=_Start)
    last: _Start | None = None
    starts: int = 0
    later: int = 0

    def begin(self, arguments: str) -> None:
        """A new start; one that made pools is not given up for one that did not."""
        if self.current.ranks:
            self.starts += 1
            hides = self.last is not None and self.last.is_sized and not self.current.is_sized
            self.later = self.later + 1 if hides else 0
            self.last = self.last if hides else self.current
        self.current = _Start(server_args=arguments)


def read_log(lines: Iterable[str]) -> BootLog:
    """The last start of a log that made pools, or the last of all where none did.

    Lines that say nothing about memory are passed over.
    """
    log = _Log()
    for text in lines:
        if not any(beginning in text for beginning in patterns.BEGINNINGS):
            continue
        line = read_line(text)
        if patterns.SERVER_ARGS.match(line.message):
            arguments = line.message.partition("=")[2]
            if not _is_another_node(log.current, arguments):
                log.begin(arguments)
        elif log.current.is_done and patterns.LOAD_BEGIN.match(line.message):
            log.begin("")
        start = log.current
        start.newer = start.newer or patterns.NEWER.search(line.message) is not None
        if line.rank in start.ranks or len(start.ranks) < _MAX_RANKS:
            _note(start.ranks, line.rank, line.message)
    ended = log.current
    log.begin("")
    last = log.last or ended
    return BootLog(
        ranks=tuple(_rank(name, draft) for name, draft in sorted(last.ranks.items())),
        server_args=read_server_args(last.server_args),
        newer=last.newer,
        starts=max(log.starts, 1),
        later_starts=log.later,
    )


def _is_another_node(start: _Start, text: str) -> bool:
    """Whether the arguments are those of one more machine of the server that is starting."""
    if start.is_done or not start.ranks or len(text) > _MAX_ARGUMENTS:
        return False
    before, arguments = read_server_args(start.server_args), read_server_args(text)
    differing = {name for name in {*before, *arguments} if before.get(name) != arguments.get(name)}
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
    if len(pool.sizes_gib) > keys_and_values and len(pools) < _MAX_PARTS:
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
