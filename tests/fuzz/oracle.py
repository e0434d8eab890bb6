"""What every case has to end in: a plan whose figures can be, or one clear error."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kvplan import Architecture, Deployment, KvplanError, Plan, load, plan
from kvplan.architecture import Source
from kvplan.errors import Problem
from kvplan.loading import read
from kvplan.render import markdown, size, table
from kvplan.render.text import visible
from kvplan.sources import Document

SECONDS = 2.0
# An error line is read by a person: the place, what is wrong with it, and the known values at most.
LONGEST_LINE = 2_000
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]")
# Quick to look for, and also in a text of the document, so the figures are looked at where it is found.
_NEGATIVE = re.compile(r"[\[:,] -[0-9]|\[-[0-9]")
SOURCE = Source(kind="file", location="fuzzed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """`kind`: plan, refused (no figure is given, exit 3) or error (exit 2); `model` and `plan` where made."""

    kind: str
    seconds: float
    model: Architecture | None = None
    plan: Plan | None = None


def judge_mapping(
    mapping: dict[str, Any], deployment: Deployment, *, beside: dict[str, Any] | None = None
) -> Verdict:
    """Plan a config that was read already. AssertionError for a wrong outcome, any other error as raised."""
    return _judge(lambda: read_mapping(mapping, beside=beside), deployment)


def judge_file(path: Path, deployment: Deployment) -> Verdict:
    """Plan a file."""
    return _judge(lambda: load(path), deployment)


def read_mapping(mapping: dict[str, Any], *, beside: dict[str, Any] | None = None) -> Architecture:
    """The model in a mapping that stands for the content of a file."""
    problems: list[Problem] = []
    document = Document(data=mapping, file="fuzzed", source=SOURCE, model_id="model", quantization=beside)
    return read(document, problems)


def _judge(reading: Callable[[], Architecture], deployment: Deployment, *, again: bool = True) -> Verdict:
    clock = time.perf_counter if again else time.process_time
    started = clock()
    model = made = None
    kind = "plan"
    try:
        model = reading()
        made = plan(model, deployment)
        check_figures(made.to_dict())
    except KvplanError as error:
        check_error(error)
        kind = "error" if error.exit_code == 2 else "refused"
    seconds = clock() - started
    if seconds >= SECONDS and again:
        return _judge(reading, deployment, again=False)  # the machine may have been busy with others
    assert seconds < SECONDS, f"took {seconds:.1f} s"
    return Verdict(kind=kind, seconds=seconds, model=model, plan=made)


def check_error(error: KvplanError) -> None:
    """Each problem is one line that a terminal can show, and says something."""
    assert error.problems, "no problem is named"
    assert error.exit_code in (2, 3), error.exit_code
    for problem in error.problems:
        line = visible(str(problem))
        assert problem.what.strip(), line
        assert "\n" not in line, line
        assert not _CONTROL.search(line), line
        assert len(line) <= LONGEST_LINE, f"{len(line)} characters: {line[:200]}"


def check_figures(document: dict[str, Any]) -> None:
    """No figure is negative, NaN or infinite. The document has to be strict JSON as well."""
    if _NEGATIVE.search(json.dumps(document, allow_nan=False)) is None:
        return
    for path, value in _figures(document, ""):
        assert not value < 0, f"{path}: {value}"


def check_rendered(made: Plan) -> None:
    """Table and Markdown hold no control characters but line ends."""
    report = size.document(made).report()
    for text in (table.render(report, width=80, colour=False), markdown.render(report)):
        found = _CONTROL.search(text)
        assert found is None, f"{text[max(0, found.start() - 40) : found.end() + 40]!r}"


def _figures(value: Any, path: str) -> Iterator[tuple[str, int | float]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _figures(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for inner in value:
            yield from _figures(inner, path)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield path, value
