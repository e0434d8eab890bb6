"""Servers whose GPUs send tokens to the experts of others: their fraction, and what they don't take."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import kvplan
from kvplan import Architecture, Deployment, plan
from kvplan.errors import InputError, RefusedError

V3, V4 = "deepseek-ai/DeepSeek-V3", "deepseek-ai/DeepSeek-V4-Flash"
QWEN, QWEN_VL = "Qwen/Qwen3-30B-A3B", "Qwen/Qwen3-VL-235B-A22B-Instruct"
_DP = {"dp": 8, "enable_dp_attention": True}
_CHUNK = {"chunked_prefill_size": 4096}
RELEASES = ("0.5.12", "0.5.14", "0.5.15", "0.5.16", "0.5.17", "0.5.22", "0.5.23")
# What SGLang's own argument resolution of these releases gave at TP 8, on a CPU with a pretended GPU.
# 92 layers x 3 x 7168 x (2 x 3072) x 2 bytes, sizes of its config
KIMI_K3_SHARED = 24_310_185_984
FRACTIONS = [
    (V3, "deepep", "l40s", {}, (0.826, 0.826, 0.782, 0.782, 0.782, 0.726, 0.726)),
    (V3, "deepep", "rtx6000pro", _CHUNK, (0.895, 0.895, 0.874, 0.874, 0.874, 0.864, 0.864)),
    (V3, "deepep", "h200", _DP, (0.769, 0.769, 0.754, 0.754, 0.754, 0.736, 0.736)),
    (V3, "mooncake", "h200", _DP, (0.769,) * 7),
    (V3, "mooncake", "l40s", {}, (0.826,) * 7),
    (V3, "megamoe", "b200", {}, (0.852, 0.852, 0.852, 0.852, 0.852, 0.844, 0.844)),
    (QWEN, "deepep", "rtx6000pro", {}, (0.848, 0.848, 0.827, 0.827, 0.814, 0.814, 0.814)),
    (QWEN, "deepep", "l40s", _CHUNK, (0.826, 0.826, 0.782, 0.782, 0.753, 0.753, 0.753)),
    (QWEN, "deepep", "l40s", _DP, (0.743, 0.743, 0.699, 0.699, 0.670, 0.670, 0.670)),
    (QWEN, "megamoe", "b200", _DP, (0.751, 0.751, 0.751, 0.751, 0.748, 0.748, 0.748)),
    (
        QWEN_VL,
        "deepep",
        "rtx6000pro",
        _CHUNK,
        (0.827665234375, 0.827665234375, *(0.8082451562499999,) * 5),
    ),
    (V4, "deepep", "h200", _CHUNK, (0.929, 0.929, 0.915, 0.915, 0.915, 0.915, 0.915)),
    (V4, "mooncake", "l40s", _CHUNK, (0.826,) * 7),
]


def loaded(model: Architecture, asked: Deployment) -> int:
    """Bytes of weights on one GPU, estimated."""
    budget = plan(model, replace(asked, gpu="b300", weights="estimate")).budget
    assert budget is not None
    assert budget.weights_bytes is not None
    return budget.weights_bytes


def start(name: str, **options: Any) -> Deployment:
    return Deployment(**{"tp": 8, "moe_a2a_backend": name, **options})


@pytest.mark.parametrize(("model", "name", "gpu", "options", "fractions"), FRACTIONS)
def test_the_fraction_by_release(
    model: str, name: str, gpu: str, options: dict[str, Any], fractions: tuple[float, ...]
) -> None:
    found = kvplan.load(model, source="bundled")
    planned = tuple(
        plan(found, start(name, gpu=gpu, engine_version=release, **options)).resolved.mem_fraction_static
        for release in RELEASES
    )
    assert planned == fractions


def test_it_deals_experts_over_all_gpus() -> None:
    assert start("deepep", ep=2).expert_parallel == 8
    assert start("none", ep=2).expert_parallel == 2
    assert Deployment(tp=8, ep=2).expert_parallel == 2


# Bytes that one GPU of 8 loads more than with none: 7/8 of the shared experts (count x bytes in the YAML).
@pytest.mark.parametrize(
    ("model", "name", "more"),
    [
        # 58 layers x 3 x 7168 x 2048 in FP8 with scales
        (V3, "deepep", 2_554_954_752 * 7 // 8),
        (V3, "mooncake", 2_554_954_752 * 7 // 8),
        # 60 layers x 3 x 4096 x 1024 x 2 bytes; qwen2_moe.py names no mooncake
        ("Qwen/Qwen3.5-397B-A17B", "deepep", 60 * 3 * 4096 * 1024 * 2 * 7 // 8),
        ("Qwen/Qwen3.5-397B-A17B", "mooncake", 0),
        # kimi_k3.py replicates them under any
        ("moonshotai/Kimi-K3", "mooncake", KIMI_K3_SHARED * 7 // 8),
        # kimi_linear.py cuts them always
        ("moonshotai/Kimi-Linear-48B-A3B-Instruct", "deepep", 0),
    ],
)
def test_shared_experts_are_whole_where_the_class_makes_them(model: str, name: str, more: int) -> None:
    found = kvplan.load(model, source="bundled")
    assert loaded(found, start(name)) - loaded(found, start("none")) == more


# 3 x 7168 x 18432 of 3 dense layers in FP8 with scales; kimi_linear.py has no is_dense_ffn_fully_dp.
@pytest.mark.parametrize(
    ("model", "more"), [(V3, 1_189_375_488 * 7 // 8), ("moonshotai/Kimi-Linear-48B-A3B-Instruct", 0)]
)
def test_dense_layers_are_whole_where_the_class_makes_them(model: str, more: int) -> None:
    found = kvplan.load(model, source="bundled")
    asked = Deployment(tp=8)
    assert loaded(found, replace(asked, moe_dense_tp_size=1)) - loaded(found, asked) == more


def test_the_head_is_split_as_attention_where_it_is_asked_for() -> None:
    """DeepSeek-V3: 129,280 x 7168 x 2 bytes, 1/8 of them or with a rank on each GPU all."""
    found = kvplan.load(V3, source="bundled")
    asked = start("deepep", **_DP)
    assert loaded(found, replace(asked, enable_dp_lm_head=True)) - loaded(found, asked) == (
        129_280 * 7168 * 2 * 7 // 8
    )


def test_a_class_without_room_for_copies_drops_them() -> None:
    """llama4.py and mixtral.py make num_local_experts alone."""
    found = kvplan.load("mistralai/Mixtral-8x7B-v0.1", source="bundled")
    asked = Deployment(tp=8, ep=8)
    assert loaded(found, replace(asked, ep_num_redundant_experts=8)) == loaded(found, asked)


def test_copies_of_experts_take_their_share() -> None:
    """DeepSeek-V3: 654,068,416,512 bytes of 256 experts; 32 copies over 8 GPUs are 4 experts on each."""
    found = kvplan.load(V3, source="bundled")
    asked = start("deepep")
    copies = loaded(found, replace(asked, ep_num_redundant_experts=32)) - loaded(found, asked)
    assert copies == 654_068_416_512 * 4 // 256


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("flashinfer", {}, "attention-DP rank on each GPU alone (--enable-dp-attention --dp 8"),
        ("flashinfer", {"dp": 4, "enable_dp_attention": True}, "attention-DP rank on each GPU alone"),
        ("flashinfer_megamoe", {"gpu": "b200"}, "attention-DP rank on each GPU alone"),
        ("flashinfer_megamoe", {"gpu": "h200", **_DP}, "does not run on H200: it is made for data-centre Bl"),
        ("deepep", {"dp": 2, "enable_dp_lm_head": True}, "--enable-dp-lm-head asks for DP attention"),
        ("pplx", {}, "pplx goes with 2 attention-DP ranks or more alone (--enable-dp-attention --dp 2"),
        ("megamoe", {"gpu": "l40s"}, "does not run on L40S"),
        ("megamoe", {"gpu": "rtx6000pro", "engine_version": "0.5.21"}, "does not run on RTX6000PRO"),
    ],
)
def test_what_it_does_not_go_with_is_refused(name: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises(RefusedError) as caught:
        plan(kvplan.load(V3, source="bundled"), start(name, **options))
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("flashinfer", {"engine_version": "0.5.12"}),
        ("flashinfer", {**_DP}),
        ("flashinfer_megamoe", {"gpu": "b200", **_DP}),
        ("pplx", {"dp": 2, "enable_dp_attention": True, "engine_version": "0.5.17"}),
        ("megamoe", {"gpu": "h100"}),
        ("megamoe", {"gpu": "l40s", "engine_version": "0.5.20"}),
    ],
)
def test_what_it_goes_with_is_planned(name: str, options: dict[str, Any]) -> None:
    planned = plan(kvplan.load(V3, source="bundled"), start(name, **options))
    assert planned.stops == ()
    assert planned.deployment.expert_parallel == 8


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"moe_a2a_backend": "deepp"},
            "SGLang 0.5.23 has no backend 'deepp' to send tokens to experts (did you mean deepep?",
        ),
        ({"moe_a2a_backend": "pplx", "engine_version": "0.5.16"}, "SGLang 0.5.16 has no backend 'pplx'"),
        (
            {"moe_a2a_backend": "deepep_v2", "engine_version": "0.5.18"},
            "SGLang 0.5.18 has no backend 'deepep_v2'",
        ),
        ({"moe_a2a_backend": "ascend_tp"}, "ascend_tp is for Ascend, which kvplan has no rules of"),
        (
            {"moe_dense_tp_size": 8, "engine_version": "0.5.12"},
            "--moe-dense-tp-size: SGLang 0.5.12 takes no value but 1 (leave it out)",
        ),
        (
            {"ep_num_redundant_experts": -1},
            "--ep-num-redundant-experts: -1 is not a whole number of 0 or more",
        ),
        ({"moe_dense_tp_size": 4}, "--moe-dense-tp-size: 4 GPUs are neither 1 nor all of --tp 8"),
    ],
)
def test_names_and_sizes_that_can_not_be_are_errors(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as caught:
        plan(kvplan.load(V3, source="bundled"), Deployment(tp=8, **options))
    assert words in str(caught.value)
