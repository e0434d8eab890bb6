"""Every layer kind against the ledger's summary table: entries, bytes each, fixed state, reads."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from kvplan.accounting import ledger
from kvplan.dtypes import KvFormat
from kvplan.layers import (
    LAYER_KINDS,
    FullAttention,
    GatedDeltaNet,
    IndexedAttention,
    KimiDeltaAttention,
    LatentAttention,
    Layer,
    LightningAttention,
    Mamba1,
    Mamba2,
    NoCache,
    ParallelLayer,
    SharedAttention,
    ShortConv,
    SlidingAttention,
    Storage,
)
from kvplan.layers.base import NEVER, Span, picked, window
from tests.models import v4_layer

ONE_GPU = Storage()
TOKENS = 100_000
_ATTENTION = FullAttention(kv_heads=8, head_dim=128, v_head_dim=128)
_MAMBA = Mamba2(heads=64, head_dim=64, state_size=128, groups=8, conv_kernel=4)
_GDN = GatedDeltaNet(k_heads=16, v_heads=64, k_head_dim=128, v_head_dim=128, conv_kernel=4)
_KDA = KimiDeltaAttention(heads=32, head_dim=128, conv_kernel=4)
_DSA = LatentAttention(kv_lora_rank=512, qk_rope_head_dim=64, index_head_dim=128, index_topk=2048)
_REUSED = LatentAttention(
    kv_lora_rank=512, qk_rope_head_dim=64, index_head_dim=128, index_topk=2048, index_shared=True
)
_M3 = IndexedAttention(kv_heads=4, head_dim=128, v_head_dim=128, index_dim=128, index_topk=2048)

# layer, alpha, gamma, M(100,000), r(100,000); BF16, one GPU
TABLE: list[tuple[Layer, Fraction, int, int, int]] = [
    # GQA: 8 x (128 + 128) x 2 = 4,096 a token; all of it is read
    (_ATTENTION, Fraction(4096), 0, 409_600_000, 409_600_000),
    # MQA: 1 x (128 + 128) x 2 = 512
    (
        FullAttention(kv_heads=1, head_dim=128, v_head_dim=128),
        Fraction(512),
        0,
        51_200_000,
        51_200_000,
    ),
    # SWA: min(S, 4,096) x 4,096 = 16,777,216, read whole
    (
        SlidingAttention(kv_heads=8, head_dim=128, v_head_dim=128, window=4096),
        Fraction(0),
        16_777_216,
        16_777_216,
        16_777_216,
    ),
    # MLA: (512 + 64) x 2 = 1,152
    (
        LatentAttention(kv_lora_rank=512, qk_rope_head_dim=64),
        Fraction(1152),
        0,
        115_200_000,
        115_200_000,
    ),
    # DSA: 1,152 + 128 + 128/128 x 4 = 1,284; reads 100,000 x 132 + 2,048 x 1,152 = 15,559,296
    (_DSA, Fraction(1284), 0, 128_400_000, 15_559_296),
    # DSA with an earlier layer's top-k: 1,152 kept, 2,048 x 1,152 = 2,359,296 read
    (_REUSED, Fraction(1152), 0, 115_200_000, 2_359_296),
    # V4 window alone: 128 x 584 = 74,752
    (v4_layer(0), Fraction(0), 74_752, 74_752, 74_752),
    # CSA: (584 + 132) / 4 = 179; 74,752 + 8 x 4 x 512 x 4 + 8 x 4 x 128 x 4 = 156,672;
    # 25,000 x 716 + 156,672 = 18,056,672; reads 74,752 + 512 x 584 + 25,000 x 132 = 3,673,760
    (v4_layer(4), Fraction(179), 156_672, 18_056_672, 3_673_760),
    # HCA: 584 / 128 = 4.5625; 74,752 + 128 x 2 x 512 x 4 = 599,040; floor(100,000 / 128) = 781,
    # 781 x 584 + 599,040 = 1,055,144; reads 74,752 + 781 x 584 = 530,856
    (v4_layer(128), Fraction(73, 16), 599_040, 1_055_144, 530_856),
    # CSA2 m = 2, source: (584 + 68) / 2 = 326; 74,752 + 2 x 2 x 512 x 4 = 82,944; 50,000 x 652 + 82,944;
    # reads 74,752 + 512 x 584 + 50,000 x 68 = 3,773,760
    (v4_layer(2), Fraction(326), 82_944, 32_682_944, 3_773_760),
    # CSA2 m = 1, source: 584 + 68 = 652, no ring; reads 74,752 + 512 x 584 + 100,000 x 68 = 7,173,760
    (v4_layer(1), Fraction(652), 74_752, 65_274_752, 7_173_760),
    # CSA2 without entries of its own: copies = 0; reads 74,752 + 512 x 584 = 373,760
    (v4_layer(2, source=False), Fraction(0), 74_752, 74_752, 373_760),
    # GDN: 64 x 128 x 128 x 4 + 3 x (64 x 128 + 2 x 16 x 128) x 2 = 4,194,304 + 73,728
    (_GDN, Fraction(0), 4_268_032, 4_268_032, 4_268_032),
    # KDA: 32 x 128 x 128 x 4 + 3 x 3 x 32 x 128 x 2 = 2,097,152 + 73,728
    (_KDA, Fraction(0), 2_170_880, 2_170_880, 2_170_880),
    # Mamba-2: 64 x 64 x 128 x 4 + 3 x (64 x 64 + 2 x 8 x 128) x 2 = 2,097,152 + 36,864
    (_MAMBA, Fraction(0), 2_134_016, 2_134_016, 2_134_016),
    # Mamba-1: 8,192 x 16 x 4 + 3 x 8,192 x 2 = 524,288 + 49,152
    (
        Mamba1(intermediate=8192, state_size=16, conv_kernel=4),
        Fraction(0),
        573_440,
        573_440,
        573_440,
    ),
    # lightning: 64 x 128 x 128 x 4 = 4,194,304, no convolution
    (LightningAttention(heads=64, head_dim=128), Fraction(0), 4_194_304, 4_194_304, 4_194_304),
    # short convolution: (3 - 1) x 2,048 x 2 = 8,192
    (ShortConv(dim=2048, conv_kernel=3), Fraction(0), 8192, 8192, 8192),
    # attention beside Mamba-2: both
    (
        ParallelLayer(attention=_ATTENTION, state=_MAMBA),
        Fraction(4096),
        2_134_016,
        411_734_016,
        411_734_016,
    ),
    # YOCO: nothing kept, the other layer's 409,600,000 bytes read
    (SharedAttention(reads=_ATTENTION), Fraction(0), 0, 0, 409_600_000),
    (NoCache(), Fraction(0), 0, 0, 0),
    # MiniMax-M3: 4 x 256 x 2 + 128 x 2 = 2,304; reads 2,048 x 2,048 + 100,000 x 256 = 29,794,304
    (_M3, Fraction(2304), 0, 230_400_000, 29_794_304),
]


PER_ROW = pytest.mark.parametrize(
    ("layer", "alpha", "gamma", "kept", "read"), TABLE, ids=lambda value: str(value)[:50]
)


@PER_ROW
def test_a_layer_costs_what_the_summary_table_says(
    layer: Layer, alpha: Fraction, gamma: int, kept: int, read: int
) -> None:
    book = ledger(((layer, 1),), ONE_GPU)
    assert (book.alpha, book.gamma) == (alpha, gamma)
    assert book.request_bytes(TOKENS) == kept
    assert book.read_bytes(TOKENS) == read


def test_the_table_has_every_layer_kind() -> None:
    assert {type(row[0]) for row in TABLE} == set(LAYER_KINDS)


@PER_ROW
def test_exact_bytes_are_the_line_where_blocks_are_complete_and_windows_full(
    layer: Layer, alpha: Fraction, gamma: int, kept: int, read: int
) -> None:
    book = ledger(((layer, 1),), ONE_GPU)
    for tokens in (4096, 1_048_576):
        assert book.request_bytes(tokens) == alpha * tokens + gamma


@pytest.mark.parametrize(
    ("tokens", "kept"),
    [
        # below the window: min(S, 128) x 584 + floor(S / 4) x 716 + 81,920
        (1, 584 + 81_920),
        (3, 3 * 584 + 81_920),
        (4, 4 * 584 + 716 + 81_920),
        (127, 127 * 584 + 31 * 716 + 81_920),
        (129, 128 * 584 + 32 * 716 + 81_920),
    ],
)
def test_csa_counts_complete_blocks_and_the_tokens_that_a_window_holds(tokens: int, kept: int) -> None:
    assert ledger(((v4_layer(4), 1),), ONE_GPU).request_bytes(tokens) == kept


@pytest.mark.parametrize(
    ("tp", "alpha"),
    # 8 KV heads: 8, 4, 1 and, copied, still 1 on each GPU; x 256 x 2
    [(1, 4096), (2, 2048), (8, 512), (16, 512)],
)
def test_kv_heads_are_split_and_then_copied(tp: int, alpha: int) -> None:
    assert ledger(((_ATTENTION, 1),), Storage(attention_tp=tp)).alpha == alpha


@pytest.mark.parametrize("layer", [_DSA, v4_layer(4), v4_layer(128)])
def test_what_has_no_heads_is_whole_on_every_gpu(layer: Layer) -> None:
    assert ledger(((layer, 1),), Storage(attention_tp=8)) == ledger(((layer, 1),), ONE_GPU)


def test_states_are_split_over_the_heads() -> None:
    # (64 / 8) x 128 x 128 x 4 + 3 x 12,288 / 8 x 2 = 524,288 + 9,216
    assert ledger(((_GDN, 1),), Storage(attention_tp=8)).gamma == 533_504


def test_fp4_over_heads_takes_nine_sixteenths_of_the_8_bit_cell() -> None:
    # half a byte and one scale byte per 16: 8 x 256 x 9/16 = 1,152 of 2,048 = 56.25 %
    fp4 = Storage(kv=KvFormat(dtype="float4_e2m1fn_x2", scale_block=16, scale_bytes=1))
    fp8 = Storage(kv=KvFormat(dtype="float8_e4m3fn"))
    groups = ((_ATTENTION, 1),)
    assert ledger(groups, fp4).alpha == 1152
    assert ledger(groups, fp8).alpha == 2048
    assert ledger(groups, fp4).alpha / ledger(groups, fp8).alpha == Fraction("0.5625")


def test_a_state_dtype_of_the_deployment_replaces_the_published_one() -> None:
    # bfloat16 states: 64 x 128 x 128 x 2 + 73,728
    assert ledger(((_GDN, 1),), Storage(state_dtype="bfloat16")).gamma == 2_170_880


def test_a_reindexing_layer_reads_its_candidates_and_no_more() -> None:
    # 74,752 + 512 x 584 + min(16,384, 100,000) x 68 = 1,487,872
    layer = v4_layer(1, source=False)
    again = replace(layer, index_candidates=16_384)
    assert ledger(((again, 1),), ONE_GPU).read_bytes(TOKENS) == 1_487_872


@pytest.mark.parametrize(
    ("span", "counts"),
    [
        (Span(), [0, 1, 1000]),
        (window(128), [0, 1, 128]),
        (Span(ratio=4), [0, 0, 250]),
        (picked(100, 4), [0, 0, 100]),
        (NEVER, [0, 0, 0]),
    ],
)
def test_entries_at_0_1_and_1000_tokens(span: Span, counts: list[int]) -> None:
    assert [span.count(tokens) for tokens in (0, 1, 1000)] == counts
