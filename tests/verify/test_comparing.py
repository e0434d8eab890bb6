"""Sample logs beside their plans: terms, verdicts and causes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kvplan import load
from kvplan.bootlog import read_log
from kvplan.deployment import Deployment
from kvplan.verify import Verification, told_by, verify
from tests.bootlog import samples

Term = tuple[str, int, float, bool]


def compared(text: str, model: str, **changes: object) -> Verification:
    log = read_log(text.splitlines())
    told = told_by(log)
    asked = Deployment(**{**told.settings, **changes})  # type: ignore[arg-type]
    return verify(log, load(model, source="bundled"), asked, told=told)


def terms(found: Verification) -> list[Term]:
    return [(one.name, round(one.predicted), round(one.logged, 2), one.agrees) for one in found.checks]


@pytest.mark.parametrize(
    ("text", "model", "expected"),
    [
        (
            samples.V0_4,
            "meta-llama/Llama-3.1-8B-Instruct",
            [
                # 2.33 GiB of K and of V in 38,142 rows; 32 layers x 8 heads x 256 x 2 B
                ("bytes per token", 131_072, 131_184.44, True),
                # (7.37 - 0.12 x 22.39) GiB / 131,072
                ("max_total_num_tokens", 38_364, 38_141, True),
                ("max_running_requests", 2_048, 2_048, True),
            ],
        ),
        (
            samples.V0_5_12_SLIDING,
            "google/gemma-4-26B-A4B",
            [
                ("bytes per token, sliding", 102_400, 102_455.89, True),  # 25 x 4 of 8 heads x 512 x 2 B
                ("bytes per token, full", 10_240, 10_245.76, True),  # 5 x 1 of 2 heads x 1,024 x 2 B
                # (13.57 - 0.15 x 22.91) GiB / (10,240 + 0.1 x 102,400)
                ("full_max_total_num_tokens", 531_287, 530_280, True),
                ("swa_max_total_num_tokens", 53_128, 53_028, True),
                ("max_total_num_tokens", 531_287, 530_280, True),
                ("max_running_requests", 1, 1, True),
            ],
        ),
        (
            samples.V0_5_23,
            "deepseek-ai/DeepSeek-V3.2",
            [
                ("bytes per token", 48_068, 48_074.48, True),  # 61 x (656 + 132)
                # (49.5 - 0.15 x 136.5) GiB / 48,068, in pages of 64
                ("max_total_num_tokens", 648_320, 648_320, True),
                ("max_running_requests", 2_048, 2_048, True),
            ],
        ),
        (
            samples.V0_5_12_DSV4,
            "deepseek-ai/DeepSeek-V4-Flash",
            [
                ("bytes per full token", 15_956, 15_955.85, True),
                ("available for KV", 20, 19.58, True),
                # 19.58 GiB / 15,955.85, in pages of 256
                ("full_max_total_num_tokens", 1_317_376, 1_317_632, True),
                ("swa_max_total_num_tokens", 131_584, 131_584, True),
                ("c4_max_total_num_tokens", 329_344, 329_408, True),
                ("c128_max_total_num_tokens", 10_292, 10_294, True),
                ("max_total_num_tokens", 1_317_376, 1_317_632, True),
            ],
        ),
        (
            samples.V0_5_12_DRAFT,
            "Qwen/Qwen3.5-27B",
            [
                ("bytes per token", 65_536, 65_551.31, True),  # 16 x 4 heads x 512 x 2 B
                ("conv states", 0, 0.12, True),
                ("recurrent states", 3, 3.09, True),
                ("max_mamba_cache_size", 43, 43, True),
                ("max_total_num_tokens", 170_730, 171_008, True),
                ("max_running_requests", 8, 8, True),
            ],
        ),
    ],
)
def test_each_term_of_a_log_stands_beside_the_plan(text: str, model: str, expected: list[Term]) -> None:
    found = compared(text, model)
    assert terms(found) == expected
    assert found.holds
    assert found.causes == ()


def test_tokens_of_a_pool_line_do_where_the_log_ends_before_the_totals() -> None:
    # QwQ-32B has Qwen3-32B's cache: 64 layers x 2 of 8 heads x 256 x 2 B; (6.09 - 0.15 x 21.63) GiB / 65,536
    found = compared(samples.V0_4_RANKS, "Qwen/Qwen3-32B", tp=4, mem_fraction_static=0.85)
    assert terms(found) == [
        ("bytes per token", 65_536, 65_421.5, True),
        ("max_total_num_tokens", 46_620, 46_611, True),
    ]


def test_another_model_is_seen_by_the_bytes_of_a_token() -> None:
    found = compared(samples.V0_4, "Qwen/Qwen3-8B")
    assert not found.holds
    # 36 layers x 8 heads x 256 x 2 B
    assert found.causes[1] == (
        "bytes per token: 131,184.4 in the log, 147,456.0 in the plan: another model, KV dtype "
        "(here bfloat16), --tp or version"
    )


def test_the_releases_that_would_agree_are_named() -> None:
    """DeepSeek-V4-Pro as 0.5.15 logged it: 13,735.04 B a token, which 0.5.12 does not have."""
    text = (
        "[2026-07-20 10:00:00 TP0] DSV4 memory calculation: bytes_per_full_token=13735.04, "
        "available_bytes=105.08 GB, full_token=8173056"
    )
    log = read_log([text])
    model = load("deepseek-ai/DeepSeek-V4-Pro", source="bundled")
    asked = Deployment(tp=8, gpu="h200", swa_full_tokens_ratio=0.15, engine_version="0.5.12")
    found = verify(log, model, asked)
    assert found.causes[-1] == (
        "version: the rules are those of 0.5.12, the log names no version; every term agrees under those of "
        "0.5.15, 0.5.16, 0.5.17, 0.5.18, 0.5.19, 0.5.20 (--engine-version 0.5.20)"
    )


def test_a_draft_is_named_where_tokens_differ() -> None:
    found = compared(samples.V0_5_12_DRAFT, "Qwen/Qwen3.5-27B", mem_fraction_static=0.85)
    assert not found.holds
    assert found.causes[1] == (
        "draft model: one is loaded after the pools are sized; the plan charges no draft layer in the "
        "tokens, and the draft's own pool comes on top"
    )


def test_a_fraction_that_the_log_leaves_out_is_worked_out_from_its_tokens() -> None:
    """Qwen2.5-0.5B on a GPU of 40 GB: 2,658,165 x 12,288 bytes are 30.42 of 35.57 GiB, and the 5.15 that
    stay free 14.1 % of 36.55; the default keeps 17.7 % free."""
    text = """\
