"""Files from the Hugging Face cache and the Hub, and one clear line for each way that this fails."""

from __future__ import annotations

import json
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from kvplan.errors import InputError
from kvplan.hub_errors import check_endpoint
from tests.conftest import COMMIT, TOKEN, HubServer, Isolated

DOWNLOAD = """
import dataclasses, json, sys
from kvplan import hub
from kvplan.errors import InputError
repo, revision, timeout = sys.argv[1], sys.argv[2] or None, float(sys.argv[3])
hub.TRANSFER_SECONDS = 12 * timeout
try:
    files = dataclasses.asdict(hub.download(repo, revision, otherwise="OTHERWISE", timeout=timeout))
    print(json.dumps({key: str(value) if value else value for key, value in files.items()}))
except InputError as error:
    print(json.dumps(str(error)))
"""
DOWNLOAD_EACH = """
import json, sys
from kvplan import hub
from kvplan.errors import InputError
lines = {}
for repo in sys.argv[2:]:
    try:
        lines[repo] = str(hub.download(repo, sys.argv[1], otherwise="OTHERWISE"))
    except InputError as error:
        lines[repo] = str(error)
print(json.dumps(lines))
"""
CACHED = """
import dataclasses, json, sys
from kvplan import hub
files = hub.cached(sys.argv[1], sys.argv[2] or None)
print(json.dumps(files and {k: str(v) if v else v for k, v in dataclasses.asdict(files).items()}))
"""
CACHED_OR_ERROR = """
import json, sys
from kvplan import hub
from kvplan.errors import InputError
try:
    hub.cached(sys.argv[1], None)
except InputError as error:
    print(json.dumps(str(error)))
"""
CONFIG = b'{"model_type": "llama"}'


def online(isolated: Isolated, server: HubServer) -> Isolated:
    isolated.environment["HF_ENDPOINT"] = f"http://127.0.0.1:{server.port}"
    isolated.environment["HF_TOKEN"] = TOKEN
    return isolated


def download(isolated: Isolated, repo: str, revision: str = "", timeout: float = 10) -> Any:
    result, stderr = isolated.run(DOWNLOAD, repo, revision, str(timeout))
    assert stderr == ""  # neither progress bars nor the library's own warnings
    assert TOKEN not in json.dumps(result)
    return result


def snapshot(cache: Path, repo: str, *, ref: str = "main", **files: bytes) -> Path:
    """The layout of huggingface_hub's cache: refs name commits, snapshots link to blobs."""
    folder = cache / f"models--{repo.replace('/', '--')}"
    commit = folder / "snapshots" / COMMIT
    for part in (folder / "blobs", folder / "refs", commit):
        part.mkdir(parents=True, exist_ok=True)
    if ref:
        (folder / "refs" / ref).write_text(COMMIT)
    for name, content in files.items():
        (folder / "blobs" / name).write_bytes(content)
        (commit / f"{name}.json").symlink_to(f"../../blobs/{name}")
    return commit


def test_only_the_files_that_kvplan_reads_are_fetched(isolated: Isolated, hub_server: HubServer) -> None:
    hub_server.files = {
        "org/name/config.json": CONFIG,
        "org/name/hf_quant_config.json": b"{}",
        "org/name/model.safetensors.index.json": b'{"metadata": {}}',
        "org/name/model-00001.safetensors": b"weights",
    }
    files = download(online(isolated, hub_server), "org/name")
    folder = isolated.home / "hf" / "hub" / "models--org--name" / "snapshots" / COMMIT
    assert files == {
        "config": str(folder / "config.json"),
        "revision": COMMIT,
        "quantization": str(folder / "hf_quant_config.json"),
        "index": str(folder / "model.safetensors.index.json"),
        "unasked": False,
    }
    assert (folder / "config.json").read_bytes() == CONFIG
    assert {path for _, path in hub_server.requests} == {
        "org/name@main/config.json",
        f"org/name@{COMMIT}/hf_quant_config.json",
        f"org/name@{COMMIT}/model.safetensors.index.json",
    }
    assert hub_server.authorizations == {f"Bearer {TOKEN}"}


