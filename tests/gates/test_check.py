"""`kvplan check` as CI meets it: exit codes, both streams, and the formats."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli.console import run
from tests.gates.files import FAILING, GATES, written


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE"):
        monkeypatch.delenv(name, raising=False)


def test_gates_that_hold_exit_0_and_show_every_condition(tmp_path: Path) -> None:
    written(tmp_path, GATES)
    result = run("check")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == (
        "kvplan.gates.yaml\n"
        "\n"
        "result  gate and figures                            is  required\n"
        "ok      chat\n"
        "ok        capacity.max_total_num_tokens         81,920    >= 80k\n"
        "ok        capacity.requests_at_context               2      == 2\n"
        "ok      long[tp=1]\n"
        "ok        request.bytes                  4,194,304,000    <= 5GB\n"
        "ok      long[tp=2]\n"
        "ok        request.bytes                  2,097,152,000    <= 5GB\n"
        "\n"
        "RESULT  3 gates, all hold\n"
        "\n"
        "assumed:  GPU H200: none is given, so the rules of Hopper with 143,771 MiB apply\n"
    )


def test_a_gate_may_require_that_the_server_starts(tmp_path: Path) -> None:
    """MiniMax-M2 in FP8 blocks of 128: 1536 / 8 breaks them, 1536 / (8 / 2) does not."""
    gate = "    model: MiniMaxAI/MiniMax-M2\n    gpu: h100x8\n    require: {starts: true}\n"
    written(tmp_path, f"gates:\n  cut:\n{gate}  dealt:\n{gate}    ep: 2\n")
    result = run("check", "--format", "json")
    found = [(gate["name"], gate["passed"]) for gate in json.loads(result.stdout)["gates"]]
    assert (result.exit_code, found) == (3, [("cut", False), ("dealt", True)])


def test_a_failing_gate_hides_no_other_and_exits_3(tmp_path: Path) -> None:
    written(tmp_path, FAILING + "  huge:\n    available_bytes: 100kB\n")
    result = run("check", "--format", "json")
    document = json.loads(result.stdout)
    assert result.exit_code == 3
    assert [(gate["name"], gate["passed"]) for gate in document["gates"]] == [
        ("chat", False),
        ("long[tp=1]", False),
        ("long[tp=2]", True),
        ("huge", False),
    ]
    assert document["gates"][0]["conditions"] == [
        {
            "figure": "capacity.max_total_num_tokens",
            "operator": ">=",
            "required": 4_000_000,
            "actual": 81_920,
            "holds": False,
        },
        {
            "figure": "capacity.requests_at_context",
            "operator": "==",
            "required": 2,
            "actual": 2,
            "holds": True,
        },
    ]
    assert "SGLang would stop" in document["gates"][3]["refused"]
    assert result.stderr == (
        "kvplan: error: kvplan.gates.yaml: 3 of 4 gates failed: chat, long[tp=1], huge\n"
    )


def test_requests_that_do_not_fit_fail_a_gate_without_conditions(tmp_path: Path) -> None:
    written(tmp_path, GATES + "  many:\n    concurrency: 40\n")
    result = run("check", "--format", "json")
    refused = json.loads(result.stdout)["gates"][3]["refused"]
    # 40 x 32,000 x 131,072 less 10 GiB
    assert refused == (
        "--concurrency: 2 requests of 32,000 tokens fit at once, not 40; about 157,034,741,760 bytes per GPU "
        "are missing"
    )


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (
            "gates:\n  a: {model: no/such.yaml}\n  b: {model: meta-llama/Llama-3.1-8B, tp: x, pp: 0}\n"
            "  c: {model: meta-llama/Llama-3.1-8B, require: {nothing: 1}}\n",
            [
                "gates.c.require.nothing: is no figure of a plan (`kvplan size",
                "gates.a.model: no/such.yaml: no such file",
                "gates.b.tp: 'x' is not a whole number",
            ],
        ),
        (
            "defaults: {tp: 0}\ngates:\n  a: {model: meta-llama/Llama-3.1-8B}\n"
            "  b: {model: meta-llama/Llama-3.1-8B, free_gib: 3}\n",
            [
                "defaults.tp: 0 is not a whole number of at least 1",
                "gates.b.pre_model_load_gib: is missing (the two belong together)",
            ],
        ),
        (
            "gates: {a: {model: meta-llama/Llama-3.1-8B, source: ''}}",
            ["gates.a.source: unknown value ''"],
        ),
        (
            "gates: {a: {model: meta-llama/Llama-3.1-8B, gpu: h999}}",
            ["gates.a.gpu: unknown GPU 'h999'"],
        ),
        (
            "gates: {a: {model: meta-llama/Llama-3.1-8B, set: [kvheads=1]}}",
            ["gates.a.set: unknown key 'kvheads' (did you mean kv_heads?)"],
        ),
        (
            "gates: {a: {model: meta-llama/Llama-3.1-8B, require: {'pools[9].tokens': 1}}}",
            ["gates.a.require.pools[9].tokens: is no figure of this plan"],
        ),
    ],
)
def test_a_bad_file_exits_2_with_all_its_problems(tmp_path: Path, text: str, lines: list[str]) -> None:
    written(tmp_path, text)
    result = run("check")
    found = result.stderr.splitlines()
    assert (result.exit_code, result.stdout, len(found)) == (2, "", len(lines))
    for told, line in zip(found, lines, strict=True):
        assert told.startswith(f"kvplan: error: kvplan.gates.yaml: {line}")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ([], "kvplan.gates.yaml: no such file"),
        (["--format", "csv"], "--format: 'csv' is not one of table, json, junit, github, markdown"),
        (["--max-regression", "5"], "--max-regression: is given without --baseline"),
        (
            ["--baseline", "x", "--max-regression", "-1%"],
            "--max-regression: '-1%' is not a percentage between 0 and 100",
        ),
    ],
)
def test_bad_usage_is_one_line(arguments: list[str], line: str) -> None:
    result = run("check", *arguments)
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"kvplan: error: {line}\n")


def test_junit_has_a_case_for_each_gate_and_a_failure_for_each_that_failed(tmp_path: Path) -> None:
    written(tmp_path, FAILING.replace("  chat:", '  "chat\\e[1m<&":'))
    result = run("check", "--format", "junit")
    suite = ElementTree.fromstring(result.stdout)[0]
    assert suite.attrib == {
        "name": "kvplan.gates.yaml",
        "tests": "3",
        "failures": "2",
        "errors": "0",
        "skipped": "0",
    }
    assert [(case.get("name"), case.get("line")) for case in suite] == [
        ("chat\\x1b[1m<&", "7"),
        ("long[tp=1]", "11"),
        ("long[tp=2]", "11"),
    ]
    failure = suite[0].find("failure")
    assert failure is not None
    assert failure.text == "capacity.max_total_num_tokens is 81,920, required >= 4M"
    assert result.stdout.isascii()


def test_github_points_at_the_line_and_writes_the_summary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "deploy").mkdir()
    written(tmp_path, FAILING.replace("  chat:", '  "chat: a,b 5%":'), "deploy/gates.yaml")
    summary = Path(written(tmp_path, "before\n", "summary.md"))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    monkeypatch.chdir(tmp_path / "deploy")
    result = run("check", "gates.yaml", "--format", "github")
    assert result.exit_code == 3
    assert result.stdout.splitlines() == [
        "::error file=deploy/gates.yaml,line=7,title=chat%3A a%2Cb 5%25"
        "::capacity.max_total_num_tokens is 81,920, required >= 4M",
        "::error file=deploy/gates.yaml,line=11,title=long[tp=1]"
        "::request.bytes is 4,194,304,000, required <= 3GB",
        "gates.yaml: 2 of 3 gates failed",
    ]
    page = summary.read_text(encoding="utf-8")
    assert page.startswith("before\n### gates.yaml\n")
    assert "| FAILED | chat: a,b 5% |  |  |" in page
    assert "- **RESULT** 2 of 3 gates failed" in page


def test_without_the_variable_there_is_no_summary(tmp_path: Path) -> None:
    written(tmp_path, GATES)
    assert run("check", "--format", "github").stdout == "kvplan.gates.yaml: 3 gates, all hold\n"
    assert [path.name for path in tmp_path.iterdir()] == ["kvplan.gates.yaml"]


def test_markdown_leaves_nothing_of_a_name_to_interpret(tmp_path: Path) -> None:
    written(tmp_path, GATES.replace("  chat:", '  "[x](y)|<b>":'))
    result = run("check", "--format", "markdown")
    assert "| ok | \\[x\\](y)\\|\\<b\\> |  |  |" in result.stdout


def test_every_format_can_go_to_a_file(tmp_path: Path) -> None:
    written(tmp_path, GATES)
    assert run("check", "--format", "junit", "-o", "gates.xml").stdout == ""
    assert ElementTree.parse(tmp_path / "gates.xml").getroot().tag == "testsuites"
