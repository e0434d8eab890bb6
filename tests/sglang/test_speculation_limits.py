"""Drafts that the server does not start with; each row as SGLang's code stopped."""

from __future__ import annotations

from typing import Any

import pytest

from kvplan import Deployment, RefusedError, plan
from kvplan.architecture import Architecture
from tests.models import LLAMA_8B, QWEN_35, V4_FLASH
from tests.readers.hf import config, read

OLD: dict[str, Any] = {"engine_version": "0.5.12"}
CHAIN = {"speculative_num_steps": 3, "speculative_eagle_topk": 1, "speculative_num_draft_tokens": 4}
TREE = {"speculative_num_steps": 5, "speculative_eagle_topk": 4, "speculative_num_draft_tokens": 8}


@pytest.mark.parametrize("version", [{}, OLD])
@pytest.mark.parametrize(
    ("model", "options", "words"),
    [
        (LLAMA_8B, {"speculative_algorithm": "EAGLE", "pp": 2, **CHAIN}, "pipeline parallelism"),
        (
            LLAMA_8B,
            {"speculative_algorithm": "EAGLE", "attention_backend": "flex_attention", **CHAIN},
            "flex_attention backend verifies no drafts",
        ),
        (
            LLAMA_8B,
            {"speculative_algorithm": "NGRAM", "tp": 2, "dp": 2, "enable_dp_attention": True},
            "NGRAM does not go with DP attention",
        ),
        (V4_FLASH, {"speculative_algorithm": "NEXTN", **CHAIN}, "drafts with EAGLE.*, not NEXTN"),
        (V4_FLASH, {"speculative_algorithm": "EAGLE", **TREE}, "verifies chains of drafts alone"),
        # The class looks at the flag before the engine fills in a default.
        (V4_FLASH, {"speculative_algorithm": "EAGLE"}, "the flag has no default here"),
    ],
)
def test_what_both_versions_refuse(
    version: dict[str, Any], model: Architecture, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(RefusedError, match=words):
        plan(model, Deployment(**options, **version))


def test_states_in_the_radix_cache_keep_no_drafts_before_tracking_slots() -> None:
    """0.5.12 asks for --disable-radix-cache; 0.5.23 tracks the states of drafts."""
    drafts: dict[str, Any] = {"speculative_algorithm": "EAGLE", "available_bytes": 64 << 30, "tp": 8, **CHAIN}
    with pytest.raises(RefusedError, match=r"keeps no states of drafts in SGLang 0\.5\.12 \(--disable-radix"):
        plan(QWEN_35, Deployment(**drafts, **OLD))
    assert plan(QWEN_35, Deployment(**drafts)).capacity.max_total_num_tokens
    without = Deployment(**drafts, **OLD, disable_radix_cache=True)
    assert plan(QWEN_35, without).capacity.max_total_num_tokens


def test_drafts_of_bailing_are_read_as_mla_before_0_5_21() -> None:
    """model_config.py of 0.5.20 reads kv_lora_rank of BailingMoeForCausalLMNextN, which Ling-2 has not."""
    ling = read(config("BailingMoeV2ForCausalLM", "bailing_moe_v2", num_nextn_predict_layers=1))
    drafts: dict[str, Any] = {"speculative_algorithm": "NEXTN", **CHAIN}
    with pytest.raises(
        RefusedError, match=r"SGLang 0\.5\.20 reads the draft of BailingMoeV2ForCausalLM as MLA"
    ):
        plan(ling, Deployment(**drafts, engine_version="0.5.20"))
    # 12 layers and a draft layer x 8 KV heads x 256 x 2
    assert plan(ling, Deployment(**drafts, engine_version="0.5.21")).pool.cell_size == 53_248


def test_deepseek_v4_runs_on_its_own_backend_whatever_is_asked() -> None:
    made = plan(V4_FLASH, Deployment(gpu="h200", attention_backend="trtllm_mha", **OLD))
    assert made.resolved.attention_backend == "dsv4"
