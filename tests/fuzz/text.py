"""Mutations of the text of a JSON or YAML file, most of which are no such file any more."""

from __future__ import annotations

from random import Random

# What means something to JSON, to YAML, to a terminal or to a decoder.
PIECES: tuple[str, ...] = (
    *"{}[]\",:-#&*!|>%@`'?~ \t\n\r",
    "\x00",
    "\x1b[31m",
    "\x85",
    "\u2028",
    "\ufeff",
    "\ud800",
    "\U0001f642",
    "\\u0000",
    "\\ud800",
    "\\x",
    "&a [*a]",
    "*a",
    "<<: *a",
    "!!python/object/apply:os.system ['true']",
    "!!binary aGk=",
    "!<tag:x>",
    "---\n",
    "...\n",
    "%YAML 1.1\n",
    "NaN",
    "-Infinity",
    "1e999",
    "0x10",
    "0o17",
    "017",
    "1_000",
    "12:30",
    "on",
    "null",
    "// comment\n",
    "? [1]\n: 2\n",
    "-" * 40,
    "9" * 5_000,
    "[" * 2_000,
    '{"a":' * 2_000,
    "[" * 20 + "]" * 20,
)


def mutated(text: str, other: str, random: Random) -> bytes:
    """The bytes of a file after one to four changes, some of which take lines from `other`."""
    for _ in range(random.choice((1, 1, 2, 3, 4))):
        text = _changed(text, other, random)
    data = text.encode("utf-8", "surrogatepass")
    match random.randrange(40):
        case 0:
            return data + bytes(random.randrange(256) for _ in range(4))
        case 1:
            return text.encode(random.choice(("utf-16", "utf-8-sig", "utf-32")), "surrogatepass")
        case _:
            return data


def _changed(text: str, other: str, random: Random) -> str:
    if not text:
        return other
    start = random.randrange(len(text))
    end = min(len(text), start + random.choice((1, 1, 2, 8, 40, 300)))
    match random.randrange(9):
        case 0:
            return text[:start] + text[end:]
        case 1:
            again = text[start:end]
            return text[:end] + again * random.choice((1, 2, 50)) + text[end:]
        case 2:
            return text[:start]
        case 3:
            return text[:start] + text[start:].replace(random.choice("0123456789"), random.choice(PIECES), 1)
        case 4 | 5:
            lines, more = text.split("\n"), other.split("\n")
            place = random.randrange(len(lines))
            taken = random.choice((lines[place], random.choice(lines), random.choice(more)))
            return "\n".join([*lines[:place], taken, *lines[place:]])
        case 6:
            lines = text.split("\n")
            del lines[random.randrange(len(lines))]
            return "\n".join(lines)
        case _:
            return text[:start] + random.choice(PIECES) + text[start:]