Load weight begin. avail mem=36.55 GB
Load weight end. type=Qwen2ForCausalLM, dtype=torch.bfloat16, avail mem=35.57 GB, mem usage=0.98 GB.
KV Cache is allocated. #tokens: 2658165, K size: 15.21 GB, V size: 15.21 GB
max_total_num_tokens=2658165, chunked_prefill_size=8192, max_prefill_tokens=16384, \
max_running_requests=4096, context_len=32768, available_gpu_mem=4.46 GB
"""
    found = compared(text, "Qwen/Qwen2.5-0.5B-Instruct")
    assert found.causes[1:] == (
        "memory fraction: the log names none, the default 0.823 was planned; its tokens fit "
        "--mem-fraction-static 0.86",
    )
    named = compared(text, "Qwen/Qwen2.5-0.5B-Instruct", mem_fraction_static=0.8)
    assert not any("memory fraction" in cause for cause in named.causes)
    assert compared(text, "Qwen/Qwen2.5-0.5B-Instruct", mem_fraction_static=0.86).holds
    # Of several that would do the nearest, and none where a token costs something else in the log.
    log, other = read_log(text.splitlines()), load("Qwen/Qwen2.5-0.5B-Instruct", source="bundled")
    assert "--mem-fraction-static 0.86" in verify(log, other, tolerance=0.04).causes[1]
    halved = compared(text, "Qwen/Qwen2.5-0.5B-Instruct", tp=2)
    assert not any("memory fraction" in cause for cause in halved.causes)


def test_a_cap_is_named_even_where_all_agrees() -> None:
    text = samples.V0_4.replace("max_total_tokens=None", "max_total_tokens=8192")
    text = text.replace("38141", "8192").replace("2.33 GB", "0.50 GB")
    found = compared(text, "meta-llama/Llama-3.1-8B-Instruct")
    assert found.holds
    assert found.causes == ("capped tokens: --max-total-tokens 8,192 bounds the pool",)


@pytest.mark.parametrize(
    ("text", "gpu", "cause"),
    [
        (
            samples.V0_5_23.replace("avail mem=136.50", "avail mem=100.00"),
            "h200",
            "another process: DP1 TP1 EP1 starts with 100.00 GiB free, others with 137.00",
        ),
        (
            samples.V0_4.replace("22.39", "17.39").replace("7.37", "2.37"),
            "rtx4090",
            "another process: 17.39 of 23.99 GiB are free before loading, less than a GPU of one's own has",
        ),
        (
            samples.V0_4.replace("avail mem=7.37", "avail mem=5.37"),
            "rtx4090",
            "another process: 2.00 GiB more than the weights went while they were loaded",
        ),
    ],
)
def test_memory_that_somebody_else_took_is_named(text: str, gpu: str, cause: str) -> None:
    model = "deepseek-v3.2" if text.startswith("[2026-10") else "meta-llama/Llama-3.1-8B-Instruct"
    found = compared(text, model, gpu=gpu)
    assert not found.holds
    assert cause in found.causes


def test_without_free_memory_tokens_are_not_compared() -> None:
    text = "\n".join(line for line in samples.V0_4.splitlines() if "Load weight" not in line)
    found = compared(text, "meta-llama/Llama-3.1-8B-Instruct")
    assert [one.name for one in found.checks] == ["bytes per token"]
    assert found.tokens is None
    assert found.holds
    assert found.notes[-1] == (
        "tokens are not compared: the log does not say what was free before and after loading"
    )


@pytest.mark.parametrize(("tolerance", "holds"), [(0.01, True), (0.003, False), (0.0, False)])
def test_the_tolerance_decides(tolerance: float, holds: bool) -> None:
    # 38,141 of 38,364 are 0.58 % less; the log's rounding leaves 38,318 to 38,410
    log = read_log(samples.V0_4.splitlines())
    model = load("meta-llama/Llama-3.1-8B-Instruct", source="bundled")
    assert verify(log, model, tolerance=tolerance).holds is holds


def test_what_the_log_left_open_is_a_note_until_an_option_says_it() -> None:
    guesses = compared(samples.V0_4, "meta-llama/Llama-3.1-8B-Instruct").notes
    assert guesses == (
        "--engine-version 0.5.12: the rules nearest to the form of the log",
        "--gpu rtx4090: the smallest that has the free memory of the log",
    )
    assert compared(samples.V0_4, "meta-llama/Llama-3.1-8B-Instruct", gpu="l4").notes == guesses[:1]


def test_a_given_budget_counts_over_the_log() -> None:
    log = read_log(samples.V0_4.splitlines())
    told = told_by(log)
    asked = replace(Deployment(**told.settings), available_bytes=5 << 30)  # type: ignore[arg-type]
    found = verify(log, load("meta-llama/Llama-3.1-8B-Instruct", source="bundled"), asked, told=told)
    assert found.tokens is not None
    assert found.tokens.predicted == 40_960  # 5 GiB / 131,072
