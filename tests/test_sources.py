"""A reference becomes a document: path, then bundled, then cache, then Hub, each only when it may be."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from kvplan import catalog
from kvplan.architecture import Source
from kvplan.errors import InputError, Problem
from kvplan.sources import resolve
from tests.conftest import COMMIT, HubServer, Isolated

LISTED = "`kvplan models` lists the bundled models"
NOWHERE = f"no such file, and not a bundled name or a model id ({LISTED})"
NAME = "zzzz"  # near to no bundled name

RESOLVE = """
import contextlib, json, pathlib, sys
from kvplan import catalog, sources
from kvplan.errors import InputError
catalog.PACKAGE = pathlib.Path(sys.argv[1])
fetched = []
def on_fetch(repo):
    fetched.append(repo)
    return contextlib.nullcontext()
results = []
for reference in sys.argv[2:]:
    name, _, source = reference.partition(" from ")
    try:
        found = sources.resolve(name, source=source or None, on_fetch=on_fetch)
        origin = found.source
        results.append([dict(found.data), origin.kind, origin.location, origin.revision, found.model_id,
                        found.quantization, found.weights_bytes, found.file])
    except InputError as error:
        results.append(str(error))
print(json.dumps([results, fetched]))
"""


@pytest.fixture
def configs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with one bundled model, and an empty working directory."""
    directory = tmp_path / "package" / "configs"
    directory.mkdir(parents=True)
    (directory / "Org__Some-Model.yaml").write_text("layers: []\n")
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setattr(catalog, "PACKAGE", directory.parent)
    return directory


def refusal(reference: str | os.PathLike[str], source: str | None = None) -> str:
    with pytest.raises(InputError) as caught:
        resolve(reference, source=source)
    return str(caught.value)


def test_a_file_is_read_and_named_as_it_was_given(configs: Path) -> None:
    Path("org__name.json").write_text('{"model_type": "llama"}')
    document = resolve("./org__name.json")
    assert document.data == {"model_type": "llama"}
    assert document.file == "./org__name.json"
    assert document.source == Source(kind="file", location="./org__name.json")
    assert (document.model_id, document.quantization, document.weights_bytes) == ("org/name", None, None)


def test_a_folder_gives_its_config_and_what_lies_beside_it(configs: Path) -> None:
    Path("m").mkdir()
    Path("m/config.json").write_text('{"a": 1}')
    Path("m/hf_quant_config.json").write_text('{"quantization": {"kv_cache_quant_algo": "FP8"}}')
    Path("m/model.safetensors.index.json").write_text('{"metadata": {"total_size": 16060522496}}')
    document = resolve(Path("m"))
    assert document.data == {"a": 1}
    assert document.file == "m/config.json"
    assert document.source == Source(kind="file", location="m")
    assert document.model_id == "m"
    assert document.quantization == {"quantization": {"kv_cache_quant_algo": "FP8"}}
    assert document.weights_bytes == 16_060_522_496


@pytest.mark.parametrize(
    "index",
    [
        '{"metadata": {',
        "{}",
        '{"metadata": []}',
        '{"metadata": {"total_size": 0}}',
        '{"metadata": {"total_size": "many"}}',
        '{"metadata": {"total_size": Infinity}}',
        '{"metadata": {"total_size": true}}',
    ],
)
def test_an_index_without_a_total_leaves_the_weights_unknown(configs: Path, index: str) -> None:
    Path("config.json").write_text('{"a": 1}')
    Path("model.safetensors.index.json").write_text(index)
    assert resolve("config.json").weights_bytes is None


def test_a_broken_quantisation_file_is_refused_since_it_decides_bytes(configs: Path) -> None:
    Path("m").mkdir()
    Path("m/config.json").write_text("{}")
    Path("m/hf_quant_config.json").write_text("")
    assert refusal("m").startswith("m/hf_quant_config.json: is empty")


