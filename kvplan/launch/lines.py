"""From a launch script or line to the SGLang commands in it: the shell's syntax, and nothing is run."""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace

from kvplan.errors import InputError, Problem
from kvplan.frozen import dataclass
from kvplan.launch.variables import Variables, assignments, marked

# A launch script is a few kB; more is another file.
MAX_CHARACTERS = 1 << 16
# `docker run ... bash -c "srun bash -c ..."` has two.
_MOST_SHELLS = 4

_SEPARATORS = ";&|()\n"
# Quoted or escaped text stays (group 1); a comment and a redirection go.
_NOISE = re.compile(
    r"""('[^']*'|"(?:\\.|[^"\\])*"|\\.)|(?<!\S)#.*|`\s*\#[^`]*`|(?<!\S)(?:[0-9]?>>?|&>>?|[0-9]?<)(?:&[0-9-]|\s*[^\s;|&]+)"""
)
_CONTINUED = re.compile(r"\\[ \t]*\r?\n")
# `bash -c '...'`, also -lc and the like.
_SHELL = re.compile(r"(?:.*/)?(?:ba|da|z|k)?sh\Z")
_SHELL_COMMAND = re.compile(r"-[a-z]*c\Z")
_IMAGE = re.compile(r"(?:.*/)?sglang[A-Za-z0-9_-]*:(v?[0-9]+\.[0-9]+\.[0-9]+\S*)\Z")
_MODULE = "sglang.launch_server"
_SCRIPT = re.compile(r"(?:.*/)?sglang/(?:python/sglang/)?launch_server\.py\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """The arguments of one server start, the variables set for it, and the version its image names.

    `defaults`: variables that the text does not set and gives a default for, as written.
    """

    arguments: tuple[str, ...]
    variables: Mapping[str, str] = field(default_factory=dict)
    version: str | None = None
    defaults: tuple[str, ...] = ()


def commands(text: str, shown: str) -> list[Command]:
    """Every SGLang server start in the text; `shown` is what errors call it.

    A text that begins with a flag is the arguments alone. Raises InputError for a text without a start,
    and for one whose quotes don't close.
    """
    if len(text) > MAX_CHARACTERS:
        raise _error(shown, f"has {len(text):,} characters, far more than a launch script")
    found = list(_starts(text, shown, Variables(), shells=0))
    if not found:
        raise _error(shown, "no SGLang server is started", f"python -m {_MODULE} ... or sglang serve ...")
    return found


def _starts(text: str, shown: str, known: Variables, *, shells: int) -> Iterator[Command]:
    if shells > _MOST_SHELLS:
        raise _error(shown, f"runs more than {_MOST_SHELLS} shells within shells")
    left = MAX_CHARACTERS
    for number, segment in enumerate(_segments(text, shown)):
        left -= sum(known.growth(word) for word in segment)
        if left < 0:
            raise _error(shown, f"its variables grow it by more than {MAX_CHARACTERS:,} characters")
        words, defaults = known.expanded(segment)
        if not words:
            continue
        start, script = _arguments_from(words), _script_in(words)
        if start is None and script is not None:
            front = words[:script]
            inner = Variables(values={**known.values, **assignments(front)}, defaults=known.defaults)
            for one in _starts(words[script], shown, inner, shells=shells + 1):
                yield replace(one, version=one.version or _version(front))
            continue
        if start is None and words[0].startswith("-"):
            if number:
                hint = "a comment or a line without a backslash ends a command, as in a shell"
                raise _error(shown, f"{words[0]!r:.60} stands in no command", hint)
            start = 0
        if start is None:
            known.set(assignments(words), defaults)
            continue
        front = words[:start]
        yield Command(
            arguments=tuple(words[start:]),
            variables={**known.values, **assignments(front)},
            version=_version(front),
            defaults=defaults,
        )


def _version(words: Sequence[str]) -> str | None:
    return next((match[1] for word in words if (match := _IMAGE.match(word))), None)


def _segments(text: str, shown: str) -> Iterator[list[str]]:
    """Words of each command of the script, those without any left out."""
    joined = _CONTINUED.sub(" ", "\n".join(_NOISE.sub(_kept, line) for line in _lines(text)))
    lexer = shlex.shlex(marked(joined), posix=True, punctuation_chars=_SEPARATORS)
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


def _arguments_from(words: Sequence[str]) -> int | None:
    """Where the server's own arguments begin."""
    for place, word in enumerate(words):
        after = words[place + 1] if place + 1 < len(words) else ""
        if (word == "-m" and after == _MODULE) or (word.rpartition("/")[2] == "sglang" and after == "serve"):
            return place + 2
        if _SCRIPT.match(word):
            return place + 1
    return None


def _script_in(words: Sequence[str]) -> int | None:
    """Which word is a script that another shell runs and that may start a server."""
    for place, word in enumerate(words):
        if _SHELL.match(word):
            flags = list(itertools.takewhile(lambda one: one.startswith("-"), words[place + 1 :]))
            script = place + 1 + len(flags)
            if flags and _SHELL_COMMAND.match(flags[-1]) and "sglang" in "".join(words[script : script + 1]):
                return script
    return None


def _error(shown: str, what: str, hint: str = "") -> InputError:
    return InputError(Problem(file=shown, key="", what=what, hint=hint))
