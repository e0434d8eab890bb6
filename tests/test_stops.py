"""Starts that the engine gives up while it loads the model, although their pools can be sized."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import kvplan
from kvplan.deployment import Deployment
from kvplan.planning import plan
from kvplan.weights.records import Parameters, Tensors
from tests.models import LLAMA_8B

M2, QWEN, V3, PRO = (
    "MiniMaxAI/MiniMax-M2",
    "Qwen/Qwen3-235B-A22B-FP8",
    "deepseek-ai/DeepSeek-V3",
    "deepseek-ai/DeepSeek-V4-Pro",
)
NEMOTRON = "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16"
_DP = {"enable_dp_attention": True}
_A2A = {"moe_a2a_backend": "deepep"}


def stops(model: str, options: dict[str, Any]) -> tuple[str, ...]:
    return plan(kvplan.load(model, source="bundled"), Deployment(**options)).stops


# Sizes of the published configs. Blocks of FP8 are 128 x 128 in all of them.
@pytest.mark.parametrize(
    ("model", "options", "words"),
    [
        # moe_intermediate_size 1536: 1536 / 8 = 192 = 1.5 blocks; 1536 / (8 / 2) = 384 = 3 blocks
        (M2, {"tp": 8}, "experts of width 1,536 on 8 GPUs don't keep their blocks of 128 x 128 whole"),
        (QWEN, {"tp": 8}, "(--ep-size 2, or a smaller --tp)"),
        (M2, {"tp": 8, "gpu": "b200"}, "(--ep-size 2, or a smaller --tp)"),
        (QWEN, {"tp": 8, "gpu": "b200"}, "(--ep-size 2, or a smaller --tp)"),
        # attention DP does not change how experts are cut
        (QWEN, {"tp": 8, "dp": 8, **_DP}, "(--ep-size 2, or a smaller --tp)"),
        # 1536 / 16 = 96, / 8 = 192, / 4 = 384: 16 / 4 = 4
        (QWEN, {"tp": 16}, "(--ep-size 4, or a smaller --tp)"),
        (QWEN, {"tp": 8, "gpu": "rtx6000pro"}, "SGLang does not start: experts"),
        # 160 experts over 64 GPUs: 2 and a rest
        (
            "Qwen/Qwen3-Coder-480B-A35B-Instruct",
            {"tp": 64, "ep": 64},
            "160 experts don't divide by 64 GPUs (a smaller --ep-size, or another --tp)",
        ),
        # experts in FP4, but check_quantized_moe_compatibility divides by the blocks of FP8: 3072 / 16 = 192
        (
            PRO,
            {"tp": 16},
            "experts of width 3,072 on 16 GPUs don't keep their blocks of 128 x 128 whole (-",
        ),
        # one shared expert of 3072: 3072 / 16 = 192; SGLANG_SHARED_EXPERT_TP1 was made for these checkpoints
        (PRO, {"tp": 16}, "shared experts of width 3,072 on 16 GPUs don't keep their blocks"),
        # intermediate_size 18432: 18432 / 32 = 576 = 4.5 blocks
        (V3, {"tp": 32, "ep": 32}, "(--moe-dense-tp-size 1, or a smaller --tp)"),
        # blocks of dense parts are as strict on ROCm
        (V3, {"tp": 32, "ep": 32, "gpu": "mi300x"}, "(--moe-dense-tp-size 1, or a smaller --tp)"),
        # 256 experts over 72 GPUs
        (V3, {"tp": 72, "dp": 72, **_DP, **_A2A}, "256 experts don't divide by 72 GPUs (--ep-num-redund"),
        # 16 key and 64 value heads of GDN over 32 GPUs
        (
            "Qwen/Qwen3.5-397B-A17B",
            {"tp": 32},
            "16 heads or groups of recurrent layers don't divide by 32 GPUs",
        ),
        # 28 heads by 8; 40 query heads divide by 8, but 10 KV heads don't (microsoft/phi-4)
        ("Qwen/Qwen2.5-7B-Instruct", {"tp": 8}, "28 attention heads don't divide by 8 GPUs"),
        (
            "microsoft/phi-4",
            {"tp": 4},
            "10 KV heads can be neither divided by 4 GPUs nor copied to them evenly",
        ),
    ],
)
def test_a_start_that_stops_while_it_loads_is_said_so(
    model: str, options: dict[str, Any], words: str
) -> None:
    assert any(words in reason for reason in stops(model, options))


@pytest.mark.parametrize(
    ("model", "options"),
    [
        # 1536 / 4 = 384 = 3 blocks; dealt whole over two groups the same
        (M2, {"tp": 4}),
        (M2, {"tp": 8, "ep": 2}),
        (M2, {"tp": 8, "ep": 8}),
        # aiter pads experts on ROCm
        (M2, {"tp": 8, "gpu": "mi300x"}),
        # 256 + 32 experts over 72 GPUs: 4 on each
        (V3, {"tp": 72, "dp": 72, **_DP, **_A2A, "moe_dense_tp_size": 1, "ep_num_redundant_experts": 32}),
        # one shared expert as wide as a routed one may run as one of them: 2048 / (32 / 32)
        (V3, {"tp": 32, "ep": 32, "moe_dense_tp_size": 1}),
        # not quantised: nothing to keep whole
        ("Qwen/Qwen3-235B-A22B", {"tp": 8}),
        # tokens are sent to whole experts, and shared ones are whole on each GPU
        (M2, {"tp": 8, "moe_a2a_backend": "deepep"}),
        (V3, {"tp": 32, "moe_a2a_backend": "deepep", "moe_dense_tp_size": 1}),
        (PRO, {"tp": 16, "moe_a2a_backend": "megamoe"}),
        # 2048 / 16 = 128
        (V3, {"tp": 16}),
        ("Qwen/Qwen2.5-7B-Instruct", {"tp": 8, "dp": 2, **_DP}),
        ("microsoft/phi-4", {"tp": 2}),
        ("microsoft/phi-4", {"tp": 20}),
    ],
)
def test_a_start_that_loads_has_no_such_reason(model: str, options: dict[str, Any]) -> None:
    assert stops(model, options) == ()


def test_reasons_are_warnings_before_the_others() -> None:
    made = plan(kvplan.load(M2, source="bundled"), Deployment(tp=8))
    assert made.warnings[: len(made.stops)] == made.stops
    assert len(made.stops) == 1


# 11008 / 2 = 5504 = 43 groups of 128; 11008 / 4 = 2752 = 21.5 ("The input size is not aligned with the
# quantized weight shape", awq_linear.py and gptq_linear.py)
@pytest.mark.parametrize(("tp", "stops"), [(1, False), (2, False), (4, True), (8, True)])
def test_groups_of_integers_stay_whole(tp: int, stops: bool) -> None:
    mlp = Tensors(
        count=32 * 3 * 4096 * 11008,
        stored_bytes=1 << 32,
        format="int4, group 128",
        width=11_008,
        block_rows=1,
        block_columns=128,
    )
    model = replace(LLAMA_8B, parameters=Parameters(mlp=mlp, dense_layers=32))
    reasons = plan(model, Deployment(tp=tp)).stops
    assert any(f"on {tp} GPUs don't keep their groups of 128 whole" in it for it in reasons) is stops
