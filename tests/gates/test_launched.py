"""Gates whose server a launch line starts: what holds beside the line, and where its faults are told.

Llama-3.1-8B keeps 32 layers x 8 heads x 256 values: 131,072 bytes per token in bf16 at TP 1, and 32,768 in
fp8 at TP 2; 10 GiB hold 81,920 and 327,680 tokens of those.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.console import run
from tests.gates.files import written

LINE = "python -m sglang.launch_server --model-path llama-3.1-8b --tp 2 --kv-cache-dtype fp8_e4m3"
NOT_USED = "is not used: the launch line says all of how its server starts"


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def checked(folder: Path, text: str) -> list[dict[str, Any]]:
    """The gates of the JSON of a file all of whose conditions hold."""
    written(folder, text)
    result = run("check", "--format", "json")
    assert result.exit_code == 0, result.stdout + result.stderr
    gates: list[dict[str, Any]] = json.loads(result.stdout)["gates"]
    return gates


@pytest.mark.parametrize(
    "launch", [LINE, "start.sh", "|\n        " + LINE.replace(" --tp", " \\\n          --tp")]
)
def test_a_line_a_file_and_a_block_are_the_deployment(tmp_path: Path, launch: str) -> None:
    written(tmp_path, f"#!/bin/bash\nset -e\n{LINE}\n", "start.sh")
    gate = checked(
        tmp_path,
        f"gates:\n  a:\n    launch: {launch}\n    gpu: h200\n    available_bytes: 10GiB\n    require:\n"
        "      max_total_num_tokens: 327680\n      cell_size: 32768\n      deployment.tp: 2\n",
    )[0]
    assert (gate["model"], gate["warnings"]) == ("llama-3.1-8b", [])


@pytest.mark.parametrize(
    ("beside", "require"),
    [
        ("tp: 1", "{cell_size: 65536}"),
        ("kv_cache_dtype: bf16", "{cell_size: 65536}"),
        ("kv_cache_dtype: null", "{cell_size: 65536}"),
        ("model: qwen3-8b", "{model.id: Qwen/Qwen3-8B, deployment.tp: 2}"),
        ("set: kv_heads=4", "{cell_size: 16384}"),
    ],
)
def test_what_the_gate_says_itself_holds_over_the_line(tmp_path: Path, beside: str, require: str) -> None:
    checked(tmp_path, f"gates: {{a: {{launch: {LINE}, {beside}, require: {require}}}}}")


def test_a_switch_that_is_false_is_off_whatever_the_line_says(tmp_path: Path) -> None:
    line = f"{LINE} --disable-radix-cache"
    on, off, kept = checked(
        tmp_path,
        f"defaults: {{launch: {line}}}\n"
        "gates:\n"
        "  a: {disable_radix_cache: [true, false]}\n"
        "  b: {require: {disable_radix_cache: true}}\n",
    )
    assert [gate["name"] for gate in (on, off, kept)] == [
        "a[disable_radix_cache=true]",
        "a[disable_radix_cache=false]",
        "b",
    ]
    written(
        tmp_path,
        f"gates: {{a: {{launch: {line}, disable_radix_cache: false, "
        "require: {disable_radix_cache: true}}}",
    )
    assert run("check").exit_code == 3


def test_options_of_the_defaults_do_not_reach_a_line_of_the_gate(tmp_path: Path) -> None:
    first, second = checked(
        tmp_path,
        "defaults: {model: qwen3-8b, gpu: h200, available_bytes: 10GiB, tp: [4, 8], page_size: 16}\n"
        "gates:\n"
        f"  a: {{launch: {LINE}, require: {{max_total_num_tokens: 327680, deployment.page_size: 1}}}}\n"
        f"  b: {{launch: {LINE} --page-size 64, page_size: null, require: {{deployment.page_size: 1}}}}\n",
    )
    assert (first["name"], first["model"]) == ("a", "llama-3.1-8b")
    assert first["warnings"] == [f"defaults.page_size {NOT_USED}"]
    assert (second["name"], second["warnings"]) == ("b", [])


def test_a_line_of_the_defaults_is_the_base_of_all_gates(tmp_path: Path) -> None:
    gates = checked(
        tmp_path,
        f"defaults: {{launch: {LINE}, page_size: 16}}\n"
        "gates:\n"
        "  a: {tp: [1, 4], require: {deployment.page_size: 16, deployment.kv_cache_dtype: float8_e4m3fn}}\n"
        "  b: {launch: null, model: qwen3-8b, require: {deployment.tp: 1}}\n",
    )
    assert [(gate["name"], gate["model"]) for gate in gates] == [
        ("a[tp=1]", "llama-3.1-8b"),
        ("a[tp=4]", "llama-3.1-8b"),
        ("b", "qwen3-8b"),
    ]


def test_the_version_of_the_image_holds_over_that_of_the_defaults(tmp_path: Path) -> None:
    checked(
        tmp_path,
        "defaults: {engine_version: 0.5.23}\n"
        f"gates: {{a: {{launch: docker run lmsysorg/sglang:v0.5.12-cu129 {LINE}, "
        "require: {engine.version: 0.5.12}}}",
    )


def test_several_lines_make_a_gate_each(tmp_path: Path) -> None:
    written(tmp_path, LINE, "start.sh")
    gates = checked(tmp_path, f"gates: {{a: {{launch: [start.sh, {LINE} --page-size 64]}}}}")
    assert [gate["name"] for gate in gates] == ["a[launch=start.sh]", "a[launch=2]"]


@pytest.mark.parametrize(
    ("fmt", "line"),
    [
        ("table", "warning:  not modelled: --attn-cp-size 2: heads are split over fewer GPUs"),
        ("markdown", "- **warning:** not modelled: --attn-cp-size 2: heads are split over fewer GPUs"),
        (
            "github",
            "::warning file=kvplan.gates.yaml,line=2,title=a"
            "::not modelled: --attn-cp-size 2: heads are split over fewer GPUs",
        ),
        ("junit", "warning: not modelled: --attn-cp-size 2: heads are split over fewer GPUs"),
        ("json", '"not modelled: --attn-cp-size 2: heads are split over fewer GPUs"'),
    ],
)
@pytest.mark.parametrize("memory", ["10GiB", "100kB"])
def test_what_a_line_says_and_no_plan_holds_is_shown_in_every_format(
    tmp_path: Path, fmt: str, line: str, memory: str
) -> None:
    written(
        tmp_path,
        f"gates:\n  a: {{launch: {LINE} --attn-cp-size 2, gpu: h200, available_bytes: {memory}}}\n",
    )
    assert line in run("check", "--format", fmt).stdout


@pytest.mark.parametrize(
    ("gate", "line"),
    [
        (f"launch: {LINE} --page-sise 64", "launch: '--page-sise' is no flag of SGLang (did you mean"),
        ("launch: nowhere.sh", "launch: nowhere.sh: can't be read: No such file or directory"),
        ("launch: start.sh", "launch: start.sh: --tp-size: 'x' is not a whole number"),
        ("launch: '-'", "launch: - is stdin (give the line, or a file with it)"),
        ("launch: ls -l", "launch: no SGLang server is started (python -m"),
        ("launch: {a: b}", "launch: {'a': 'b'} is not a single value"),
        ("launch: sglang serve --tp 2", "model: is missing (the launch line names none)"),
        ("launch: sglang serve llama-3.1-8b --tp 0", "launch: --tp: 0 is not a whole number of at least 1"),
        ("launch: sglang serve no/such.yaml", "launch: no/such.yaml: no such file"),
        (f"launch: {LINE}, tp: 0", "tp: 0 is not a whole number of at least 1"),
        (f"launch: {LINE}, gpu: h200x8", "gpu: h200x8: the other options use 2 GPUs"),
        ("launch: sglang serve llama-3.1-8b, gpu: h200x8", "gpu: h200x8: the other options use 1 GPU ("),
    ],
)
def test_a_bad_line_is_told_where_it_stands(tmp_path: Path, gate: str, line: str) -> None:
    written(tmp_path, "sglang serve llama-3.1-8b --tp x\n", "start.sh")
    written(tmp_path, f"gates: {{a: {{{gate}}}}}")
    result = run("check")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"kvplan: error: kvplan.gates.yaml: gates.a.{line}")
    assert result.stderr.count("\n") == 1


def test_a_changed_line_is_the_reason_in_a_baseline(tmp_path: Path) -> None:
    text = f"gates: {{a: {{launch: {LINE}, gpu: h200, available_bytes: 10GiB}}}}"
    written(tmp_path, text)
    assert run("check", "--write-baseline", "lock.json").exit_code == 0
    written(tmp_path, text.replace("--tp 2", "--tp 1"))
    result = run("check", "--baseline", "lock.json", "--format", "json")
    assert result.exit_code == 3
    assert json.loads(result.stdout)["gates"][0]["reasons"] == ["option changed: --tp 2 -> none"]