def single(**sizes: int) -> bytes:
    """A file as safetensors writes it (format.md): the header's length, the header, the tensors."""
    header, end = {}, 0
    for name, size in sizes.items():
        header[name] = {"dtype": "BF16", "shape": [size // 2], "data_offsets": [end, end + size]}
        end += size
    text = json.dumps({"__metadata__": {"format": "pt"}, **header}).encode()
    return len(text).to_bytes(8, "little") + text + bytes(end)


def test_a_checkpoint_in_one_file_is_sized_by_its_header(isolated: Isolated, hub_server: HubServer) -> None:
    hub_server.files = {
        "org/name/config.json": CONFIG,
        "org/name/model.safetensors": single(a=6_000_000, b=2_000_000),
    }
    fetched = download(online(isolated, hub_server), "org/name")
    assert json.loads(Path(fetched["index"]).read_text()) == {"metadata": {"total_size": 8_000_000}}
    assert hub_server.sent < 200_000  # huggingface_hub asks for the first 100,001 bytes, the length in it
    assert list((isolated.home / "hf" / "hub").rglob("*.safetensors")) == []
    asked = len(hub_server.requests)
    assert isolated.run(CACHED, "org/name", "")[0] == fetched
    assert len(hub_server.requests) == asked


def test_a_header_beyond_the_first_request_is_read_whole(isolated: Isolated, hub_server: HubServer) -> None:
    sizes = {f"model.layers.{number}.self_attn.qkv_proj.weight": 10 for number in range(2_000)}
    content = single(**sizes)
    assert int.from_bytes(content[:8], "little") > 100_001
    hub_server.files = {"org/name/config.json": CONFIG, "org/name/model.safetensors": content}
    fetched = download(online(isolated, hub_server), "org/name")
    assert json.loads(Path(fetched["index"]).read_text()) == {"metadata": {"total_size": 20_000}}


@pytest.mark.parametrize("content", [b"", b"<html>no</html>", (1 << 50).to_bytes(8, "little") + b"{}"])
def test_a_header_that_can_not_be_read_leaves_the_size_open(
    isolated: Isolated, hub_server: HubServer, content: bytes
) -> None:
    hub_server.files = {"org/name/config.json": CONFIG, "org/name/model.safetensors": content}
    assert download(online(isolated, hub_server), "org/name")["index"] is None


def test_only_the_config_has_to_be_there(isolated: Isolated, hub_server: HubServer) -> None:
    hub_server.files = {"org/name/config.json": CONFIG}
    files = download(online(isolated, hub_server), "org/name")
    assert (files["revision"], files["quantization"], files["index"]) == (COMMIT, None, None)


def test_a_revision_is_asked_for_by_its_name(isolated: Isolated, hub_server: HubServer) -> None:
    hub_server.files = {"org/name/config.json": CONFIG}
    assert download(online(isolated, hub_server), "org/name", "v1.5")["revision"] == COMMIT
    assert hub_server.requests[0] == ("HEAD", "org/name@v1.5/config.json")


def test_what_was_fetched_is_in_the_cache_next_time(isolated: Isolated, hub_server: HubServer) -> None:
    hub_server.files = {"org/name/config.json": CONFIG, "org/name/hf_quant_config.json": b"{}"}
    fetched = download(online(isolated, hub_server), "org/name")
    asked = len(hub_server.requests)
    assert isolated.run(CACHED, "org/name", "")[0] == fetched
    assert isolated.run(CACHED, "org/name", COMMIT)[0] == fetched
    assert len(hub_server.requests) == asked


ACCESS = "(check the id; a private or gated model needs HF_TOKEN, of an account that has access)"
GATED = (
    "org/name: is gated on the Hub"
    " (accept its licence on the model page, then set HF_TOKEN to a token of that account)"
)
ABSENT = "org/name: is not on the Hub, or is private and HF_TOKEN gives no access to it (OTHERWISE)"
FAILURES = {
    "gated, not logged in": (401, {"X-Error-Code": "GatedRepo"}, GATED),
    "gated, not admitted": (403, {"X-Error-Code": "GatedRepo"}, GATED),
    "no such model": (404, {"X-Error-Code": "RepoNotFound"}, ABSENT),
    "no such model, not logged in": (401, {"X-Error-Code": "RepoNotFound"}, ABSENT),
    "a mirror's plain 404": (404, {}, ABSENT),
    "no config": (
        404,
        {"X-Error-Code": "EntryNotFound"},
        "org/name: has no config.json on the Hub (name the model that it was made from)",
    ),
    "no such revision": (
        404,
        {"X-Error-Code": "RevisionNotFound"},
        "org/name: has no revision 'v9' on the Hub (leave out @v9, or correct it)",
    ),
    "disabled": (
        403,
        {"X-Error-Message": "Access to this resource is disabled."},
        "org/name: was disabled on the Hub (OTHERWISE)",
    ),
    "a bad token": (
        401,
        {"X-Error-Message": "Invalid credentials in Authorization header"},
        f"org/name: the Hub refused access (401) {ACCESS}",
    ),
    "a token without the right": (403, {}, f"org/name: the Hub refused access (403) {ACCESS}"),
    "too many requests": (
        429,
        {},
        "org/name: the Hub has had too many requests from here (429) (wait a while, or set HF_TOKEN)",
    ),
    "a server error": (
        500,
        {},
        "org/name: the Hub at 127.0.0.1:PORT answered with status 500 (try again later)",
    ),
    "a page of something else": (
        200,
        {"Content-Type": "text/html"},
        "org/name: 127.0.0.1:PORT does not answer as a Hugging Face Hub does"
        " (check HF_ENDPOINT and the proxy settings)",
    ),
    "a config of 200 MB": (
        200,
        {"X-Repo-Commit": COMMIT, "ETag": '"x"', "Content-Length": str(200 << 20)},
        "org/name: has a config.json larger than 8 MiB",
    ),
}


def test_each_answer_of_the_hub_becomes_one_line(isolated: Isolated, hub_server: HubServer) -> None:
    repos = {f"org/name-{number}": case for number, case in enumerate(FAILURES)}
    hub_server.failures = {repo: FAILURES[case][:2] for repo, case in repos.items()}
    results, stderr = online(isolated, hub_server).run(DOWNLOAD_EACH, "v9", *repos)
    expected = {case: line.replace("PORT", str(hub_server.port)) for case, (*_, line) in FAILURES.items()}
    assert {repos[repo]: line.replace(repo, "org/name") for repo, line in results.items()} == expected
    assert TOKEN not in str(results)
    assert stderr == ""
    assert len(hub_server.requests) == len(FAILURES)  # each failed at once, without repetitions


@pytest.mark.parametrize("method", ["HEAD", "GET"])
def test_a_silent_hub_is_given_up_in_time(isolated: Isolated, hub_server: HubServer, method: str) -> None:
    hub_server.files = {"org/name/config.json": CONFIG}
    hub_server.silent.add(f"{method} org/name")
    started = time.monotonic()
    result = download(online(isolated, hub_server), "org/name", timeout=0.2)
    assert result == f"org/name: the Hub at 127.0.0.1:{hub_server.port} did not answer in time (OTHERWISE)"
    assert time.monotonic() - started < 9  # huggingface_hub alone would take minutes


def test_a_closed_port_is_reported_at_once(isolated: Isolated) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    isolated.environment["HF_ENDPOINT"] = f"http://user:password@127.0.0.1:{port}"
    result = download(isolated, "org/name")
    assert result == f"org/name: the Hub at 127.0.0.1:{port} can't be reached (OTHERWISE)"


@pytest.mark.parametrize("variable", ["HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"])
def test_offline_mode_asks_nobody(isolated: Isolated, hub_server: HubServer, variable: str) -> None:
    isolated.environment[variable] = "1"
    result = download(online(isolated, hub_server), "org/name")
    assert result == (
        "org/name: is not in the local Hugging Face cache, and HF_HUB_OFFLINE is set (OTHERWISE)"
    )
    assert hub_server.requests == []


@pytest.mark.parametrize("code", [DOWNLOAD, CACHED_OR_ERROR], ids=["download", "cached"])
def test_an_endpoint_that_is_no_web_address_is_named(isolated: Isolated, code: str) -> None:
    isolated.environment["HF_ENDPOINT"] = "http://127.0.0.1:http"
    line = "HF_ENDPOINT: is not a web address (set it to https://HOST, or unset it)"
    assert isolated.run(code, "org/name", "", "10") == (line, "")


@pytest.mark.parametrize("endpoint", ["hub.example", "https://", "file:///etc", "http://host:99999", "/tmp"])
def test_a_web_address_has_a_scheme_a_host_and_a_real_port(endpoint: str) -> None:
    with pytest.raises(InputError, match="HF_ENDPOINT: is not a web address"):
        check_endpoint(endpoint)


@pytest.mark.parametrize("endpoint", [None, "", "https://hub.example", "http://user:word@127.0.0.1:8080/"])
def test_an_unset_or_proper_endpoint_passes(endpoint: str | None) -> None:
    check_endpoint(endpoint)


def test_a_token_that_no_header_can_hold_is_not_quoted(isolated: Isolated, hub_server: HubServer) -> None:
    online(isolated, hub_server).environment["HF_TOKEN"] = f"{TOKEN}\tü"
    # Some HTTP libraries refuse it and quote it while doing so, others send it; download() looks for it.
    assert download(isolated, "org/name").startswith("org/name: ")


def test_a_cache_that_can_not_be_written_is_named(isolated: Isolated, hub_server: HubServer) -> None:
    hub_server.files = {"org/name/config.json": CONFIG}
    (isolated.home / "hf").write_text("in the way")
    result = download(online(isolated, hub_server), "org/name")
    assert result == (
        "org/name: can't be stored in the local cache: Not a directory (set HF_HOME to a writable folder)"
    )


@pytest.mark.parametrize("variable", ["HF_HUB_CACHE", "HF_HOME"])
def test_the_cache_is_looked_for_where_the_environment_says(isolated: Isolated, variable: str) -> None:
    isolated.environment[variable] = str(isolated.home / "elsewhere")
    cache = isolated.home / "elsewhere" / ("hub" if variable == "HF_HOME" else "")
    folder = snapshot(cache, "org/name", config=CONFIG, hf_quant_config=b"{}")
    assert isolated.run(CACHED, "org/name", "")[0] == {
        "config": str(folder / "config.json"),
        "revision": COMMIT,
        "quantization": str(folder / "hf_quant_config.json"),
        "index": None,
        "unasked": False,
    }


@pytest.mark.parametrize(
    ("repo", "revision"),
    [("org/other", ""), ("org/name", "v9"), ("org/name", "f" * 40), ("org/weights-only", "")],
)
def test_what_is_not_cached_is_none(isolated: Isolated, repo: str, revision: str) -> None:
    cache = isolated.home / "hf" / "hub"
    snapshot(cache, "org/name", config=CONFIG)
    snapshot(cache, "org/weights-only", tokenizer=b"{}")
    assert isolated.run(CACHED, repo, revision)[0] is None


def test_a_cached_commit_is_not_taken_for_main(isolated: Isolated) -> None:
    snapshot(isolated.home / "hf" / "hub", "org/name", ref="", config=CONFIG)
    assert isolated.run(CACHED, "org/name", "")[0] is None
    assert isolated.run(CACHED, "org/name", COMMIT)[0]["revision"] == COMMIT
