"""Screens, whole and literal: fixed width, no colour."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable

import pytest

from kvplan.deployment import Deployment
from kvplan.memory import Budget
from kvplan.records import Capacity, Plan, Pool
from kvplan.render import comparison, size, table
from tests import samples

ANSI = re.compile(r"\x1b\[[0-9;]*m")

QWEN = """\
Qwen/Qwen3.5-397B-A17B
60 layers: 45 gated delta net, 15 full attention
bundled model configs/Qwen__Qwen3.5-397B-A17B.yaml
SGLang 0.5.23 | H200 (assumed) | TP 8 | KV bfloat16 | page 1
pool: MAMBA | 45 layers keep a recurrent state

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

assumed:       GPU h200: no --gpu is given
not modelled:  weights, activations, CUDA graphs, host memory (HiCache, PD)
"""

V4_FLASH = """\
deepseek-ai/DeepSeek-V4-Flash
43 layers: 2 window 128 only, 21 compressed 4:1 (CSA), 20 compressed 128:1 (HCA)
file v4/config.json
SGLang 0.5.23 | H200 | TP 1 | KV float8_e4m3fn | page 256
pool: DSV4 | DeepseekV4ForCausalLM

per GPU                         bytes
one token                    3,850.25    3.85 kB
one token, SGLang's cell     7,086.75    7.09 kB  what the engine reserves
one request, any length    15,420,416   15.42 MB  windows of 128
one request at 100,000    400,442,496  400.44 MB

capacity  give --weights SIZE, or --available-bytes SIZE, for tokens and
          requests

warning:       --kv-cache-dtype changes nothing: DeepSeek-V4 rows are fp8
not modelled:  weights, activations, CUDA graphs, host memory (HiCache, PD)
"""

FLAGSHIPS = """\
KV cache of one request of 100,000 tokens, whole model
SGLang 0.5.23 | H200 (assumed) | TP 1 | KV bfloat16 | page 1

                                   bytes a fixed bytes       KV bytes
model             attention layers   token   a request     at 100,000 ratio
Qwen3.5-397B-A17B GDN+GQA    45+15  30,720 192,061,440  3,264,061,440  1.0x
Kimi-K2.6         MLA           61  70,272           0  7,027,200,000  2.2x
DeepSeek-V3.2     DSA           61  78,324           0  7,832,400,000  2.4x
GLM-5.1           DSA           78 100,152           0 10,015,200,000  3.1x
MiniMax-M2.7      GQA           62 253,952           0 25,395,200,000  7.8x
"""

SETTINGS = """\
meta-llama/Llama-3.1-8B
32 layers: 32 full attention
KV cache of one request of 100,000 tokens, bytes per GPU
SGLang 0.5.23 | H200 | page 1
tokens and requests that fit on each GPU

         KV bytes a fixed bytes       KV bytes          cell        max requests
tp    dtype   token   a request     at 100,000 ratio   bytes     tokens  at once
 8 fp8_e4m3   8,192           0    819,200,000  1.0x   8,192 13,107,200      131
 8     bf16  16,384           0  1,638,400,000  2.0x  16,384  6,553,600       65
 1     bf16 131,072           0 13,107,200,000 16.0x 131,072    819,200        8
