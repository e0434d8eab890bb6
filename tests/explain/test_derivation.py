"""The derivation says what the plan says, with every formula and every source."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import kvplan
from kvplan.architecture import Architecture
from kvplan.deployment import Deployment
from kvplan.explain import Explanation, Line, Section, explain
from kvplan.explain.sources import LAYER_SOURCES, LINK_SOURCES, TERM_SYMBOLS
from kvplan.explain.symbols import SYMBOLS
from kvplan.layers import LAYER_KINDS, FullAttention, SharedAttention
from kvplan.planning import plan
from kvplan.pools.chain import CHAIN
from tests.models import BY_LINK, DEEPSEEK_V32, GPT_OSS, LLAMA_8B, QWEN_35, V4_FLASH, of_layers


def told(model: Architecture, **options: Any) -> Explanation:
    return explain(plan(model, Deployment(**{"assume_supported": True, **options})))


def section(found: Explanation, title: str) -> Section:
    return next(one for one in found.sections if one.title.startswith(title))


def line(found: Section, what: str) -> Line:
    return next(one for one in found.lines if one.what == what)


def test_v4_flash_in_0_5_12_prints_seven_terms_and_their_sum() -> None:
    cell = section(told(V4_FLASH, engine_version="0.5.12"), "cell of the DSV4 pool")
    expected: list[tuple[str, str, Any]] = [
        # 0.1 x 584 x 44 entries of compress_ratios
        ("window KV", "r B_kv L", pytest.approx(2569.6)),
        # 1/4 x 584 x 21
        ("C4 KV", "1/(4 s) B_kv L_c4", pytest.approx(3066)),
        # 1/128 x 584 x 20
        ("C128 KV", "1/128 B_kv L_c128", pytest.approx(91.25)),
        # 1/4 x 132 x 21
        ("C4 index keys", "1/4 B_idx L_c4", pytest.approx(693)),
        # 0.1 x 8/128 x 8,192 x 21
        ("C4 states", "r (R_c4/W) B_c4s L_c4", pytest.approx(1075.2)),
        # 0.1 x 128/128 x 4,096 x 20
        ("C128 states", "r (R_c128/W) B_c128s L_c128", pytest.approx(8192)),
        # 0.1 x 8/128 x 2,048 x 21
        ("C4 index states", "r (R_c4/W) B_c4is L_c4", pytest.approx(268.8)),
        ("cell", "sum of the terms", pytest.approx(15_955.85)),
    ]
    assert [(one.what, one.symbols, one.result) for one in cell.lines] == expected


def test_one_dsa_layer_step_by_step() -> None:
    found = section(told(DEEPSEEK_V32), "one layer")
    assert [(one.part, one.symbols, one.numbers, one.result) for one in found.lines] == [
        ("latent and RoPE key", "(R + Dr) e", "(512 + 64) x 2", 1152),
        ("latent and RoPE key", "copies x S x E", "1 x 100,000 x 1,152", 115_200_000),
        ("latent and RoPE key", "min(S, k_top) x E", "min(100,000, 2,048) x 1,152", 2_359_296),
        ("index key", "d_I + d_I / 128 x 4", "128 + 128 / 128 x 4", 132),
        ("index key", "copies x S x E", "1 x 100,000 x 132", 13_200_000),
        ("index key", "S x E", "100,000 x 132", 13_200_000),
    ]


def test_the_sums_of_v4_flash_show_their_multiplications() -> None:
    found = section(told(V4_FLASH), "all layers")
    alpha, gamma = line(found, "alpha, a token"), line(found, "gamma, a request")
    assert (alpha.numbers, alpha.result) == ("21 x 146 + 21 x 33 + 20 x (73 / 16)", Fraction("3850.25"))
    assert gamma.numbers == (
        "2 x 74,752 + 21 x 74,752 + 21 x 65,536 + 21 x 16,384 + 20 x 74,752 + 20 x 524,288"
    )
    assert gamma.result == 15_420_416


def test_copies_are_named_with_what_would_avoid_them() -> None:
    found = section(told(QWEN_35, tp=8), "all layers")
    assert line(found, "copies").numbers == (
        "2 KV heads on 8 GPUs: stored 4 times; attention DP 8 would store them once"
    )


@pytest.mark.parametrize(
    ("model", "knobs"),
    [
        # 32 heads over 8 KV heads
        (LLAMA_8B, {"width of an entry": "/ 4", "altogether": "/ 4"}),
        # 45 of 60 layers keep no tokens: / 4; 32 x 512 over 2 x 512: / 16
        (
            QWEN_35,
            {"recurrent layers: n(S) = 0": "/ 4", "width of an entry": "/ 16", "altogether": "/ 64"},
        ),
        # half of the layers slide: / 2; 64 heads over 8: / 8
        (
            GPT_OSS,
            {"windows: n(S) = min(S, W)": "/ 2", "width of an entry": "/ 8", "altogether": "/ 16"},
        ),
        # 43 / 41; 41 / (21/4 + 20/128); 64 x 1,024 / 512; 1,024 / 584; + 132 on 21 of the layers
        (
            V4_FLASH,
            {
                "windows: n(S) = min(S, W)": "/ 1.049",
                "one entry for m tokens": "/ 7.584",
                "width of an entry": "/ 128",
                "bytes of an element": "/ 1.753",
                "index keys, stored beside it": "x 1.219",
                "altogether": "/ 1464",
            },
        ),
        # YOCO-like: half of the layers read the other half's cache
        (
            of_layers(
                LLAMA_8B,
                FullAttention(kv_heads=32, head_dim=128, v_head_dim=128),
                SharedAttention(reads=FullAttention(kv_heads=32, head_dim=128, v_head_dim=128)),
            ),
            {"copies: other layers' cache is read": "/ 2", "altogether": "/ 2"},
        ),
    ],
    ids=["GQA", "GDN", "SWA", "V4", "YOCO"],
)
def test_the_knobs_that_a_model_turns(model: Architecture, knobs: dict[str, str]) -> None:
    found = section(told(model), "knobs")
    assert {one.what: one.numbers for one in found.lines[1:]} == knobs


def test_there_are_no_knobs_without_heads_to_compare_with() -> None:
    model = of_layers(QWEN_35, QWEN_35.layers[0])
    assert not [one for one in told(model).sections if one.title.startswith("knobs")]


def test_a_decode_step_reads_cache_and_active_weights() -> None:
    """8 requests of 1,560,007,680 bytes and 10 of 512 experts, at 4,800 GB/s (see tests/test_decode.py)."""
    model = kvplan.load("Qwen/Qwen3.5-397B-A17B", source="bundled")
    found = section(told(model, gpu="h200", tp=8, ctx=100_000, concurrency=8), "decode step")
    assert [(one.what, one.numbers, one.result) for one in found.lines] == [
        ("cache", "8 x 1,560,007,680", 12_480_061_440),
        ("active weights", "10 of 512 experts in each layer", 4_350_615_552),
        (
            "floor, ms",
            "(12,480,061,440 + 4,350,615,552) / 4,800,000,000,000 x 1,000",
            pytest.approx(3.506391),
        ),
        ("active weights", "74.7 of 512 experts in each layer", 16_569_832_008),
        (
            "by chance, ms",
            "(12,480,061,440 + 16,569,832,008) / 4,800,000,000,000 x 1,000",
            pytest.approx(6.052061),
        ),
    ]
    assert not [one for one in told(model, tp=8).sections if one.title.startswith("decode")]


@pytest.mark.parametrize("link", BY_LINK)
def test_every_step_of_every_link_has_symbols_and_every_section_a_source(link: str) -> None:
    found = told(BY_LINK[link], available_bytes=60 << 30)
    assert all(one.sources for one in found.sections)
    assert all(one.symbols for part in found.sections for one in part.lines)
    last = section(found, "which pool").lines[-1]
    assert (last.what, last.symbols) == (link, "takes it")


@pytest.mark.parametrize("version", ["0.5.12", "0.5.23"])
@pytest.mark.parametrize("link", BY_LINK)
def test_every_term_of_a_cell_is_known_in_symbols(link: str, version: str) -> None:
    made = plan(BY_LINK[link], Deployment(engine_version=version, assume_supported=True))
    assert {term.name for term in made.pool.terms} <= set(TERM_SYMBOLS)


def test_every_layer_kind_and_every_link_has_a_source() -> None:
    assert set(LAYER_SOURCES) == {kind.kind for kind in LAYER_KINDS}
    assert set(LINK_SOURCES) == {link.name for link in CHAIN}


@pytest.mark.parametrize("symbol", ["S", "W", "m", "k_top", "alpha", "gamma", "S*", "K_eq", "S_eq", "copies"])
def test_the_list_of_symbols_has(symbol: str) -> None:
    assert symbol in {name for names, _ in SYMBOLS for name in names.split(", ")}
