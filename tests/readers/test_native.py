from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import pytest

from kvplan.architecture import Architecture, ConfigHeads, Quantization, Source, Vision
from kvplan.config import Config
from kvplan.layers import (
    LAYER_KINDS,
    FullAttention,
    GatedDeltaNet,
    IndexedAttention,
    Layer,
    LayerKind,
    Mamba2,
    NoCache,
    ParallelLayer,
    SharedAttention,
    SlidingAttention,
)
from kvplan.plain_yaml import parse
from kvplan.readers.native import is_native, read
from kvplan.readers.native_facts import facts_of

QWEN = """
kvplan: 1
id: Qwen/Qwen3.5-397B-A17B
architecture: Qwen3_5MoeForConditionalGeneration
model_type: qwen3_5_moe
context_length: 262144
dtype: bfloat16
attention_heads: 32
hidden_size: 4096
config_heads: {kv_heads: 2, head_dim: 256, v_head_dim: 256}
draft_layers: 1
loops: 2
attention_sinks: true
fused_qkv_tp: 4
vision: {layers: 27, hidden_size: 1152}
quantization: {method: fp8, kv_cache_algo: FP8}
weights: 806 GB
source: {file: config.json, revision: 9f1c, note: as published}
assumed: [head_dim 256]
notes: [one, two]
num_layers: 60
layers:
  - repeat: 15
    layers:
      - {kind: gdn, count: 3, k_heads: 16, v_heads: 64, k_head_dim: 128, v_head_dim: 128, conv_kernel: 4}
      - {kind: full, kv_heads: 2, head_dim: 256}
"""
GDN = GatedDeltaNet(k_heads=16, v_heads=64, k_head_dim=128, v_head_dim=128, conv_kernel=4)
FULL = FullAttention(kv_heads=2, head_dim=256, v_head_dim=256)
SLIDING = SlidingAttention(kv_heads=4, head_dim=64, v_head_dim=64, window=128)


def load(text: str, *, source: Source | None = None) -> Architecture:
    place = source or Source(kind="file", location="m.yaml")
    return read(Config(parse(text, file="m.yaml", problems=[]), file="m.yaml"), source=place, model_id="m")


def layers(text: str) -> tuple[Layer, ...]:
    return load(f"architecture: A\nlayers:\n{text}").layers


def test_a_full_file_gives_every_fact_of_the_architecture() -> None:
    assert load(QWEN) == Architecture(
        id="Qwen/Qwen3.5-397B-A17B",
        architecture="Qwen3_5MoeForConditionalGeneration",
        model_type="qwen3_5_moe",
        context_length=262144,
        dtype="bfloat16",
        attention_heads=32,
        hidden_size=4096,
        config_heads=ConfigHeads(kv_heads=2, head_dim=256, v_head_dim=256),
        draft_layers=1,
        loops=2,
        attention_sinks=True,
        fused_qkv_tp=4,
        vision=Vision(layers=27, hidden_size=1152),
        quantization=Quantization(method="fp8", kv_cache_algo="FP8"),
        weights_bytes=806_000_000_000,
        source=Source(kind="file", location="m.yaml", revision="9f1c"),
        assumed=("head_dim 256",),
        notes=("one", "two"),
        layers=(GDN, GDN, GDN, FULL) * 15,
    )


def test_a_file_needs_no_more_than_the_class_name_and_the_layers() -> None:
    model = load("architecture: A\nlayers: [{kind: none}]")
    assert model == Architecture(
        id="m", architecture="A", layers=(NoCache(),), source=Source(kind="file", location="m.yaml")
    )


def test_the_place_that_a_file_came_from_keeps_its_own_revision() -> None:
    hub = Source(kind="hub", location="org/m", revision="abc")
    assert load(QWEN, source=hub).source == hub


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- {kind: full, kv_heads: 2, head_dim: 256}", (FULL,)),
        ("- {kind: sliding, kv_heads: 4, head_dim: 64, window: 128}", (SLIDING,)),
        (
            "- {kind: indexed, kv_heads: 4, head_dim: 128, index_dim: 128}",
            (IndexedAttention(kv_heads=4, head_dim=128, v_head_dim=128, index_dim=128),),
        ),
        (
            "- {kind: shared, reads: {kind: sliding, kv_heads: 4, head_dim: 64, window: 128}}",
            (SharedAttention(reads=SLIDING),),
        ),
    ],
)
def test_the_width_of_v_is_the_width_of_k_where_it_is_left_out(
    text: str, expected: tuple[Layer, ...]
) -> None:
    assert layers(text) == expected


def test_the_two_parts_of_a_parallel_layer_are_layers_of_their_own() -> None:
    assert layers(
        "- kind: parallel\n"
        "  attention: {kind: full, kv_heads: 2, head_dim: 256}\n"
        "  state: {kind: mamba2, heads: 24, head_dim: 64, state_size: 128, groups: 1, conv_kernel: 4,"
        " state_dtype: bf16}"
    ) == (
        ParallelLayer(
            attention=FULL,
            state=Mamba2(
                heads=24, head_dim=64, state_size=128, groups=1, conv_kernel=4, state_dtype="bfloat16"
            ),
        ),
    )


def test_groups_may_stand_inside_groups_and_keep_the_order() -> None:
    assert layers(
        "- {kind: none}\n"
        "- repeat: 2\n"
        "  layers:\n"
        "    - layers: [{kind: full, kv_heads: 2, head_dim: 256}]\n"
        "      repeat: 2\n"
        "    - {kind: sliding, kv_heads: 4, head_dim: 64, window: 128}\n"
    ) == (NoCache(), FULL, FULL, SLIDING, FULL, FULL, SLIDING)


@pytest.mark.parametrize(
    ("mapping", "native"),
    [
        ({"kvplan": 1}, True),
        ({"layers": [{"kind": "full"}]}, True),
        ({"layers": ["full", "sliding"]}, False),
        ({"layers": 32, "model_type": "gpt2"}, False),
        ({"num_hidden_layers": 32, "model_type": "llama"}, False),
        ({}, False),
    ],
)
def test_a_native_file_has_the_format_version_or_a_list_of_layers(
    mapping: dict[str, Any], native: bool
) -> None:
    assert is_native(mapping) is native


@pytest.mark.parametrize("kind", LAYER_KINDS, ids=lambda kind: kind.kind)
def test_no_field_of_a_layer_takes_the_name_of_a_key_of_the_list(kind: type[LayerKind]) -> None:
    names = {fact.key for fact in facts_of(kind)}
    assert not names & {"kind", "count", "repeat", "layers"}


def test_a_field_of_a_type_that_the_file_can_not_hold_is_refused_when_it_is_added() -> None:
    @dataclass(frozen=True)
    class Odd:
        share: float

    with pytest.raises(TypeError, match=r"Odd.share: .*float.* has no form in a model YAML"):
        facts_of(Odd)


@pytest.mark.parametrize("record", [*LAYER_KINDS, Architecture], ids=lambda record: record.__name__)
def test_every_field_of_a_record_has_a_key_of_its_own(record: Any) -> None:
    keys = [fact.key for fact in facts_of(record)]
    assert len(set(keys)) == len(keys) == len(dataclasses.fields(record))