"""


def settings() -> tuple[Plan, ...]:
    """Llama-3.1-8B in 100 GiB: TP 1 and 8 in bf16, TP 8 in fp8 (131,072 / 8 / 2 = 8,192 a token)."""
    figures = (
        (1, "auto", "bfloat16", 131_072, 819_200, 8),
        (8, "auto", "bfloat16", 16_384, 6_553_600, 65),
        (8, "fp8_e4m3", "float8_e4m3fn", 8_192, 13_107_200, 131),
    )
    return tuple(
        dataclasses.replace(
            samples.llama(),
            deployment=Deployment(tp=tp, kv_cache_dtype=flag, gpu="h200", available_bytes=100 * samples.GIB),
            resolved=samples.resolved(attention_tp=tp, kv_cache_dtype=dtype),
            pool=dataclasses.replace(samples.llama().pool, cell_size=cell),
            request=dataclasses.replace(
                samples.llama().request,
                bytes_per_token=cell,
                bytes=cell * 100_000,
                bytes_total=cell * 100_000 * tp,
            ),
            capacity=Capacity(max_total_num_tokens=tokens, requests_at_context=requests),
        )
        for tp, flag, dtype, cell, tokens, requests in figures
    )


@pytest.mark.parametrize(("make", "screen"), [(samples.qwen, QWEN), (samples.v4_flash, V4_FLASH)])
def test_size_report_at_80_columns(make: Callable[[], Plan], screen: str) -> None:
    assert table.render(size.report(make())) == screen


def test_flagships_fit_80_columns_sorted_by_cost() -> None:
    rows = comparison.rows(samples.flagships())
    assert table.render(comparison.report(rows)) == FLAGSHIPS


def test_one_model_under_several_settings_names_what_differs_and_what_fits() -> None:
    assert table.render(comparison.report(comparison.rows(settings()))) == SETTINGS


def test_mixed_kv_dtypes_get_a_column_and_a_flag_that_changed_nothing_keeps_its_own() -> None:
    one, other = samples.llama(), samples.llama(kv_cache_dtype="bf16")
    screen = table.render(comparison.report(comparison.rows([one, other])))
    assert "auto" in screen
    assert "bf16" in screen


@pytest.mark.parametrize("width", [20, 40, 60, 80, 120, 300])
def test_figures_stay_whole_at_any_width(width: int) -> None:
    screen = table.render(size.report(samples.qwen()), width=width)
    for figure in ("1,560,007,680", "30,513,761,280", "2,207,731", "1.56 GB", "24,007,680"):
        assert figure in screen


def test_a_width_that_holds_the_figures_is_kept() -> None:
    screens = [
        table.render(size.report(samples.qwen()), width=72),
        table.render(size.report(samples.v4_flash()), width=72),
    ]
    assert max(len(line) for screen in screens for line in screen.splitlines()) <= 72


def test_colour_adds_styles_and_changes_no_character() -> None:
    coloured = table.render(size.report(samples.qwen()), colour=True)
    assert coloured != QWEN
    plain = "".join(f"{line.rstrip()}\n" for line in ANSI.sub("", coloured).splitlines())
    assert plain == QWEN


def test_markup_and_control_characters_in_an_id_are_shown_and_not_obeyed() -> None:
    hostile = dataclasses.replace(samples.LLAMA, id="[red]x[/x]\x1b[31m\n\u202eevil:smile:")
    plan = dataclasses.replace(samples.llama(), architecture=hostile)
    first = table.render(size.report(plan)).splitlines()[0]
    assert first == r"[red]x[/x]\x1b[31m\n\u202eevil:smile:"


def test_charged_and_allocated_bytes_are_told_apart_where_they_differ_by_more_than_a_percent() -> None:
    pool = Pool(
        name="KV",
        layers=61,
        tokens=1_000,
        bytes_per_token=708,
        charged_bytes=708_000,
        allocated_bytes=788_000,
    )
    larger = dataclasses.replace(samples.llama(), pools=(pool,))
    # 788 / 708 = 1.113
    assert "788,000 allocated (+11.3%)" in table.render(size.report(larger), width=120)
    assert "allocated" not in table.render(size.report(samples.llama()))


@pytest.mark.parametrize(
    ("options", "requests", "result"),
    [
        ({}, 8, "8 requests of 100,000 tokens at once; bound by KV tokens"),
        ({}, 1, "1 request of 100,000 tokens at once; bound by KV tokens"),
        ({}, 0, "not one request of 100,000 tokens fits; bound by KV tokens"),
        (
            {"dp": 2},
            8,
            "8 requests of 100,000 tokens at once on each of 2 ranks, 16 in total; bound by KV tokens",
        ),
        (
            {"concurrency": 8, "ctx": 100_000},
            8,
            "8 requests of 100,000 tokens at once; bound by KV tokens; 8 asked: they fit",
        ),
        (
            {"concurrency": 9, "ctx": 100_000},
            8,
            "8 requests of 100,000 tokens at once; bound by KV tokens; 9 asked: they do not fit",
        ),
    ],
)
def test_result_says_how_many_fit_and_what_binds(options: dict[str, int], requests: int, result: str) -> None:
    plan = samples.llama(**options)
    plan = dataclasses.replace(
        plan, capacity=dataclasses.replace(plan.capacity, requests_at_context=requests)
    )
    screen = table.render(size.report(plan), width=200)
    assert f"RESULT       {result}\n" in screen


def test_a_budget_from_a_log_shows_what_is_subtracted() -> None:
    # 139.1 x 2^30, 98.4 x 2^30, 139.1 x 0.097 x 2^30 and 98.4 GiB - 13.4927 GiB, cut to bytes.
    logged = dataclasses.replace(
        samples.llama(available_bytes=None, pre_model_load_gib=139.1, free_gib=98.4),
        capacity=dataclasses.replace(samples.llama().capacity, available_bytes=None),
        budget=Budget(
            gpu="h200",
            gpus=1,
            free_before_bytes=149_357_487_718,
            weights_bytes=43_701_292_237,
            weights_source="given",
            free_after_bytes=105_656_195_481,
            mem_fraction_static=0.903,
            slack_bytes=14_487_676_308,
            multimodal_reserve_bytes=0,
            available_bytes=91_168_519_173,
        ),
    )
    screen = table.render(size.report(logged))
    assert (
        "memory per GPU, 1 x H200\n"
        "                            bytes     GiB\n"
        "free before load  149,357,487,718  139.10  given\n"
        "- weights          43,701,292,237   40.70  given per GPU\n"
        "free after load   105,656,195,481   98.40  given\n"
        "- kept free        14,487,676,308   13.49  1 - 0.903 of free before load\n"
        "for state and KV   91,168,519,173   84.91\n"
        "\n"
        "capacity in 84.91 GiB (91,168,519,173 bytes) per GPU\n"
    ) in screen


def test_several_models_with_a_budget_show_costs_and_fit_in_two_tables_of_80_columns() -> None:
    budget = 100 * samples.GIB
    plans = [
        dataclasses.replace(
            plan,
            deployment=Deployment(available_bytes=budget),
            capacity=Capacity(
                available_bytes=budget,
                max_total_num_tokens=budget // plan.pool.cell_size,
                requests_at_context=1,
            ),
        )
        for plan in samples.flagships()
        if isinstance(plan.pool.cell_size, int)
    ]
    screen = table.render(comparison.report(comparison.rows(plans)))
    assert screen.startswith(FLAGSHIPS)
    assert screen.removeprefix(FLAGSHIPS) == (
        "\n"
        "tokens and requests that fit in 100.00 GiB per GPU\n"
        "                      cell        max  requests\n"
        "model                bytes     tokens   at once\n"
        "Qwen3.5-397B-A17B   30,720  3,495,253         1\n"
        "Kimi-K2.6           70,272  1,527,979         1\n"
        "DeepSeek-V3.2       78,324  1,370,897         1\n"
        "GLM-5.1            100,152  1,072,112         1\n"
        "MiniMax-M2.7       253,952    422,812         1\n"
    )
