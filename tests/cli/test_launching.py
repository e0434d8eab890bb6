"""`kvplan size --launch`: the line as text, in a file, on stdin; options hold over it; warnings are shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from kvplan.cli.app import app
from tests.cli.console import run

LINE = (
    "python -m sglang.launch_server --model-path meta-llama/Llama-3.1-8B --tp 2 "
    "--kv-cache-dtype fp8_e4m3 --host 0.0.0.0"
)


def planned(*arguments: str) -> dict[str, Any]:
    result = run("size", *arguments, "--format", "json")
    assert result.exit_code == 0, result.stderr
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def test_a_line_is_planned_as_its_options_would_be() -> None:
    by_options = planned("meta-llama/Llama-3.1-8B", "--tp", "2", "--kv-cache-dtype", "fp8_e4m3")
    assert planned("--launch", LINE) == by_options
    # 32 layers x 4 of 8 heads x 256 x 1 B
    assert by_options["pool"]["cell_size"] == 32_768


GPU = ("--gpu", "h200", "--ctx", "32k")
# Lines as cookbooks have them, and the same as options; flags that touch no pool have none.
SAME = (
    (
        "python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V3.2 --tp 8 --trust-remote-code",
        "deepseek-ai/DeepSeek-V3.2 --tp 8",
    ),
    (
        "docker run --gpus all --shm-size 32g -p 30000:30000 --ipc=host lmsysorg/sglang:v0.5.12 \\\n"
        "  python3 -m sglang.launch_server --model deepseek-ai/DeepSeek-V3.2 --tp=8 --dp=8 "
        "--enable-dp-attention",
        "deepseek-ai/DeepSeek-V3.2 --tp 8 --dp 8 --enable-dp-attention --engine-version 0.5.12",
    ),
    (
        "CUDA_VISIBLE_DEVICES=0,1,2,3 sglang serve openai/gpt-oss-120b --tensor-parallel-size 4 "
        "--reasoning-parser gpt-oss --mem-fraction-static .88 # four of them",
        "openai/gpt-oss-120b --tp 4 --mem-fraction-static 0.88",
    ),
    (
        "python -m sglang.launch_server --model-path Qwen/Qwen3.5-397B-A17B --tp-size 8 "
        "--speculative-algo NEXTN --speculative-num-steps 3 --speculative-eagle-topk 1 "
        "--speculative-num-draft-tokens 4",
        "Qwen/Qwen3.5-397B-A17B --tp 8 --speculative-algorithm NEXTN --speculative-num-steps 3 "
        "--speculative-eagle-topk 1 --speculative-num-draft-tokens 4",
    ),
    (
        "nohup python -m sglang.launch_server --model-path meta-llama/Llama-3.1-70B --tp 2 --pp-size 2 "
        "--nnodes 2 --node-rank 0 --dist-init-addr 10.0.0.1:5000 --chunked-prefill-size 4096 > log 2>&1 &",
        "meta-llama/Llama-3.1-70B --tp 2 --pp 2 --chunked-prefill-size 4096",
    ),
    (
        "python -m sglang.launch_server --model-path meta-llama/Llama-3.1-8B --context-length 64k "
        "--max-running-requests 32 --disable-radix-cache --page-size 16 --kv-cache-dtype fp8_e5m2 --dp 2",
        "meta-llama/Llama-3.1-8B --context-length 64k --max-running-requests 32 --disable-radix-cache "
        "--page-size 16 --kv-cache-dtype fp8_e5m2 --dp 2",
    ),
    (
        "bash -c 'export TP=8; python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2.6 --tp $TP "
        "--ep-size 8 --attention-backend flashmla'",
        "moonshotai/Kimi-K2.6 --tp 8 --ep 8 --attention-backend flashmla",
    ),
    (
        "--model-path Qwen/Qwen3.5-397B-A17B --tp 8 --mamba-full-memory-ratio 0.5 --mamba-ssm-dtype bfloat16",
        "Qwen/Qwen3.5-397B-A17B --tp 8 --mamba-full-memory-ratio 0.5 --mamba-ssm-dtype bfloat16",
    ),
)


@pytest.mark.parametrize(("line", "options"), SAME)
def test_a_line_with_a_gpu_has_the_budget_of_the_same_options(line: str, options: str) -> None:
    by_line, by_options = planned("--launch", line, *GPU), planned(*options.split(), *GPU)
    assert by_line["budget"]["kv_pool_bytes"] > 0
    assert by_line == by_options


@pytest.mark.parametrize("mark", ["", "@"])
def test_a_file_that_holds_the_line_does_as_well(mark: str, tmp_path: Path) -> None:
    script = tmp_path / "start.sh"
    script.write_text(f"#!/bin/bash\nset -e\n{LINE} \\\n  --context-length 8192\n")
    assert planned("--launch", f"{mark}{script}")["deployment"]["context_length"] == 8_192


def test_a_dash_reads_stdin() -> None:
    command = ["size", "--launch", "-", "--format", "json"]
    result = CliRunner().invoke(app, command, input=LINE, prog_name="kvplan")
    assert json.loads(result.stdout)["deployment"]["tp"] == 2


def test_options_and_the_model_hold_over_the_line() -> None:
    found = planned("Qwen/Qwen3-8B", "--launch", LINE, "--tp", "4", "--kv-cache-dtype", "bf16")
    assert found["model"]["id"] == "Qwen/Qwen3-8B"
    assert (found["deployment"]["tp"], found["deployment"]["kv_cache_dtype"]) == (4, "bfloat16")


def test_attention_ranks_of_an_option_fit_the_gpus_of_the_line() -> None:
    found = planned("--launch", LINE, "--dp", "2", "--enable-dp-attention")
    assert found["deployment"]["attention_tp"] == 1


def test_what_is_not_modelled_is_warned_of_in_the_report() -> None:
    found = planned("--launch", f"{LINE} --attn-cp-size 2", "--available-bytes", "60GiB")
    assert found["warnings"] == ["not modelled: --attn-cp-size 2: heads are split over fewer GPUs"]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ([], "'MODEL' is missing (give a model, or --launch with one)"),
        (
            ["--launch", "sglang serve --tp 2"],
            "'MODEL' is missing, and the line names none (give a model, or --launch with one)",
        ),
        (
            ["--launch", f"{LINE} --page-sise 64"],
            "--launch: '--page-sise' is no flag of SGLang (did you mean --page-size?)",
        ),
        (["--launch", "@nowhere.sh"], "nowhere.sh: --launch: can't be read: No such file or directory"),
        (
            ["--launch", "sglang serve meta-llama/Llama-3.1-8B --tp 0"],
            "--tp: 0 is not a whole number of at least 1",
        ),
        (
            ["--launch", "sglang serve meta-llama/Llama-3.1-8B --tp 8 --attn-dp-size 3"],
            "--dp: 3 attention-DP ranks do not divide --tp 8",
        ),
        (
            ["--launch", LINE, "--gpu", "h200x8"],
            "--gpu: h200x8: the other options use 2 GPUs (leave out --tp or xN)",
        ),
        (  # a line without --tp starts on one GPU, however many there are
            ["--launch", "sglang serve meta-llama/Llama-3.1-8B", "--gpu", "h200x8"],
            "--gpu: h200x8: the other options use 1 GPU (leave out --tp or xN)",
        ),
    ],
)
def test_a_bad_line_is_one_line_on_stderr(arguments: list[str], line: str) -> None:
    result = run("size", *arguments)
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"kvplan: error: {line}\n")


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    binary = tmp_path / "start.bin"
    binary.write_bytes(b"\xff\xfe\x00python")
    command = ["size", "--launch", "-"]
    piped = CliRunner().invoke(app, command, input=binary.read_bytes(), prog_name="kvplan")
    for result, name in ((run("size", "--launch", str(binary)), str(binary)), (piped, "stdin")):
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr == f"kvplan: error: {name}: --launch: is not UTF-8 text\n"
