"""The program as a whole, as far as it needs no model."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from kvplan import __version__
from kvplan.cli.app import app
from kvplan.cli.commands import SUMMARIES
from kvplan.deployment import Deployment
from kvplan.errors import option_flag

ALIASES = ("--tp-size", "--dp-size", "--pp-size", "--dcp-size")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments), prog_name="kvplan")


@pytest.mark.parametrize("command", ["size", "compare"])
def test_help_lists_every_field_of_a_deployment_under_its_flag(command: str) -> None:
    result = run(command, "--help")
    words = result.stdout.replace(",", " ").split()
    flags = [option_flag(field.name) for field in dataclasses.fields(Deployment)]
    assert result.exit_code == 0
    assert [flag for flag in (*flags, *ALIASES) if flag not in words] == []


def test_help_fits_80_columns_and_names_the_commands() -> None:
    result = run("--help")
    lines = result.stdout.splitlines()
    commands = [line.split()[0] for line in lines[lines.index("Commands:") + 1 :]]
    assert commands == (
        "size compare fit explain curve host check verify buffers models gpus export schema".split()
    )
    assert max(map(len, lines)) <= 80
    assert result.stderr == ""


@pytest.mark.parametrize(("command", "summary"), SUMMARIES.items())
def test_the_summary_of_a_command_is_the_first_line_of_its_own_help(command: str, summary: str) -> None:
    result = run(command, "--help")
    assert (result.exit_code, result.stdout.splitlines()[2].strip()) == (0, summary)


def test_without_a_command_help_is_on_stderr() -> None:
    result = run()
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == run("--help").stdout


def test_version_is_one_line() -> None:
    result = run("--version")
    assert (result.exit_code, result.stdout) == (0, f"kvplan {__version__}\n")


@pytest.mark.parametrize("command", ["size", "compare"])
@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--ctx", "10zb"], "--ctx: '10zb' is not a token count such as 4096, 100k or 128Ki"),
        (["--ctx", "-1"], "--ctx: '-1' is not a token count such as 4096, 100k or 128Ki"),
        (["--tp", "0"], "--tp: 0 is not a whole number of at least 1"),
        (["--tp-size", "0"], "--tp: 0 is not a whole number of at least 1"),
        (["--tp", "[red]"], "--tp: '[red]' is not a whole number"),
        (["--available-bytes", "0"], "--available-bytes: 0 is not a whole number of at least 1"),
        (["--free-gib", "10"], "--pre-model-load-gib: is missing (the two belong together)"),
        (["--weights", "16"], "--weights: '16' is 16 bytes, too few for weights: give a unit, as in 16GB"),
        (["--format", "xml"], "--format: 'xml' is not one of table, json, markdown, csv"),
    ],
)
def test_bad_options_are_one_line_on_stderr(command: str, options: list[str], line: str) -> None:
    result = run(command, "meta-llama/Llama-3.1-8B", *options)
    expected = f"kvplan: error: {line}\n"
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", expected)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["size"], "'MODEL'"),
        (["size", "a", "b"], "b"),
        (["size", "a", "--tp"], "--tp"),
        (["size", "a", "--tpp", "1"], "--tpp"),
        (["sise", "a"], "'size'"),
        (["--colour"], "--colour"),
    ],
)
def test_bad_usage_is_one_line_that_names_the_culprit(arguments: list[str], named: str) -> None:
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("kvplan: error: ")
    assert named in result.stderr
    assert result.stderr.count("\n") == 1


def test_schema_is_json_and_goes_to_a_file_when_asked(tmp_path: Path) -> None:
    target = tmp_path / "schema.json"
    result = run("schema", "-o", str(target))
    assert (result.exit_code, result.stdout) == (0, "")
    assert json.loads(target.read_text()) == json.loads(run("schema").stdout)


def test_help_and_options_import_neither_rich_nor_what_they_do_not_use() -> None:
    code = (
        "import sys\n"
        "from kvplan.cli.app import app\n"
        "sys.argv = ['kvplan', 'size', 'x', '--tp', '0']\n"
        "try:\n    app()\n"
        "except SystemExit:\n    pass\n"
        "print(sorted({'rich', 'yaml', 'huggingface_hub', 'pydantic', 'click'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
