"""What is read off a log: the last start, rank by rank, target apart from draft."""

from __future__ import annotations

import pytest

from kvplan.bootlog import BootLog, Rank, States, Tokens, Weights, read_log
from tests.bootlog import samples


def read(text: str) -> BootLog:
    return read_log(text.splitlines(keepends=True))


def test_a_start_of_0_4_is_one_unnamed_rank() -> None:
    log = read(samples.V0_4)
    assert log.ranks == (
        Rank(
            name="",
            free_before_gib=22.39,
            weights=Weights(model_class="LlamaForCausalLM", gib=15.02, free_after_gib=7.37),
            pools=(Tokens(tokens=38_141, sizes_gib=(2.33, 2.33)),),
            totals={
                "max_total_num_tokens": 38_141,
                "max_running_requests": 2_048,
                "context_len": 131_072,
            },
        ),
    )
    assert (log.newer, log.starts, log.max_total_num_tokens) == (False, 1, 38_141)
    assert log.server_args["model_path"] == "meta-llama/Llama-3.1-8B-Instruct"
    assert log.server_args["json_model_override_args"] == "{}"


def test_interleaved_ranks_are_told_apart_behind_colours_and_other_stamps() -> None:
    log = read(samples.V0_4_RANKS)
    assert [(one.name, one.free_before_gib, one.free_after_gib) for one in log.ranks] == [
        ("TP0", 21.63, 6.09),
        ("TP1", 21.70, 6.16),
    ]
    assert (log.free_before_gib, log.free_after_gib) == (21.63, 6.09)
    assert log.server_args == {}


def test_a_draft_that_comes_after_the_pools_is_not_the_target() -> None:
    (rank,) = read(samples.V0_5_12_DRAFT).ranks
    assert rank.pools == (Tokens(tokens=171_008, sizes_gib=(5.22, 5.22)),)
    assert rank.draft_pools == (Tokens(tokens=171_008, sizes_gib=(0.33, 0.33)),)
    assert rank.states == States(slots=43, conv_gib=0.12, ssm_gib=3.09)
    assert (rank.free_before_gib, rank.free_after_gib, rank.drafts_before_pools) == (93.0, 34.5, False)


def test_a_draft_that_comes_before_the_pools_is_missing_from_what_they_are_sized_with() -> None:
    lines = samples.V0_5_12_DRAFT.splitlines()
    target, pools, draft = lines[:3], lines[3:6], lines[6:8]
    (rank,) = read("\n".join([*target, *draft, *pools])).ranks
    assert rank.drafts_before_pools
    assert (rank.free_before_gib, rank.free_after_gib) == (93.0, 13.6)


def test_full_and_sliding_pools_come_with_their_sizing_line() -> None:
    log = read(samples.V0_5_12_SLIDING)
    assert log.ranks[0].sizing == {"full_layer_tokens": 530_280, "swa_layer_tokens": 53_028}
    assert [pool.tokens for pool in log.ranks[0].pools] == [53_028, 530_280]


def test_a_start_of_0_5_23_has_a_dictionary_of_arguments_and_dtypes() -> None:
    log = read(samples.V0_5_23)
    assert [one.name for one in log.ranks] == ["DP0 TP0 EP0", "DP1 TP1 EP1"]
    assert log.ranks[0].pools == (Tokens(tokens=648_320, sizes_gib=(29.03,), dtype="float8_e4m3fn"),)
    assert (log.newer, log.free_before_gib, log.free_after_gib) == (True, 136.5, 49.5)


def test_the_terms_of_deepseek_v4_are_in_its_sizing_lines() -> None:
    (rank,) = read(samples.V0_5_12_DSV4).ranks
    assert rank.sizing == {
        "bytes_per_full_token": 15_955.85,
        "available_bytes": 19.58,
        "full_token": 1_317_632,
        "full": 1_317_632,
        "swa": 131_584,
        "c4": 329_408,
        "c128": 10_294,
        "c4_state": 8_224,
        "c128_state": 131_584,
    }