def test_the_home_folder_may_be_written_as_a_tilde(configs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(Path.cwd()))
    Path("c.json").write_text("{}")
    assert resolve("~/c.json").source == Source(kind="file", location="~/c.json")


@pytest.mark.parametrize("reference", ["Org/Some-Model", "some-model", "ORG/SOME-MODEL"])
@pytest.mark.parametrize("source", [None, "bundled"])
def test_a_bundled_model_is_found_by_either_name(configs: Path, reference: str, source: str | None) -> None:
    document = resolve(reference, source=source)
    assert document.data == {"layers": []}
    assert document.file == "configs/Org__Some-Model.yaml"
    assert document.source == Source(kind="bundled", location="configs/Org__Some-Model.yaml")
    assert document.model_id == "Org/Some-Model"


def test_an_existing_path_comes_before_a_bundled_name(configs: Path) -> None:
    Path("some-model").write_text('{"mine": 1}')
    assert resolve("some-model").data == {"mine": 1}
    assert resolve("some-model", source="bundled").data == {"layers": []}


def test_a_folder_in_the_way_of_a_bundled_name_is_said_to_be(configs: Path) -> None:
    Path("some-model").mkdir()
    assert refusal("some-model") == (
        "some-model: has no config.json (--source bundled takes the bundled model of this name)"
    )


PATHS = [
    "./x",
    "../x",
    "/nowhere/x",
    "~/nowhere",
    "a/b/c",
    "a/b/",
    "x.json",
    "Org/x.YAML",
    "x.yml",
    "a/b/c@v1",
]


@pytest.mark.parametrize("reference", PATHS)
def test_what_looks_like_a_path_is_never_taken_for_an_id(configs: Path, reference: str) -> None:
    assert refusal(reference) == f"{reference}: no such file"


def test_a_path_object_is_never_taken_for_an_id(configs: Path) -> None:
    assert refusal(Path("Org/Some-Model")) == "Org/Some-Model: no such file"


IDS = ["zzzz", "a b/c", "-zz/zz", "zz/.zz", "zz/z--z", "z..z/zz", "zz/zz!", "[red]/zz", "zz\\zz", "é/zz"]


@pytest.mark.parametrize("reference", [*IDS, f"zz/{'z' * 97}", "zz@v1", "@v1"])
@pytest.mark.parametrize("source", [None, "cache", "hub"])
def test_what_is_no_id_gets_nowhere_near_the_network(
    configs: Path, reference: str, source: str | None
) -> None:
    assert refusal(reference, source) == f"{reference}: {NOWHERE}"


@pytest.mark.parametrize(
    ("reference", "source", "line"),
    [
        ("", None, "the reference is empty (give a file, a folder or a model id)"),
        (" ", None, "the reference is empty (give a file, a folder or a model id)"),
        ("a\nb\x1b[31m", None, f"a\\nb\\x1b[31m: {NOWHERE}"),
        ("zz\0zz", None, f"zz\\x00zz: {NOWHERE}"),
        (
            "https://hub.example/Org/Some-Model",
            None,
            "https://hub.example/Org/Some-Model: is a URL, which kvplan does not read"
            " (give the model id: org/name)",
        ),
        (
            "some-modell",
            None,
            "some-modell: no such file, and not a bundled name or a model id (did you mean Org/Some-Model?)",
        ),
        ("Org/zzzz", "bundled", f"Org/zzzz: is not bundled ({LISTED})"),
        (
            "Org/Some-Model@main",
            "bundled",
            "Org/Some-Model@main: a bundled model has no revisions (leave out @..., or --source bundled)",
        ),
        (
            "Org/zz@../../x",
            None,
            "Org/zz@../../x: '../../x' is no revision (a branch, a tag or a commit follows the @)",
        ),
        ("zz/zz@", None, "zz/zz@: '' is no revision (a branch, a tag or a commit follows the @)"),
        ("zz/zz@/etc", None, "zz/zz@/etc: '/etc' is no revision (a branch, a tag or a commit follows the @)"),
        ("zz/zz", "hubb", "--source: unknown value 'hubb' (did you mean hub?)"),
    ],
)
def test_a_reference_to_nothing_says_what_to_try(
    configs: Path, reference: str, source: str | None, line: str
) -> None:
    assert refusal(reference, source) == line


