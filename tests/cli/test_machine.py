"""`--gpu`, `kvplan gpus` and `kvplan fit` on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kvplan.cli.machine import on_gpus
from kvplan.errors import InputError
from tests.cli.console import run

LLAMA = "meta-llama/Llama-3.1-8B"


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"tp": 8}, {"tp": 8}),
        ({"gpu": "h200"}, {"gpu": "h200"}),
        ({"gpu": "h200x8"}, {"gpu": "h200", "tp": 8}),
        ({"gpu": "h200x8", "pp": 2}, {"gpu": "h200", "pp": 2, "tp": 4}),
        ({"gpu": "h200x8", "dp": 2}, {"gpu": "h200", "dp": 2, "tp": 4}),
        (
            {"gpu": "h200x8", "dp": 2, "enable_dp_attention": True},
            {"gpu": "h200", "dp": 2, "enable_dp_attention": True, "tp": 8},
        ),
        ({"gpu": "h200x8", "tp": 4, "dp": 2}, {"gpu": "h200", "tp": 4, "dp": 2}),
        ({"gpu": "h200", "free_gib": 60.0}, {"gpu": "h200", "free_gib": 60.0, "weights": "auto"}),
    ],
)
def test_a_number_of_gpus_sets_tp_where_none_is_given(asked: dict[str, Any], found: dict[str, Any]) -> None:
    assert on_gpus(asked) == found


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"gpu": "h200x8", "tp": 4}, "--gpu: h200x8: the other options use 4 GPUs (leave out --tp or xN)"),
        ({"gpu": "h200x7", "pp": 2}, "--gpu: h200x7: 7 GPUs can't be dealt out to 2 stages and replicas"),
    ],
)
def test_numbers_that_disagree(asked: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as caught:
        on_gpus(asked)
    assert words in str(caught.value)


@pytest.mark.parametrize("option", ["--dp", "--pp"])
def test_no_replicas_or_stages_is_what_is_wrong(option: str) -> None:
    result = run("size", LLAMA, "--gpu", "h200x8", option, "0")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"kvplan: error: {option}: 0 is not a whole number of at least 1\n"


def test_local_without_nvidia_smi_is_one_clear_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    result = run("size", LLAMA, "--gpu", "local")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        "kvplan: error: --gpu: local: there is no nvidia-smi on this machine "
        "(name the GPU instead: --gpu NAME, see `kvplan gpus`)\n"
    )


def _machine_of(gpus: int, monkeypatch: pytest.MonkeyPatch, folder: Path, free: int = 81_000) -> None:
    """A machine with that many H100s, as a program on the path tells it."""
    program = folder / "nvidia-smi"
    lines = f"NVIDIA H100 80GB HBM3, 81559, {free}, 9.0\n" * gpus
    program.write_text(f"#!/bin/sh\nprintf '{lines}'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))


def test_local_asks_the_program_on_the_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _machine_of(2, monkeypatch, tmp_path)
    found = json.loads(run("size", LLAMA, "--gpu", "local", "--format", "json").stdout)["budget"]
    assert (found["gpu"], found["gpus"], found["memory_bytes"]) == ("h100", 2, 85_520_809_984)


@pytest.mark.parametrize(
    ("options", "tp"),
    [
        ({"gpu": "local"}, 4),
        ({"gpu": "local", "tp": 2}, 2),
        ({"gpu": "local", "tp": 4}, 4),
        ({"gpu": "local", "tp": 1, "pp": 2}, 1),
        ({"gpu": "local", "dp": 2}, 2),
        ({"gpu": "localx2"}, 2),
        ({"gpu": "2xlocal", "tp": 2}, 2),
    ],
)
def test_local_uses_as_many_gpus_as_are_asked_for(
    options: dict[str, Any], tp: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _machine_of(4, monkeypatch, tmp_path)
    found = on_gpus(options)
    assert (found["gpu"], found["tp"]) == ("h100", tp)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--gpu", "local", "--tp", "4"], "local: this machine has 2 GPUs, the other options use 4"),
        (
            ["--gpu", "local", "--tp", "2", "--pp", "2"],
            "local: this machine has 2 GPUs, the other options use 4",
        ),
        (["--gpu", "localx4"], "localx4: this machine has 2 GPUs"),
        (["--gpu", "localx4", "--tp", "2"], "localx4: this machine has 2 GPUs"),
        (
            ["--gpu", "localx2", "--tp", "1"],
            "localx2: the other options use 1 GPU (leave out --tp or xN)",
        ),
    ],
)
def test_local_has_no_more_gpus_than_there_are(
    options: list[str], words: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _machine_of(2, monkeypatch, tmp_path)
    result = run("size", LLAMA, *options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"kvplan: error: --gpu: {words}\n"


@pytest.mark.parametrize(
    ("free", "options", "warned"),
    [
        (81_000, [], False),
        (80_023, [], False),  # 1,536 MiB less than the total: as much as a server's own context
        (80_022, [], True),
        (61_079, ["--free-before", "59GiB"], False),
        (61_079, ["--available-bytes", "30GiB"], False),
    ],
)
def test_memory_that_others_hold_is_a_warning_of_the_plan(
    free: int, options: list[str], warned: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _machine_of(2, monkeypatch, tmp_path, free)
    made = json.loads(run("size", LLAMA, "--gpu", "local", *options, "--format", "json").stdout)
    words = (
        "1,537 MiB of a local GPU are in use, and the plan takes them as free "
        "(--free-before GIB says what the server will find)"
    )
    assert made["warnings"] == ([words] if warned else [])


def test_a_launch_line_on_local_uses_its_own_tp(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _machine_of(4, monkeypatch, tmp_path)
    line = f"sglang serve {LLAMA} --tp 2"
    found = json.loads(run("size", "--launch", line, "--gpu", "local", "--format", "json").stdout)["budget"]
    assert (found["gpu"], found["gpus"]) == ("h100", 2)


@pytest.mark.parametrize(
    ("gpu", "count"),
    [
        ("h200x0", "0"),
        ("h200x1000000", "1000000"),
        ("1000000xh200", "1000000"),
        ("0 x h200", "0"),
        ("h200x08", "08"),
        ("localx0", "0"),
    ],
)
@pytest.mark.parametrize("memory", [[], ["--gpu-memory", "80GiB"]])
def test_a_number_of_gpus_that_no_machine_has_is_what_is_wrong(
    gpu: str, count: str, memory: list[str]
) -> None:
    result = run("size", LLAMA, "--gpu", gpu, *memory)
    assert (result.exit_code, result.stdout) == (2, "")
    words = f"'{gpu}': {count} is not a number of GPUs from 1 to 99,999"
    assert result.stderr == f"kvplan: error: --gpu: {words}\n"


def test_a_gpu_and_no_budget_gives_the_whole_chain() -> None:
    result = run("size", LLAMA, "--gpu", "h100x2", "--format", "json")
    assert result.exit_code == 0
    plan = json.loads(result.stdout)
    names = (
        "gpu gpus free_before_bytes weights_bytes weights_bytes_total weights_source free_after_bytes "
        "slack_bytes multimodal_reserve_bytes state_pool_bytes kv_pool_bytes"
    ).split()
    assert [name for name in names if name not in plan["budget"]] == []
    assert (plan["budget"]["gpus"], plan["budget"]["weights_source"]) == (2, "estimate")
    assert plan["budget"]["weights_bytes_total"] == 16_060_522_496
    assert plan["budget"]["low"]["max_total_num_tokens"] < plan["capacity"]["max_total_num_tokens"]


@pytest.mark.parametrize(
    ("options", "source", "total"),
    [
        (["--weights", "estimate"], "estimate", 16_060_522_496),
        (["--weights", "20GB"], "given", 20_000_000_000),
        (["--weights-per-gpu", "9GiB"], "given", None),
    ],
)
def test_the_source_of_the_weights_can_be_forced(options: list[str], source: str, total: int | None) -> None:
    found = json.loads(run("size", LLAMA, "--gpu", "h100", *options, "--format", "json").stdout)["budget"]
    assert (found["weights_source"], found["weights_bytes_total"]) == (source, total)


def test_free_memory_may_be_given_with_a_unit_and_under_its_other_names() -> None:
    logged = ["--pre-model-load-gib", "78.5", "--free-gib", "60"]
    named = ["--free-before", "78.5GiB", "--free-after", "60GiB"]
    plans = [
        json.loads(run("size", LLAMA, "--gpu", "h100", *options, "--format", "json").stdout)
        for options in (logged, named)
    ]
    assert plans[0]["capacity"] == plans[1]["capacity"]
    assert plans[0]["budget"]["free_before_bytes"] == 84_288_733_184  # 78.5 x 2^30


def test_a_model_that_does_not_fit_shows_the_chain_and_ends_with_3() -> None:
    result = run("size", "deepseek-ai/DeepSeek-V3.2", "--gpu", "h100x8")
    assert result.exit_code == 3
    assert "RESULT  does not fit: 19,203,136,846 bytes per GPU are missing\n" in result.stdout
    assert "try     --gpu h100x16 --tp 16  41.09 GiB of weights on each GPU: 2 requests\n" in result.stdout
    assert "19,203,136,846 bytes per GPU are missing before a single token" in result.stderr


def test_a_first_call_answers_which_gpu() -> None:
    result = run("size", LLAMA)
    assert result.exit_code == 0
    assert "on common GPUs, the fewest that hold one request of 100,000 tokens; per GPU\n" in result.stdout


def test_gpus_lists_the_catalogue() -> None:
    listed = json.loads(run("gpus", "--format", "json").stdout)["gpus"]
    assert {"a100", "a100-40gb", "h100-nvl", "gb200", "gb10", "mi355x"} <= {gpu["name"] for gpu in listed}


def test_fit_lists_the_cheapest_settings_with_their_commands() -> None:
    result = run("fit", LLAMA, "--ctx", "100k", "--concurrency", "4", "--gpu", "l40s,h100", "--top", "2")
    assert result.exit_code == 0
    assert "1 x h100  TP1" in result.stdout
    assert "1.  python -m sglang.launch_server --model-path meta-llama/Llama-3.1-8B --tp 1\n" in result.stdout
    assert "\n3. " not in result.stdout


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--gpu", "h1000"], 2, "--gpu: unknown GPU 'h1000'"),
        (["--allow", "int1"], 2, "--allow: 'int1' is not one of fp8"),
        (["--max-gpus", "0"], 2, "--max-gpus: 0 is not a whole number of at least 1"),
        (["--top", "many"], 2, "--top: 'many' is not a whole number"),
        (["--gpu", "l4", "--max-gpus", "1", "--ctx", "100k"], 3, "nothing fits on up to 1 GPUs of l4"),
    ],
)
def test_questions_that_fit_can_t_answer(options: list[str], code: int, words: str) -> None:
    result = run("fit", LLAMA, *options)
    assert (result.exit_code, result.stdout) == (code, "")
    assert words in result.stderr


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        ("--tp 4", ["--tp: is what fit searches for (leave it out, or see `kvplan size`)"]),
        (
            "--pp 2 --available-bytes 60GiB",
            [
                "--pp: is what fit searches for (leave it out, or see `kvplan size`)",
                "--available-bytes: would be the same for any number of GPUs (leave it out, or see "
                "`kvplan size`)",
            ],
        ),
        (
            "--gpu-memory 48GiB",
            ["--gpu-memory: is that of one GPU (--gpu sm89 or the like says of which)"],
        ),
    ],
)
def test_fit_takes_no_option_that_it_would_pass_over(options: str, lines: list[str]) -> None:
    result = run("fit", LLAMA, *options.split())
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.splitlines() == [f"kvplan: error: {line}" for line in lines]


def test_weights_without_a_gpu_are_tried_on_common_ones() -> None:
    result = run("size", "deepseek-v3", "--weights", "700GB")
    assert result.exit_code == 0
    assert "on common GPUs, the fewest that hold one request of 100,000 tokens" in result.stdout
    assert "(given, 700.00" in result.stdout


def test_an_answer_says_where_the_server_may_not_start() -> None:
    result = run("size", "minimax-m2", "--gpu", "h100x8", "--ctx", "32k", "--format", "markdown")
    assert "; see the warning: such a server may not start" in result.stdout
    dealt = run("size", "minimax-m2", "--gpu", "h100x8", "--ep", "2", "--ctx", "32k", "--format", "markdown")
    assert "may not start" not in dealt.stdout
