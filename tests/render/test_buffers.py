"""The buffers of a plan as a screen, as JSON and as CSV."""

from __future__ import annotations

import csv
import dataclasses
import io

from kvplan import Deployment, plan
from kvplan.render.buffers import data, of_buffers, records
from kvplan.render.formats import draw
from tests.models import DEEPSEEK_V3, DEEPSEEK_V32, LLAMA_8B

WIDE_ROWS = Deployment(
    gpu="h200",
    tp=8,
    kv_cache_dtype="fp8_e4m3",
    available_bytes=60 << 30,
    max_running_requests=64,
    engine_version="0.5.12",
)
SCREEN = """\
deepseek-ai/DeepSeek-V3.2
61 layers: 61 latent with indexer (DSA)
SGLang 0.5.12 | H200 | TP 8 | KV float8_e4m3fn | page 64

pools of one GPU (rank 0 of the first pipeline stage)
pool        layers      slots   bytes charged  bytes allocated
KV              61  1,491,712  52,412,792,832   59,694,908,416  +13.9%
index keys      61  1,491,712  12,011,265,024   12,011,780,352   +0.0%

buffers of the server
buffer                     shape              dtype  count           bytes
kv_buffer                  1491776 x 1 x 656  uint8     61  59,694,908,416
index_k_with_scale_buffer  23309 x 8448       uint8     61  12,011,780,352
sum                                                    122  71,706,688,768

not charged
buffer        shape        dtype  count       bytes
req_to_token  65 x 163844  int32      1  42,599,440

charged     64,424,057,856 bytes (64.42 GB) per GPU
allocated   71,706,688,768 bytes (71.71 GB) per GPU
difference  +7,282,630,912 bytes (+11.3%)
beside it   42,599,440 bytes (42.60 MB) per GPU for the request table, not
            charged

warning:  SGLang allocates 71,706,688,768 bytes per GPU for its pools where the
          sizing charges 64,424,057,856 (+11.3%), most of it for KV: keep
          7,282,630,912 bytes more free
"""


def test_the_screen_has_pools_buffers_and_what_they_differ_by() -> None:
    made = plan(DEEPSEEK_V32, WIDE_ROWS)
    assert draw(of_buffers(made), "table", width=80, colour=False) == SCREEN


def test_json_has_the_lists_of_the_plan_and_their_sums() -> None:
    made = plan(DEEPSEEK_V32, WIDE_ROWS)
    document = data(made)
    assert document["buffers"] == made.to_dict()["buffers"]
    assert (document["charged_bytes"], document["allocated_bytes"], document["difference_bytes"]) == (
        64_424_057_856,
        71_706_688_768,
        7_282_630_912,
    )
    assert [row["name"] for row in document["uncharged_buffers"]] == ["req_to_token"]


def test_csv_has_a_line_for_each_row_of_buffers() -> None:
    made = plan(DEEPSEEK_V3, dataclasses.replace(WIDE_ROWS, speculative_algorithm="EAGLE"))
    page = draw(of_buffers(made), "csv", width=80, colour=False)
    rows = list(csv.DictReader(io.StringIO(page)))
    assert [(row["owner"], row["name"], row["count"]) for row in rows] == [
        ("server", "kv_buffer", "61"),
        ("draft", "kv_buffer", "1"),
        ("uncharged", "req_to_token", "1"),
    ]


def test_a_pool_that_is_not_charged_says_so() -> None:
    """0.5.12 has no room for the layers of a draft in its cell."""
    made = plan(DEEPSEEK_V3, dataclasses.replace(WIDE_ROWS, speculative_algorithm="EAGLE"))
    screen = draw(of_buffers(made), "table", width=80, colour=False)
    (line,) = (line for line in screen.splitlines() if line.startswith("draft layers"))
    assert line.endswith("not charged")


def test_records_join_shapes_with_x() -> None:
    made = plan(LLAMA_8B, Deployment(gpu="h200", available_bytes=10 << 30))
    assert records(made)[0] == {
        "owner": "server",
        "name": "k_buffer",
        "shape": "81921x8x128",
        "dtype": "bfloat16",
        "count": 32,
        "bytes": 5_368_774_656,
    }
