from __future__ import annotations

import dataclasses
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from kvplan.architecture import Architecture, ConfigHeads, Quantization, Source, Vision
from kvplan.config import Config
from kvplan.dtypes import BITS
from kvplan.export import blocks, to_yaml
from kvplan.layers import (
    LAYER_KINDS,
    CompressedAttention,
    FullAttention,
    GatedDeltaNet,
    Layer,
    LayerKind,
    Mamba2,
    NoCache,
    ParallelLayer,
    SharedAttention,
    SlidingAttention,
)
from kvplan.plain_yaml import parse
from kvplan.readers.native import FACTS, read
from kvplan.readers.native_facts import Fact, facts_of
from kvplan.weights.records import Parameters, Tensors

GDN = GatedDeltaNet(k_heads=16, v_heads=64, k_head_dim=128, v_head_dim=128, conv_kernel=4)
FULL = FullAttention(kv_heads=2, head_dim=256, v_head_dim=256)
SLIDING = SlidingAttention(kv_heads=4, head_dim=192, v_head_dim=128, window=128)
MAMBA = Mamba2(heads=24, head_dim=64, state_size=128, groups=1, conv_kernel=4, state_dtype="bfloat16")
BUILT = Source(kind="built", location="")

EVERYTHING = Architecture(
    id="Qwen/Qwen3.5-397B-A17B",
    architecture="Qwen3_5MoeForConditionalGeneration",
    model_type="qwen3_5_moe",
    context_length=262144,
    dtype="bfloat16",
    attention_heads=32,
    hidden_size=4096,
    config_heads=ConfigHeads(kv_heads=2, head_dim=256, v_head_dim=128),
    draft_layers=0,
    draft_local_layers=0,
    dspark_block=5,
    loops=2,
    attention_sinks=True,
    fused_qkv_tp=4,
    mtp_ratios=(4, 0),
    nested_text=True,
    modalities=("vision",),
    oddities=("v_head_dim: 0",),
    vision=Vision(layers=27),
    quantization=Quantization(method="fp8", kv_cache_algo="FP8", mixed=True),
    weights_bytes=806_801_000_000,
    parameters=Parameters(
        attention=Tensors(count=7_000, stored_bytes=14_000, format="bfloat16"),
        experts=Tensors(count=64_000, stored_bytes=34_000, format="int4, group 32"),
        moe_layers=60,
        dense_layers=3,
        routed_experts=512,
        experts_per_token=10,
    ),
    source=Source(kind="hub", location="Qwen/Qwen3.5-397B-A17B", revision="0123"),
    assumed=("head_dim: 256, as the class has it",),
    notes=('a "quoted" remark', "two\nlines"),
    changes=("window 1024 (was 4096)",),
    layers=(
        NoCache(),
        *(GDN, GDN, GDN, FULL) * 15,
        SLIDING,
        SLIDING,
        SharedAttention(reads=FULL),
        ParallelLayer(attention=FULL, state=MAMBA),
    ),
)
EVERYTHING_YAML = r"""# Written by kvplan from hub: Qwen/Qwen3.5-397B-A17B, revision "0123"
kvplan: 1
id: Qwen/Qwen3.5-397B-A17B
architecture: Qwen3_5MoeForConditionalGeneration
model_type: qwen3_5_moe
context_length: 262144
dtype: bfloat16
attention_heads: 32
hidden_size: 4096
config_heads: {kv_heads: 2, head_dim: 256, v_head_dim: 128}
draft_layers: 0
draft_local_layers: 0
dspark_block: 5
loops: 2
attention_sinks: true
fused_qkv_tp: 4
mtp_ratios:
  - 4
  - 0
nested_text: true
modalities:
  - vision
oddities:
  - "v_head_dim: 0"
vision: {layers: 27}
quantization: {method: fp8, kv_cache_algo: FP8, mixed: true}
weights: 806801000000
parameters:
  attention: {count: 7000, stored: 14000, format: bfloat16}
  experts: {count: 64000, stored: 34000, format: "int4, group 32"}
  moe_layers: 60
  dense_layers: 3
  routed_experts: 512
  experts_per_token: 10
assumed:
  - "head_dim: 256, as the class has it"
notes:
  - "a \"quoted\" remark"
  - "two\nlines"
changes:
  - "window 1024 (was 4096)"
source: {kind: hub, location: Qwen/Qwen3.5-397B-A17B, revision: "0123"}
num_layers: 65
layers:
  - {kind: none}
  - repeat: 15
    layers:
      - {kind: gdn, count: 3, k_heads: 16, v_heads: 64, k_head_dim: 128, v_head_dim: 128, conv_kernel: 4}
      - {kind: full, kv_heads: 2, head_dim: 256}
  - {kind: sliding, count: 2, kv_heads: 4, head_dim: 192, v_head_dim: 128, window: 128}
  - {kind: shared, reads: {kind: full, kv_heads: 2, head_dim: 256}}
  - {kind: parallel, attention: {kind: full, kv_heads: 2, head_dim: 256}, state: {kind: mamba2, heads: 24,\
 head_dim: 64, state_size: 128, groups: 1, conv_kernel: 4, state_dtype: bfloat16}}
""".replace("\\\n", "")


