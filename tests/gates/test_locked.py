"""`--locked`: no network, and only models that will be the same in the next run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.console import run
from tests.conftest import COMMIT, HubServer, Isolated
from tests.gates.files import CONFIG, written

# Runs `kvplan check` and prints its exit code and both streams.
CHECK = (
    "import json, sys\n"
    "from typer.testing import CliRunner\n"
    "from kvplan.cli.app import app\n"
    "done = CliRunner().invoke(app, ['check', *sys.argv[1:]], prog_name='kvplan')\n"
    "print(json.dumps([done.exit_code, done.stdout, done.stderr]))\n"
)
HINT = "--locked fetches nothing: pin org/name@revision and run once without it"


@pytest.fixture
def hub(hub_server: HubServer, isolated: Isolated) -> HubServer:
    """A Hub that has org/model, which the isolated process asks."""
    hub_server.files["org/model/config.json"] = json.dumps(CONFIG).encode()
    isolated.environment["HF_ENDPOINT"] = f"http://127.0.0.1:{hub_server.port}"
    return hub_server


def gates(folder: Path, model: str, source: str = "null") -> str:
    return written(folder, f"gates: {{a: {{model: {model}, source: {source}}}}}")


@pytest.mark.parametrize(
    ("model", "source", "line"),
    [
        (f"org/model@{COMMIT}", "null", f"is not in the local Hugging Face cache ({HINT})"),
        ("org/model", "null", f"is not in the local Hugging Face cache ({HINT})"),
        ("org/model", "hub", f"source hub is the network ({HINT})"),
        ("llama-3.1-8b", "hub", f"source hub is the network ({HINT})"),
        ("./no.yaml", "null", "no such file, and not a bundled name or a model id"),
        ("org/../model@v1", "null", "no such file, and not a bundled name or a model id"),
    ],
)
def test_what_is_not_at_hand_is_refused_without_a_request(
    hub: HubServer, isolated: Isolated, model: str, source: str, line: str
) -> None:
    path = gates(isolated.home, model, source)
    (code, stdout, stderr), _ = isolated.run(CHECK, path, "--locked")
    assert (code, stdout) == (2, "")
    assert f"gates.a.model: {model}: {line}" in stderr
    assert hub.requests == []


def test_a_cached_model_counts_under_its_revision_alone(hub: HubServer, isolated: Isolated) -> None:
    lock = str(isolated.home / "lock.json")
    pinned, loose = f"org/model@{COMMIT}", "org/model"
    assert isolated.run(CHECK, gates(isolated.home, pinned), "--write-baseline", lock)[0][0] == 0
    assert json.loads(Path(lock).read_text())["gates"]["a"]["figures"]["model.revision"] == COMMIT
    hub.requests.clear()
    assert isolated.run(CHECK, gates(isolated.home, pinned), "--locked", "--baseline", lock)[0][0] == 0
    code, _, stderr = isolated.run(CHECK, gates(isolated.home, loose, "cache"), "--locked")[0]
    assert code == 2
    assert f"({HINT})" in stderr
    assert hub.requests == []


@pytest.mark.parametrize("model", ["llama-3.1-8b", "./local/config.json", "local"])
def test_bundled_and_local_models_need_no_pin(hub: HubServer, isolated: Isolated, model: str) -> None:
    (isolated.home / "local").mkdir()
    written(isolated.home / "local", json.dumps(CONFIG), "config.json")
    assert isolated.run(CHECK, gates(isolated.home, model), "--locked")[0] == [
        0,
        isolated.run(CHECK, gates(isolated.home, model))[0][1],
        "",
    ]
    assert hub.requests == []


def test_a_model_that_fails_is_asked_for_once(hub: HubServer, isolated: Isolated) -> None:
    path = written(isolated.home, "gates: {a: {model: org/none, tp: [1, 2, 4]}, b: {model: org/none}}")
    code, _, stderr = isolated.run(CHECK, path)[0]
    assert (code, stderr.count("org/none")) == (2, 2)
    assert len(hub.requests) == 1


@pytest.mark.parametrize("gpu", ["local", "' LOCAL '", "localx8", "[h200, local]"])
def test_the_gpu_of_this_machine_is_refused(tmp_path: Path, gpu: str) -> None:
    path = written(tmp_path, f"defaults: {{gpu: {gpu}}}\ngates: {{a: {{model: llama-3.1-8b}}}}")
    result = run("check", path, "--locked")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        f"kvplan: error: {path}: defaults.gpu: local is another GPU on another machine "
        "(with --locked name the GPU, see `kvplan gpus`)\n"
    )


def test_an_unknown_source_is_named_as_without_the_lock(tmp_path: Path) -> None:
    path = written(tmp_path, "gates: {a: {model: llama-3.1-8b, source: nowhere}}")
    result = run("check", path, "--locked")
    assert result.stderr == run("check", path).stderr
    assert "gates.a.source: unknown value 'nowhere'" in result.stderr
