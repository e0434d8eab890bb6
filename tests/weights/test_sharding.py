"""What one GPU loads: kinds that are cut, kinds that are copied."""

from __future__ import annotations

import dataclasses

import pytest

import kvplan
from kvplan.architecture import Architecture
from kvplan.layers import FullAttention
from kvplan.weights.records import Parameters, Tensors
from kvplan.weights.sharding import Split, shares

GIB = 1 << 30


def tensors(size: int, stored_as: str = "bfloat16") -> Tensors:
    return Tensors(count=size // 2, stored_bytes=size, format=stored_as)


MODEL = Architecture(
    id="some/model",
    architecture="SomeForCausalLM",
    layers=(FullAttention(kv_heads=2, head_dim=128, v_head_dim=128),) * 6,
)
PARAMETERS = Parameters(
    embedding=tensors(800),
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
)
ALONE = Split(tp=1, attention_tp=1, head_tp=1, dense_tp=1, shared_tp=1, pp=1, drafts=False, dtype="bfloat16")


@pytest.mark.parametrize(
    ("change", "kind", "size"),
    [
        ({"tp": 8, "attention_tp": 8}, "attention", 600),
        ({"tp": 8, "attention_tp": 8}, "attention_kv", 1_200),  # 2 KV heads: one on each GPU, stored 4 times
        ({"tp": 8, "attention_tp": 8}, "attention_copied", 600),
        ({"tp": 8, "attention_tp": 8}, "experts", 1_200),
        ({"tp": 8, "attention_tp": 8}, "router", 240),
        ({"tp": 8, "attention_tp": 8}, "norms", 60),
        ({"head_tp": 8}, "head", 200),
        ({"tp": 8, "attention_tp": 1}, "attention", 4_800),  # attention DP: whole on each rank
        ({"tp": 8, "attention_tp": 1}, "embedding", 800),
        ({"tp": 8, "attention_tp": 8}, "head", 1_600),
        ({"tp": 8, "attention_tp": 1}, "experts", 1_200),
        ({"pp": 2}, "attention", 2_400),  # 3 of 6 layers
        ({"pp": 2}, "experts", 5_760),  # 3 of the 5 layers with experts
        ({"pp": 2}, "mlp", 1_600),  # the one dense layer may be in the stage
        ({"drafts": True}, "draft", 80),
        ({"tp": 8, "dense_tp": 8}, "mlp", 200),
        ({"tp": 8, "dense_tp": 1}, "mlp", 1_600),  # --moe-dense-tp-size 1: whole on each GPU
        ({"tp": 8, "shared_tp": 8}, "shared_experts", 60),
        ({"tp": 8, "shared_tp": 1}, "shared_experts", 480),  # --moe-a2a-backend: the same
    ],
)
def test_a_kind_is_cut_or_copied(change: dict[str, int | bool], kind: str, size: int) -> None:
    assert shares(MODEL, PARAMETERS, dataclasses.replace(ALONE, **change))[kind] == size  # type: ignore[arg-type]


def test_drafts_and_their_copies_of_the_vocabulary_are_not_loaded_without_speculation() -> None:
    assert not {"draft", "unused"} & set(shares(MODEL, PARAMETERS, ALONE))


def test_one_stage_has_the_embedding_or_the_head() -> None:
    kinds = shares(MODEL, PARAMETERS, dataclasses.replace(ALONE, pp=2))
    assert kinds["head"] == 1_600
    assert "embedding" not in kinds


def test_a_dense_model_is_cut_whatever_dense_layers_beside_experts_are() -> None:
    parameters = Parameters(mlp=tensors(1_000, "bfloat16"), dense_layers=6)
    assert shares(MODEL, parameters, dataclasses.replace(ALONE, tp=8)) == {"mlp": 125}


def test_float32_is_loaded_in_sixteen_bits() -> None:
    parameters = Parameters(mlp=tensors(1_000, "float32"), dense_layers=6)
    assert shares(MODEL, parameters, ALONE) == {"mlp": 500}


def test_deepseek_v3_on_eight_gpus_takes_what_its_servers_log() -> None:
    """79.5 GiB: experts 76.1, the down-projections whole on each GPU, and w_kc and w_vc beside kv_b_proj."""
    model = kvplan.load("deepseek-ai/DeepSeek-V3", source="bundled")
    assert model.parameters is not None
    kinds = shares(
        model,
        model.parameters,
        Split(tp=8, attention_tp=8, head_tp=8, dense_tp=8, shared_tp=8, pp=1, drafts=False, dtype="bfloat16"),
    )
    assert kinds["experts"] == 81_758_552_064  # 654,068,416,512 / 8
    # 61 x 7168 x (1536 + 576) in FP8 with scales
    assert kinds["attention_copied"] == 923_693_232
    # 61 x 512 x 128 heads x (128 + 128) x 2 bytes / 8
    assert kinds["absorbed"] == 255_852_544
    assert sum(kinds.values()) / GIB == pytest.approx(79.53, abs=0.01)
