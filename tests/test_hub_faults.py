"""Every way in which the Hub can fail, at a stand-in on the loopback: one line with what to do, nothing kept.

Each fault is met once by the request for what there is (HEAD) and once by the transfer (GET). After it the
same stand-in is mended, and a second run in a new process has to get the model from it.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler

import pytest

from tests.conftest import COMMIT, TOKEN, HubServer, Isolated

# All models at once, each in a thread of its own, since some faults are waits.
LOAD_ALL = """
import functools, json, sys, traceback
from concurrent.futures import ThreadPoolExecutor
import huggingface_hub
from kvplan import InputError, hub, load
seconds, *repos = sys.argv[1:]
hub.download = functools.partial(hub.download, timeout=float(seconds))
hub.TRANSFER_SECONDS = float(seconds)
def outcome(repo):
    try:
        return repo, [str(len(load(repo).layers))]
    except InputError as error:
        return repo, [str(problem) for problem in error.problems]
    except BaseException:
        return repo, [traceback.format_exc()]
with ThreadPoolExecutor(40) as pool:
    print(json.dumps(dict(pool.map(outcome, repos))))
"""
# What a load may take: where the Hub is slow, and where the machine may be.
SHORT, LONG = "3", "30"
CONFIG = json.dumps(
    {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "num_hidden_layers": 32,
        "hidden_size": 4096,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "max_position_embeddings": 131_072,
        "torch_dtype": "bfloat16",
    }
).encode()
GOOD = {"X-Repo-Commit": COMMIT, "ETag": '"good"', "Content-Type": "application/json"}
Script = Callable[[BaseHTTPRequestHandler], None]


def answer(status: int, body: bytes = b"", **headers: str) -> Script:
    """One answer; headers are written with underscores."""

    def script(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        for name, value in {"Content-Length": str(len(body)), **given}.items():
            handler.send_header(name, value)
        handler.end_headers()
        if handler.command == "GET":
            handler.wfile.write(body)

    return script


def redirected(handler: BaseHTTPRequestHandler) -> None:
    answer(302, Location=handler.path)(handler)


def sent_elsewhere(handler: BaseHTTPRequestHandler) -> None:
    """To where nobody listens; huggingface_hub tries for longer than this test waits."""
    answer(302, Location="http://127.0.0.2:9/elsewhere", X_Repo_Commit=COMMIT, ETag='"x"')(handler)


def cut_off(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    for name, value in {**GOOD, "Content-Length": str(len(CONFIG))}.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(CONFIG[: len(CONFIG) // 2])
    handler.wfile.flush()
    handler.connection.close()


def reset(handler: BaseHTTPRequestHandler) -> None:
    handler.connection.close()


def dripping(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    for name, value in {**GOOD, "Content-Length": str(len(CONFIG))}.items():
        handler.send_header(name, value)
    handler.end_headers()
    with contextlib.suppress(OSError):
        for byte in CONFIG:
            handler.wfile.write(bytes([byte]))
            handler.wfile.flush()
            time.sleep(0.2)


def endless(handler: BaseHTTPRequestHandler) -> None:
    """Without a length, and without an end as far as the reader can tell: 400 MB, at 10 ms for each 4 MB."""
    handler.send_response(200)
    for name, value in GOOD.items():
        handler.send_header(name, value)
    handler.end_headers()
    with contextlib.suppress(OSError):
        for _ in range(100):
            handler.wfile.write(b" " * (4 << 20))
            time.sleep(0.01)


def silent(handler: BaseHTTPRequestHandler) -> None:
    time.sleep(6)


PAGE = b"<!DOCTYPE html><html><body>Sign in to this network</body></html>"
ACCESS = "(check the id; a private or gated model needs HF_TOKEN, of an account that has access)"
GATED = (
    "is gated on the Hub (accept its licence on the model page, then set HF_TOKEN to a token of that account)"
)
BUSY = "the Hub has had too many requests from here (429) (wait {wait}, or set HF_TOKEN)"
PORTAL = (
    "127.0.0.1:PORT does not answer as a Hugging Face Hub does (check HF_ENDPOINT and the proxy settings)"
)
NO_CONFIG = (
    "127.0.0.1:PORT sent a config.json that is no JSON (try again later, and check HF_ENDPOINT and the "
    "proxy settings)"
)
BROKEN_OFF = "the Hub at 127.0.0.1:PORT broke off its answer (try again)"
ABSENT = "is not on the Hub, or is private and HF_TOKEN gives no access to it (LISTED)"
TIMED_OUT = "the Hub at 127.0.0.1:PORT did not answer in time (LISTED)"
SERVER_ERROR = "the Hub at 127.0.0.1:PORT answered with status 500 (try again later)"
LISTED = "`kvplan models` lists the bundled models"

# Fault: what the HEAD and the GET of the config meet (None: the right answer), and what kvplan says.
FAULTS: dict[str, tuple[Script | None, Script | None, str]] = {
    "401": (answer(401), None, f"the Hub refused access (401) {ACCESS}"),
    "401 in the transfer": (None, answer(401), f"the Hub refused access (401) {ACCESS}"),
    "401 with the token in the answer": (
        answer(401, TOKEN.encode(), X_Error_Message=f"bad token {TOKEN}"),
        None,
        f"the Hub refused access (401) {ACCESS}",
    ),
    "403, gated": (answer(403, X_Error_Code="GatedRepo"), None, GATED),
    "403, gated, in the transfer": (None, answer(403, X_Error_Code="GatedRepo"), GATED),
    "404": (answer(404), None, ABSENT),
    "404 in the transfer": (None, answer(404), ABSENT),
    "429 with a time": (answer(429, Retry_After="17"), None, BUSY.format(wait="17 seconds")),
    "429 with a hostile time": (
        answer(429, Retry_After="\x1b[31m[red]"),
        None,
        BUSY.format(wait="a while"),
    ),
    "429 without one": (answer(429), None, BUSY.format(wait="a while")),
    "500": (answer(500, PAGE), None, SERVER_ERROR),
    "500 in the transfer": (None, answer(500, PAGE), SERVER_ERROR),
    "no answer": (silent, None, TIMED_OUT),
    "no answer in the transfer": (None, silent, TIMED_OUT),
    "a byte now and then": (None, dripping, TIMED_OUT),
    "a reset connection": (reset, None, BROKEN_OFF),
    "half a config": (None, cut_off, TIMED_OUT),
    "a sign-in page": (answer(200, PAGE, Content_Type="text/html"), None, PORTAL),
    "a sign-in page in the transfer": (
        None,
        answer(200, PAGE + b" " * (len(CONFIG) - len(PAGE)), Content_Type="text/html"),
        NO_CONFIG,
    ),
    "JSON that is no config": (None, answer(200, b"[]" + b" " * (len(CONFIG) - 2)), NO_CONFIG),
    "a redirect to itself": (redirected, None, PORTAL),
    "a redirect to itself in the transfer": (None, redirected, PORTAL),
    "a redirect to where nobody listens": (None, sent_elsewhere, TIMED_OUT),
    "an endless config": (
        None,
        endless,
        "the Hub sends more than 64 MiB, far more than any config (check HF_ENDPOINT and the proxy settings)",
    ),
}


@pytest.fixture
def online(isolated: Isolated, hub_server: HubServer) -> Isolated:
    isolated.environment["HF_ENDPOINT"] = f"http://127.0.0.1:{hub_server.port}"
    isolated.environment["HF_TOKEN"] = TOKEN
    return isolated


def break_for(server: HubServer, repos: dict[str, str]) -> None:
    """Serve a config for each of the models, each with its fault."""
    server.files = {f"{repo}/config.json": CONFIG for repo in repos}
    for repo, fault in repos.items():
        for method, script in zip(("HEAD", "GET"), FAULTS[fault][:2], strict=True):
            if script is not None:
                server.scripts[f"{method} {repo}"] = script


def test_each_fault_is_one_line_and_leaves_nothing_behind(online: Isolated, hub_server: HubServer) -> None:
    repos = {f"org/model-{number}": fault for number, fault in enumerate(FAULTS)}
    break_for(hub_server, repos)
    slow = [repo for repo, fault in repos.items() if FAULTS[fault][2] == TIMED_OUT]
    found, stderr = online.run(LOAD_ALL, LONG, *(repo for repo in repos if repo not in slow))
    waited, more = online.run(LOAD_ALL, SHORT, *slow)
    found, stderr = {**found, **waited}, stderr + more
    assert TOKEN not in json.dumps(found) + stderr
    said = {fault: [line.replace(repo, "MODEL") for line in found[repo]] for repo, fault in repos.items()}
    expected = {
        fault: ["MODEL: " + line.replace("PORT", str(hub_server.port)).replace("LISTED", LISTED)]
        for fault, (_, _, line) in FAULTS.items()
    }
    assert said == expected
    assert stderr == ""

    hub_server.scripts = {}
    found, stderr = online.run(LOAD_ALL, LONG, *repos)
    assert {repos[repo]: lines for repo, lines in found.items()} == {fault: ["32"] for fault in FAULTS}
    assert stderr == ""


@pytest.mark.parametrize("name", ["hf_quant_config.json", "model.safetensors.index.json"])
def test_a_config_is_not_kept_without_what_lies_beside_it(
    online: Isolated, hub_server: HubServer, name: str
) -> None:
    """hf_quant_config.json says FP8: a cache with the config alone would plan twice the bytes for a token."""
    quantization = b'{"quantization": {"kv_cache_quant_algo": "FP8"}}'
    hub_server.files = {
        "org/name/config.json": CONFIG,
        "org/name/hf_quant_config.json": quantization,
        "org/name/model.safetensors.index.json": b'{"metadata": {"total_size": 8000000000}}',
    }
    broken = answer(403)

    def only_for_it(handler: BaseHTTPRequestHandler) -> None:
        if handler.path.endswith(name):
            broken(handler)
            return
        status, headers, content = hub_server.answer(handler.command, handler.path)
        answer(status, content, **headers)(handler)

    hub_server.scripts = {"HEAD org/name": only_for_it, "GET org/name": only_for_it}
    (line,) = online.run(LOAD_ALL, LONG, "org/name")[0]["org/name"]
    assert line == f"org/name: the Hub refused access (403) {ACCESS}"
    hub_server.scripts = {}
    assert online.run(PLAN, "org/name")[0] == ["float8_e4m3fn", 8_000_000_000]


def test_a_cache_that_other_programs_filled_is_told_to_be_incomplete(
    online: Isolated, hub_server: HubServer
) -> None:
    """transformers fetches the config alone: whether the Hub has a hf_quant_config.json, nobody asked."""
    hub_server.files = {"org/name/config.json": CONFIG, "org/asked/config.json": CONFIG}
    online.run(FETCH_ALONE, "org/name")
    online.run(LOAD_ALL, LONG, "org/asked")
    line = "no hf_quant_config.json: the local cache holds none, and nothing says that the Hub has none"
    assert line in online.run(ASSUMED, "org/name")[0]
    assert line not in online.run(ASSUMED, "org/asked")[0]


FETCH_ALONE = """
import sys
from huggingface_hub import hf_hub_download
hf_hub_download(sys.argv[1], "config.json")
print("null")
"""
ASSUMED = """
import json, sys
from kvplan import load
print(json.dumps(load(sys.argv[1], source="cache").assumed))
"""
PLAN = """
import json, sys
from kvplan import Deployment, load, plan
model = load(sys.argv[1])
print(json.dumps([plan(model, Deployment()).resolved.kv_cache_dtype, model.weights_bytes]))
"""
# The command line, with tracebacks; the waits are left to the threads above.
DEBUG_EACH = """
import functools, json, sys
from typer.testing import CliRunner
from kvplan import hub
from kvplan.cli.app import app
hub.download = functools.partial(hub.download, timeout=3.0)
hub.TRANSFER_SECONDS = 3.0
results = {}
for repo in sys.argv[1:]:
    result = CliRunner().invoke(app, ["size", repo, "--debug"], prog_name="kvplan")
    results[repo] = [result.exit_code, result.stdout, result.stderr]
