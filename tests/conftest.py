"""A Hub of one's own on the loopback, and a way to run code against it with a fresh huggingface_hub."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import kvplan

COMMIT = "0123456789abcdef0123456789abcdef01234567"
TOKEN = "hf_secretsecretsecret"
CLONE = Path(kvplan.__file__).parents[1]


@dataclass
class HubServer:
    """`files` by "org/name/file"; `failures` by "org/name" answer with a status and headers instead.

    A "METHOD org/name" in `silent` is not answered before the test ends, one in `scripts` by its function.
    `sent`: bytes of all answers.
    """

    files: dict[str, bytes] = field(default_factory=dict)
    failures: dict[str, tuple[int, dict[str, str]]] = field(default_factory=dict)
    silent: set[str] = field(default_factory=set)
    scripts: dict[str, Callable[[BaseHTTPRequestHandler], None]] = field(default_factory=dict)
    requests: list[tuple[str, str]] = field(default_factory=list)
    authorizations: set[str | None] = field(default_factory=set)
    sent: int = 0
    closing: threading.Event = field(default_factory=threading.Event)
    port: int = 0

    def script(self, method: str, path: str) -> Callable[[BaseHTTPRequestHandler], None] | None:
        return self.scripts.get(f"{method} {path.strip('/').partition('/resolve/')[0]}")

    def answer(self, method: str, path: str) -> tuple[int, dict[str, str], bytes]:
        repo, _, rest = path.strip("/").partition("/resolve/")
        revision, _, name = rest.rpartition("/")
        self.requests.append((method, f"{repo}@{revision}/{name}"))
        if f"{method} {repo}" in self.silent:
            self.closing.wait()
        if repo in self.failures:
            return (*self.failures[repo], b"<html>no</html>")
        content = self.files.get(f"{repo}/{name}")
        headers = {"X-Repo-Commit": COMMIT}
        if content is None:
            return 404, {**headers, "X-Error-Code": "EntryNotFound"}, b""
        return 200, {**headers, "ETag": f'"{hash(content) & 0xFFFFFFFF:x}"'}, content


@pytest.fixture
def hub_server() -> Iterator[HubServer]:
    hub = HubServer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            hub.authorizations.add(self.headers.get("Authorization"))
            script = hub.script(self.command, self.path)
            if script is not None:
                script(self)
                return
            status, headers, content = hub.answer(self.command, self.path)
            first, _, last = self.headers.get("Range", "").removeprefix("bytes=").partition("-")
            if status == 200 and last:
                status, content = 206, content[int(first) : int(last) + 1]
            self.send_response(status)
            for name, value in {"Content-Length": str(len(content)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command == "GET":
                hub.sent += len(content)
                self.wfile.write(content)

        do_HEAD = do_GET  # noqa: N815  # the name that the base class looks for

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the name in the base class
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, request: Any, client_address: Any) -> None:
            pass  # a client that gave up waiting

    with Server(("127.0.0.1", 0), Handler) as server:
        hub.port = server.server_port
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield hub
        hub.closing.set()
        server.shutdown()
        thread.join()


@dataclass
class Isolated:
    """Runs code in a process of its own: huggingface_hub reads its environment once, when imported."""

    home: Path
    environment: dict[str, str] = field(default_factory=dict)

    def run(self, code: str, *arguments: str) -> tuple[Any, str]:
        """What the code printed as JSON, and what it wrote to stderr."""
        environment = {
            "PATH": os.environ.get("PATH", ""),
            "PYTHONPATH": str(CLONE),
            "HOME": str(self.home),
            "HF_HOME": str(self.home / "hf"),
            "NO_PROXY": "*",
            **self.environment,
        }
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments],
            env=environment,
            cwd=self.home,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout), done.stderr


@pytest.fixture
def isolated(tmp_path: Path) -> Isolated:
    home = tmp_path / "home"
    home.mkdir()
    return Isolated(home=home)
