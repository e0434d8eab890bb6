from __future__ import annotations

import pytest

from kvplan.errors import InputError
from kvplan.layers import LAYER_KINDS
from tests.readers.test_native import load

HEAD = "architecture: A\n"
LAYERS = "layers: [{kind: none}]\n"
ONE = HEAD + LAYERS
KINDS = ", ".join(kind.kind for kind in LAYER_KINDS)


def problems(text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        load(text)
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # keys and kinds
        (ONE + "contxt_length: 5", "contxt_length: unknown key (did you mean context_length?)"),
        (ONE + "weights_bytes: 5", "weights_bytes: unknown key (did you mean weights?)"),
        (
            ONE + "parameters: {routed_experts: 8, experts_per_token: 9}",
            "parameters.experts_per_token: 9 experts can't be picked of 8",
        ),
        (ONE + "vision: {depth: 5}", "vision.depth: unknown key (known: layers, hidden_size)"),
        (
            HEAD + "layers: [{kind: none, cuont: 5}]",
            "layers[0].cuont: unknown key (did you mean count?)",
        ),
        (
            HEAD + "layers: [{kind: fulll}]",
            "layers[0].kind: unknown kind of layer 'fulll' (did you mean full?)",
        ),
        (HEAD + "layers: [{kind: MLA}]", "layers[0].kind: unknown kind of layer 'MLA' (write latent)"),
        (HEAD + "layers: [{kv_heads: 8}]", f"layers[0].kind: is missing (known: {KINDS})"),
        (HEAD + "layers: [{kind: [full]}]", f"layers[0].kind: a list is not a string (known: {KINDS})"),
        (
            HEAD + "layers: [{kind: shared, reads: {kind: mla}}]",
            "layers[0].reads.kind: unknown kind of layer 'mla' (known: full, sliding)",
        ),
        (
            HEAD + "layers: [{kind: none}, {repeat: 2, layers: [{kind: full, head_dim: 8}]}]",
            "layers[1].layers[0].kv_heads: is missing",
        ),
        (HEAD + "layers: [{kind: full, kv_heads: 8}]", "layers[0].head_dim: is missing"),
        (
            HEAD + "layers: [{repeat: 2, layer: []}]",
            "layers[0].layer: unknown key (did you mean layers?)\nlayers[0].layers: is missing",
        ),
        (
            HEAD + f"layers: [{'{kind: none},' * 10_001}]",
            "layers: has 10001 entries, and no model has more than 10000 layers",
        ),
        # names
        (
            ONE + f"model_type: {'x' * 257}",
            "model_type: 257 characters are too many for a name (at most 256)",
        ),
        (ONE + f"id: {'x' * 257}", "id: 257 characters are too many for a name (at most 256)"),
        (
            ONE + f"weights: 1{'9' * 5_000}GG",
            f"weights: '1{'9' * 58} is not a size such as 60GiB, 80GB or 1024 (bytes)",
        ),
        # whole numbers
        (
            ONE + "context_length: 1e6",
            "context_length: '1e6' is not a whole number (write 1000000)",
        ),
        (
            ONE + "context_length: 128Ki",
            "context_length: '128Ki' is not a whole number (write 131072)",
        ),
        (ONE + "hidden_size: 4_096", "hidden_size: '4_096' is not a whole number (write 4096)"),
        (ONE + "hidden_size: '4096'", "hidden_size: '4096' is not a whole number (write 4096)"),
        (ONE + "hidden_size: true", "hidden_size: True is not a whole number"),
        (ONE + "hidden_size: 12.5", "hidden_size: 12.5 is not a whole number"),
        (ONE + "hidden_size: .inf", "hidden_size: inf is not a whole number"),
        (ONE + "hidden_size: many", "hidden_size: 'many' is not a whole number"),
        (ONE + "hidden_size: 1e-999999999", "hidden_size: '1e-999999999' is not a whole number"),
        (ONE + "hidden_size: 1e999999999", "hidden_size: '1e999999999' is not a whole number"),
        (ONE + "hidden_size: [8]", "hidden_size: a list is not a whole number"),
        (ONE + "hidden_size: 0", "hidden_size: 0 is not between 1 and 16777216"),
        (ONE + f"hidden_size: {'9' * 4000}", "hidden_size: the number is not between 1 and 16777216"),
        (ONE + "draft_layers: -1", "draft_layers: -1 is not between 0 and 10000"),
        (
            HEAD + "layers: [{kind: sliding, kv_heads: 4, head_dim: 64, window: 0}]",
            "layers[0].window: 0 is not between 1 and 16777216",
        ),
        (
            HEAD + "layers: [{kind: compressed, ratio: 8, head_dim: 512, qk_rope_head_dim: 64, window: 128}]",
            "layers[0].ratio: 8 is not one of 0, 1, 2, 4, 128",
        ),
        # other types
        (ONE + "attention_sinks: 1", "attention_sinks: 1 is not true or false"),
        (ONE + "dtype: bfloat15", "dtype: unknown dtype 'bfloat15' (did you mean bfloat16?)"),
        (
            HEAD + "layers: [{kind: lightning, heads: 8, head_dim: 64, state_dtype: flaot32}]",
            "layers[0].state_dtype: unknown dtype 'flaot32' (did you mean float32?)",
        ),
        (ONE + "vision: 5", "vision: 5 is not a mapping"),
        (ONE + "notes: [1]", "notes: holds something other than str"),
        (ONE + "source: {revision: 123}", "source.revision: 123 is not a string (put it in quotes)"),
        (ONE + "source: {rev: abc}", "source.rev: unknown key (known: kind, location, file, revision, note)"),
        (ONE + "id: 5", "id: 5 is not a string"),
        (LAYERS, "architecture: is missing"),
        (LAYERS + "architecture: ''", "architecture: is empty"),
        # sizes
        (ONE + "weights: 5 XB", "weights: '5 XB' is not a size such as 60GiB, 80GB or 1024 (bytes)"),
        (
            ONE + "weights: 8e11",
            "weights: '8e11' is not a size such as 60GiB, 80GB or 1024 (bytes) (write 800000000000)",
        ),
        (ONE + "weights: 0 GB", "weights: '0 GB' is not between 1 and 1152921504606846976 bytes"),
        (ONE + "weights: 0", "weights: 0 is not between 1 and 1152921504606846976"),
        # layers as a whole
        (HEAD + "kvplan: 1", "layers: is missing"),
        (HEAD + "layers: []", "layers: holds no layer"),
        (HEAD + "layers: 32", "layers: 32 is not a list"),
        (HEAD + "layers: [{kind: none}, full]", "layers[1]: 'full' is not a mapping"),
        (ONE + "num_layers: 2", "num_layers: 2 does not agree with the 1 layers under layers"),
        (
            HEAD + "layers: [{kind: none, count: 0}]",
            "layers[0].count: 0 is not between 1 and 10000",
        ),
        (
            HEAD + "layers: [{kind: none, count: 1000000000}]",
            "layers[0].count: 1000000000 is not between 1 and 10000",
        ),
        (
            HEAD
            + "layers: [{repeat: 10000, layers: [{repeat: 10000, layers: [{kind: none, count: 10000}]}]}]",
            "layers: holds 1000000000000 layers, and no model has more than 10000",
        ),
        (
            HEAD + "layers: " + "[{layers: " * 5 + "[{kind: none}]" + "}]" * 5,
            "layers[0].layers[0].layers[0].layers[0].layers[0].layers: groups are nested more than 4 deep",
        ),
        # layers that would cost nothing, or less
        (
            HEAD + "layers: [{kind: compressed, ratio: 4, head_dim: 512, qk_rope_head_dim: 64, window: 128}]",
            "layers[0].index_head_dim: is missing, and a layer of ratio 4 keeps index keys",
        ),
        (
            HEAD + "layers: [{kind: compressed, ratio: 0, head_dim: 32, qk_rope_head_dim: 64, window: 128}]",
            "layers[0].qk_rope_head_dim: 64 is more than the whole head_dim 32",
        ),
        (ONE + "kvplan: 2", "kvplan: this release reads version 1 of the format, not 2"),
    ],
)
def test_what_is_wrong_is_named_with_its_place_and_what_to_do(text: str, expected: str) -> None:
    assert problems(text) == [f"m.yaml: {line}" for line in expected.split("\n")]


