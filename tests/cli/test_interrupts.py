"""The program among others: stopped by Ctrl-C, read by `head`, started twice, cut off while it writes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import CLONE, TOKEN, HubServer
from tests.test_hub_faults import CONFIG

KVPLAN = [sys.executable, "-m", "kvplan"]
# Two thousand layers, no two alike: each of the settings that are tried takes long to plan.
MANY_LAYERS = (
    "architecture: MistralForCausalLM\nattention_heads: 64\nhidden_size: 8192\nweights: 16GB\nlayers:\n"
)
MANY_LAYERS += "".join(
    f"  - {{kind: sliding, kv_heads: 8, head_dim: 64, window: {n}}}\n" for n in range(1, 2_001)
)
GATES = """\
gates:
  chat:
    model: meta-llama/Llama-3.1-8B
    available_bytes: 10GiB
    require: {max_total_num_tokens: ">= 80k"}
"""


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    """Started in the background, the tests ignore Ctrl-C, and so would what they start."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def environment(home: Path, **more: str) -> dict[str, str]:
    known = {"PATH": os.environ.get("PATH", ""), "PYTHONPATH": str(CLONE), "HOME": str(home)}
    return {**known, "HF_HOME": str(home / "hf"), "NO_PROXY": "*", "HF_HUB_OFFLINE": "1", **more}


def started(
    home: Path, *arguments: str, stdout: int = subprocess.PIPE, settings: dict[str, str] | None = None
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*KVPLAN, *arguments],
        env=environment(home, **(settings or {})),
        cwd=home,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
    )


def online(server: HubServer) -> dict[str, str]:
    endpoint = f"http://127.0.0.1:{server.port}"
    return {"HF_HUB_OFFLINE": "0", "HF_ENDPOINT": endpoint, "HF_TOKEN": TOKEN}


