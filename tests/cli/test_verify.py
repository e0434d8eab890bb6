"""`kvplan verify`: a log in, a comparison out, and an exit code that CI can use."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kvplan.cli.app import app
from tests.bootlog import samples
from tests.cli.console import run

SCREEN = """\
meta-llama/Llama-3.1-8B-Instruct
SGLang 0.5.12 | RTX4090 | TP 1 | KV bfloat16 | page 1
log: 22.39 GiB free before loading, 7.37 after; mem_fraction_static 0.88

per GPU                         predicted     logged  difference
bytes per token       bytes     131,072.0  131,184.4      +0.09%  agrees
max_total_num_tokens  tokens       38,364     38,141      -0.58%  agrees
max_running_requests  requests      2,048      2,048      +0.00%  agrees

RESULT  tokens agree within 1 %

taken:  --engine-version 0.5.12: the rules nearest to the form of the log
taken:  --gpu rtx4090: the smallest that has the free memory of the log
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "server.log"
    path.write_text(samples.V0_4)
    return path


def test_a_log_names_all_that_is_needed(log: Path) -> None:
    result = run("verify", str(log))
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == SCREEN


def test_stdin_is_a_log_as_well() -> None:
    result = CliRunner().invoke(app, ["verify", "-"], input=samples.V0_4, prog_name="kvplan")
    assert (result.exit_code, result.stdout) == (0, SCREEN)


def test_bytes_that_are_no_text_stop_nothing(log: Path) -> None:
    noise = b"\xff\xfe\x00\n"
    log.write_bytes(noise + samples.V0_4.encode() + noise)
    assert run("verify", str(log)).stdout == SCREEN
    piped = CliRunner().invoke(app, ["verify", "-"], input=log.read_bytes(), prog_name="kvplan")
    assert piped.stdout == SCREEN


def test_tokens_beyond_the_tolerance_end_with_exit_3(log: Path) -> None:
    result = run("verify", str(log), "--tolerance", "0.3%")
    assert result.exit_code == 3
    assert "RESULT  tokens differ by -0.58%; 1 of 3 terms differ" in result.stdout
    assert result.stderr == (
        "kvplan: error: max_total_num_tokens: 38,141 in the log, 38,364 in the plan (-0.58%)\n"
    )


def test_options_hold_over_the_log(log: Path) -> None:
    result = run("verify", str(log), "--gpu", "l4", "--mem-fraction-static", "0.8", "--format", "json")
    found = json.loads(result.stdout)
    assert result.exit_code == 3
    assert (found["deployment"]["gpu"], found["deployment"]["mem_fraction_static"]) == ("l4", 0.8)
    assert found["notes"] == ["--engine-version 0.5.12: the rules nearest to the form of the log"]


def test_json_holds_every_term(log: Path) -> None:
    found = json.loads(run("verify", str(log), "--format", "json").stdout)
    assert (found["schema_version"], found["holds"], found["tolerance"]) == (1, True, 0.01)
    assert (found["free_before_gib"], found["free_after_gib"]) == (22.39, 7.37)
    assert found["checks"][1] == {
        "name": "max_total_num_tokens",
        "unit": "tokens",
        "predicted": 38_364,
        "logged": 38_141,
        "low": 38_318,  # half a hundredth of a GiB less after loading, and more before
        "high": 38_410,
        "agrees": True,
        "difference": pytest.approx(-0.0058127, abs=1e-6),
    }


@pytest.mark.parametrize("chosen", ["csv", "markdown"])
def test_every_format_has_every_term(log: Path, chosen: str) -> None:
    shown = run("verify", str(log), "--format", chosen).stdout.replace("\\_", "_")  # as Markdown has it
    for name in ("bytes per token", "max_total_num_tokens", "max_running_requests"):
        assert name in shown


@pytest.mark.parametrize(
    ("path", "model"),
    [
        ("/data/hf/hub/models--meta-llama--Llama-3.1-8B-Instruct/snapshots/0e9e", None),
        ("/models/llama-3.1-8b-instruct/", None),
        ("somebody/finetune", "meta-llama/Llama-3.1-8B-Instruct"),
    ],
)
def test_a_model_is_found_by_its_name_or_given(tmp_path: Path, path: str, model: str | None) -> None:
    log = tmp_path / "server.log"
    log.write_text(samples.V0_4.replace("='meta-llama/Llama-3.1-8B-Instruct'", f"='{path}'"))
    result = run("verify", str(log), *([model] if model else []))
    assert (result.exit_code, result.stdout) == (0, SCREEN)


def test_a_log_leads_to_no_file_and_no_host(tmp_path: Path) -> None:
    trap = tmp_path / "config.json"
    trap.write_text("{}")
    log = tmp_path / "server.log"
    log.write_text(samples.V0_4.replace("='meta-llama/Llama-3.1-8B-Instruct'", f"='{trap}'"))
    result = run("verify", str(log))
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        f"kvplan: error: {log}: model_path: the server's model {trap} is not bundled "
        "(give it: MODEL after LOG)\n"
    )


def test_what_a_log_holds_is_shown_harmless(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    hostile = "\x1b]0;title\x07[red]x\x1b[2J"
    log.write_text(samples.V0_4.replace("='meta-llama/Llama-3.1-8B-Instruct'", f"='{hostile}'"))
    result = run("verify", str(log))
    assert result.exit_code == 2
    assert "\x1b" not in result.stderr
    assert "[red]x" in result.stderr


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (
            "",
            "holds no start of a server (kvplan reads what SGLang writes while it starts: server_args=, Load "
            "weight, KV Cache ...)",
        ),
        (
            "\n".join(line for line in samples.V0_4.splitlines() if "server_args" not in line),
            "names no model (give it: MODEL after LOG)",
        ),
    ],
)
def test_a_log_without_a_start_or_a_model_is_bad_input(tmp_path: Path, content: str, line: str) -> None:
    log = tmp_path / "server.log"
    log.write_text(content)
    result = run("verify", str(log))
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"kvplan: error: {log}: {line}\n"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["nowhere.log"], "nowhere.log: can't be read: No such file or directory"),
        (["{log}", "--tolerance", "lots"], "--tolerance: 'lots' is not a percentage between 0 and 100"),
        (["{log}", "--tolerance", "-1"], "--tolerance: '-1' is not a percentage between 0 and 100"),
        (["{log}", "--tp", "two"], "--tp: 'two' is not a whole number"),
        (["{log}", "--format", "xml"], "--format: 'xml' is not one of table, json, markdown, csv"),
    ],
)
def test_bad_options_are_one_line_on_stderr(log: Path, arguments: list[str], line: str) -> None:
    result = run("verify", *(one.replace("{log}", str(log)) for one in arguments))
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"kvplan: error: {line}\n")


def test_what_a_server_logs_after_its_start_changes_nothing(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    noise = "[2025-07-14 11:00:00] Decode batch. #running-req: 1, #token: 100, token usage: 0.00\n" * 200_000
    log.write_text(samples.V0_4 + noise + "x" * (5 << 20))
    assert run("verify", str(log)).stdout == SCREEN
