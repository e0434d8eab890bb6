"""Where text goes: stdout, files whole or not at all, devices untouched."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kvplan.cli.output import check_format, write
from kvplan.errors import InputError


@pytest.mark.parametrize("output", [None, "-"])
def test_stdout_is_the_default_and_has_a_name(output: str | None, capsys: pytest.CaptureFixture[str]) -> None:
    write("text\n", output)
    assert capsys.readouterr().out == "text\n"


def test_a_file_is_replaced_as_a_whole_and_keeps_its_permissions(tmp_path: Path) -> None:
    target = tmp_path / "plan.json"
    target.write_text("old and longer than the new one")
    target.chmod(0o640)
    write("new\n", str(target))
    assert target.read_text() == "new\n"
    assert target.stat().st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path) == ["plan.json"]


def test_a_new_file_gets_the_permissions_of_new_files(tmp_path: Path) -> None:
    beside = tmp_path / "beside"
    beside.touch()
    write("new\n", str(tmp_path / "new"))
    assert (tmp_path / "new").stat().st_mode == beside.stat().st_mode


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.touch()
    link.symlink_to(target)
    write("new\n", str(link))
    assert link.is_symlink()
    assert target.read_text() == "new\n"


def test_a_device_is_written_to_and_not_replaced() -> None:
    write("gone\n", os.devnull)
    assert not Path(os.devnull).is_file()


@pytest.mark.parametrize(
    ("path", "what"), [("none/plan.json", "No such file or directory"), (".", "Is a directory")]
)
def test_a_path_that_cannot_be_written_is_named(
    path: str, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as caught:
        write("text", path)
    assert str(caught.value) == f"{path}: can't be written: {what}"
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(InputError, match=r"--format: 'xml' is not one of table, json, markdown, csv"):
        check_format("xml")


def test_a_reader_that_leaves_ends_the_program_quietly_as_sigpipe_would() -> None:
    code = "\n".join(
        (
            "import typer",
            "from kvplan.cli.boundary import BoundaryGroup",
            "from kvplan.cli.output import write",
            "app = typer.Typer(cls=BoundaryGroup)",
            "app.callback()(lambda: None)",
            "app.command('long')(lambda: write('line\\n' * 1_000_000, None))",
            "app(['long'])",
        )
    )
    # Without a buffer Python loses the error along with the rest of the text.
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=buffered
    ) as program:
        assert program.stdout is not None
        assert program.stderr is not None
        assert program.stdout.readline() == b"line\n"
        program.stdout.close()
        assert program.stderr.read() == b""
    assert program.returncode == 141