def waited(condition: object, seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        assert callable(condition)
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError("it never came to that")


def computed_seconds(process: subprocess.Popen[str]) -> float:
    """CPU time of a process by Linux's /proc/PID/stat, fields 14 and 15."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize("method", ["HEAD", "GET"])
def test_ctrl_c_ends_the_wait_for_the_hub(tmp_path: Path, hub_server: HubServer, method: str) -> None:
    hub_server.files = {"org/name/config.json": CONFIG}
    hub_server.silent.add(f"{method} org/name")
    with started(tmp_path, "size", "org/name", settings=online(hub_server)) as program:
        waited(lambda: any(asked == method for asked, _ in hub_server.requests))
        began = time.monotonic()
        program.send_signal(signal.SIGINT)
        out, err = program.communicate(timeout=30)
    assert (program.returncode, out, err) == (130, "", "")
    assert time.monotonic() - began < 5  # the time-outs of the wait are longer


def test_ctrl_c_ends_a_long_search(tmp_path: Path) -> None:
    (tmp_path / "many.yaml").write_text(MANY_LAYERS)
    with started(
        tmp_path, "fit", "many.yaml", "--concurrency", "1", "--ctx", "1k", "--allow", "fp8"
    ) as program:
        waited(lambda: computed_seconds(program) > 1.0)
        program.send_signal(signal.SIGINT)
        out, err = program.communicate(timeout=30)
    assert (program.returncode, out, err) == (130, "", "")


def written_for_nobody(home: Path, arguments: list[str]) -> tuple[int, str]:
    """Exit code and stderr of a run whose stdout nobody reads any more."""
    reading, writing = os.pipe()
    os.close(reading)
    with started(home, *arguments, stdout=writing) as program:
        os.close(writing)
        _, err = program.communicate(timeout=60)
    return program.returncode, err


@pytest.mark.parametrize(
    "arguments",
    [
        ["models"],
        ["schema"],
        ["export", "gpt-oss-120b"],
        ["size", "gpt-oss-120b", "--format", "json"],
        ["curve", "gpt-oss-120b"],
    ],
    ids=lambda arguments: str(arguments[0]),
)
def test_a_reader_that_has_left_is_no_error(tmp_path: Path, arguments: list[str]) -> None:
    assert written_for_nobody(tmp_path, arguments) == (141, "")


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["size", "--help"]], ids=" ".join)
def test_help_for_a_reader_that_has_left_says_nothing(tmp_path: Path, arguments: list[str]) -> None:
    code, err = written_for_nobody(tmp_path, arguments)
    assert code != 0
    assert err == ""


@pytest.mark.parametrize("arguments", [["models"], ["--version"]], ids=" ".join)
def test_a_full_disk_behind_stdout_is_named(tmp_path: Path, arguments: list[str]) -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    with started(tmp_path, *arguments, stdout=full) as program:
        os.close(full)
        _, err = program.communicate(timeout=60)
    line = "kvplan: error: stdout: can't be written: No space left on device\n"
    assert (program.returncode, err) == (2, line)


def test_runs_at_once_share_one_cache(tmp_path: Path, hub_server: HubServer) -> None:
    """Three that fetch the same model while none has it, then one that asks nobody."""
    hub_server.files = {"org/name/config.json": CONFIG, "org/name/hf_quant_config.json": b"{}"}
    arguments = ("size", "org/name", "--format", "json")
    programs = [started(tmp_path, *arguments, settings=online(hub_server)) for _ in range(3)]
    outputs = [(*program.communicate(timeout=120), program.returncode) for program in programs]
    assert [(err, code) for _, err, code in outputs] == [("", 0)] * 3
    assert {json.loads(out)["request"]["bytes_per_token"] for out, *_ in outputs} == {131_072}
    asked = len(hub_server.requests)
    with started(tmp_path, *arguments) as offline:
        out, err = offline.communicate(timeout=60)
    assert (offline.returncode, err) == (0, "")
    assert json.loads(out)["request"] == json.loads(outputs[0][0])["request"]
    assert len(hub_server.requests) == asked
    assert list((tmp_path / "hf").rglob("*.incomplete")) == []


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
sys.argv = ["kvplan", *sys.argv[1:]]
from kvplan.__main__ import main
main()
"""


@pytest.mark.parametrize(
    "arguments",
    [
        ["size", "gpt-oss-120b", "--format", "json", "-o", "out"],
        ["size", "gpt-oss-120b", "-o", "out.svg"],
        ["curve", "gpt-oss-120b", "-o", "out.csv"],
        ["curve", "gpt-oss-120b", "-o", "out.png"],
        ["export", "gpt-oss-120b", "-o", "out.yaml"],
        ["check", "gates.yaml", "--write-baseline", "out.json"],
    ],
    ids=lambda arguments: f"{arguments[0]} {arguments[-1]}",
)
def test_a_file_that_can_not_be_written_whole_stays_as_it_was(tmp_path: Path, arguments: list[str]) -> None:
    """No file may grow beyond 100 bytes, as on a full disk."""
    (tmp_path / "gates.yaml").write_text(GATES)
    target = tmp_path / arguments[-1]
    target.write_text("what was there before")
    before = sorted(os.listdir(tmp_path))
    own = environment(tmp_path, MPLCONFIGDIR=str(tmp_path), PYTHONDONTWRITEBYTECODE="1")
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, *arguments],
        env=own,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert f"kvplan: error: {arguments[-1]}: can't be written: File too large\n" in done.stderr
    assert target.read_text() == "what was there before"
    assert [name for name in sorted(os.listdir(tmp_path)) if not name.startswith("fontlist")] == before


def test_writers_at_once_leave_one_whole_file(tmp_path: Path) -> None:
    models = ["gpt-oss-120b", "llama-3.1-8b", "deepseek-ai/DeepSeek-V3.2"]
    programs = [started(tmp_path, "size", model, "--format", "json", "-o", "plan.json") for model in models]
    for program in programs:
        assert program.communicate(timeout=120) == ("", "")
    assert json.loads((tmp_path / "plan.json").read_text())["schema_version"] == 1
    assert os.listdir(tmp_path) == ["plan.json"]
