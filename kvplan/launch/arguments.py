"""A server's arguments to flags and their values: the grammar of SGLang's own parser, which is argparse."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import cache

from kvplan.errors import Problem, option_flag
from kvplan.frozen import dataclass
from kvplan.launch.ignored import IGNORED
from kvplan.launch.modelled import ALIASES, ATTENTION_DP_FLAG, MODEL_FLAG, MODELLED, REVISION_FLAG
from kvplan.launch.unmodelled import UNMODELLED

HELP_FLAGS = ("-h", "--help")
# How much a word is like a flag that kvplan plans with where it is taken for a slip of the keyboard.
_MISSPELT = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """Flags under their own names with their values, the last where one is repeated; `unknown`: others."""

    flags: dict[str, list[str]] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)


@cache
def known_flags() -> Mapping[str, int | None]:
    """Every flag under its own name, with the number of values that follow it; None for any number."""
    known: dict[str, int | None] = {MODEL_FLAG: 1, REVISION_FLAG: 1, ATTENTION_DP_FLAG: 1}
    known.update({flag: 1 if entry.read else 0 for flag, entry in MODELLED.items()})
    known.update({flag: entry.takes for flag, entry in UNMODELLED.items()})
    for group in IGNORED:
        for names, takes in ((group.values, 1), (group.switches, 0), (group.lists, None)):
            known.update({option_flag(name): takes for name in names.split()})
    return known


def read_arguments(words: Sequence[str], problems: list[Problem], shown: str) -> Given:
    """The arguments of one server, flag by flag.

    A first word that is no flag is the model, as `sglang serve MODEL` has it. What is wrong is added to
    `problems`: a flag that no known release has may be one of another release, but not a misspelt one.
    """
    given = Given()
    rest = list(words)
    if rest and not rest[0].startswith("-"):
        given.flags[MODEL_FLAG] = [rest.pop(0)]
    while rest:
        word = rest.pop(0)
        flag, equals, value = word.partition("=")
        name = _own_name(flag)
        if name is None:
            reason, hint = _unknown(flag)
            if reason:
                problems.append(Problem(file=shown, key="", what=reason, hint=hint))
            else:
                given.unknown.append(flag)
            rest = list(_from_next_flag(rest))
            continue
        takes = known_flags()[name]
        if equals:
            values = [value]
        elif takes is None:
            values = list(_until_next_flag(rest))
            del rest[: len(values)]
        else:
            values, rest = rest[:takes], rest[takes:]
        if takes is not None and len(values) != takes:
            what = "needs a value" if takes else f"is a switch and takes no {value!r:.60}"
            problems.append(Problem(file=shown, key=name, what=what))
        given.flags[name] = values
    return given


def _own_name(flag: str) -> str | None:
    """The flag that a spelling stands for: itself, an alias, or a beginning that only one flag has."""
    known = known_flags()
    if flag in known or flag in ALIASES:
        return ALIASES.get(flag, flag)
    if not flag.startswith("--") or len(flag) < len("--ab"):
        return None
    starts = {ALIASES.get(one, one) for one in (*known, *ALIASES) if one.startswith(flag)}
    return starts.pop() if len(starts) == 1 else None


def _unknown(flag: str) -> tuple[str, str]:
    """Why an unknown flag is an error, and what may be meant; both empty for one of another version."""
    if not flag.startswith("-"):
        return f"{flag!r:.80} belongs to no flag", ""
    starts = sorted(one for one in known_flags() if flag.startswith("--") and one.startswith(flag))
    if len(starts) > 1:
        return f"{flag!r:.80} could be {' or '.join(starts[:4])}", ""
    planned = [*MODELLED, MODEL_FLAG, *(alias for alias, own in ALIASES.items() if own in MODELLED)]
    near = difflib.get_close_matches(flag, planned, n=1, cutoff=_MISSPELT)
    if near or not flag.startswith("--"):
        return f"{flag!r:.80} is no flag of SGLang", f"did you mean {near[0]}?" if near else ""
    return "", ""


def _is_flag(word: str) -> bool:
    return word.startswith("--") and len(word) > len("--")


def _until_next_flag(words: Sequence[str]) -> Iterator[str]:
    for word in words:
        if _is_flag(word):
            return
        yield word


def _from_next_flag(words: Sequence[str]) -> Iterator[str]:
    """The rest without what an unknown flag may have had as its values."""
    started = False
    for word in words:
        started = started or _is_flag(word)
        if started:
            yield word
