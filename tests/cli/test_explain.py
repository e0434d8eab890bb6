"""`kvplan explain` and `--set` as a user meets them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kvplan.export import to_yaml
from tests.cli.console import run
from tests.models import GPT_OSS, LLAMA_8B, QWEN_35


@pytest.fixture(name="llama")
def _llama(tmp_path: Path) -> str:
    path = tmp_path / "llama.yaml"
    path.write_text(to_yaml(LLAMA_8B), encoding="utf-8")
    return str(path)


@pytest.fixture(name="qwen")
def _qwen(tmp_path: Path) -> str:
    path = tmp_path / "qwen.yaml"
    path.write_text(to_yaml(QWEN_35), encoding="utf-8")
    return str(path)


EXPLAINED = """\
meta-llama/Llama-3.1-8B
32 layers: 32 full attention
SGLang 0.5.23 | H100 | TP 16 | KV bfloat16 | page 1

full attention: one layer of 32, per GPU
                 formula         with numbers          result
K and V          K (D + Dv) e    1 x (128 + 128) x 2      512
  kept           copies x S x E  1 x 1,000 x 512      512,000
  read per step  S x E           1,000 x 512          512,000

all layers, per GPU
                  formula                   with numbers                  result
alpha, a token    sum copies E / m          32 x 512                      16,384
gamma, a request  sum W E + C               0                                  0
M(1,000)          sum copies n(S) E         32 x 512,000              16,384,000
r(1,000)          sum of what each layer    32 x 512,000              16,384,000
                  reads