print(json.dumps(results))
"""


def test_a_token_is_in_no_output_even_with_tracebacks(online: Isolated, hub_server: HubServer) -> None:
    named = ["401 with the token in the answer", "403, gated, in the transfer", "500", "a reset connection"]
    repos = {f"org/debug-{number}": fault for number, fault in enumerate(named)}
    break_for(hub_server, repos)
    found, stderr = online.run(DEBUG_EACH, *repos)
    for repo, (code, stdout, shown) in found.items():
        assert (code, stdout) == (2, ""), repos[repo]
        assert shown.startswith("Traceback (most recent call last):"), repos[repo]
        assert shown.splitlines()[-1].startswith(f"kvplan: error: {repo}: "), repos[repo]
    assert TOKEN not in json.dumps(found) + stderr
    assert hub_server.authorizations == {f"Bearer {TOKEN}"}  # it was sent, so it could have been shown


def test_a_quantisation_file_that_is_a_page_is_not_kept(online: Isolated, hub_server: HubServer) -> None:
    """hf_quant_config.json decides bytes: a page in its place must not stay in the cache."""
    page, good = b"<html></html>", b'{"quantization": {"kv_cache_quant_algo": "FP8"}}'
    hub_server.files = {"org/name/config.json": CONFIG, "org/name/hf_quant_config.json": page}
    found, _ = online.run(LOAD_ALL, LONG, "org/name")
    assert found["org/name"] == [
        f"org/name: 127.0.0.1:{hub_server.port} sent a hf_quant_config.json that is no JSON "
        "(try again later, and check HF_ENDPOINT and the proxy settings)"
    ]
    hub_server.files["org/name/hf_quant_config.json"] = good
    assert online.run(LOAD_ALL, LONG, "org/name")[0] == {"org/name": ["32"]}


@pytest.mark.parametrize("variable", ["HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"])
def test_offline_nobody_is_asked_and_what_is_cached_is_used(
    online: Isolated, hub_server: HubServer, variable: str
) -> None:
    hub_server.files = {"org/name/config.json": CONFIG}
    assert online.run(LOAD_ALL, LONG, "org/name")[0] == {"org/name": ["32"]}
    asked = len(hub_server.requests)
    online.environment[variable] = "1"
    assert online.run(LOAD_ALL, LONG, "org/name", "org/other")[0] == {
        "org/name": ["32"],
        "org/other": [
            f"org/other: is not in the local Hugging Face cache, and HF_HUB_OFFLINE is set ({LISTED})"
        ],
    }
    assert len(hub_server.requests) == asked