def test_the_last_of_several_starts_counts() -> None:
    log = read(samples.V0_5_23 + samples.V0_4)
    assert (log.starts, log.newer, log.max_total_num_tokens) == (2, False, 38_141)


def test_a_start_that_broke_off_does_not_hide_the_one_before() -> None:
    broken = samples.V0_5_23.splitlines()[:5]
    log = read(samples.V0_4 + "\n".join(broken))
    assert (log.starts, log.later_starts, log.max_total_num_tokens) == (2, 1, 38_141)
    assert log.server_args["tp_size"] == 1


def test_a_start_begins_with_its_weights_where_the_arguments_are_lost() -> None:
    start = [line for line in samples.V0_4.splitlines() if "server_args" not in line]
    other = [line.replace("38141", "40000").replace("22.39", "22.50") for line in start]
    log = read("\n".join([*start, *other]))
    assert (log.starts, log.free_before_gib, log.max_total_num_tokens) == (2, 22.5, 40_000)
    assert len(log.ranks[0].pools) == 1


def test_the_nodes_of_one_server_are_one_start() -> None:
    def node(rank: int, tp: int) -> list[str]:
        arguments = (
            f"server_args=ServerArgs(model_path='m', tp_size=2, nnodes=2, node_rank={rank}, host='h{rank}')"
        )
        stamp = "[2026-05-01 12:00:00"
        return [
            f"{stamp}] {arguments}",
            f"{stamp} TP{tp}] Load weight begin. avail mem=7{rank}.00 GB",
            f"{stamp} TP{tp}] Load weight end. type=X, avail mem=3{rank}.00 GB, mem usage=40.00 GB.",
        ]

    first, second = node(0, 0), node(1, 1)
    interleaved = [line for pair in zip(first, second, strict=True) for line in pair]
    for lines in (interleaved, [*first, *second]):
        log = read("\n".join(lines))
        assert [rank.name for rank in log.ranks] == ["TP0", "TP1"]
        assert (log.starts, log.free_before_gib, log.free_after_gib) == (1, 70.0, 30.0)


def test_arguments_are_said_twice_before_anything_happens() -> None:
    lines = samples.V0_4.splitlines()
    assert read("\n".join([lines[0], *lines])) == read(samples.V0_4)


@pytest.mark.parametrize("length", range(0, len(samples.V0_4), 7))
def test_a_log_that_is_cut_anywhere_says_less_but_nothing_else(length: int) -> None:
    whole, cut = read(samples.V0_4), read(samples.V0_4[:length])
    assert set(cut.server_args.items()) <= set(whole.server_args.items())
    for rank in cut.ranks:
        assert rank.free_before_gib in (None, 22.39)
        assert rank.weights is None or rank.weights.free_after_gib == 7.37
        assert rank.weights is None or rank.weights.gib in (None, 15.02)
        assert rank.pools in ((), whole.ranks[0].pools)
        assert set(rank.totals.items()) <= set(whole.ranks[0].totals.items())


def test_an_address_range_is_no_memory() -> None:
    sizes = "dtype: torch.bfloat16, #tokens: 9, KV size: 1.00 GB"
    line = f"[2026-10-01 12:00:00 TP0] KV Cache VA upper bound. {sizes}"
    (rank,) = read(line).ranks
    assert rank.pools == (Tokens(tokens=9, sizes_gib=(1.0,), dtype="bfloat16", virtual=True),)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nothing here\n\n",
        "[2026-05-01 12:00:00] Decode batch. #running-req: 1, #token: 100, max_total_num_tokens",
        "[2026-05-01 12:00:00] prompt: 'Load weight begin. avail mem=1.00 GB'",
        "[2026-05-01 12:00:00] KV Cache is allocated. #tokens: many, K size: some GB",
        "\x1b[31m\x00\xff Load weight begin. avail mem=" + "9" * 400 + " GB",
    ],
)
def test_other_lines_say_nothing(text: str) -> None:
    assert not any(rank.pools or rank.free_before_gib for rank in read(text).ranks)