copies            max(1, K // TP)           8 KV heads on 16 GPUs:
                                            stored 2 times;
                                            attention DP 16 would
                                            store them once
stored, times     bytes on all GPUs /       262,144,000 /                      2
                  bytes needed once         131,072,000

knobs, against multi-head attention of the same shape (whole model)
                   formula                            with numbers   result
alpha of MHA       L N (D + Dv) e                     32 x 16,384   524,288
width of an entry  N (D + Dv) / elements of an entry  / 4           131,072
altogether         alpha of MHA / alpha               / 4           131,072

which pool SGLang 0.5.23 builds
       formula       with numbers                                         result
DSV4   passes it on  not a DeepSeek-V4 class
"""


def test_the_derivation_reads_line_by_line(llama: str) -> None:
    result = run("explain", llama, "--tp", "16", "--ctx", "1000", "--gpu", "h100")
    assert result.exit_code == 0
    assert result.stdout[: len(EXPLAINED)] == EXPLAINED


def test_every_rule_has_a_source(llama: str) -> None:
    lines = run("explain", llama).stdout.splitlines()
    assert "source:   full attention: SGLang mem_cache/memory_pool.py, MHATokenToKVPool" in lines


def test_symbols_need_no_model() -> None:
    result = run("explain", "--symbols")
    assert result.exit_code == 0
    assert "S             context: tokens of one request so far" in result.stdout.splitlines()


def test_neither_a_model_nor_symbols() -> None:
    result = run("explain")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "kvplan: error: MODEL: is missing (or give --symbols)\n"


def test_the_accounting_block_of_the_json(qwen: str) -> None:
    options = ["--snapshot-every", "50k", "--draft-tokens", "4"]
    options += ["--available-bytes", "60GiB", "--ctx", "100k"]
    block = json.loads(run("size", qwen, "--format", "json", *options).stdout)["accounting"]
    assert block == {
        "context": 100_000,
        "alpha": 30_720,
        "gamma": 192_061_440,
        # 192,061,440 / 30,720
        "s_star": 6252,
        "request_bytes": 3_264_061_440,
        "read_bytes_per_step": 3_264_061_440,
        "state_bytes": 192_061_440,
        "equivalent_kv_heads": None,
        "break_even_tokens": 2084,
        # floor(60 x 2^30 / 3,264,061,440)
        "max_requests": 19,
        "snapshots": 2,
        "snapshot_bytes": 384_122_880,
        "draft_state_bytes": 768_245_760,
        "stored_copies": 1,
        "whole": {
            "alpha": 30_720,
            "gamma": 192_061_440,
            "request_bytes": 3_264_061_440,
            "read_bytes_per_step": 3_264_061_440,
        },
    }


def test_explain_as_json_has_each_step(llama: str) -> None:
    document = json.loads(run("explain", llama, "--format", "json", "--ctx", "1000").stdout)
    assert document["sections"][0] == {
        "title": "full attention: one layer of 32, per GPU",
        "layer": "full",
        "layers": 32,
        "lines": [
            {
                "part": "K and V",
                "what": "E, bytes each",
                "symbols": "K (D + Dv) e",
                "numbers": "8 x (128 + 128) x 2",
                "result": 4096,
            },
            {
                "part": "K and V",
                "what": "kept",
                "symbols": "copies x S x E",
                "numbers": "1 x 1,000 x 4,096",
                "result": 4_096_000,
            },
            {
                "part": "K and V",
                "what": "read per step",
                "symbols": "S x E",
                "numbers": "1,000 x 4,096",
                "result": 4_096_000,
            },
        ],
        "sources": ["SGLang mem_cache/memory_pool.py, MHATokenToKVPool"],
    }


@pytest.mark.parametrize("command", ["size", "explain", "curve", "host"])
def test_a_change_is_named_in_the_report(llama: str, command: str) -> None:
    result = run(command, llama, "--set", "kv_heads=4", "--set", "layers.full=16")
    assert result.exit_code == 0
    assert "meta-llama/Llama-3.1-8B [kv_heads=4, layers.full=16]" in result.stdout


@pytest.mark.parametrize("command", ["size", "explain"])
def test_a_report_says_what_was_there_before(llama: str, command: str) -> None:
    assert "changed: kv_heads=4 (was 8)" in run(command, llama, "--set", "kv_heads=4").stdout.splitlines()


def test_variants_stand_side_by_side(tmp_path: Path) -> None:
    path = tmp_path / "oss.yaml"
    path.write_text(to_yaml(GPT_OSS), encoding="utf-8")
    arguments = ["--set", "window=1024", "--set", "layers.full=9,layers.sliding=27", "--format", "json"]
    document = json.loads(run("compare", str(path), "--ctx", "100k", *arguments).stdout)
    # full layers keep 100,000 x 2,048 bytes each, sliding ones 128 (or 1,024) x 2,048
    assert {row["model"]: row["bytes"] for row in document["rows"]} == {
        # 9 x 204,800,000 + 27 x 262,144
        "openai/gpt-oss-120b [layers.full=9, layers.sliding=27]": 1_850_277_888,
        # 18 x 204,800,000 + 18 x 262,144
        "openai/gpt-oss-120b": 3_691_118_592,
        # 18 x 204,800,000 + 18 x 2,097,152
        "openai/gpt-oss-120b [window=1024]": 3_724_148_736,
    }


@pytest.mark.parametrize("command", ["size", "compare", "explain", "curve", "host"])
def test_an_unknown_key_is_bad_input(llama: str, command: str) -> None:
    result = run(command, llama, "--set", "kv_head=4")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "kvplan: error: --set: unknown key 'kv_head' (did you mean kv_heads?)\n"


@pytest.mark.parametrize(
    ("ending", "start"), [("svg", '<svg class="rich-terminal"'), ("html", "<!DOCTYPE html>")]
)
def test_a_table_is_saved_as_it_looks(llama: str, tmp_path: Path, ending: str, start: str) -> None:
    target = tmp_path / f"report.{ending}"
    result = run("size", llama, "-o", str(target))
    assert (result.exit_code, result.stdout) == (0, "")
    assert target.read_text(encoding="utf-8").startswith(start)


def test_another_format_keeps_its_own_text_whatever_the_name_of_the_file(llama: str, tmp_path: Path) -> None:
    target = tmp_path / "report.svg"
    assert run("size", llama, "--format", "json", "-o", str(target)).exit_code == 0
    assert json.loads(target.read_text(encoding="utf-8"))["model"]["id"] == "meta-llama/Llama-3.1-8B"