def values(fact: Fact) -> st.SearchStrategy[Any]:
    """Values that a field may hold, mostly other than its default."""
    kind: Any = fact.types[0]
    if fact.many:
        member: st.SearchStrategy[Any] = st.integers(0, 128) if kind is int else st.text()
        found: st.SearchStrategy[Any] = st.lists(member, max_size=2).map(tuple)
    elif kind is int:
        found = st.sampled_from(fact.choices) if fact.choices else st.integers(fact.least, fact.most)
    elif kind is bool:
        found = st.booleans()
    elif fact.is_dtype:
        found = st.sampled_from(sorted(BITS))
    elif kind is str:
        found = st.text() if fact.may_be_empty else st.text(min_size=1).filter(str.strip)
    else:
        found = st.one_of([records(member) for member in fact.types])
    return st.none() | found if fact.nullable else found


def records(record: Any) -> st.SearchStrategy[Any]:
    return st.builds(record, **{fact.name: values(fact) for fact in facts_of(record)}).filter(is_possible)


def is_possible(record: Any) -> bool:
    if isinstance(record, Parameters) and record.routed_experts is not None:
        return record.routed_experts >= (record.experts_per_token or 0)
    if not isinstance(record, CompressedAttention):
        return True
    return record.qk_rope_head_dim <= record.head_dim and record.index_head_dim > 0


@st.composite
def layer_sequences(draw: st.DrawFn) -> tuple[Layer, ...]:
    """Layers of a few shapes in patterns that may repeat, with something irregular around them."""
    shapes = draw(st.lists(st.one_of([records(kind) for kind in LAYER_KINDS]), min_size=1, max_size=4))
    some = st.lists(st.sampled_from(shapes), max_size=6)
    layers = [*draw(some), *draw(some) * draw(st.integers(1, 5)), *draw(some)]
    return tuple(layers or shapes)


@st.composite
def architectures(draw: st.DrawFn) -> Architecture:
    facts = {fact.name: draw(values(fact)) for fact in FACTS}
    source = draw(st.just(BUILT) | records(Source).filter(lambda source: source.kind != "built"))
    name = draw(st.text(min_size=1))
    return Architecture(id=name, layers=draw(layer_sequences()), source=source, **facts)


def load(text: str) -> Architecture:
    view = Config(parse(text, file="m.yaml", problems=[]), file="m.yaml")
    return read(view, source=BUILT, model_id="m")


def without_source(model: Architecture) -> Architecture:
    return dataclasses.replace(model, source=BUILT)


def test_an_exported_file_reads_well_and_leaves_out_what_reading_fills_in() -> None:
    assert to_yaml(EVERYTHING) == EVERYTHING_YAML


def test_a_model_that_was_built_in_python_has_no_source() -> None:
    model = Architecture(id="m", architecture="A", layers=(FULL,))
    assert to_yaml(model) == (
        "# Written by kvplan.\n"
        "kvplan: 1\n"
        "id: m\n"
        "architecture: A\n"
        "num_layers: 1\n"
        "layers:\n"
        "  - {kind: full, kv_heads: 2, head_dim: 256}\n"
    )


