"""Variables of a launch script: what it sets, and words with their values as a POSIX shell has them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field

from kvplan.frozen import dataclass

# Stands for the `$` of a variable outside quotes, and for blanks that its value is split at: control
# characters, which no launch script holds.
_UNQUOTED = "\x01"
_BREAK = "\x02"
_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
# `$NAME`, `${NAME}`, and `${NAME:-default}` or `${NAME-default}`.
_VARIABLE = re.compile(rf"[$\x01](?:\{{({_NAME})(?::?-([^${{}}\x01]*))?\}}|({_NAME}))")
# Quoted or escaped text, else a variable (group 1). A default with quotes of its own counts as quoted.
_QUOTED = re.compile(
    r"""'[^']*'|"(?:\\.|[^"\\])*"|\\.|\$(\{NAME(?::?-[^${}'"\\]*)?\}|NAME)""".replace("NAME", _NAME),
    re.DOTALL,
)
_BLANKS = re.compile(r"[ \t\n]+")
_ASSIGNMENT = re.compile(rf"({_NAME})=(.*)\Z", re.DOTALL)
# Commands whose arguments are assignments, which a shell does not split.
_DECLARING = frozenset({"export", "declare", "local", "readonly", "typeset"})


def marked(text: str) -> str:
    """The text with variables outside quotes told apart from those inside, and each kept in one word.

    What splits a text into words drops its quotes, and a value is split only where there were none.
    """
    return _QUOTED.sub(lambda match: f'"{_UNQUOTED}{match[1]}"' if match[1] else match[0], text)


def assignments(words: Sequence[str]) -> dict[str, str]:
    """`NAME=value`, also after `export`, `env` or docker's `-e`."""
    matches = (_ASSIGNMENT.match(word.removeprefix("--env=")) for word in words)
    return {match[1]: match[2] for match in matches if match}


@dataclass(frozen=True, slots=True, kw_only=True)
class Variables:
    """What the text sets so far; `defaults`: by variable, the `${NAME:-default}` that its value is of."""

    values: dict[str, str] = field(default_factory=dict)
    defaults: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def set(self, values: Mapping[str, str], defaults: tuple[str, ...]) -> None:
        """Assignments of one command, and the defaults in it."""
        self.values.update(values)
        self.defaults.update(dict.fromkeys(values, defaults))

    def growth(self, word: str) -> int:
        """By how many characters variables lengthen the word: one that holds another ten times, and so on."""
        found = _VARIABLE.finditer(word) if "$" in word or _UNQUOTED in word else ()
        return sum(len(self.values.get(match[1] or match[3], "")) for match in found)

    def expanded(self, words: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
        """Marked words with the variables that the text sets, others as they are written; defaults in them.

        A value outside quotes is split at its blanks, and is no word where there is nothing in it; in the
        assignments that a command begins with it stays whole.
        """
        used: dict[str, None] = {}
        found: list[str] = []
        assigning = True
        for word in words:
            assigning = assigning and (word in _DECLARING or _ASSIGNMENT.match(word) is not None)
            if assigning or _UNQUOTED not in word:
                found.append(_VARIABLE.sub(lambda match: self._value(match, used), word))
            else:
                text = _VARIABLE.sub(lambda match: self._splitting(match, used), word)
                found += [part for part in text.split(_BREAK) if part]
        return found, tuple(used)

    def _value(self, match: re.Match[str], used: dict[str, None]) -> str:
        """What stands for a variable; its default is added to `used`."""
        name, default = match[1] or match[3], match[2]
        if name in self.values:
            used.update(dict.fromkeys(self.defaults.get(name, ())))
            return self.values[name]
        written = "$" + match[0][1:]
        if default is None:
            return written
        used[written] = None
        return default

    def _splitting(self, match: re.Match[str], used: dict[str, None]) -> str:
        value = self._value(match, used)
        return _BLANKS.sub(_BREAK, value) if match[0].startswith(_UNQUOTED) else value
