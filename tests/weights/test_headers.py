"""The size of weights from the headers of their files; tensors are never read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import kvplan
from kvplan.weights.headers import folder_bytes

CONFIG = {
    "architectures": ["Qwen3ForCausalLM"],
    "model_type": "qwen3",
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 32,
    "vocab_size": 1000,
}


def shard(path: Path, sizes: dict[str, int]) -> Path:
    """A file as safetensors writes it: the header's length, the header, the data."""
    header, end = {}, 0
    for name, size in sizes.items():
        header[name] = {"dtype": "U8", "shape": [size], "data_offsets": [end, end + size]}
        end += size
    text = json.dumps({"__metadata__": {"format": "pt"}, **header}).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + bytes(end))
    return path


def test_tensors_of_all_files_are_summed_and_each_name_counts_once(tmp_path: Path) -> None:
    shard(tmp_path / "model-00001-of-00002.safetensors", {"a": 100, "b": 20})
    shard(tmp_path / "model-00002-of-00002.safetensors", {"c": 3, "b": 20})
    shard(tmp_path / "consolidated.safetensors", {"layers.a": 123})
    assert folder_bytes(tmp_path) == 123


def test_a_folder_without_weights_says_nothing(tmp_path: Path) -> None:
    assert folder_bytes(tmp_path) is None


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x01\x02",
        (1 << 40).to_bytes(8, "little") + b"{}",
        (2).to_bytes(8, "little") + b"[]",
        (4).to_bytes(8, "little") + b"{no}",
        (40).to_bytes(8, "little") + b'{"a": {"data_offsets": [0, 99999999999]}}'[:40],
        (37).to_bytes(8, "little") + b'{"a": {"data_offsets": [0, 99999999]}}'[:37],
        (34).to_bytes(8, "little") + b'{"a": {"data_offsets": [-5, 10]} }' + bytes(20),
    ],
)
def test_a_file_that_is_cut_or_lies_gives_no_size(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "model.safetensors").write_bytes(content)
    assert folder_bytes(tmp_path) is None


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    inside = tmp_path / "model"
    inside.mkdir()
    target = shard(elsewhere / "weights.bin", {"a": 100})
    (inside / "model.safetensors").symlink_to(target)
    assert folder_bytes(inside) is None


def test_a_model_folder_has_its_weights_from_the_index_or_else_the_headers(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    shard(tmp_path / "model.safetensors", {"a": 1_000})
    assert kvplan.load(tmp_path).weights_bytes == 1_000
    index = {"metadata": {"total_size": 5_000}, "weight_map": {}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    assert kvplan.load(tmp_path).weights_bytes == 5_000
