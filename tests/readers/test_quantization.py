"""The KV format that a checkpoint declares, as SGLang finds it."""

from __future__ import annotations

from typing import Any

import pytest

from kvplan import Deployment, plan
from kvplan.architecture import Quantization, Source
from kvplan.config import Config
from kvplan.readers import huggingface
from tests.readers.hf import config, read

FP8_SCHEME = {"type": "float", "num_bits": 8}
STATIC = {**FP8_SCHEME, "strategy": "tensor", "symmetric": True, "dynamic": False}


def kv_dtype(quantization: dict[str, Any], **options: Any) -> str:
    model = read(config("LlamaForCausalLM", "llama", quantization_config=quantization))
    return plan(model, Deployment(**options)).resolved.kv_cache_dtype


@pytest.mark.parametrize(
    ("quantization", "in_0_5_12", "in_0_5_23"),
    [
        # modelopt_quant.py: the scheme counts in both, a key of its own since 0.5.23
        ({"quant_method": "modelopt", "quant_algo": "FP8", "kv_cache_scheme": FP8_SCHEME}, True, True),
        ({"quant_algo": "FP8", "kv_cache_scheme": FP8_SCHEME}, True, True),
        ({"quant_method": "modelopt", "quant_algo": "FP8", "kv_cache_quant_algo": "FP8"}, False, True),
        (
            {
                "quant_method": "modelopt",
                "quant_algo": "FP8",
                "kv_cache_scheme": {"type": "float", "num_bits": 4},
                "kv_cache_quant_algo": "FP8",
            },
            False,
            False,
        ),
        ({"quant_method": "compressed-tensors", "kv_cache_scheme": STATIC}, False, True),
        (
            {"quant_method": "compressed-tensors", "kv_cache_scheme": {**STATIC, "dynamic": True}},
            False,
            False,
        ),
        ({"quant_method": "fp8", "kv_cache_quant_algo": "FP8"}, False, True),
    ],
)
def test_auto_follows_what_the_version_reads(
    quantization: dict[str, Any], in_0_5_12: bool, in_0_5_23: bool
) -> None:
    found = tuple(
        kv_dtype(quantization, engine_version=version, gpu="h200") == "float8_e4m3fn"
        for version in ("0.5.12", "0.5.23")
    )
    assert found == (in_0_5_12, in_0_5_23)


@pytest.mark.parametrize(("outer", "found"), [("kimi_k25", True), ("mistral3", True), ("step3_vl", False)])
def test_a_text_part_counts_where_its_class_is_not_sglangs_own(outer: str, found: bool) -> None:
    scheme = {"quant_method": "compressed-tensors", "kv_cache_scheme": STATIC}
    text = config("MistralForCausalLM", "mistral", quantization_config=scheme)
    model = {"architectures": ["Mistral3ForConditionalGeneration"], "model_type": outer, "text_config": text}
    assert (read(model).quantization is not None) == found


def test_config_json_goes_before_the_file_beside_it() -> None:
    beside = {"quantization": {"quant_algo": "FP8", "kv_cache_quant_algo": "FP8"}}

    def quantization(**facts: Any) -> Quantization | None:
        content = Config(config("LlamaForCausalLM", "llama", **facts), file="config.json")
        source = Source(kind="file", location="config.json")
        return huggingface.read(content, source=source, model_id="m", beside=beside).quantization

    assert quantization() == Quantization(method="modelopt", kv_cache_algo="FP8", weights_algo="FP8")
    own = quantization(quantization_config={"quant_method": "awq", "bits": 4})
    assert own == Quantization(method="awq")


@pytest.mark.parametrize(
    ("config_json", "expected"),
    [
        # get_hf_text_config: thinker_config's dtype counts for the text inside it
        (
            {
                "architectures": ["Qwen3ASRForConditionalGeneration"],
                "model_type": "qwen3_asr",
                "thinker_config": {
                    "dtype": "bfloat16",
                    "text_config": config("x", "qwen3", torch_dtype="float16"),
                },
            },
            "bfloat16",
        ),
        (config("LlavaQwenForCausalLM", "llava", torch_dtype="bfloat16"), "float16"),
    ],
)
def test_dtype_where_the_engine_looks(config_json: dict[str, Any], expected: str) -> None:
    assert read(config_json).dtype == expected