@pytest.mark.parametrize("field", dataclasses.fields(Architecture), ids=lambda field: field.name)
def test_every_fact_of_an_architecture_is_exported_and_read_again(field: dataclasses.Field[Any]) -> None:
    """A fact that is added to Architecture fails here until EVERYTHING holds it and the YAML carries it."""
    value = getattr(EVERYTHING, field.name)
    assert value != field.default
    if field.name == "source":
        return  # names the exported file when it is read again
    assert getattr(load(to_yaml(EVERYTHING)), field.name) == value


@settings(deadline=None, max_examples=60)
@given(architectures())
def test_an_exported_model_reads_back_to_the_same_architecture(model: Architecture) -> None:
    assert without_source(load(to_yaml(model))) == without_source(model)


@settings(deadline=None, max_examples=30)
@given(architectures())
def test_other_yaml_parsers_read_the_same_from_an_exported_file(model: Architecture) -> None:
    text = to_yaml(model)
    assert text.isascii()
    assert yaml.safe_load(text) == parse(text, file="m.yaml", problems=[])


@pytest.mark.parametrize("kind", LAYER_KINDS, ids=lambda kind: kind.kind)
@settings(deadline=None, max_examples=20)
@given(data=st.data())
def test_every_kind_of_layer_reads_back(kind: type[LayerKind], data: st.DataObject) -> None:
    layer = data.draw(records(kind))
    model = Architecture(id="m", architecture="A", layers=(layer,))
    assert load(to_yaml(model)).layers == (layer,)


@pytest.mark.parametrize(
    "name", ["on", "No", "null", "~", "1e6", "12:30", "a: b", "x # y", "{a}", "[x", "", "-", "é"]
)
def test_odd_texts_stay_texts(name: str) -> None:
    model = Architecture(id="m", architecture="A", layers=(FULL,), model_type=name, notes=(name,))
    assert (load(to_yaml(model)).model_type, load(to_yaml(model)).notes) == (name, (name,))


@pytest.mark.parametrize(
    ("order", "written"),
    [
        ("F", "F"),
        ("FFFFFF", "6F"),
        ("SF" * 12, "12(S F)"),  # gpt-oss
        ("GGGF" * 15, "15(3G F)"),  # Qwen3.5
        ("SSSSSF" * 10 + "SS", "10(5S F) 2S"),  # Gemma-3 27B
        ("G" + "SSSSSF" * 8 + "G", "G 8(5S F) G"),  # an irregular prefix and tail do not hide the pattern
        ("F" + "FSSS" * 4 + "NN", "F 4(F 3S) 2N"),  # a prefix equal to the start of the pattern
        ("FFF" + "SF" * 9 + "GGG" + "NF" * 5, "3F 9(S F) 3G 5(N F)"),
        ("FSGFNS", "F S G F N S"),
        ("FFSS", "2F 2S"),
    ],
)
def test_layers_become_runs_and_the_shortest_patterns(order: str, written: str) -> None:
    shapes: dict[str, Layer] = {"F": FULL, "S": SLIDING, "G": GDN, "N": NoCache()}
    letters = {shape: letter for letter, shape in shapes.items()}

    def runs(parts: tuple[tuple[Layer, int], ...]) -> str:
        return " ".join(f"{count if count > 1 else ''}{letters[layer]}" for layer, count in parts)

    found = blocks([shapes[letter] for letter in order])
    assert written == " ".join(
        f"{block.times}({runs(block.runs)})" if block.times > 1 else runs(block.runs) for block in found
    )


def test_a_tower_that_a_config_gives_no_layers_reads_back() -> None:
    model = dataclasses.replace(EVERYTHING, vision=Vision(layers=0, hidden_size=1152))
    assert "vision: {layers: 0, hidden_size: 1152}" in to_yaml(model)
    assert load(to_yaml(model)).vision == Vision(layers=0, hidden_size=1152)
