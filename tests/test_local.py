"""What belongs to a model on disk, and which links are followed to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kvplan import local
from kvplan.errors import InputError


def refusal(path: Path, name: str = "REF") -> str:
    with pytest.raises(InputError) as caught:
        local.locate(path, name)
    return str(caught.value)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inside = tmp_path / "model"
    inside.mkdir()
    return inside


def fill(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).write_text("{}")


NEIGHBOURS = ("hf_quant_config.json", "model.safetensors.index.json")


@pytest.mark.parametrize("name", ["", "config.json"])
def test_a_folder_and_its_config_are_the_same_model(folder: Path, name: str) -> None:
    fill(folder, "config.json", *NEIGHBOURS)
    files = local.locate(folder / name, f"m/{name}")
    assert files == local.LocalFiles(
        config=folder / "config.json",
        shown="m/config.json",
        quantization=folder / "hf_quant_config.json",
        index=folder / "model.safetensors.index.json",
    )


def test_what_lies_beside_a_file_of_another_name_is_not_its_own(folder: Path) -> None:
    fill(folder, "other.json", "config.json", *NEIGHBOURS)
    files = local.locate(folder / "other.json", "m/other.json")
    assert (files.config, files.quantization, files.index) == (folder / "other.json", None, None)


def test_a_folder_without_config_is_refused(folder: Path) -> None:
    fill(folder, "tokenizer.json")
    assert refusal(folder) == "REF: has no config.json (give the folder of a model, or the file itself)"


def test_the_only_model_yaml_of_a_folder_has_to_be_named(folder: Path) -> None:
    fill(folder, "mine.yaml")
    assert refusal(folder) == "REF: has no config.json (a model YAML is named itself: REF/mine.yaml)"


def test_a_link_that_the_user_names_is_followed(folder: Path, tmp_path: Path) -> None:
    fill(folder, "config.json")
    (tmp_path / "link.json").symlink_to(folder / "config.json")
    (tmp_path / "linked").symlink_to(folder)
    assert local.locate(tmp_path / "link.json", "link.json").config == tmp_path / "link.json"
    assert local.locate(tmp_path / "linked", "linked").config == tmp_path / "linked" / "config.json"


def test_a_link_to_nothing_is_called_so(tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to(tmp_path / "gone.json")
    assert refusal(tmp_path / "link.json") == "REF: is a link to something that does not exist"


def test_a_link_within_the_folder_is_followed(folder: Path) -> None:
    fill(folder, "v2.json")
    (folder / "config.json").symlink_to("v2.json")
    assert local.locate(folder, "m").config == folder / "config.json"


@pytest.mark.parametrize("name", ["config.json", *NEIGHBOURS])
def test_a_link_out_of_the_folder_is_refused(folder: Path, tmp_path: Path, name: str) -> None:
    fill(tmp_path, "elsewhere.json")
    fill(folder, "config.json", *NEIGHBOURS)
    (folder / name).unlink()
    (folder / name).symlink_to("../elsewhere.json")
    line = f"REF/{name}: is a link that leads out of its folder (name the file itself)"
    assert refusal(folder) == line


def test_a_loop_of_links_ends(folder: Path) -> None:
    (folder / "config.json").symlink_to("b.json")
    (folder / "b.json").symlink_to("config.json")
    assert local.locate(folder, "m").config == folder / "config.json"  # reading it is refused later


@pytest.mark.parametrize("blobs", ["models--org--name/blobs", "blobs/ab"])
def test_a_snapshot_of_the_hugging_face_cache_links_to_its_blobs(tmp_path: Path, blobs: str) -> None:
    commit = tmp_path / "models--org--name" / "snapshots" / "0123abc"
    commit.mkdir(parents=True)
    (tmp_path / blobs).mkdir(parents=True)
    (tmp_path / blobs / "x").write_text("{}")
    (commit / "config.json").symlink_to(tmp_path / blobs / "x")
    files = local.locate(commit, "REF")
    assert files.config == commit / "config.json"
    assert local.id_of(files.config) == "org/name"


def test_a_snapshot_links_to_blobs_and_nowhere_else(tmp_path: Path) -> None:
    commit = tmp_path / "models--org--name" / "snapshots" / "0123abc"
    commit.mkdir(parents=True)
    fill(tmp_path, "secret")
    (commit / "config.json").symlink_to(tmp_path / "secret")
    assert "is a link that leads out of its folder" in refusal(commit)


@pytest.mark.parametrize(
    ("path", "model_id"),
    [
        ("Qwen__Qwen3.5-397B-A17B.json", "Qwen/Qwen3.5-397B-A17B"),
        ("mine.yaml", "mine"),
        ("mine.YML", "mine"),
        ("Qwen3.5-397B", "Qwen3.5-397B"),
        ("Llama-3.1-8B/config.json", "Llama-3.1-8B"),
        ("org__name/config.json", "org/name"),
    ],
)
def test_a_nameless_model_is_called_after_its_file_or_folder(path: str, model_id: str) -> None:
    assert local.id_of(Path(path)) == model_id


def test_config_json_in_the_working_directory_is_called_after_that(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    assert local.id_of(Path("config.json")) == "model"
