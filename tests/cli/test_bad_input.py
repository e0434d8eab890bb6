"""Input that can't be planned: a line on stderr for each problem, exit 2 or 3, and no figure for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from kvplan.cli.app import app

LLAMA: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "max_position_embeddings": 131072,
    "torch_dtype": "bfloat16",
}
SLIDING = {
    "architectures": ["GptOssForCausalLM"],
    "model_type": "gpt_oss",
    "head_dim": 64,
    "sliding_window": 128,
    "layer_types": ["sliding_attention", "full_attention"] * 15,
}
DECLARED = """\
kvplan: 1
id: someone/model
architecture: LlamaForCausalLM
context_length: 4096
dtype: {dtype}
num_layers: {num_layers}
layers:
  - {{kind: full, count: 32, kv_heads: 8, head_dim: 128}}
"""
READS = "kvplan reads a config.json or a model YAML"
BOMB = "a: &a [x, x]\n" + "".join(
    f"{key}: &{key} [{', '.join([f'*{before}'] * 10)}]\n"
    for before, key in zip("abcdefgh", "bcdefghi", strict=True)
)
TWO_HUNDRED_MB = 200_000_000


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def size(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["size", *arguments], prog_name="kvplan")


def refused(result: Result, code: int, *lines: str) -> None:
    assert (result.exit_code, result.stdout) == (code, "")
    assert result.stderr.splitlines() == [f"kvplan: error: {line}" for line in lines]


@pytest.mark.parametrize("name", ["missing.json", "./missing", "folder/of/missing.yaml", "~missing/model"])
def test_no_such_file(name: str) -> None:
    refused(size(name), 2, f"{name}: no such file")


def test_a_folder_without_config_json() -> None:
    Path("folder").mkdir()
    hint = "give the folder of a model, or the file itself"
    refused(size("folder"), 2, f"folder: has no config.json ({hint})")


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("notes.txt", b"hello\n", f"holds plain text, not a mapping of keys to values ({READS})"),
        ("list.json", b"[1, 2]", f"holds a list, not a mapping of keys to values ({READS})"),
        ("weights.bin", b"\x80\x02}q\x00", f"is not UTF-8 text (byte 0) ({READS})"),
        ("half.json", b'{"a": ', "is not valid JSON: Expecting value in line 1, column 7"),
        ("empty.json", b"", f"is empty ({READS})"),
        ("empty.yaml", b"", f"is empty ({READS})"),
        ("blank.yaml", b" \n\n", f"is empty ({READS})"),
        ("bomb.yaml", BOMB.encode(), "a: YAML anchors and aliases are not read (write the value out)"),
        (
            "tag.yaml",
            b"id: !!python/object/apply:os.mkdir ['made']\n",
            "id: the YAML tag '!!python/object/apply:os.mkdir' is not read (leave the tag out)",
        ),
        (
            "other.yaml",
            b"services: {web: nginx}\n",
            "architectures: is missing, so the model class is unknown "
            "(declare the layers in a YAML of kvplan's own, see `kvplan schema`)",
        ),
        (
            "twice.yaml",
            DECLARED.format(dtype="bfloat16", num_layers=32).encode() + b"id: another/model\n",
            "id: is there twice, in line 2 and in line 9 (keep one)",
        ),
    ],
)
def test_a_file_that_is_no_model(name: str, content: bytes, line: str) -> None:
    Path(name).write_bytes(content)
    refused(size(name), 2, f"{name}: {line}")
    assert [path.name for path in Path().iterdir()] == [name]  # the tag made nothing


def test_broken_yaml() -> None:
    Path("half.yaml").write_text("a: [1,\n")
    result = size("half.yaml")
    assert (result.exit_code, result.stdout) == (2, "")
    # How it goes on depends on whether PyYAML was built with libyaml.
    assert result.stderr.startswith("kvplan: error: half.yaml: is not valid YAML: ")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("name", ["config.json", "model.yaml"])
def test_a_file_of_200_mb_is_not_read(name: str) -> None:
    with open(name, "wb") as file:
        file.truncate(TWO_HUNDRED_MB)  # sparse: it takes no space
    refused(size(name), 2, f"{name}: is larger than 8 MiB, far more than any config ({READS})")


@pytest.mark.parametrize(
    ("changes", "lines"),
    [
        ({"num_hidden_layers": 0}, ["num_hidden_layers: 0 is not between 1 and 10000"]),
        ({"num_hidden_layers": -4}, ["num_hidden_layers: -4 is not between 1 and 10000"]),
        (
            {"num_hidden_layers": "32"},
            ["num_hidden_layers: '32' is not a whole number (write it without quotes)"],
        ),
        ({"num_hidden_layers": "many"}, ["num_hidden_layers: 'many' is not a whole number"]),
        ({"num_hidden_layers": True}, ["num_hidden_layers: True is not a whole number"]),
        ({"num_hidden_layers": 31.5}, ["num_hidden_layers: 31.5 is not a whole number"]),
        ({"num_hidden_layers": 10**9}, ["num_hidden_layers: 1000000000 is not between 1 and 10000"]),
        (
            {"num_hidden_layers": 10**6},
            ["num_hidden_layers: 1000000 is not between 1 and 10000"],
        ),
        (
            {"num_hidden_layers": 10**400},
            ["num_hidden_layers: the number is not between 1 and 10000"],
        ),
        ({"num_attention_heads": 0}, ["num_attention_heads: 0 is not between 1 and 16777216"]),
        (
            {"hidden_size": 4097},
            ["head_dim: is missing, and 4097 hidden dimensions don't divide by 32 heads"],
        ),
        (SLIDING, ["layer_types: has 30 entries for 32 layers"]),
        (
            {"torch_dtype": "bfloat17"},
            ["torch_dtype: unknown dtype 'bfloat17' (bfloat16, float16 or float32)"],
        ),
        (
            {"architectures": ["NobodysForCausalLM"]},
            [
                "architectures: unknown model class 'NobodysForCausalLM' "
                "(declare the layers in a YAML of kvplan's own, see `kvplan schema`)"
            ],
        ),
        (
            {"num_hidden_layers": 0, "torch_dtype": "x"},
            [
                "num_hidden_layers: 0 is not between 1 and 10000",
                "torch_dtype: unknown dtype 'x' (bfloat16, float16 or float32)",
            ],
        ),
    ],
)
def test_values_that_no_model_has(changes: dict[str, Any], lines: list[str]) -> None:
    Path("config.json").write_text(json.dumps(LLAMA | changes))
    refused(size("config.json"), 2, *(f"config.json: {line}" for line in lines))


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"num_layers": 31}, "num_layers: 31 does not agree with the 32 layers under layers"),
        ({"num_layers": "1e6"}, "num_layers: '1e6' is not a whole number (write 1000000)"),
        ({"dtype": "bfloat17"}, "dtype: unknown dtype 'bfloat17' (did you mean bfloat16?)"),
    ],
)
def test_a_model_yaml_that_contradicts_itself(changes: dict[str, Any], line: str) -> None:
    values: dict[str, Any] = {"num_layers": 32, "dtype": "bfloat16"}
    Path("model.yaml").write_text(DECLARED.format(**values | changes))
    refused(size("model.yaml"), 2, f"model.yaml: {line}")


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--tp", "0"], "--tp: 0 is not a whole number of at least 1"),
        (["--ctx", "-1"], "--ctx: '-1' is not a token count such as 4096, 100k or 128Ki"),
        (["--ctx", "10zb"], "--ctx: '10zb' is not a token count such as 4096, 100k or 128Ki"),
        (
            ["--tp", "3"],
            "--tp: neither 32 attention heads nor 4096 hidden dimensions divide by 3 GPUs "
            "(--tp 1, 2, 4, 8, 16 would do)",
        ),
        (
            ["--kv-cache-dtype", "fp3"],
            "--kv-cache-dtype: SGLang 0.5.23 has no KV dtype 'fp3' (known: auto, bf16, bfloat16, "
            "fp8_e4m3, fp8_e5m2, mxfp8, nvfp4, fp4_mx_block16)",
        ),
    ],
)
def test_options_that_can_not_be(options: list[str], line: str) -> None:
    refused(size("llama-3.1-8b", *options), 2, line)


@pytest.mark.parametrize(
    ("model", "budget", "shortfall", "words"),
    [
        # Half the tokens may run as requests: 2 x 131,072 - 100,000
        ("llama-3.1-8b", "100kB", "162,144", "not enough memory: 100,000 bytes per GPU for KV, the smallest"),
        # 64 x 78,324 - 1,000,000
        ("deepseek-v3.2", "1MB", "4,012,736", "the smallest pool, 64 tokens, takes 5,012,736"),
        # 1.9 / 0.9 x 6 slots of 192,061,440 (a request takes 5, the padding slot counts) - 1,000,000
        (
            "qwen3.5-397b-a17b",
            "1MB",
            "2,431,778,240",
            "no room for recurrent state: 5 slots of 192,061,440 bytes per GPU let one request run",
        ),
        # The window of 127, a page of 1, and more: 129 / 0.8 -> 162 full tokens of 66,355.2
        (
            "gpt-oss-120b",
            "1MB",
            "9,749,543",
            "the sliding-window pool of 12 tokens can't hold one request: it needs more than the window of "
            "127 and a page of 1; 162 full tokens give that and take 10,749,543 bytes per GPU",
        ),
        # C128 states: (257 slots x 128 + 129, in blocks of 128) x 2 x 512 x 4 B x 20 layers = 2,715,811,840;
        # window 128 and page 256: 512 sliding tokens, a tenth of 5,120 full ones of 7,086.75
        (
            "deepseek-v4-flash",
            "1GB",
            "1,752,096,000",
            "states of 257 slots take 2,715,811,840, the fewest full tokens, 5,120, take 36,284,160",
        ),
    ],
)
def test_a_budget_that_is_too_small_exits_3_with_the_shortfall(
    model: str, budget: str, shortfall: str, words: str
) -> None:
    result = size(model, "--available-bytes", budget)
    assert result.exit_code == 3
    assert f"RESULT  does not fit: {shortfall} bytes per GPU are missing\n" in result.stdout
    assert result.stderr.startswith("kvplan: error: SGLang would stop: ")
    assert words in result.stderr
    assert f"; {shortfall} bytes are missing (" in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_cap_on_tokens_below_one_page_is_no_matter_of_memory() -> None:
    refused(
        size("llama-3.1-8b", "--available-bytes", "10GiB", "--max-total-tokens", "10", "--page-size", "64"),
        3,
        "SGLang would stop: --max-total-tokens 10 is less than the smallest pool, 64 tokens "
        "(at least --max-total-tokens 64)",
    )


def test_a_cap_on_tokens_that_leaves_no_window_names_the_cap() -> None:
    refused(
        size("gpt-oss-120b", "--available-bytes", "10GiB", "--max-total-tokens", "100"),
        3,
        "SGLang would stop: the sliding-window pool of 80 tokens can't hold one request: it needs more than "
        "the window of 127 and a page of 1 (a larger --max-total-tokens or --swa-full-tokens-ratio)",
    )


def test_windows_of_the_requests_that_may_run_are_told_from_the_page() -> None:
    """64 x (127 + 128 + 1 + 1) + 2 x 8,192 + 1 = 32,833 tokens of 18 x 2,048 B; full ones are as large."""
    options = "--available-bytes 300MB --max-running-requests 64 --disable-radix-cache"
    result = size("gpt-oss-120b", *options.split())
    assert result.exit_code == 3
    assert (
        "32,833 sliding tokens for the requests that may run take 1,210,355,712, 2 full tokens 73,728; "
        "910,429,440 bytes are missing"
    ) in result.stderr
