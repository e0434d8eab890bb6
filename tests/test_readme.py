"""Every command shown in the README prints what the README shows."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.console import run
from tests.readme import README, shown_files, write_shown

BLOCKS = re.findall(r"```console\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


def examples() -> list[tuple[str, str]]:
    """(command, output) of each `$ kvplan` line in the README's console blocks."""
    found = []
    for block in BLOCKS:
        parts = re.split(r"^\$ (kvplan .*)\n", block, flags=re.MULTILINE)
        found += list(zip(parts[1::2], parts[2::2], strict=True))
    return found


@pytest.mark.parametrize(("command", "output"), examples())
def test_examples_print_what_they_show(
    command: str, output: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.chdir(tmp_path)
    for name in shown_files():
        write_shown(name, tmp_path)
    _, *arguments = shlex.split(command, comments=True)
    assert [line.rstrip() for line in run(*arguments).stdout.rstrip().splitlines()] == [
        line.rstrip() for line in output.rstrip().splitlines()
    ]


def test_the_readme_shows_its_examples() -> None:
    assert len(examples()) >= 3


def test_nobody_is_sent_to_the_package_index() -> None:
    assert "pip install kvplan" not in README.read_text(encoding="utf-8")
