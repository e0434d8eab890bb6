"""Figures of whole models, against published configs."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from kvplan.accounting import Accounting, Workload, account, ledger
from kvplan.architecture import Architecture
from kvplan.layers import LatentAttention, Storage
from tests.models import DEEPSEEK_V32, KIMI_LINEAR, LLAMA_8B, QWEN_35, V4_FLASH, of_layers, v4_layer

_LATENT = LatentAttention(kv_lora_rank=512, qk_rope_head_dim=64, head_dim=128, v_head_dim=128)


def figures(model: Architecture, storage: Storage | None = None, **work: int) -> Accounting:
    storage = storage or Storage()
    book = ledger(model.groups, storage, model.loops)
    return account(model, book, storage, Workload(context=work.pop("context", 100_000), **work))


def test_v4_flash() -> None:
    found = figures(V4_FLASH)
    # 21 x (584 + 132) / 4 + 20 x 584 / 128 = 3,759 + 91.25
    assert found.alpha == Fraction("3850.25")
    # 43 x 128 x 584 + 21 x (8 x 4 x 512 x 4 + 8 x 4 x 128 x 4) + 20 x 128 x 2 x 512 x 4
    # = 3,214,336 + 1,720,320 + 10,485,760
    assert found.gamma == 15_420_416
    # 15,420,416 / 3,850.25 = 61,681,664 / 15,401
    assert found.s_star == Fraction(61_681_664, 15_401)


def test_v41_flash_keeps_entries_on_its_four_sources_alone() -> None:
    # compress_ratios: 2 window layers, 18 at m = 2 (sources 2, 8, 14), 20 at m = 1 (source 20)
    half = [v4_layer(2, source=place in (2, 8, 14)) for place in range(2, 20)]
    whole = [v4_layer(1, source=place == 20) for place in range(20, 40)]
    found = figures(of_layers(V4_FLASH, v4_layer(0), v4_layer(0), *half, *whole))
    # 3 x (584 + 68) / 2 + 1 x (584 + 68) = 978 + 652
    assert found.alpha == 1630
    # 40 x 128 x 584 + 3 x (2 x 2 x 512 x 4): the ring of m slots where m > 1
    assert found.gamma == 2_990_080 + 24_576


def test_qwen_35() -> None:
    found = figures(QWEN_35)
    # 15 x 2 x 512 x 2; 45 x 4,268,032
    assert found.alpha == 30_720
    assert found.gamma == 192_061_440
    # 192,061,440 / 30,720 = 6,252 exactly
    assert found.s_star == 6252
    # one layer's state over one layer's token: 4,268,032 / 2,048
    assert found.break_even_tokens == 2084
    assert found.request_bytes == 3_264_061_440


def test_qwen_35_on_eight_gpus_copies_its_two_kv_heads() -> None:
    storage = Storage(attention_tp=8)
    book = ledger(QWEN_35.groups, storage)
    # 15 x 1 x 512 x 2 = 15,360; 192,061,440 / 8 = 24,007,680
    assert book.alpha == 15_360
    assert book.gamma == 24_007_680
    found = account(QWEN_35, book, storage, Workload(context=100_000), stored_bytes=8 * 1_560_007_680)
    # 12,480,061,440 stored for 3,264,061,440 needed once
    assert found.stored_copies == Fraction(12_480_061_440, 3_264_061_440)
    assert found.whole.alpha == 30_720
    # 533,504 / 1,024: the state is split, the KV heads are not
    assert found.break_even_tokens == 521


def test_kimi_linear_breaks_even_later_because_its_latents_are_small() -> None:
    # (32 x 128 x 128 x 4 + 3 x 3 x 32 x 128 x 2) / 1,152
    assert figures(KIMI_LINEAR).break_even_tokens == Fraction(2_170_880, 1152)


def test_the_equivalent_kv_heads_of_deepseek_v3() -> None:
    # 576 / (2 x 128)
    assert figures(of_layers(LLAMA_8B, _LATENT)).equivalent_kv_heads == Fraction("2.25")


def test_dsa_reads_the_index_of_all_tokens_and_few_latents() -> None:
    # 61 x (100,000 x 132 + 2,048 x 1,152)
    assert figures(DEEPSEEK_V32).read_bytes_per_step == 61 * 15_559_296


@pytest.mark.parametrize(
    ("model", "missing"),
    [
        (LLAMA_8B, {"equivalent_kv_heads", "break_even_tokens"}),
        (QWEN_35, {"equivalent_kv_heads"}),
        (of_layers(QWEN_35, QWEN_35.layers[0]), {"equivalent_kv_heads", "break_even_tokens", "s_star"}),
        (V4_FLASH, {"equivalent_kv_heads", "break_even_tokens"}),
    ],
    ids=["heads", "hybrid", "state alone", "compressed"],
)
def test_a_figure_that_does_not_apply_is_none(model: Architecture, missing: set[str]) -> None:
    found = figures(model)
    names = {"equivalent_kv_heads", "break_even_tokens", "s_star"}
    assert {name for name in names if getattr(found, name) is None} == missing


def test_requests_that_a_budget_holds() -> None:
    # 32 x 8 x 256 x 2 = 131,072 a token; floor(60 x 2^30 / 13,107,200,000) = 4
    assert figures(LLAMA_8B, budget_bytes=60 << 30).max_requests == 4


@pytest.mark.parametrize(("every", "snapshots"), [(100_000, 1), (30_000, 3), (100_001, 0)])
def test_a_prefix_keeps_a_state_at_each_interval(every: int, snapshots: int) -> None:
    found = figures(QWEN_35, snapshot_every=every)
    assert found.snapshots == snapshots
    assert found.snapshot_bytes == snapshots * 192_061_440


def test_drafts_hold_a_state_each() -> None:
    # 4 x 192,061,440
    assert figures(QWEN_35, draft_tokens=4).draft_state_bytes == 768_245_760


def test_windows_and_rings_are_no_states_to_copy() -> None:
    found = figures(V4_FLASH, snapshot_every=1000, draft_tokens=4)
    assert (found.snapshot_bytes, found.draft_state_bytes) == (None, None)


def test_a_looped_stack_keeps_a_cache_for_each_loop() -> None:
    assert figures(replace(LLAMA_8B, loops=2)).alpha == 2 * 131_072
