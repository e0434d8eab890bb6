from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from jsonschema import Draft202012Validator

from kvplan.architecture import Architecture
from kvplan.export import to_yaml
from kvplan.layers import LAYER_KINDS
from kvplan.schema import DESCRIPTIONS, json_schema
from tests.readers.test_native import QWEN
from tests.test_export import EVERYTHING, architectures

VALIDATOR = Draft202012Validator(json_schema())


def is_valid(text: str) -> bool:
    return bool(VALIDATOR.is_valid(yaml.safe_load(text)))


def test_the_schema_is_valid_json_schema() -> None:
    Draft202012Validator.check_schema(json_schema())


@pytest.mark.parametrize("text", [QWEN, to_yaml(EVERYTHING)], ids=["written by hand", "exported"])
def test_real_files_fit_the_schema(text: str) -> None:
    assert list(VALIDATOR.iter_errors(yaml.safe_load(text))) == []


@settings(deadline=None, max_examples=30)
@given(architectures())
def test_every_exported_model_fits_the_schema(model: Architecture) -> None:
    assert is_valid(to_yaml(model))


FULL = "{kind: full, kv_heads: 8, head_dim: 128}"
MODEL = f"architecture: A\nlayers: [{FULL}]\n"


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        (MODEL, True),
        (MODEL + "weights: 806 GB", True),
        (MODEL + "contxt_length: 4096", False),
        (MODEL + "vision: {depth: 4}", False),
        (MODEL + "source: {rev: abc}", False),
        (MODEL + "kvplan: 2", False),
        (MODEL + "hidden_size: 0", False),
        (MODEL + "hidden_size: '4096'", False),
        (MODEL + "dtype: bfloat15", False),
        (MODEL + "weights: 806 XB", False),
        ("architecture: A", False),
        ("architecture: A\nlayers: []", False),
        ("architecture: ''\nlayers: [{kind: none}]", False),
        ("layers: [{kind: none}]", False),
        ("architecture: A\nlayers: [{kind: full, kv_heads: 8}]", False),
        ("architecture: A\nlayers: [{kind: full, kv_heads: 8, head_dim: 128, window: 5}]", False),
        ("architecture: A\nlayers: [{kind: fulll, kv_heads: 8, head_dim: 128}]", False),
        ("architecture: A\nlayers: [{kind: none, count: 0}]", False),
        (f"architecture: A\nlayers: [{{kind: shared, reads: {FULL}}}]", True),
        ("architecture: A\nlayers: [{kind: shared, reads: {kind: none}}]", False),
        (f"architecture: A\nlayers: [{{repeat: 2, layers: [{FULL}]}}]", True),
        (f"architecture: A\nlayers: [{{repeat: 2, kind: none, layers: [{FULL}]}}]", False),
    ],
)
def test_a_file_fits_when_it_says_what_the_reader_understands(text: str, valid: bool) -> None:
    assert is_valid(text) is valid


def test_every_kind_of_layer_is_completed() -> None:
    assert [entry["$ref"] for entry in json_schema()["$defs"]["entry"]["oneOf"]] == [
        "#/$defs/group",
        *(f"#/$defs/{kind.kind}" for kind in LAYER_KINDS),
    ]


def test_every_key_is_described_and_no_description_is_left_over() -> None:
    said = {text.partition(" The same as ")[0] for text in descriptions(json_schema())}
    assert set(DESCRIPTIONS.values()) - said == set()
    assert all(properties_are_described(json_schema()))


def descriptions(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        text = node.get("description")
        if isinstance(text, str):
            yield text
        for value in node.values():
            yield from descriptions(value)
    elif isinstance(node, list):
        for value in node:
            yield from descriptions(value)


def properties_are_described(node: Any) -> Iterator[bool]:
    if isinstance(node, dict):
        for value in node.get("properties", {}).values():
            yield "description" in value
        for value in node.values():
            yield from properties_are_described(value)
