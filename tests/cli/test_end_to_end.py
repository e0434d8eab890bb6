"""Whole command lines on the bundled models, as a user types them."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from typer.testing import CliRunner

from kvplan.catalog import bundled
from kvplan.cli.app import app
from kvplan.plain_yaml import parse

DATA = Path(__file__).parents[1] / "data"

COMPARE = """\
KV cache of one request of 100,000 tokens, whole model
SGLang 0.5.23 | H200 (assumed) | TP 1 | KV bfloat16

                                   bytes a fixed bytes       KV bytes
model             attention layers   token   a request     at 100,000 ratio
Qwen3.5-397B-A17B GDN+GQA    45+15  30,720 192,061,440  3,264,061,440  1.0x
Kimi-K2.6         MLA           61  70,272           0  7,027,200,000  2.2x
DeepSeek-V3.2     DSA           61  78,324           0  7,832,400,000  2.4x
GLM-5.1           DSA           78 100,152           0 10,015,200,000  3.1x
MiniMax-M2.7      GQA           62 253,952           0 25,395,200,000  7.8x

assumed:  GPU H200: none is given, so the rules of Hopper with 143,771 MiB apply
assumed:  deepseek-ai/DeepSeek-V3.2: head_dim 64: the config leaves it out,
          default of deepseek_v32
"""

COMPARE_MARKDOWN = r"""### KV cache of one request of 100,000 tokens, whole model

- SGLang 0.5.23 \| H200 (assumed) \| TP 1 \| KV bfloat16

| model | attention | layers | bytes a token | fixed bytes a request | KV bytes at 100,000 | ratio |
| --- | --- | ---: | ---: | ---: | ---: | ---: |
| Qwen3.5-397B-A17B | GDN+GQA | 45+15 | 30,720 | 192,061,440 | 3,264,061,440 | 1.0x |
| Kimi-K2.6 | MLA | 61 | 70,272 | 0 | 7,027,200,000 | 2.2x |
| DeepSeek-V3.2 | DSA | 61 | 78,324 | 0 | 7,832,400,000 | 2.4x |
| GLM-5.1 | DSA | 78 | 100,152 | 0 | 10,015,200,000 | 3.1x |
| MiniMax-M2.7 | GQA | 62 | 253,952 | 0 | 25,395,200,000 | 7.8x |

- **assumed:** GPU H200: none is given, so the rules of Hopper with 143,771 MiB apply
- **assumed:** deepseek-ai/DeepSeek-V3.2: head\_dim 64: the config leaves it out, default of deepseek\_v32
"""

SIZE = """\
Qwen/Qwen3.5-397B-A17B
60 layers: 45 gated delta net, 15 full attention
bundled model configs/Qwen__Qwen3.5-397B-A17B.yaml
SGLang 0.5.23 | H200 (assumed) | TP 8 | KV bfloat16 | page 1
pool: MAMBA | recurrent state in 45 of 60 layers

per GPU                          bytes
one token                       15,360  15.36 kB  2 KV heads on 8 GPUs: stored 4
                                                  times
one request, any length     24,007,680  24.01 MB  state float32, conv bfloat16
one request at 100,000   1,560,007,680   1.56 GB  12,480,061,440 in total over 8
                                                  GPUs

capacity in 60.00 GiB (64,424,509,440 bytes) per GPU
pool   layers           bytes      slots
state      45  30,513,761,280      1,270  24,007,680 bytes each, 5 for each
                                          running request
KV         15  33,910,748,160  2,207,731  15,360 bytes each

SGLang logs  max_total_num_tokens=2207731, max_running_requests=254
RESULT       22 requests of 100,000 tokens at once; bound by KV tokens
try          --mamba-full-memory-ratio 0.08  state and KV run out together: 38
             requests
try          --kv-cache-dtype fp8_e4m3       7,680 bytes a token instead of
             15,360: 44 requests
try          --enable-dp-attention --dp 8    a request's KV on 1 of 8 GPUs, not
             on 8: 88 requests

assumed:       GPU H200: none is given, so the rules of Hopper with 143,771 MiB
               apply
