"""Changes of a model: what they reach, how they are named, and what is refused."""

from __future__ import annotations

import pytest

from kvplan.architecture import Architecture, ConfigHeads
from kvplan.deployment import Deployment
from kvplan.errors import InputError
from kvplan.layers import FullAttention, LatentAttention, SharedAttention, SlidingAttention
from kvplan.planning import plan
from kvplan.whatif import changed
from tests.models import DEEPSEEK_V32, GPT_OSS, LLAMA_8B, QWEN_35, V4_FLASH, of_layers


def cell(model: Architecture, *changes: str) -> float:
    return plan(changed(model, changes), Deployment(assume_supported=True)).pool.cell_size


@pytest.mark.parametrize(
    ("model", "change", "expected"),
    [
        # 32 x 4 x 256 x 2
        (LLAMA_8B, "kv_heads=4", 65_536),
        # v_head_dim follows: 32 x 8 x 128 x 2
        (LLAMA_8B, "head_dim=64", 65_536),
        # and does not where it is set: 32 x 8 x (128 + 64) x 2
        (LLAMA_8B, "v_head_dim=64", 98_304),
        # 16 layers: 16 x 4,096
        (LLAMA_8B, "layers.full=16", 65_536),
        # 30 of 75 layers grow: 30 x 2,048
        (QWEN_35, "layers.full=30", 61_440),
        # 61 x (256 + 64) x 2 + 61 x 132
        (DEEPSEEK_V32, "kv_lora_rank=256", 47_092),
        # the stack runs twice
        (LLAMA_8B, "loops=2", 262_144),
    ],
)
def test_a_change_reaches_the_engine_s_cell(model: Architecture, change: str, expected: int) -> None:
    assert cell(model, change) == expected


def test_the_heads_that_an_engine_reads_from_the_config_change_too() -> None:
    layer = FullAttention(kv_heads=8, head_dim=128, v_head_dim=128)
    heads = ConfigHeads(kv_heads=8, head_dim=128, v_head_dim=128)
    model = Architecture(id="m", architecture="A", layers=(layer,), config_heads=heads)
    model = changed(model, ["kv_heads=2"])
    assert model.config_heads == ConfigHeads(kv_heads=2, head_dim=128, v_head_dim=128)


def test_the_change_is_named_in_the_id_and_with_what_was_there() -> None:
    model = changed(QWEN_35, ["kv_heads=4", "layers.full=30"])
    assert model.id == "Qwen/Qwen3.5-397B-A17B [kv_heads=4, layers.full=30]"
    assert model.changes == ("kv_heads=4 (was 2)", "layers.full=30 (was 15)")


def test_no_change_leaves_the_model_as_it_is() -> None:
    assert changed(QWEN_35, []) is QWEN_35


def test_a_change_of_one_kind_leaves_the_others() -> None:
    model = changed(GPT_OSS, ["sliding.kv_heads=2"])
    heads = {layer.kind: layer.kv_heads for layer, _ in model.groups if hasattr(layer, "kv_heads")}
    assert heads == {"sliding": 2, "full": 8}


def test_a_window_changes_where_there_is_one() -> None:
    model = changed(GPT_OSS, ["window=1Ki"])
    assert {layer.window for layer in model.layers if isinstance(layer, SlidingAttention)} == {1024}


def test_what_a_layer_reads_changes_with_what_it_is() -> None:
    full = FullAttention(kv_heads=8, head_dim=128, v_head_dim=128)
    model = changed(of_layers(LLAMA_8B, full, SharedAttention(reads=full)), ["kv_heads=2"])
    assert [layer.kv_heads for layer in (model.layers[0], model.layers[1].reads)] == [2, 2]  # type: ignore[union-attr]


@pytest.mark.parametrize(("wanted", "full"), [(5, 5), (15, 15), (20, 20), (45, 45), (0, 0)])
def test_layers_of_a_kind_are_counted_and_the_others_stay(wanted: int, full: int) -> None:
    model = changed(QWEN_35, [f"layers.full={wanted}"])
    kinds = [layer.kind for layer in model.layers]
    assert (kinds.count("full"), kinds.count("gdn")) == (full, 45)


def test_fewer_layers_stay_spread_over_the_stack() -> None:
    # every third of the 15 groups of (3 linear, 1 full) keeps its full layer
    kinds = "".join(layer.kind[0] for layer in changed(QWEN_35, ["layers.full=5"]).layers)
    assert kinds == ("g" * 9 + "f") * 5


def test_an_unused_field_takes_its_kind_to_be_set() -> None:
    plain = LatentAttention(kv_lora_rank=512, qk_rope_head_dim=64)
    with pytest.raises(InputError, match="unknown key 'index_topk'"):
        changed(of_layers(DEEPSEEK_V32, plain), ["index_topk=1"])
    model = changed(DEEPSEEK_V32, ["latent.window=4096"])
    assert {layer.window for layer in model.layers if isinstance(layer, LatentAttention)} == {4096}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("kv_head=4", "--set: unknown key 'kv_head' (did you mean kv_heads?)"),
        ("kv_heads", "--set: 'kv_heads' is not KEY=VALUE (for instance --set kv_heads=4)"),
        ("kv_heads=0", "--set: kv_heads: 0 is not between 1 and 16777216"),
        ("kv_heads=four", "--set: kv_heads: 'four' is not a whole number"),
        ("layers.full=0", "--set: layers.full: '0' is not a possible number of layers"),
        ("layers.gdn=3", "--set: unknown key 'layers.gdn' (did you mean layers.full?)"),
        ("dtype=bfloat15", "--set: dtype: unknown dtype 'bfloat15' (did you mean bfloat16?)"),
    ],
)
def test_a_change_that_cannot_be_made(change: str, words: str) -> None:
    with pytest.raises(InputError) as error:
        changed(LLAMA_8B, [change])
    assert str(error.value) == words


def test_all_problems_come_out_together() -> None:
    with pytest.raises(InputError) as error:
        changed(LLAMA_8B, ["a=1", "kv_heads=0"])
    assert len(error.value.problems) == 2


def test_a_ratio_is_one_of_those_that_exist() -> None:
    with pytest.raises(InputError, match="ratio: 3 is not one of 0, 1, 2, 4, 128"):
        changed(V4_FLASH, ["ratio=3"])
