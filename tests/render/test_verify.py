"""The screen of `kvplan verify` where terms differ."""

from __future__ import annotations

from kvplan import load
from kvplan.bootlog import read_log
from kvplan.render.formats import draw
from kvplan.render.verify import of_verification
from kvplan.verify import verify
from tests.bootlog import samples

SCREEN = """\
Qwen/Qwen3-8B
SGLang 0.5.12 | RTX4090 | TP 1 | KV bfloat16 | page 1
log: 22.39 GiB free before loading, 7.37 after; mem_fraction_static 0.88

per GPU                         predicted     logged  difference
bytes per token       bytes     147,456.0  131,184.4     -11.03%  DIFFERS
max_total_num_tokens  tokens       34,102     38,141     +11.84%  DIFFERS
max_running_requests  requests      2,048      2,048      +0.00%  agrees

RESULT  tokens differ by +11.84%; 2 of 3 terms differ
cause   the pool is 0.55 GiB larger than planned per GPU
cause   bytes per token: 131,184.4 in the log, 147,456.0 in the plan: another
        model, KV dtype (here bfloat16), --tp or version
cause   version: the rules are those of 0.5.12, the log names no version; no
        release that kvplan knows agrees in every term

taken:  --engine-version 0.5.12: the rules nearest to the form of the log
taken:  --gpu rtx4090: the smallest that has the free memory of the log
"""


def test_differences_are_marked_and_explained_in_80_columns() -> None:
    # The log of a Llama-3.1-8B, 32 layers of the same heads as the 36 of Qwen3-8B
    found = verify(read_log(samples.V0_4.splitlines()), load("Qwen/Qwen3-8B", source="bundled"))
    assert draw(of_verification(found), "table", width=80, colour=False) == SCREEN


def test_a_log_with_nothing_to_compare_says_so() -> None:
    log = read_log(["[2026-05-01 12:00:00 TP0] Load weight begin. avail mem=70.00 GB"])
    shown = draw(
        of_verification(verify(log, load("Qwen/Qwen3-8B", source="bundled"))), "table", width=80, colour=False
    )
    assert "RESULT  nothing to compare: no pool, no state and no free memory in the log" in shown
