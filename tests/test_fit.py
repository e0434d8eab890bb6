"""The cheapest settings that serve what is asked, and the common GPUs of a first answer."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

import kvplan
from kvplan.architecture import Architecture
from kvplan.choices import Choice
from kvplan.deployment import Deployment
from kvplan.errors import DoesNotFitError, InputError
from kvplan.fit import COMMON_GPUS, common, named_gpus, search
from kvplan.planning import plan
from kvplan.search import SERVER_FLAGS, launch_line, layouts
from tests.cli.console import run

LLAMA = "meta-llama/Llama-3.1-8B"


def model(name: str = LLAMA) -> Architecture:
    return kvplan.load(name, source="bundled")


def found(
    name: str = LLAMA, *, gpus: tuple[str, ...] = ("l40s", "h100"), **options: Any
) -> tuple[Choice, ...]:
    most, allowed = options.pop("most", 4), options.pop("allowed", ())
    asked = Deployment(**{"weights": "auto", "ctx": 100_000, "concurrency": 4, **options})
    return search(model(name), asked, gpus=gpus, most=most, allowed=allowed)


def test_fewest_gpus_come_first_then_least_memory() -> None:
    rows = found()
    keys = [(row.gpus, row.memory_total_bytes) for row in rows]
    assert keys == sorted(keys)
    assert [(row.gpus, row.gpu, row.tp, row.dp) for row in rows[:4]] == [
        (1, "h100", 1, 1),
        (2, "l40s", 2, 1),
        (2, "l40s", 2, 2),
        (2, "h100", 2, 1),
    ]


def test_each_setting_holds_what_is_asked_and_says_with_how_much_room() -> None:
    for row in found(concurrency=3):
        assert row.requests >= 3
        assert row.headroom == row.requests / 3 - 1
        assert row.tight == (row.requests_low < 3)
        assert row.requests_low <= row.requests <= row.requests_high


def test_fp8_is_looked_at_where_it_is_allowed_only() -> None:
    assert {row.kv_cache_dtype for row in found()} == {"bfloat16"}
    assert {row.kv_cache_dtype for row in found(allowed=("fp8",))} == {"bfloat16", "float8_e4m3fn"}


def test_a_format_that_is_the_default_of_a_gpu_is_listed_once() -> None:
    """Sparse MLA keeps FP8 on Blackwell without a flag."""
    rows = found("deepseek-ai/DeepSeek-V3.2", gpus=("b200",), most=8, allowed=("fp8",))
    layouts_seen = [(row.tp, row.dp, row.pp, row.kv_cache_dtype) for row in rows]
    assert len(layouts_seen) == len(set(layouts_seen))
    assert not any("--kv-cache-dtype" in row.command for row in rows)


def test_several_machines_get_pipeline_stages() -> None:
    rows = found("meta-llama/Llama-3.1-405B", gpus=("a100",), most=16, concurrency=1)
    assert {(row.tp, row.pp) for row in rows} >= {(16, 1), (8, 2)}


def test_experts_are_dealt_where_a_cut_would_break_their_blocks() -> None:
    """MiniMax-M2 is FP8 in blocks of 128: 1536 / 8 = 192 does not load, 1536 / (8 / 2) = 384 does."""
    rows = found("MiniMaxAI/MiniMax-M2", gpus=("h100",), most=8, ctx=32_000, concurrency=1)
    assert {(row.tp, row.dp, row.ep) for row in rows} >= {(4, 1, 1), (8, 1, 2), (8, 2, 2)}
    assert not [row for row in rows if row.tp == 8 and row.ep == 1]
    assert all(f"--tp {row.tp}" in row.command for row in rows)
    assert all(("--ep-size 2" in row.command) == (row.ep == 2) for row in rows)


def test_a_backend_that_needs_a_rank_on_each_gpu_is_searched_with_it() -> None:
    """flashinfer sends tokens between attention-DP ranks alone."""
    name, options = "deepseek-ai/DeepSeek-V3", {"ctx": 32_000, "moe_a2a_backend": "flashinfer"}
    rows = found(name, gpus=("h200",), most=8, **options)
    assert {(row.tp, row.dp, row.ep) for row in rows} == {(8, 8, 8)}
    flags = ("--gpu", "h200", "--ctx", "32k", "--concurrency", "4", "--moe-a2a-backend", "flashinfer")
    result = run("fit", name, *flags)
    assert result.exit_code == 0
    assert "--moe-a2a-backend flashinfer --enable-dp-attention" in result.stdout


@pytest.mark.parametrize(
    ("name", "options", "flag"),
    [
        # 48 layers of states for the default share hold 141 requests
        (
            "Qwen/Qwen3-Next-80B-A3B-Instruct",
            {"gpus": ("h100",), "ctx": 1_000, "concurrency": 250},
            "--mamba-full-memory-ratio 7.0",
        ),
        # DeepSeek-V4 runs 256 requests at once where nothing is said
        (
            "deepseek-ai/DeepSeek-V4-Flash",
            {"gpus": ("b200",), "ctx": 8_000, "concurrency": 300},
            "--max-running-requests 300",
        ),
    ],
)
def test_a_limit_that_one_flag_moves_is_no_limit(name: str, options: dict[str, Any], flag: str) -> None:
    rows = found(name, **options)
    assert any(flag in row.command for row in rows)
    assert all(row.requests >= options["concurrency"] for row in rows)


def test_layouts_that_do_not_load_are_left_out() -> None:
    """28 heads of Qwen2.5-7B divide by 4 GPUs, and by 8 only with attention DP."""
    rows = found("Qwen/Qwen2.5-7B-Instruct", most=8, ctx=32_000)
    assert {(row.tp, row.dp) for row in rows if row.tp > 2} == {
        (4, 1),
        (4, 2),
        (4, 4),
        (8, 2),
        (8, 4),
        (8, 8),
    }


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        # a request takes 12.2 GiB (100,000 x 32 layers x 8 heads x 2 x 128 x 2 bytes), weights 15 of 45 GiB
        (LLAMA, {"gpus": ("l40s",), "most": 1}, "1 x l40s (TP1) hold 1 of 4 requests of 100,000 tokens"),
        # of layouts that hold none, the one with most tokens
        (
            LLAMA,
            {"gpus": ("l40s",), "most": 8, "ctx": 5_000_000, "concurrency": 1},
            "8 x l40s (TP8) hold 0 of 1 requests of 5,000,000 tokens",
        ),
        # requests at once bind, no memory
        (
            LLAMA,
            {"gpus": ("h100",), "most": 1, "ctx": 100, "concurrency": 100_000},
            "1 x h100 (TP1) hold 2,048 of 100,000 requests of 100 tokens (a larger --max-gpus",
        ),
        # each layout lacks memory, and those without a rank on each GPU are refused besides
        (
            "deepseek-ai/DeepSeek-V3",
            {"gpus": ("h100",), "most": 8, "ctx": 32_000, "moe_a2a_backend": "flashinfer"},
            "nothing fits on up to 8 GPUs of h100; about ",
        ),
        # a chunk that is no multiple of the page stops each layout
        (
            LLAMA,
            {"gpus": ("h100",), "most": 1, "chunked_prefill_size": 1000, "page_size": 64},
            "1 x h100 (TP1): SGLang does not start: a prefill chunk of 1,000 tokens on each rank is no mult",
        ),
        # 28 heads: TP8 does not load
        (
            "Qwen/Qwen2.5-7B-Instruct",
            {"gpus": ("h100",), "most": 8, "ctx": 32_000, "concurrency": 600},
            "nothing fits on up to 8 GPUs of h100: 8 x h100 (TP4 PP2) hold ",
        ),
    ],
)
def test_where_nothing_fits_the_best_that_starts_is_told(
    name: str, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(DoesNotFitError) as caught:
        found(name, **options)
    assert words in str(caught.value)


def test_nothing_that_fits_is_a_refusal_with_the_shortfall() -> None:
    with pytest.raises(DoesNotFitError) as caught:
        found("deepseek-ai/DeepSeek-V3.2", most=2)
    assert "nothing fits on up to 2 GPUs of l40s, h100" in str(caught.value)
    assert caught.value.shortfall_bytes > 0


def test_names_are_those_of_the_catalogue() -> None:
    assert named_gpus(["H100", "NVIDIA H100 80GB HBM3", "l40s"]) == ("h100", "l40s")
    with pytest.raises(InputError, match="unknown GPU 'h1000'"):
        named_gpus(["h1000"])


def test_common_gpus_show_the_fewest_that_hold_one_request() -> None:
    rows = {row.gpu: row.gpus for row in common(model(), Deployment(weights="auto"), given_tp=False)}
    assert rows == dict.fromkeys(COMMON_GPUS, 1)
    large = common(model("deepseek-ai/DeepSeek-V3.2"), Deployment(weights="auto"), given_tp=False)
    assert {row.gpu: row.gpus for row in large} == {"h200": 8, "b200": 8, "b300": 4}


def test_common_gpus_hold_all_requests_where_a_context_is_asked_for() -> None:
    asked = Deployment(weights="auto", ctx=100_000, concurrency=16)
    rows = common(model(), asked, given_tp=False)
    assert {row.gpu: row.gpus for row in rows}["h200"] == 2
    assert all(row.requests >= 16 for row in rows)


def test_layouts_are_tp_attention_dp_and_stages_where_they_apply() -> None:
    laid = [(one.tp, one.dp, one.pp) for one in layouts(model(), Deployment(), 4)]
    assert laid == [(4, 1, 1), (4, 2, 1), (4, 4, 1)]
    laid = [(one.tp, one.dp, one.pp) for one in layouts(model(), Deployment(), 16)]
    assert laid[-1] == (8, 1, 2)
    assert [one for one in laid if one[2] > 1] == [(8, 1, 2)]


def test_stages_apply_where_kv_heads_do_not_divide() -> None:
    """phi-4 has 40 query heads, which divide by 8, and 10 KV heads, which do by 2 at most."""
    laid = [(one.tp, one.pp) for one in layouts(model("microsoft/phi-4"), Deployment(), 8)]
    assert laid[-1] == (2, 4)


def test_what_is_missing_is_all_requests_less_what_there_is() -> None:
    """4 requests of 100,000 x 131,072 bytes beside the weights of one L40S."""
    asked = Deployment(gpu="l40s", weights="auto", ctx=100_000, concurrency=4)
    budget = plan(model(), asked).budget
    assert budget is not None
    assert budget.available_bytes is not None
    with pytest.raises(DoesNotFitError) as caught:
        found(gpus=("l40s",), most=1)
    assert caught.value.shortfall_bytes == 4 * 13_107_200_000 - budget.available_bytes


def test_a_launch_line_has_every_option_that_differs_from_the_default() -> None:
    asked = Deployment(
        tp=8, dp=4, enable_dp_attention=True, kv_cache_dtype="fp8_e4m3", mem_fraction_static=0.9, gpu="h200"
    )
    assert launch_line(model(), asked) == (
        "python -m sglang.launch_server --model-path meta-llama/Llama-3.1-8B --tp 8 --dp 4 "
        "--enable-dp-attention --kv-cache-dtype fp8_e4m3 --mem-fraction-static 0.9"
    )


def test_every_option_that_a_server_has_can_stand_in_its_launch_line() -> None:
    """The others are the planner's own: what is asked, the machine, the budget, the rules."""
    own = "ctx concurrency snapshot_every draft_tokens gpu gpu_memory weights weights_per_gpu available_bytes"
    own += " pre_model_load_gib free_gib engine_version assume_supported hisparse_ratio"
    fields = {field.name for field in dataclasses.fields(Deployment)}
    assert set(SERVER_FLAGS) == fields - set(own.split())


