"""Reading one config file from disk: JSON or YAML, plain data, every failure a located line."""

from __future__ import annotations

import json
import os
import re
import stat
from collections import Counter
from pathlib import Path
from typing import Any

from kvplan.errors import InputError, Problem, short_path

# A published config.json is some kilobytes, a few with per-tensor quantisation lists reach 3 MB. Python
# needs up to 15 times a file's size to hold what it says.
MAX_CONFIG_BYTES = 8 << 20
# People write these; the parser takes two seconds for a MB.
MAX_YAML_CHARACTERS = 512 << 10
JSON_SUFFIXES = (".json",)
YAML_SUFFIXES = (".yaml", ".yml")
WHAT_IS_READ = "kvplan reads a config.json or a model YAML"
MAX_SHOWN = 200  # characters of a reference or a path in an error line
_ESCAPED_SURROGATE = re.compile(r"\\[uU](0000)?[dD][89a-fA-F]")


def read_mapping(
    path: Path,
    *,
    shown: str,
    problems: list[Problem] | None = None,
    limit: int = MAX_CONFIG_BYTES,
    lines: dict[str, int] | None = None,
) -> dict[str, Any]:
    """The mapping in a JSON or YAML file of at most `limit` bytes; errors call the file `shown`.

    The suffix decides between JSON and YAML; under any other name a leading `{` means JSON. JSON's
    `NaN` and `Infinity` are read, since published configs hold them in keys that nobody uses.
    Duplicate keys are added to `problems` where a list is given, so that they come out together with
    what the reader of the mapping finds. Raises InputError for them otherwise, and for all else.
    `lines` gets the line of each key path of a YAML file.
    """
    found: list[Problem] = [] if problems is None else problems
    text = read_text(path, shown=shown, limit=limit)
    if not text.strip():
        raise _error(shown, "is empty", WHAT_IS_READ)
    if _is_json(path, text):
        data = _from_json(text, shown, found)
    else:
        # Here, not above: PyYAML takes a good part of the start-up time, and most runs read JSON only.
        from kvplan import plain_yaml  # noqa: PLC0415

        if len(text) > MAX_YAML_CHARACTERS:
            size = MAX_YAML_CHARACTERS >> 10
            raise _error(shown, f"is larger than {size} KiB, far more than any model YAML")
        data = plain_yaml.parse(text, file=shown, problems=found, lines=lines)
    if _ESCAPED_SURROGATE.search(text) and not _is_unicode(data):
        raise _error(shown, "holds half of a surrogate pair, which is no text", WHAT_IS_READ)
    if not isinstance(data, dict):
        raise _error(shown, f"holds {_kind(data)}, not a mapping of keys to values", WHAT_IS_READ)
    if problems is None and found:
        raise InputError(found)
    return data


def check_readable(path: str, *, shown: str) -> None:
    """Raise InputError for what has no end or may never begin: a device, a socket, a named pipe.

    The shell's `<(...)` is a pipe without a name in any folder, and passes.
    """
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return  # opening it says why
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        return
    if not stat.S_ISFIFO(mode) or not (
        path.startswith("/dev/fd/") or not os.path.exists(os.path.realpath(path))
    ):
        raise _error(shown, "is a device or a named pipe, not a file", "- reads from stdin")


def printable(text: str) -> str:
    """`text` as it can stand in one line of a terminal: control characters escaped, cut when long."""
    clean = text if text.isprintable() else ascii(text)[1:-1]
    return clean if len(clean) <= MAX_SHOWN else f"{clean[:MAX_SHOWN]}..."


def _error(file: str, what: str, hint: str = "") -> InputError:
    return InputError(Problem(file=file, key="", what=what, hint=hint))


def read_text(path: Path, *, shown: str, limit: int) -> str:
    """The text of a regular file of at most `limit` bytes in UTF-8. Raises InputError for any other."""
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise _error(shown, "is a folder, not a file")
        if not stat.S_ISREG(mode):  # opening a FIFO would wait, reading a device would not end
            raise _error(shown, "is not a regular file", WHAT_IS_READ)
        with path.open("rb") as file:
            content = file.read(limit + 1)
    except FileNotFoundError as error:
        raise _error(shown, "no such file") from error
    except OSError as error:
        raise _error(shown, f"can't be read: {error.strerror}") from error
    if len(content) > limit:
        raise _error(shown, f"is larger than {limit >> 20} MiB, far more than any config", WHAT_IS_READ)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _error(shown, f"is not UTF-8 text (byte {error.start})", WHAT_IS_READ) from error


def _is_json(path: Path, text: str) -> bool:
    suffix = path.suffix.lower()
    return suffix in JSON_SUFFIXES or (suffix not in YAML_SUFFIXES and text.lstrip().startswith("{"))


def _from_json(text: str, shown: str, problems: list[Problem]) -> Any:
    twice: dict[str, None] = {}

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        values = dict(pairs)
        if len(values) < len(pairs):
            counts = Counter(key for key, _ in pairs)
            twice.update((key, None) for key in values if counts[key] > 1)
        return values

    try:
        data = json.loads(text, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        what = f"is not valid JSON: {error.msg} in line {error.lineno}, column {error.colno}"
        raise _error(shown, what) from error
    except RecursionError as error:
        raise _error(shown, "nests too deeply for a config") from error
    except ValueError as error:  # Python converts no more than 4,300 digits
        raise _error(shown, "holds a number that is too long") from error
    problems += [
        Problem(file=shown, key=short_path(key), what="is there twice", hint="keep one") for key in twice
    ]
    return data


def _is_unicode(data: Any) -> bool:
    """Whether all texts can be written; JSON may escape half a pair, which no encoding holds."""
    try:
        json.dumps(data, ensure_ascii=False).encode("utf-8")
    except (UnicodeEncodeError, RecursionError):  # what is nested that deeply is not asked how
        return False
    return True


def _kind(value: Any) -> str:
    match value:
        case None:
            return "nothing"
        case list():
            return "a list"
        case str():
            return "plain text"
        case _:
            return "a single value"
