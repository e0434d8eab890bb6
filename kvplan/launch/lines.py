"""From a launch script or line to the SGLang commands in it: the shell's syntax, and nothing is run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from kvplan.errors import InputError, Problem
from kvplan.frozen import dataclass

# A launch script is a few kB; more is another file.
MAX_CHARACTERS = 1 << 16

_SEPARATORS = ";&|()\n"
# Quoted or escaped text stays (group 1); a comment and a redirection go.
_NOISE = re.compile(
    r"""('[^']*'|"(?:\\.|[^"\\])*"|\\.)|(?<!\S)#.*|(?<!\S)(?:[0-9]?>>?|&>>?|[0-9]?<)(?:&[0-9-]|\s*[^\s;|&]+)"""
)
_CONTINUED = re.compile(r"\\[ \t]*\r?\n")
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)\Z", re.DOTALL)
_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))")
_IMAGE = re.compile(r"(?:.*/)?sglang[A-Za-z0-9_-]*:(v?[0-9]+\.[0-9]+\.[0-9]+\S*)\Z")
_MODULE = "sglang.launch_server"
_SCRIPT = re.compile(r"(?:.*/)?sglang/(?:python/sglang/)?launch_server\.py\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """The arguments of one server start, the variables set for it, and the version its image names."""

    arguments: tuple[str, ...]
    variables: Mapping[str, str] = field(default_factory=dict)
    version: str | None = None


def commands(text: str, shown: str) -> list[Command]:
    """Every SGLang server start in the text; `shown` is what errors call it.

    A text that begins with a flag is the arguments alone. Raises InputError for a text without a start,
    and for one whose quotes don't close.
    """
    if len(text) > MAX_CHARACTERS:
        raise _error(shown, f"has {len(text):,} characters, far more than a launch script")
    variables: dict[str, str] = {}
    found: list[Command] = []
    left = MAX_CHARACTERS
    for number, segment in enumerate(_segments(text, shown)):
        left -= sum(_growth(word, variables) for word in segment)
        if left < 0:
            raise _error(shown, f"its variables grow it by more than {MAX_CHARACTERS:,} characters")
        words = [_expanded(word, variables) for word in segment]
        start = _arguments_from(words)
        if start is None and words[0].startswith("-"):
            if number:
                hint = "a comment or a line without a backslash ends a command, as in a shell"
                raise _error(shown, f"{words[0]!r:.60} stands in no command", hint)
            start = 0
        if start is None:
            variables.update(_assignments(words))
            continue
        front = words[:start]
        found.append(
            Command(
                arguments=tuple(words[start:]),
                variables={**variables, **_assignments(front)},
                version=next((match[1] for word in front if (match := _IMAGE.match(word))), None),
            )
        )
    if not found:
        raise _error(shown, "no SGLang server is started", f"python -m {_MODULE} ... or sglang serve ...")
    return found


def _segments(text: str, shown: str) -> Iterator[list[str]]:
    """Words of each command of the script, those without any left out."""
    joined = _CONTINUED.sub(" ", "\n".join(_NOISE.sub(_kept, line) for line in _lines(text)))
    lexer = shlex.shlex(joined, posix=True, punctuation_chars=_SEPARATORS)
    lexer.whitespace = " \t\r"
    lexer.whitespace_split = True
    lexer.commenters = ""
    words: list[str] = []
    try:
        for word in lexer:
            if word.strip(_SEPARATORS):
                words.append(word)
            elif words:
                yield words
                words = []
    except ValueError as error:
        raise _error(shown, "a quotation is not closed") from error
    if words:
        yield words


def _lines(text: str) -> list[str]:
    """Lines of the script; one that a quotation goes on over counts as one with those it goes on over."""
    lines: list[str] = []
    open_quote = ""
    for line in text.splitlines():
        if open_quote:
            lines[-1] += "\n" + line
        else:
            lines.append(line)
        open_quote = _open_quote(line, open_quote)
    return lines


def _open_quote(line: str, quote: str) -> str:
    """The quotation mark that is still open at the end of the line; a comment opens none."""
    before, escaped = " ", False
    for char in line:
        if escaped:
            escaped = False
        elif char == "\\" and quote != "'":
            escaped = True
        elif quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char == "#" and before.isspace():
            break
        before = char
    return quote


def _kept(match: re.Match[str]) -> str:
    return match[1] or ""


def _expanded(word: str, variables: Mapping[str, str]) -> str:
    """The word with the variables that the script itself sets; others stay as they are written."""
    return _VARIABLE.sub(lambda match: variables.get(match[1] or match[2], match[0]), word)


def _growth(word: str, variables: Mapping[str, str]) -> int:
    """By how many characters variables lengthen the word: one that holds another ten times, and so on."""
    found = _VARIABLE.finditer(word) if "$" in word else ()
    return sum(len(variables.get(match[1] or match[2], "")) for match in found)


def _assignments(words: Sequence[str]) -> dict[str, str]:
    """`NAME=value`, also after `export`, `env` or docker's `-e`."""
    matches = (_ASSIGNMENT.match(word.removeprefix("--env=")) for word in words)
    return {match[1]: match[2] for match in matches if match}


def _arguments_from(words: Sequence[str]) -> int | None:
    """Where the server's own arguments begin."""
    for place, word in enumerate(words):
        after = words[place + 1] if place + 1 < len(words) else ""
        if (word == "-m" and after == _MODULE) or (word.rpartition("/")[2] == "sglang" and after == "serve"):
            return place + 2
        if _SCRIPT.match(word):
            return place + 1
    return None


def _error(shown: str, what: str, hint: str = "") -> InputError:
    return InputError(Problem(file=shown, key="", what=what, hint=hint))