def test_a_server_over_two_machines_says_so() -> None:
    line = launch_line(model(), Deployment(tp=8, pp=2))
    assert line.endswith("--tp 8 --pp-size 2 --nnodes 2 --node-rank 0 --dist-init-addr HOST:5000")


@pytest.mark.parametrize(
    "command",
    [
        "llama-3.1-70b --ctx 32k --concurrency 16 --allow fp8",
        "deepseek-v3.2 --ctx 100k --concurrency 32 --max-gpus 16 --allow fp8",
        "qwen3.5-397b-a17b --ctx 100k --concurrency 32 --mem-fraction-static 0.88",
        "gpt-oss-120b --ctx 32k --concurrency 8 --max-running-requests 64 --disable-radix-cache",
        "deepseek-v4-flash --ctx 100k --concurrency 8 --speculative-algorithm EAGLE "
        "--speculative-num-steps 3 --speculative-eagle-topk 1 --speculative-num-draft-tokens 4",
        "llama-3.1-8b --ctx 32k --gpu sm89 --gpu-memory 48GiB",
    ],
)
def test_each_launch_line_plans_to_the_row_that_it_stands_in(command: str) -> None:
    rows = json.loads(run("fit", *command.split(), "--top", "3", "--format", "json").stdout)["settings"]
    assert rows
    memory = ["--gpu-memory", "48GiB"] if "--gpu-memory" in command else []
    context = command.split("--ctx ")[1].split(maxsplit=1)[0]
    for row in rows:
        asked = ["--launch", row["command"], "--gpu", row["gpu"], *memory, "--ctx", context]
        found = json.loads(run("size", *asked, "--format", "json").stdout)
        capacity, budget = found["capacity"], found["budget"]
        assert capacity["max_total_num_tokens"] == row["tokens"]
        assert capacity["requests_at_context"] * row["dp"] == row["requests"]
        assert (budget["gpus"], budget["kv_pool_bytes"]) == (row["gpus"], row["kv_pool_bytes"])
        assert budget["weights_bytes"] == row["weights_bytes"]
        assert not any("not modelled" in text for text in found["warnings"])
