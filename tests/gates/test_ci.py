"""The README's files for other people's CI: each is loaded, and its kvplan commands are run."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from kvplan.cli.boundary import PROGRAM
from tests.cli.console import run
from tests.readme import shown_files, write_shown

GITHUB, GITLAB = ".github/workflows/capacity.yaml", ".gitlab-ci.yml"


def github_steps() -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = yaml.safe_load(shown_files()[GITHUB])["jobs"]["capacity"]["steps"]
    return steps


def gitlab_job() -> dict[str, Any]:
    job: dict[str, Any] = yaml.safe_load(shown_files()[GITLAB])["capacity"]
    return job


SCRIPTS = {GITHUB: [step["run"] for step in github_steps() if "run" in step], GITLAB: gitlab_job()["script"]}


@pytest.fixture(autouse=True)
def _gates_with_a_baseline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE"):
        monkeypatch.delenv(name, raising=False)
    write_shown("kvplan.gates.yaml", tmp_path)
    assert run("check", "--write-baseline", "kvplan.lock.json").exit_code == 0


def arguments(scripts: list[str]) -> list[str]:
    """What the one kvplan command of the scripts is given."""
    lines = [line for script in scripts for line in script.splitlines()]
    commands = [words for line in lines if (words := shlex.split(line))[0].endswith(f"/{PROGRAM}")]
    assert len(commands) == 1
    return commands[0][1:]


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_scripts_are_shell_and_install_one_commit(name: str) -> None:
    script = "\n".join(SCRIPTS[name])
    assert subprocess.run(["bash", "-n"], input=script, text=True, check=False).returncode == 0
    clone, checkout = script.splitlines()[:2]
    assert clone.startswith('git clone "$KVPLAN_REPOSITORY" ')
    assert checkout.endswith('checkout --quiet "$KVPLAN_COMMIT"')


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_command_passes_and_fails_with_the_gates(name: str, tmp_path: Path) -> None:
    command = arguments(SCRIPTS[name])
    assert run(*command).exit_code == 0
    gates = tmp_path / "kvplan.gates.yaml"
    gates.write_text(gates.read_text().replace("60GiB", "50GiB"))  # every condition still holds
    failed = run(*command)
    assert (failed.exit_code, "3 of 3 gates failed" in failed.stderr) == (3, True)


def test_github_gets_annotations_and_a_summary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    summary = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    gates = tmp_path / "kvplan.gates.yaml"
    gates.write_text(gates.read_text().replace(">= 1M", ">= 1G"))
    annotations = run(*arguments(SCRIPTS[GITHUB])).stdout.splitlines()
    line = 1 + gates.read_text().splitlines().index("  chat:")
    assert [text.partition(",title=")[0] for text in annotations[:2]] == [
        f"::error file=kvplan.gates.yaml,line={line}"
    ] * 2
    assert "- **RESULT** 2 of 3 gates failed" in summary.read_text(encoding="utf-8")


def test_gitlab_finds_the_report_where_the_job_names_it(tmp_path: Path) -> None:
    artifacts = gitlab_job()["artifacts"]
    assert artifacts["when"] == "always"
    assert run(*arguments(SCRIPTS[GITLAB])).exit_code == 0
    suite = ElementTree.parse(tmp_path / artifacts["reports"]["junit"]).getroot()[0]
    assert [case.get("name") for case in suite] == ["chat[tp=4]", "chat[tp=8]", "code"]
