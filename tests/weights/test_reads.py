"""What a decode step reads of the weights, and how many parameters of it a token uses."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import pytest

import kvplan
from kvplan.architecture import Architecture
from kvplan.layers import FullAttention
from kvplan.weights.reads import (
    WeightReads,
    active_parameters,
    expected_experts,
    fewest_experts,
    knows_experts,
    weight_reads,
)
from kvplan.weights.records import Parameters, Tensors
from kvplan.weights.sharding import Split

MILLION = 10**6

# What models are published to activate for each token, in millions: by their names, model cards and
# reports. Some count the embedding, of which a step reads a row a token, and some do not.
PUBLISHED = [
    ("Qwen/Qwen3.5-397B-A17B", 17_000),
    ("Qwen/Qwen3-235B-A22B", 22_000),
    ("Qwen/Qwen3-Coder-480B-A35B-Instruct", 35_000),
    ("Qwen/Qwen3-30B-A3B", 3_300),  # model card
    ("deepseek-ai/DeepSeek-V2-Lite", 2_400),  # arXiv 2405.04434
    ("deepseek-ai/DeepSeek-V2", 21_000),  # arXiv 2405.04434
    ("deepseek-ai/DeepSeek-V3", 37_000),  # arXiv 2412.19437
    ("deepseek-ai/DeepSeek-V4-Flash", 13_000),
    ("deepseek-ai/DeepSeek-V4-Pro", 49_000),
    ("moonshotai/Kimi-K2-Instruct", 32_000),
    ("moonshotai/Kimi-Linear-48B-A3B-Instruct", 3_000),
    ("zai-org/GLM-4.5", 32_000),
    ("zai-org/GLM-5", 40_000),
    ("MiniMaxAI/MiniMax-M2", 10_000),
    ("XiaomiMiMo/MiMo-V2-Flash", 15_000),
    ("tencent/Hunyuan-A13B-Instruct", 13_000),
    ("openai/gpt-oss-120b", 5_130),  # arXiv 2508.10925
    ("openai/gpt-oss-20b", 3_610),  # arXiv 2508.10925
    ("mistralai/Mixtral-8x7B-v0.1", 12_900),  # arXiv 2401.04088
    ("meta-llama/Llama-4-Scout-17B-16E-Instruct", 17_000),
    ("google/gemma-4-26B-A4B", 3_800),
    ("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", 3_200),
    ("nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-NVFP4", 12_000),
    ("nvidia/NVIDIA-Nemotron-3-Ultra-550B-A55B-BF16", 55_000),
    ("ibm-granite/granite-3.1-1b-a400m-instruct", 400),
    # dense: the whole model
    ("meta-llama/Llama-3.1-8B", 8_030),
    ("meta-llama/Llama-3.1-70B", 70_550),
    ("google/gemma-2-9b-it", 9_240),
]
# Names round to a digit or two.
TOLERATED = {"MiniMaxAI/MiniMax-M2": 0.05, "ibm-granite/granite-3.1-1b-a400m-instruct": 0.08}


@pytest.mark.parametrize(("model", "millions"), PUBLISHED)
def test_as_many_parameters_are_active_as_the_model_says(model: str, millions: int) -> None:
    parameters = kvplan.load(model, source="bundled").parameters
    assert parameters is not None
    assert parameters.embedding is not None
    active = active_parameters(parameters)
    with_embedding = active + (parameters.embedding.count if parameters.head is not None else 0)
    error = TOLERATED.get(model, 0.04)
    assert active <= millions * MILLION * (1 + error)
    assert with_embedding >= millions * MILLION * (1 - error)


def tensors(size: int) -> Tensors:
    return Tensors(count=size // 2, stored_bytes=size, format="bfloat16")


MODEL = Architecture(
    id="some/model",
    architecture="SomeForCausalLM",
    layers=(FullAttention(kv_heads=8, head_dim=128, v_head_dim=128),) * 6,
)
PARAMETERS = Parameters(
    embedding=tensors(1_000),
    lookup_tables=tensors(5_000),
    head=tensors(1_600),
    attention=tensors(4_800),
    attention_kv=tensors(2_400),
    attention_copied=tensors(600),
    mlp=tensors(1_600),
    experts=tensors(9_600),
    shared_experts=tensors(480),
    router=tensors(240),
    norms=tensors(60),
    towers=tensors(320),
    draft=tensors(80),
    unused=tensors(40),
    moe_layers=5,
    dense_layers=1,
    routed_experts=16,
    experts_per_token=4,
)
SPLIT = Split(tp=8, attention_tp=8, head_tp=8, dense_tp=8, shared_tp=8, pp=1, drafts=False, dtype="bfloat16")
# On 8 GPUs: 200 head, 600 + 300 attention, 600 copied, 200 MLP, 60 shared, 240 router, 60 norms
COMMON = 2_260


def test_tables_towers_and_drafts_are_not_read() -> None:
    assert weight_reads(MODEL, PARAMETERS, SPLIT, None) == WeightReads(common=COMMON, experts=1_200)


def test_a_shared_embedding_is_read_as_the_head_without_its_tables() -> None:
    tied = dataclasses.replace(PARAMETERS, head=None)
    # 1,000 / 8 = 125 for the 200 of the head
    assert weight_reads(MODEL, tied, SPLIT, None) == WeightReads(common=COMMON - 75, experts=1_200)


def test_a_step_passes_all_pipeline_stages() -> None:
    stages = dataclasses.replace(SPLIT, pp=3)
    assert weight_reads(MODEL, PARAMETERS, stages, None) == WeightReads(common=COMMON, experts=1_200)


def test_a_looped_stack_is_read_once_a_loop_and_the_head_once() -> None:
    looped = dataclasses.replace(MODEL, loops=2)
    # 2 x 2,060 + 200
    assert weight_reads(looped, PARAMETERS, SPLIT, None) == WeightReads(common=4_320, experts=2_400)


def test_the_parts_follow_what_is_known_of_the_whole() -> None:
    # A GPU loads 125 + 625 of the tables, 40 of the towers and all that is read: 790 + 2,260 + 1,200 = 4,250.
    doubled = WeightReads(common=2 * COMMON, experts=2_400)
    assert weight_reads(MODEL, PARAMETERS, SPLIT, 8_500) == doubled
    # Stored are 1,000 + 5,000 + 1,600 + 4,800 + 2,400 + 600 + 1,600 + 9,600 + 480 + 240 + 60 + 320 + 80 + 40.
    published = dataclasses.replace(MODEL, weights_bytes=2 * 27_820)
    assert weight_reads(published, PARAMETERS, SPLIT, None) == doubled
    assert weight_reads(published, PARAMETERS, SPLIT, 4_250) == WeightReads(common=COMMON, experts=1_200)


def test_nothing_is_known_where_no_kind_is_loaded() -> None:
    assert weight_reads(MODEL, Parameters(unused=tensors(40)), SPLIT, 8_500) is None


@pytest.mark.parametrize(
    ("ep", "part"),
    [
        (1, Fraction(1, 4)),  # 4 of 16, a slice of each on every GPU
        (2, Fraction(1, 4)),  # 2 of the 8 that one group holds
        (4, Fraction(1, 4)),  # 1 of 4
        (8, Fraction(1, 2)),  # 1 of the 2 on the busiest, though half of the groups read none
        (16, Fraction(1)),  # the only one there
        (3, Fraction(6, 16)),  # 2 on the busiest of 3 groups
    ],
)
def test_the_busiest_gpu_reads_one_expert_at_least(ep: int, part: Fraction) -> None:
    assert fewest_experts(PARAMETERS, ep) == part


@pytest.mark.parametrize(
    ("tokens", "part"),
    [
        (1, 0.25),
        (2, 0.4375),  # 1 - 0.75 x 0.75
        (3, 0.578125),  # 1 - 0.421875
        (1_000, 1.0),
    ],
)
def test_each_token_leaves_out_three_of_four_experts(tokens: int, part: float) -> None:
    assert expected_experts(PARAMETERS, tokens) == pytest.approx(part)


def test_dense_models_have_no_experts_to_read() -> None:
    dense = Parameters(mlp=tensors(1_600), dense_layers=6)
    assert fewest_experts(dense, 1) == 0
    assert expected_experts(dense, 8) == 0
    assert knows_experts(dense)


def test_experts_are_known_by_both_their_numbers() -> None:
    assert knows_experts(PARAMETERS)
    assert not knows_experts(dataclasses.replace(PARAMETERS, routed_experts=None))
    assert not knows_experts(dataclasses.replace(PARAMETERS, experts_per_token=None))