not modelled:  weights, activations, CUDA graphs, host memory (HiCache, PD)
"""


def kvplan(*arguments: str) -> str:
    """What a command prints where all goes well and nothing is to be noted."""
    result = CliRunner().invoke(app, list(arguments), prog_name="kvplan")
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


def figures(*arguments: str) -> dict[str, Any]:
    """The plan as JSON, without where the model came from."""
    made: dict[str, Any] = json.loads(kvplan("size", *arguments, "--format", "json"))
    for key in ("source", "location", "revision"):
        del made["model"][key]
    return made


def test_compare_without_models_shows_the_five_flagships_at_100k() -> None:
    assert kvplan("compare") == COMPARE


def test_compare_in_markdown_has_the_same_figures() -> None:
    assert kvplan("compare", "--format", "markdown") == COMPARE_MARKDOWN


def test_compare_takes_lists_of_settings() -> None:
    text = kvplan(
        "compare", "llama-3.1-8b", "--tp", "1,8,16", "--kv-cache-dtype", "bf16,fp8_e4m3", "--format", "csv"
    )
    rows = csv.DictReader(io.StringIO(text))
    found = {(row["deployment.tp"], row["deployment.kv_cache_dtype"], row["bytes_per_token"]) for row in rows}
    assert found == {
        ("1", "bfloat16", "131072"),
        ("8", "bfloat16", "16384"),
        ("16", "bfloat16", "16384"),
        ("1", "float8_e4m3fn", "65536"),
        ("8", "float8_e4m3fn", "8192"),
        ("16", "float8_e4m3fn", "8192"),
    }


@pytest.mark.parametrize("name", ["qwen3.5-397b-a17b", "Qwen/Qwen3.5-397B-A17B", "QWEN/qwen3.5-397B-a17b"])
def test_size_is_read_at_80_columns_whatever_the_case_of_the_name(name: str) -> None:
    screen = kvplan("size", name, "--ctx", "100k", "--tp", "8", "--available-bytes", "60GiB")
    assert screen == SIZE
    assert max(map(len, screen.splitlines())) <= 80


def test_size_in_json_is_the_whole_plan() -> None:
    printed = json.loads(kvplan("size", "llama-3.1-8b", "--available-bytes", "100GiB", "--format", "json"))
    assert printed == json.loads((DATA / "llama-3.1-8b.json").read_text(encoding="utf-8"))


def test_size_in_csv_is_one_row_with_the_names_of_the_json() -> None:
    text = kvplan("size", "deepseek-v3.2", "--available-bytes", "100GiB", "--gpu", "h200", "--format", "csv")
    (row,) = csv.DictReader(io.StringIO(text))
    assert {key: row[key] for key in ("model.id", "pool.link", "pool.cell_size")} == {
        "model.id": "deepseek-ai/DeepSeek-V3.2",
        "pool.link": "DSA",
        "pool.cell_size": "78324",
    }
    assert row["capacity.max_total_num_tokens"] == "1370880"
    assert row["starts"] == "true"


def test_output_goes_to_a_file_and_stdout_stays_empty(tmp_path: Path) -> None:
    target = tmp_path / "plan.json"
    options = ("size", "llama-3.1-8b", "--format", "json")
    assert kvplan(*options, "-o", str(target)) == ""
    assert target.read_text(encoding="utf-8") == kvplan(*options)


def test_models_lists_every_bundled_model() -> None:
    rows = list(csv.DictReader(io.StringIO(kvplan("models", "--format", "csv"))))
    assert [next(iter(row.values())) for row in rows] == [model.id for model in bundled()]
    screen = kvplan("models")
    assert screen.startswith(f"{len(rows)} bundled models\n")
    assert max(map(len, screen.splitlines())) <= 80


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("qwen3.5-397b-a17b", ["--tp", "8", "--available-bytes", "60GiB"]),
        ("deepseek-v4-flash", ["--tp", "4", "--available-bytes", "40GiB"]),
        ("glm-5.2", ["--tp", "8", "--kv-cache-dtype", "fp8_e4m3", "--available-bytes", "50GiB"]),
        ("gpt-oss-20b", ["--available-bytes", "20GiB", "--swa-full-tokens-ratio", "0.5"]),
        ("gemma-3-27b-it", ["--tp", "2", "--available-bytes", "30GiB"]),
        ("gemma-4-e2b-it", ["--available-bytes", "10GiB"]),
        ("falcon-h1-0.5b-base", ["--available-bytes", "10GiB"]),
        ("kimi-k3", ["--tp", "16", "--available-bytes", "60GiB"]),
    ],
)
def test_an_exported_model_gives_the_same_plan(name: str, options: list[str], tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    kvplan("export", name, "-o", str(path))
    assert figures(str(path), *options) == figures(name, *options)


def test_a_changed_export_changes_the_plan(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(kvplan("export", "llama-3.1-8b").replace("kv_heads: 8", "kv_heads: 4"))
    # 4 x (128 + 128) x 32 x 2
    assert figures(str(path))["pool"]["cell_size"] == 65_536


def test_the_schema_accepts_every_bundled_file_and_refuses_a_slip() -> None:
    validator = jsonschema.Draft202012Validator(json.loads(kvplan("schema")))
    for model in bundled():
        data = parse(model.path.read_text(encoding="utf-8"), file=model.path.name, problems=[])
        assert list(validator.iter_errors(data)) == [], model.id
    slip = {"kvplan": 1, "architecture": "LlamaForCausalLM", "layers": [{"kind": "fulll", "kv_heads": 8}]}
    assert list(validator.iter_errors(slip)) != []


def test_a_context_beyond_the_models_own_is_planned_with_a_warning() -> None:
    made = figures("llama-3.1-8b", "--ctx", "200k")
    assert made["request"]["context"] == 200_000
    assert made["warnings"] == ["a context of 200,000 tokens is beyond the model's 131,072"]


def test_figures_that_do_not_go_with_the_server_are_planned_with_a_warning() -> None:
    limited = figures("llama-3.1-8b", "--ctx", "100k", "--context-length", "8192")
    assert figures("llama-3.1-8b", "--context-length", "8192")["request"]["context"] == 8192
    assert limited["warnings"] == [
        "a context of 100,000 tokens is beyond --context-length 8,192: it is refused"
    ]
    # 143,771 MiB are 140.40 GiB
    other = figures("llama-3.1-8b", "--gpu", "h200", "--free-before", "178.3", "--free-after", "120.7")
    assert other["warnings"] == ["178.3 GiB free are more than the 140.40 GiB of one H200"]


def test_the_default_context_is_the_models_own_where_that_is_shorter() -> None:
    assert figures("gemma-2-9b-it")["request"]["context"] == 8_192
    assert figures("llama-3.1-8b")["request"]["context"] == 100_000


def test_the_package_runs_as_a_module_and_prints_no_colour_into_a_pipe() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "kvplan", "compare"], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == (COMPARE, "")
