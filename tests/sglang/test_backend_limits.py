"""Backends that a version, a GPU or a model class does not take; each row as SGLang's code stopped."""

from __future__ import annotations

from typing import Any

import pytest

from kvplan import Deployment, InputError, RefusedError, plan
from kvplan.architecture import Architecture
from tests.models import DEEPSEEK_V32, GPT_OSS, LLAMA_8B
from tests.readers.hf import config, read

_WINDOWS = {"sliding_window": 64}
GEMMA_4 = read(config("Gemma4ForConditionalGeneration", "gemma4_text", global_head_dim=128))
EXAONE_4 = read(config("Exaone4ForCausalLM", "exaone4", **_WINDOWS))
MOSS_VL = read(config("MossVLForConditionalGeneration", "moss_vl"))
OLMO_3 = read(config("Olmo3ForCausalLM", "olmo3", **_WINDOWS))
LFM2 = read(config("Lfm2ForCausalLM", "lfm2", conv_L_cache=3, full_attn_idxs=[2]))
OLD = {"engine_version": "0.5.12"}


@pytest.mark.parametrize(
    ("model", "options", "words"),
    [
        (GPT_OSS, {"attention_backend": "flashinfer"}, "GptOssForCausalLM does not run on the flashinfer"),
        (GEMMA_4, {"attention_backend": "fa3"}, "Gemma4ForConditionalGeneration does not run on the fa3"),
        (
            MOSS_VL,
            {"attention_backend": "triton"},
            "MossVLForConditionalGeneration does not run on the triton",
        ),
        (EXAONE_4, {"attention_backend": "flashinfer"}, "Exaone4ForCausalLM does not run on the flashinfer"),
        (EXAONE_4, OLD, "0.5.12 starts Exaone4ForCausalLM with a named backend alone"),
        (OLMO_3, {"attention_backend": "flashinfer"}, "Olmo2ForCausalLM does not run on the flashinfer"),
        (LFM2, {"attention_backend": "triton"}, "its first layer may not be attention"),
        (LFM2, {"page_size": 64}, "states at single tokens, not at pages of 64"),
        (LFM2, {"gpu": "b200", "attention_backend": "trtllm_mha"}, "which trtllm_mha can't read"),
        (LLAMA_8B, {"gpu": "a100", "attention_backend": "trtllm_mha"}, "does not run on a100"),
        (LLAMA_8B, {"gpu": "h200", "attention_backend": "trtllm_mha", **OLD}, "does not run on h200"),
        (
            LLAMA_8B,
            {"gpu": "rtx6000pro", "attention_backend": "trtllm_mha", "kv_cache_dtype": "fp8_e4m3"},
            "can't prefill from fp8_e4m3 KV on SM120",
        ),
        (LLAMA_8B, {"attention_backend": "cutedsl_mla"}, "needs a Blackwell GPU"),
        (LLAMA_8B, {"gpu": "b200", "attention_backend": "tokenspeed_mla", **OLD}, "reads fp8_e4m3 KV alone"),
        (
            LLAMA_8B,
            {"enable_hisparse": True, "disable_radix_cache": True},
            "needs a model with a sparse index",
        ),
        (DEEPSEEK_V32, {"enable_hisparse": True}, "HiSparse does not go with the radix cache"),
    ],
)
def test_what_the_engine_refuses(model: Architecture, options: dict[str, Any], words: str) -> None:
    with pytest.raises(RefusedError, match=words):
        plan(model, Deployment(**options))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"attention_backend": "cutlass_mla"}, "0.5.23 has no attention backend 'cutlass_mla'"),
        ({"attention_backend": "hpc_ops", **OLD}, "0.5.12 has no attention backend 'hpc_ops'"),
        ({"tp": 4, "dcp": 8}, "8 ranks don't fit in an attention TP of 4"),
    ],
)
def test_what_no_version_of_the_engine_knows(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        plan(LLAMA_8B, Deployment(**options))


@pytest.mark.parametrize(
    ("model", "options", "page", "backend"),
    [
        (EXAONE_4, {"gpu": "a100"}, 1, "fa3"),
        (EXAONE_4, {"gpu": "b200"}, 64, "trtllm_mha"),
        (LFM2, {"page_size": 64, "disable_radix_cache": True}, 64, "fa3"),
        (LFM2, {"page_size": 64, **OLD}, 1, "fa3"),
        (LLAMA_8B, {"attention_backend": "hpc_ops"}, 64, "hpc_ops"),
        (LLAMA_8B, {"attention_backend": "cutlass_mla", **OLD}, 128, "cutlass_mla"),
        (LLAMA_8B, {"gpu": "b200", "attention_backend": "fa4"}, 128, "fa4"),
        # 0.5.12 looks at --prefill-attention-backend alone
        (LLAMA_8B, {"gpu": "b200", "attention_backend": "fa4", **OLD}, 1, "fa4"),
    ],
)
def test_pages_that_follow_from_them(
    model: Architecture, options: dict[str, Any], page: int, backend: str
) -> None:
    found = plan(model, Deployment(**options)).resolved
    assert (found.page_size, found.attention_backend) == (page, backend)
