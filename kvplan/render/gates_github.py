"""Gates as GitHub workflow commands: an annotation at the line of each gate that failed.

https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
"""

from __future__ import annotations

from collections.abc import Mapping

from kvplan.gates.records import Outcome
from kvplan.render.gates import failures, report
from kvplan.render.text import visible

# What ends a value: the runner decodes these (actions/toolkit, core/src/command.ts).
_IN_TEXT = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_IN_PROPERTY = {**_IN_TEXT, ":": "%3A", ",": "%2C"}


def render(outcome: Outcome, *, file: str) -> str:
    """One line for each failed gate and each note, then the answer; `file` as the repository has it."""
    lines = []
    for result in outcome.failed:
        text = "\n".join(visible(reason) for reason in failures(result))
        place = f"file={_property(file)},line={result.gate.line},title={_property(result.gate.name)}"
        lines.append(f"::error {place}::{_escaped(text, _IN_TEXT)}")
    for note in outcome.notes:
        lines.append(f"::warning file={_property(file)},title=baseline::{_escaped(visible(note), _IN_TEXT)}")
    lines += [f"{outcome.file}: {answer.text}" for answer in report(outcome).answers[-1:]]
    return "".join(f"{line}\n" for line in lines)


def _property(text: str) -> str:
    return _escaped(visible(text), _IN_PROPERTY)


def _escaped(text: str, codes: Mapping[str, str]) -> str:
    return "".join(codes.get(char, char) for char in text)
