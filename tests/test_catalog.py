"""Bundled models are found by file name alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from kvplan import catalog
from kvplan.errors import InputError

NAMES = (
    "Qwen__Qwen3.5-397B-A17B.yaml",
    "meta-llama__Llama-3.1-8B.yaml",
    "meta-llama__Llama-3.1-70B.yaml",
    "someone__Shared-Name.yaml",
    "other__shared-name.yaml",
    "plain.yaml",
    "README.md",
)


@pytest.fixture
def configs(tmp_path: Path) -> Path:
    for name in NAMES:
        # Broken YAML: that the tests pass shows that no look-up parses it.
        (tmp_path / name).write_text("a: [")
    return tmp_path


def test_ids_and_short_names_come_from_file_names(configs: Path) -> None:
    assert [(model.id, model.name) for model in catalog.bundled(configs)] == [
        ("meta-llama/Llama-3.1-70B", "Llama-3.1-70B"),
        ("meta-llama/Llama-3.1-8B", "Llama-3.1-8B"),
        ("other/shared-name", "shared-name"),
        ("plain", "plain"),
        ("Qwen/Qwen3.5-397B-A17B", "Qwen3.5-397B-A17B"),
        ("someone/Shared-Name", "Shared-Name"),
    ]


@pytest.mark.parametrize(
    ("reference", "name"),
    [
        ("Qwen/Qwen3.5-397B-A17B", "Qwen__Qwen3.5-397B-A17B.yaml"),
        ("qwen/QWEN3.5-397b-a17b", "Qwen__Qwen3.5-397B-A17B.yaml"),
        ("qwen3.5-397b-a17b", "Qwen__Qwen3.5-397B-A17B.yaml"),
        ("LLAMA-3.1-8B", "meta-llama__Llama-3.1-8B.yaml"),
        ("someone/shared-name", "someone__Shared-Name.yaml"),
        ("plain", "plain.yaml"),
    ],
)
def test_a_model_is_found_by_id_or_short_name_in_any_case(configs: Path, reference: str, name: str) -> None:
    assert catalog.find(reference, configs) == configs / name


@pytest.mark.parametrize("reference", ["llama-3.1", "qwen", "Qwen/Qwen3.5", "README", "../plain", "*", ""])
def test_a_part_of_a_name_finds_nothing(configs: Path, reference: str) -> None:
    assert catalog.find(reference, configs) is None


def test_a_short_name_of_two_models_is_refused_with_both_ids(configs: Path) -> None:
    with pytest.raises(InputError) as caught:
        catalog.find("SHARED-name", configs)
    assert str(caught.value) == (
        "SHARED-name: is the short name of several bundled models"
        " (give the whole id: other/shared-name, someone/Shared-Name)"
    )


@pytest.mark.parametrize(
    ("reference", "ids"),
    [
        ("qwen3.5-397b", ("Qwen/Qwen3.5-397B-A17B",)),
        ("meta-llama/Llama-3.1-8b-instruct", ("meta-llama/Llama-3.1-8B", "meta-llama/Llama-3.1-70B")),
        ("zzzz", ()),
    ],
)
def test_near_names_are_ids_nearest_first(configs: Path, reference: str, ids: tuple[str, ...]) -> None:
    assert catalog.near_names(reference, configs) == ids


def test_the_hint_names_what_is_near_or_the_command_that_lists_all(configs: Path) -> None:
    assert catalog.hint("lama-3.1-8b", configs).startswith("did you mean meta-llama/Llama-3.1-8B")
    assert catalog.hint("zzzz", configs) == "`kvplan models` lists the bundled models"


def test_the_models_of_a_clone_lie_beside_the_package() -> None:
    directory = catalog.configs_directory()
    assert directory.name == "configs"
    assert directory.parent in {catalog.PACKAGE, catalog.PACKAGE.parent}
    assert directory.is_dir()
