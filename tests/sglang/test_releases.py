"""Rule sets grow from release to release; what a release does not have is refused or said."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from kvplan import Deployment, InputError, RefusedError, load, plan
from kvplan.sglang.releases import names
from kvplan.sglang.rules import RULE_SETS
from tests.readers.hf import config, read


def test_names_are_those_of_all_releases_up_to_one() -> None:
    added = {"0.5.9": "A B", "0.5.12": "C", "0.5.20": "D"}
    assert names(added, "0.5.11") == {"A", "B"}
    assert names(added, "0.5.12") == {"A", "B", "C"}
    assert names(added, "0.6.0") == {"A", "B", "C", "D"}


def test_every_release_since_0_5_12_has_its_rules_and_knows_all_earlier_classes() -> None:
    releases = list(RULE_SETS.values())
    assert [rules.version for rules in releases] == [f"0.5.{patch}" for patch in range(12, 24)]
    for before, after in pairwise(releases):
        assert before.registry < after.registry, after.version


@pytest.mark.parametrize(
    ("model", "first"),
    # sglang/srt/models/ of each release, EntryClass
    [
        ("moonshotai/Kimi-K3", "0.5.17"),
        ("deepseek-ai/DeepSeek-V4.1-Flash", "0.5.21"),
        ("zai-org/GLM-5.3-Flash", "0.5.20"),
    ],
)
def test_a_class_is_known_since_the_release_that_added_it(model: str, first: str) -> None:
    architecture = load(model, source="bundled")
    before = f"0.5.{int(first.rpartition('.')[2]) - 1}"
    with pytest.raises(RefusedError, match=f"SGLang {before} has no model class {architecture.architecture}"):
        plan(architecture, Deployment(tp=8, engine_version=before))
    assert plan(architecture, Deployment(tp=8, engine_version=first)).pool.cell_size > 0


@pytest.mark.parametrize(
    ("model", "release", "starts"),
    # a forward with pp_proxy_tensors: Gemma-4 since 0.5.13, Qwen3-Next in no release
    [
        ("google/gemma-4-26B-A4B", "0.5.12", False),
        ("google/gemma-4-26B-A4B", "0.5.13", True),
        ("Qwen/Qwen3-Next-80B-A3B-Instruct", "0.5.23", False),
        ("deepseek-ai/DeepSeek-V3", "0.5.12", True),
    ],
)
def test_stages_that_a_class_does_not_take_are_warned_of(model: str, release: str, starts: bool) -> None:
    made = plan(load(model, source="bundled"), Deployment(tp=2, pp=2, engine_version=release))
    said = any(f"SGLang {release} does not start" in warning for warning in made.warnings)
    assert said is not starts


@pytest.mark.parametrize(
    ("model", "options", "words"),
    [
        ("meta-llama/Llama-3.1-8B", {"dcp": 2, "engine_version": "0.5.21"}, "--dcp: kvplan has no rules of"),
        ("google/gemma-3-27b-it", {"kv_cache_dtype": "fp4_e2m1", "engine_version": "0.5.16"}, "fp4_e2m1"),
        ("google/gemma-3-27b-it", {"kv_cache_dtype": "nvfp4", "engine_version": "0.5.15"}, "nvfp4"),
        ("Qwen/Qwen3-8B", {"attention_backend": "cutlass_mla", "engine_version": "0.5.20"}, "cutlass_mla"),
        ("Qwen/Qwen3-8B", {"attention_backend": "dsa", "engine_version": "0.5.12"}, "'dsa'"),
    ],
)
def test_options_of_other_releases_are_bad_input(model: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        plan(load(model, source="bundled"), Deployment(tp=4, **options))


@pytest.mark.parametrize(
    ("release", "asked", "running"),
    [
        # tp_worker.py asserts max_running_requests > 0: 7 // 8 = 0 stops 0.5.22; 0.5.23 takes max(1, 7 // 8).
        ("0.5.22", 7, None),
        ("0.5.22", 8, 1),
        ("0.5.23", 7, 1),
    ],
)
def test_requests_that_leave_none_for_a_rank(release: str, asked: int, running: int | None) -> None:
    ranks = Deployment(
        gpu="h200",
        tp=8,
        dp=8,
        enable_dp_attention=True,
        max_running_requests=asked,
        engine_version=release,
        available_bytes=1 << 34,
    )
    model = load("Qwen/Qwen3-8B", source="bundled")
    if running is None:
        with pytest.raises(RefusedError, match="leave none for each of 8 attention-DP ranks"):
            plan(model, ranks)
    else:
        capacity = plan(model, ranks).capacity
        assert capacity is not None
        assert capacity.max_running_requests == running


@pytest.mark.parametrize(
    ("release", "tokens"),
    [
        # 6 KV heads x 256 x 2 B = 3,072 B; 2 full, 20 sliding layers: 6,144 + 0.8 x 3,072 x 20 = 55,296 B.
        # (0.8 x 3,072) x 20 is 49,152.00000000001 in double precision, 0.8 x (3,072 x 20) is 49,152.
        ("0.5.21", 9_999),
        ("0.5.22", 10_000),
    ],
)
def test_sliding_bytes_are_multiplied_in_the_order_of_the_release(release: str, tokens: int) -> None:
    kinds = (["sliding_attention"] * 10 + ["full_attention"]) * 2
    facts = {"num_key_value_heads": 6, "head_dim": 128, "num_attention_heads": 24, "sliding_window": 512}
    model = read(config("GptOssForCausalLM", "gpt_oss", num_hidden_layers=22, layer_types=kinds, **facts))
    budget = Deployment(gpu="a100", page_size=1, available_bytes=55_296 * 10_000, engine_version=release)
    capacity = plan(model, budget).capacity
    assert capacity is not None
    assert capacity.max_total_num_tokens == tokens


@pytest.mark.parametrize(("release", "starts"), [("0.5.12", True), ("0.5.13", False), ("0.5.23", False)])
def test_exaone_takes_kernels_for_windows_also_without_them(release: str, starts: bool) -> None:
    """EXAONE-4.0-1.2B: since transformers 5.6 its class gives a window pattern to every config."""
    model = read(config("Exaone4ForCausalLM", "exaone4", sliding_window=None))
    asked = Deployment(gpu="a100", attention_backend="flashinfer", engine_version=release)
    if starts:
        assert plan(model, asked).pool.link == "MHA"
    else:
        with pytest.raises(RefusedError, match="Exaone4ForCausalLM does not run on the flashinfer backend"):
            plan(model, asked)
