"""Markdown, JSON and CSV of the same plans."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import math

import pytest

from kvplan.records import Plan
from kvplan.render import as_json, comparison, models, size
from kvplan.render.formats import FORMATS, Document, draw
from tests import samples

MARKDOWN = """\
### meta-llama/Llama-3.1-8B

- 32 layers: 32 full attention
- Hugging Face Hub meta-llama/Llama-3.1-8B, revision d04e592bb4f6aa9cfee91e2e20afa771667e1d4b
- SGLang 0.5.23 \\| H200 \\| TP 1 \\| KV bfloat16 \\| page 1
- pool: MHA \\| every layer keeps K and V

| per GPU | bytes |  |  |
| --- | ---: | ---: | --- |
| one token | 131,072 | 131.07 kB |  |
| one request, any length | 0 |  |  |
| one request at 100,000 | 13,107,200,000 | 13.11 GB |  |

**capacity in 100.00 GiB (107,374,182,400 bytes) per GPU**

| pool | layers | bytes | slots |  |
| --- | ---: | ---: | ---: | --- |
| KV | 32 | 107,374,182,400 | 819,200 | 131,072 bytes each |

- **SGLang logs** max\\_total\\_num\\_tokens=819200, max\\_running\\_requests=3200
- **RESULT** 8 requests of 100,000 tokens at once; bound by KV tokens

- **not modelled:** weights, activations, CUDA graphs, host memory (HiCache, PD)
"""

FLAGSHIP_ROWS = [
    {
        "model": "Qwen/Qwen3.5-397B-A17B",
        "attention": "GDN+GQA",
        "layers": 60,
        "kv_cache_dtype": "bfloat16",
        "context": 100_000,
        "bytes_per_token": 30_720,
        "fixed_bytes": 192_061_440,
        "bytes": 3_264_061_440,
        "ratio_to_smallest": 1.0,
        "cell_size": 30_720,
        "max_total_num_tokens": None,
        "requests_at_context": None,
    },
    {"model": "moonshotai/Kimi-K2.6", "attention": "MLA", "layers": 61, "bytes": 7_027_200_000},
    {"model": "deepseek-ai/DeepSeek-V3.2", "attention": "DSA", "layers": 61, "bytes": 7_832_400_000},
    {"model": "zai-org/GLM-5.1", "attention": "DSA", "layers": 78, "bytes": 10_015_200_000},
    {"model": "MiniMaxAI/MiniMax-M2.7", "attention": "GQA", "layers": 62, "bytes": 25_395_200_000},
]


def drawn(document: Document, chosen: str) -> str:
    return draw(document, chosen, width=80, colour=False)


def hostile(text: str) -> Plan:
    return dataclasses.replace(samples.llama(), architecture=dataclasses.replace(samples.LLAMA, id=text))


def test_markdown_has_the_whole_report() -> None:
    assert drawn(size.document(samples.llama()), "markdown") == MARKDOWN


def test_markdown_leaves_nothing_of_an_id_to_interpret() -> None:
    first = drawn(size.document(hostile("<b>|[x](y)|`z`_\n# h")), "markdown").splitlines()[0]
    assert first == r"### \<b\>\|\[x\](y)\|\`z\`\_\\n\# h"


def test_json_of_a_plan_is_the_plan() -> None:
    assert json.loads(drawn(size.document(samples.qwen()), "json")) == samples.qwen().to_dict()


def test_json_keeps_foreign_text_and_stays_ascii() -> None:
    text = "[red]\x1b[31m\u202e\n"
    page = drawn(size.document(hostile(text)), "json")
    assert page.isascii()
    assert "\x1b" not in page
    assert json.loads(page)["model"]["id"] == text


def test_json_refuses_what_json_does_not_have() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        as_json.render({"ratio": math.inf})


def test_json_of_a_comparison_has_the_rows_in_order_and_the_plans_behind_them() -> None:
    page = json.loads(drawn(comparison.document(samples.flagships()), "json"))
    assert page["schema_version"] == 1
    assert page["rows"][0] == FLAGSHIP_ROWS[0]
    for row, expected in zip(page["rows"], FLAGSHIP_ROWS, strict=True):
        assert {key: row[key] for key in expected} == expected
    # 25,395,200,000 / 3,264,061,440
    assert page["rows"][4]["ratio_to_smallest"] == pytest.approx(7.78, abs=0.001)
    assert [plan["model"]["id"] for plan in page["plans"]] == [row["model"] for row in FLAGSHIP_ROWS]


def test_rows_name_the_options_that_differ() -> None:
    plans = [samples.llama(tp=2), samples.llama(tp=4)]
    page = json.loads(drawn(comparison.document(plans), "json"))
    assert [row["tp"] for row in page["rows"]] == [2, 4]
    assert "page_size" not in page["rows"][0]


def test_csv_has_a_line_per_plan_under_the_paths_of_the_json() -> None:
    page = drawn(size.document(samples.qwen()), "csv")
    assert len(page.splitlines()) == 2
    record = next(csv.DictReader(io.StringIO(page)))
    expected = {
        "model.id": "Qwen/Qwen3.5-397B-A17B",
        "deployment.tp": "8",
        "deployment.enable_dp_attention": "false",
        "deployment.max_total_tokens": "",
        "pool.link": "MAMBA",
        "pool.cell_size": "15360",
        "request.bytes": "1560007680",
        "capacity.max_total_num_tokens": "2207731",
        "capacity.limited_by": "kv tokens",
        "assumed": "GPU h200: no --gpu is given",
    }
    assert {key: record[key] for key in expected} == expected


def test_csv_of_a_comparison_starts_with_the_columns_of_its_table() -> None:
    lines = list(csv.reader(io.StringIO(drawn(comparison.document(samples.flagships()), "csv"))))
    assert lines[0][:5] == ["model", "attention", "layers", "kv_cache_dtype", "context"]
    assert [line[0] for line in lines[1:]] == [row["model"] for row in FLAGSHIP_ROWS]


def test_models_are_listed_with_their_design() -> None:
    found = [samples.QWEN, dataclasses.replace(samples.LLAMA, context_length=None)]
    assert json.loads(drawn(models.document(found), "json"))["models"] == [
        {
            "id": "Qwen/Qwen3.5-397B-A17B",
            "architecture": "Qwen3_5MoeForConditionalGeneration",
            "attention": "GDN+GQA",
            "layers": 60,
            "context_length": 262_144,
        },
        {
            "id": "meta-llama/Llama-3.1-8B",
            "architecture": "LlamaForCausalLM",
            "attention": "GQA",
            "layers": 32,
            "context_length": None,
        },
    ]
    assert drawn(models.document(found), "table") == (
        "2 bundled models\n"
        "\n"
        "model                    attention  layers  context\n"
        "Qwen/Qwen3.5-397B-A17B   GDN+GQA     45+15  262,144\n"
        "meta-llama/Llama-3.1-8B  GQA            32        -\n"
        "\n"
        "names:  the id or the part behind the slash, in any letter case\n"
    )


@pytest.mark.parametrize("chosen", FORMATS)
def test_every_format_ends_in_one_line_end(chosen: str) -> None:
    for document in (size.document(samples.v4_flash()), comparison.document(samples.flagships())):
        page = drawn(document, chosen)
        assert page.endswith("\n")
        assert not page.endswith("\n\n")