def test_all_problems_of_a_file_come_at_once() -> None:
    assert problems(
        "id: x\n"
        "dtype: bf17\n"
        "num_layers: 7\n"
        "layers:\n"
        "  - {kind: full, count: 2, kv_heads: -8, head_dim: 1e2}\n"
        "  - repeat: 2\n"
        "    layers:\n"
        "      - {kind: slidng}\n"
        "      - {kind: sliding, kv_heads: 8, head_dim: 128, windw: 0}\n"
    ) == [
        "m.yaml: architecture: is missing",
        "m.yaml: dtype: unknown dtype 'bf17' (known: float32, float16, bfloat16, float8_e4m3fn,"
        " float8_e5m2, int8, uint8, float4_e2m1fn_x2, int32)",
        "m.yaml: layers[0].kv_heads: -8 is not between 1 and 16777216",
        "m.yaml: layers[0].head_dim: '1e2' is not a whole number (write 100)",
        "m.yaml: layers[1].layers[0].kind: unknown kind of layer 'slidng' (did you mean sliding?)",
        "m.yaml: layers[1].layers[1].windw: unknown key (did you mean window?)",
        "m.yaml: layers[1].layers[1].window: is missing",
        "m.yaml: num_layers: 7 does not agree with the 6 layers under layers",
    ]
