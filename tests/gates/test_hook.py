"""The pre-commit hook, installed by pre-commit from a clone and run by `git commit`, as users have it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tests.conftest import CLONE
from tests.readme import write_shown

# What a clone needs to be installed, and to be a repository of hooks.
FILES = (".pre-commit-hooks.yaml", "pyproject.toml", "README.md", "LICENSE")
FOLDERS = ("kvplan", "configs")
CONFIG, GATES, LOCK = ".pre-commit-config.yaml", "kvplan.gates.yaml", "kvplan.lock.json"


@dataclass(frozen=True, kw_only=True)
class Repository:
    """A git repository and the environment that its commands get."""

    folder: Path
    environment: dict[str, str]

    def run(self, *command: str) -> tuple[int, str]:
        """The exit code, and both streams as one text."""
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=600,
            check=False,
        )
        return done.returncode, done.stdout

    def git(self, *arguments: str) -> str:
        code, output = self.run("git", *arguments)
        assert code == 0, output
        return output.strip()

    def commit(self, files: Mapping[str, str] | None = None) -> tuple[int, str]:
        """Commit new texts of files; the hook's exit code and what it says."""
        for name, text in (files or {}).items():
            (self.folder / name).write_text(text, encoding="utf-8")
        self.git("add", "--all")
        return self.run("git", "commit", "--message", "change")


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "PRE_COMMIT"))
    }
    people = {
        f"GIT_{who}_{what}": "a@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    return {
        **inherited,
        **people,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "PRE_COMMIT_HOME": str(tmp_path_factory.mktemp("pre-commit")),
        "PIP_NO_COMPILE": "1",  # a test needs no bytecode of the whole environment
    }


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]) -> Repository:
    """The clone as it lies here, changes that are not committed yet included, as a repository of its own."""
    folder = tmp_path_factory.mktemp("hooks")
    for name in FILES:
        shutil.copy(CLONE / name, folder)
    for name in FOLDERS:
        shutil.copytree(CLONE / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    found = Repository(folder=folder, environment=environment)
    found.git("init", "--quiet")
    assert found.commit()[0] == 0
    return found


@pytest.fixture
def sample(tmp_path: Path, hooks: Repository) -> Repository:
    """A user's repository with the README's files, a baseline, and the hook in place."""
    write_shown(GATES, tmp_path)
    write_shown(
        CONFIG,
        tmp_path,
        this_repository=hooks.folder.as_uri(),
        a_commit_of_it=hooks.git("rev-parse", "HEAD"),
    )
    found = Repository(folder=tmp_path, environment=hooks.environment)
    found.git("init", "--quiet")
    kvplan = (sys.executable, "-m", "kvplan", "check")
    assert found.run(*kvplan, "--write-baseline", LOCK)[0] == 0
    assert found.run(sys.executable, "-m", "pre_commit", "install")[0] == 0
    return found


@pytest.mark.network  # pip fetches what kvplan depends on
def test_a_commit_passes_fails_and_is_left_alone(sample: Repository) -> None:
    code, output = sample.commit()
    assert (code, "kvplan check" in output, "Passed" in output) == (0, True, True), output

    gates = (sample.folder / GATES).read_text(encoding="utf-8")
    code, output = sample.commit({GATES: gates.replace("<= 5GB", "<= 4GB")})
    assert code == 1, output
    assert "exit code: 3" in output
    assert f"kvplan: error: {GATES}: 1 of 3 gates failed: code" in output
    assert sample.git("rev-list", "--count", "HEAD") == "1"

    lock = (sample.folder / LOCK).read_text(encoding="utf-8")
    better = lock.replace(
        '"capacity.max_total_num_tokens": 2207731', '"capacity.max_total_num_tokens": 9999999'
    )
    assert better != lock
    code, output = sample.commit({GATES: gates, LOCK: better})
    assert (code, "1 of 3 gates failed: chat[tp=8]" in output) == (1, True), output

    code, output = sample.commit({LOCK: lock, "notes.txt": "nothing of kvplan\n"})
    assert (code, "(no files to check)Skipped" in output) == (0, True), output


def test_which_files_run_the_hook(tmp_path: Path) -> None:
    default = yaml.safe_load((CLONE / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))[0]["files"]
    readme = write_shown(CONFIG, tmp_path).read_text(encoding="utf-8").replace("# files:", "files:")
    wider = yaml.safe_load(readme)["repos"][0]["hooks"][0]["files"]
    paths = [
        "kvplan.gates.yaml",
        "kvplan.lock.json",
        "deploy/a.sh",
        "x/kvplan.gates.yaml",
        "kvplan.gates.yaml.bak",
    ]
    assert [path for path in paths if re.search(default, path)] == paths[:2]
    assert [path for path in paths if re.search(wider, path)] == paths[:3]