def test_duplicate_keys_are_refused_or_left_to_the_reader(configs: Path) -> None:
    Path("c.yaml").write_text("a: 1\na: 2\n")
    line = "c.yaml: a: is there twice, in line 1 and in line 2 (keep one)"
    assert refusal("c.yaml") == line
    problems: list[Problem] = []
    assert resolve("c.yaml", problems=problems).data == {"a": 2}
    assert [str(problem) for problem in problems] == [line]


def resolved(isolated: Isolated, package: Path, *references: str) -> tuple[list[Any], list[str]]:
    (results, fetched), stderr = isolated.run(RESOLVE, str(package), *references)
    assert stderr == ""
    return results, fetched


def test_the_cache_comes_before_the_hub_and_a_revision_before_the_bundle(
    configs: Path, isolated: Isolated, hub_server: HubServer
) -> None:
    isolated.environment["HF_ENDPOINT"] = f"http://127.0.0.1:{hub_server.port}"
    hub_server.files = {
        "Org/Some-Model/config.json": b'{"a": 1}',
        "Org/Some-Model/hf_quant_config.json": b'{"q": 2}',
        "Org/Some-Model/model.safetensors.index.json": json.dumps({"metadata": {"total_size": 9}}).encode(),
    }
    found = [{"a": 1}, "Org/Some-Model", COMMIT, "Org/Some-Model", {"q": 2}, 9, "Org/Some-Model/config.json"]
    results, fetched = resolved(
        isolated,
        configs.parent,
        "some-model",
        "Org/Some-Model from cache",
        "Org/Some-Model@main",
        "Org/Some-Model@main",
        "Org/Some-Model from cache",
        "Org/Some-Model from hub",
    )
    assert [result if isinstance(result, str) else result[1] for result in results] == [
        "bundled",
        "Org/Some-Model: is not in the local Hugging Face cache"
        " (leave out --source to fetch it from the Hub)",
        "hub",
        "cache",
        "cache",
        "hub",
    ]
    assert fetched == ["Org/Some-Model", "Org/Some-Model"]
    for result in results[2:]:
        assert [*result[:1], *result[2:]] == found


def test_the_hub_is_named_in_what_is_wrong_with_its_files(
    configs: Path, isolated: Isolated, hub_server: HubServer
) -> None:
    isolated.environment["HF_ENDPOINT"] = f"http://127.0.0.1:{hub_server.port}"
    hub_server.files = {"zz/page/config.json": b"<html></html>"}
    hub_server.failures["Org/Some-Modell"] = (404, {"X-Error-Code": "RepoNotFound"})
    results, _ = resolved(isolated, configs.parent, "zz/page", "Org/Some-Modell")
    assert results == [
        f"zz/page: 127.0.0.1:{hub_server.port} sent a config.json that is no JSON"
        " (try again later, and check HF_ENDPOINT and the proxy settings)",
        "Org/Some-Modell: is not on the Hub, or is private and HF_TOKEN gives no access to it"
        " (did you mean Org/Some-Model?)",
    ]


def test_offline_the_bundled_models_are_pointed_to(configs: Path, isolated: Isolated) -> None:
    isolated.environment["HF_HUB_OFFLINE"] = "1"
    offline = "is not in the local Hugging Face cache, and HF_HUB_OFFLINE is set"
    results, _ = resolved(isolated, configs.parent, "Org/Some-Modell", "zz/zzzz")
    assert results == [
        f"Org/Some-Modell: {offline} (did you mean Org/Some-Model?)",
        f"zz/zzzz: {offline} ({LISTED})",
    ]
