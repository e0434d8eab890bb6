"""The size of weights from the headers of their files; tensors are never read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import kvplan
from kvplan.weights.headers import folder_bytes, folder_fault

CONFIG: dict[str, object] = {
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
    assert folder_fault(tmp_path) == ""


NO_ESTIMATE = "weights: vocab_size 'x' is no size, so they are not estimated"
NO_HEADER = "no header of safetensors, or a cut one"
CUT = "it is cut: a tensor ends behind the file"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", NO_HEADER),
        (b"\x01\x02", NO_HEADER),
        (b"version https://git-lfs.github.com/spec/v1\n", NO_HEADER),
        ((1 << 40).to_bytes(8, "little") + b"{}", NO_HEADER),
        ((2).to_bytes(8, "little") + b"[]", "its header is no mapping"),
        ((4).to_bytes(8, "little") + b"{no}", "its header is no JSON"),
        (
            (40).to_bytes(8, "little") + b'{"a": {"data_offsets": [0, 99999999999]}}'[:40],
            "its header is no JSON",
        ),
        (
            (37).to_bytes(8, "little") + b'{"a": {"data_offsets": [0, 99999999]}}'[:37],
            "its header is no JSON",
        ),
        ((38).to_bytes(8, "little") + b'{"a": {"data_offsets": [0, 99999999]}}', CUT),
        ((34).to_bytes(8, "little") + b'{"a": {"data_offsets": [-5, 10]} }' + bytes(20), CUT),
        ((9).to_bytes(8, "little") + b'{"a": {}}', "a tensor has no data_offsets"),
    ],
)
def test_a_file_that_is_cut_or_lies_gives_no_size(tmp_path: Path, content: bytes, why: str) -> None:
    (tmp_path / "model.safetensors").write_bytes(content)
    assert folder_bytes(tmp_path) is None
    assert folder_fault(tmp_path) == f"model.safetensors is not readable ({why})"


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    inside = tmp_path / "model"
    inside.mkdir()
    target = shard(elsewhere / "weights.bin", {"a": 100})
    (inside / "model.safetensors").symlink_to(target)
    assert folder_bytes(inside) is None
    why = "a link that leads out of its folder"
    assert folder_fault(inside) == f"model.safetensors is not readable ({why})"


INDEX = "model.safetensors.index.json"


def test_a_model_folder_has_its_weights_from_the_index_or_else_the_headers(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    shard(tmp_path / "model.safetensors", {"a": 400_000})
    assert kvplan.load(tmp_path).weights_bytes == 400_000
    index = {"metadata": {"total_size": 500_000}, "weight_map": {}}
    (tmp_path / INDEX).write_text(json.dumps(index))
    assert kvplan.load(tmp_path).weights_bytes == 500_000


def told(folder: Path, config: dict[str, object]) -> tuple[int | None, list[str]]:
    """The size of the weights, and what is said of it."""
    (folder / "config.json").write_text(json.dumps(config))
    found = kvplan.load(folder)
    return found.weights_bytes, [text for text in found.assumed if text.startswith("weights: ")]


@pytest.mark.parametrize(
    ("index", "why"),
    [
        ("", "is empty"),
        ("[]", "holds a list, not a mapping of keys to values"),
        (
            '{"metadata": {',
            "is not valid JSON: Expecting property name enclosed in double quotes in line 1, column 15",
        ),
        ('{"metadata": []}', "metadata is a list"),
        ('{"metadata": {"total_size": -5}}', "metadata.total_size is -5"),
        ('{"metadata": {"total_size": 0}}', "metadata.total_size is 0"),
        ('{"metadata": {"total_size": "5 GB"}}', "metadata.total_size is '5 GB'"),
        ('{"metadata": {"total_size": Infinity}}', "metadata.total_size is inf"),
        ('{"metadata": {"total_size": true}}', "metadata.total_size is True"),
        (" " * ((8 << 20) + 1), "no total_size is found in it"),
    ],
)
def test_an_index_that_is_broken_is_named(tmp_path: Path, index: str, why: str) -> None:
    (tmp_path / INDEX).write_text(index)
    line = f"weights: {INDEX} is not readable ({why}), so they are estimated"
    assert told(tmp_path, CONFIG) == (None, [line])


@pytest.mark.parametrize("index", ["{}", '{"metadata": {}}', '{"metadata": {"total_size": null}}'])
def test_an_index_that_names_no_size_is_not_broken(tmp_path: Path, index: str) -> None:
    (tmp_path / INDEX).write_text(index)
    assert told(tmp_path, CONFIG) == (None, [])


def test_a_broken_shard_is_named_where_no_index_has_the_size(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"")
    line = f"weights: model.safetensors is not readable ({NO_HEADER}), so"
    assert told(tmp_path, CONFIG) == (None, [f"{line} they are estimated"])
    assert told(tmp_path, {**CONFIG, "vocab_size": "x"}) == (
        None,
        [NO_ESTIMATE, f"{line} their size is not known"],
    )
    (tmp_path / INDEX).write_text('{"metadata": {"total_size": 400000}}')
    assert told(tmp_path, CONFIG) == (400_000, [])


@pytest.mark.parametrize(
    ("total", "says"),
    [
        # The config makes 453,248 bytes: 2 x (2 x 1000 x 64 + 2 x (64 x 4 x 32 x 2 + 64 x 2 x 64 + 3 x 64 x
        # 128) + 64 x 5). An eighth is 56,656, eight times as much 3,625,984.
        (56_656, None),
        (56_655, "56.66 kB"),
        (3_625_984, None),
        (3_625_985, "3.63 MB"),
        (10**15, "1000.00 TB"),
        (10**30, "over 1,000 TB"),
    ],
)
def test_a_size_far_from_what_the_config_makes_is_not_believed(
    tmp_path: Path, total: int, says: str | None
) -> None:
    (tmp_path / INDEX).write_text(json.dumps({"metadata": {"total_size": total}}))
    both = f"the metadata of the checkpoint says {says} and the sizes in its config 453.25 kB"
    line = f"weights: {both}, so their size is not known"
    assert told(tmp_path, CONFIG) == ((total, []) if says is None else (None, [line]))


def test_a_size_that_no_checkpoint_has_is_not_believed_without_an_estimate_either(tmp_path: Path) -> None:
    (tmp_path / INDEX).write_text(json.dumps({"metadata": {"total_size": 10**30}}))
    line = "weights: the metadata of the checkpoint says over 1,000 TB, so their size is not known"
    assert told(tmp_path, {**CONFIG, "vocab_size": "x"}) == (None, [NO_ESTIMATE, line])
