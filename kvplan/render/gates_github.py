"""Gates as GitHub workflow commands: an annotation at the line of each gate that failed.

https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kvplan.gates.records import Outcome
from kvplan.render.gates import answer, failures
from kvplan.render.text import visible

# What ends a value: the runner decodes these (actions/toolkit, core/src/command.ts).
_IN_TEXT = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_IN_PROPERTY = {**_IN_TEXT, ":": "%3A", ",": "%2C"}


def render(outcome: Outcome, *, file: str) -> str:
    """A line for each failed gate, each warning and each note, then the answer.

    `file`: the path as the repository has it.
    """
    lines = []
    for result in outcome.results:
        gate = result.gate
        if not result.passed:
            lines.append(_command("error", failures(result), file=file, title=gate.name, line=gate.line))
        for warning in result.warnings:
            lines.append(_command("warning", [warning], file=file, title=gate.name, line=gate.line))
    lines += [_command("warning", [note], file=file, title="baseline", line=1) for note in outcome.notes]
    return "".join(f"{line}\n" for line in (*lines, f"{outcome.file}: {answer(outcome)}"))


def _command(name: str, texts: Iterable[str], *, file: str, title: str, line: int) -> str:
    text = _escaped("\n".join(map(visible, texts)), _IN_TEXT)
    return f"::{name} file={_property(file)},line={line},title={_property(title)}::{text}"


def _property(text: str) -> str:
    return _escaped(visible(text), _IN_PROPERTY)


def _escaped(text: str, codes: Mapping[str, str]) -> str:
    return "".join(codes.get(char, char) for char in text)
