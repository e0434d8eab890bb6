"""Names, logs, lines and paths that were made to harm: shown as they read, obeyed by nothing.

Every command that prints a name gets a model whose name holds Rich markup, escape sequences, HTML,
Markdown, a formula and shell syntax.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import socket
import time
from pathlib import Path

import pytest

from tests.bootlog import samples
from tests.cli.console import run

ESCAPES = "\x1b[31m\x1b]0;title\x07\x1b[2J\x9b1A\u202e\x00\x7f"
HOSTILE = f"=1+1[red]A[/red][/x]{ESCAPES}<script>alert(1)</script>$(touch made)`touch made`$x_$|*&\"'"
# The same with all that a terminal would obey written out.
SHOWN = (
    "=1+1[red]A[/red][/x]\\x1b[31m\\x1b]0;title\\x07\\x1b[2J\\x9b1A\\u202e\\x00\\x7f"
    "<script>alert(1)</script>$(touch made)`touch made`$x_$|*&\"'"
)
CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]")
BUDGET = ("--available-bytes", "60GiB")


def model_of(name: str) -> str:
    text = json.dumps(name)
    return (
        f"kvplan: 1\nid: {text}\narchitecture: LlamaForCausalLM\nmodel_type: {text}\ncontext_length: 131072\n"
        f"dtype: bfloat16\nattention_heads: 32\nhidden_size: 4096\nweights: 16GB\nnotes: [{text}]\n"
        f"assumed: [{text}]\nlayers: [{{kind: full, count: 32, kv_heads: 8, head_dim: 128}}]\n"
    )


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("m.yaml").write_text(model_of(HOSTILE))
    Path("gates.yaml").write_text(
        f"gates:\n  {json.dumps(HOSTILE)}:\n    model: m.yaml\n    available_bytes: 10GiB\n"
        '    require: {max_total_num_tokens: ">= 80k"}\n'
    )
    Path("server.log").write_text(samples.V0_4.replace("type=LlamaForCausalLM", f"type=Llama{ESCAPES}"))
    return tmp_path


COMMANDS = {
    "size": ["size", "m.yaml", *BUDGET],
    "compare": ["compare", "m.yaml", "meta-llama/Llama-3.1-8B", *BUDGET],
    "explain": ["explain", "m.yaml", *BUDGET],
    "curve": ["curve", "m.yaml"],
    "host": ["host", "m.yaml", *BUDGET],
    "buffers": ["buffers", "m.yaml", *BUDGET],
    "fit": ["fit", "m.yaml", "--concurrency", "4", "--ctx", "10k"],
    "verify": ["verify", "server.log", "m.yaml"],
    "check": ["check", "gates.yaml"],
}
NAMING_CSV = ("size", "compare", "curve")  # the other tables are about one model, and don't repeat its name
FORMATS = [
    (name, chosen)
    for name in COMMANDS
    for chosen in ("table", "json", "markdown", *(["junit", "github"] if name == "check" else ["csv"]))
]


@pytest.mark.parametrize(("name", "chosen"), FORMATS)
def test_a_name_is_shown_and_not_obeyed(folder: Path, name: str, chosen: str) -> None:
    before = sorted(os.listdir(folder))
    result = run(*COMMANDS[name], "--format", chosen)
    assert (result.exit_code, result.stderr) == (0, "")
    assert CONTROL.search(result.stdout) is None
    if chosen == "json":
        assert json.dumps(HOSTILE)[1:-1] in result.stdout
    elif chosen == "markdown":
        assert "<script>" not in result.stdout
    elif chosen == "table" or (chosen == "csv" and name in NAMING_CSV):
        assert "[red]A[/red][/x]\\x1b[31m" in result.stdout
    assert sorted(os.listdir(folder)) == before


def test_the_name_stands_in_a_table_with_every_escape_written_out() -> None:
    lines = run("size", "m.yaml").stdout.splitlines()
    assert lines[0] + lines[1] == SHOWN


def test_a_spreadsheet_computes_nothing() -> None:
    lines = run("size", "m.yaml", "--format", "csv").stdout.splitlines()
    assert "'=1+1[red]A" in lines[1]
    assert re.search(r'(^|,)"?[=+@]', lines[1]) is None


@pytest.mark.parametrize("name", ["out.svg", "out.html"])
@pytest.mark.parametrize("command", ["size", "explain", "compare", "curve"])
def test_a_picture_holds_the_name_and_nothing_that_runs(command: str, name: str) -> None:
    result = run(*COMMANDS[command], "-o", name)
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")
    picture = Path(name).read_text()
    assert CONTROL.search(picture) is None
    assert "<script" not in picture
    assert "alert(1)" in picture or command == "curve"  # where the name is drawn letter by letter


@pytest.mark.parametrize("name", ["_hidden", "$\\frac{$", "a$b$c", "日本語"])
def test_a_curve_is_drawn_whatever_the_model_is_called(name: str) -> None:
    Path("other.yaml").write_text(model_of(name))
    result = run("curve", "other.yaml", "-o", "out.svg")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")
    assert Path("out.svg").read_text().startswith("<?xml")


def test_an_export_reads_back_to_the_same_name() -> None:
    exported = run("export", "m.yaml").stdout
    assert CONTROL.search(exported) is None
    Path("again.yaml").write_text(exported)
    assert json.loads(run("size", "again.yaml", "--format", "json").stdout)["model"]["id"] == HOSTILE


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["size", f"{ESCAPES}[red].yaml"], f"{SHOWN[20:71]}[red].yaml: no such file"),
        (["size", "[/x]"], "[/x]: no such file, and not a bundled name or a model id (LISTED)"),
        (
            ["size", "a/b\x1b[31m"],
            "a/b\\x1b[31m: no such file, and not a bundled name or a model id (LISTED)",
        ),
        (["size", "../../etc/passwd"], "../../etc/passwd: no such file"),
        (["size", "org/../etc"], "org/../etc: no such file"),
        (["size", "org/.."], "org/..: no such file, and not a bundled name or a model id (LISTED)"),
        (
            ["size", "org/name@../../x"],
            "org/name@../../x: '../../x' is no revision (a branch, a tag or a commit follows the @)",
        ),
        (
            ["size", "org/name@a\x1b[31m"],
            "org/name@a\\x1b[31m: 'a\\x1b[31m' is no revision (a branch, a tag or a commit follows the @)",
        ),
        (["size", "m.yaml", "--tp", "\x1b[31m"], "--tp: '\\x1b[31m' is not a whole number"),
        (["size", "m.yaml", "--set", "[red]=\x1b"], "--set: unknown key '[red]' ("),
        (["size", "m.yaml", "--gpu", "\x1b[31m[/x]"], "--gpu: unknown GPU '\\x1b[31m[/x]' ("),
        (
            ["size", "m.yaml", "-o", "none/\x1b[31m"],
            "none/\\x1b[31m: can't be written: No such file or directory",
        ),
        (["size", "\udcff.json"], "\\udcff.json: no such file"),
        (["verify", "\x1b[31m.log"], "\\x1b[31m.log: can't be read: No such file or directory"),
        (["size", "--launch", "@\x1b[31m"], "\\x1b[31m: --launch: can't be read: No such file or directory"),
    ],
    ids=lambda value: ascii(value)[:60],
)
def test_what_is_wrong_is_quoted_harmlessly(arguments: list[str], line: str) -> None:
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(
        f"kvplan: error: {line.replace('LISTED', '`kvplan models` lists the bundled models')}"
    )
    assert result.stderr.count("\n") == 1
    assert CONTROL.search(result.stderr) is None


def test_the_command_that_fit_prints_can_be_pasted() -> None:
    Path("m.yaml").write_text(model_of("org/name;touch made;$(touch made)'"))
    result = run("fit", "m.yaml", "--concurrency", "1", "--ctx", "1k", "--format", "json")
    words = shlex.split(json.loads(result.stdout)["settings"][0]["command"])
    assert words[4] == "org/name;touch made;$(touch made)'"


def test_a_launch_line_runs_nothing_and_paints_nothing(folder: Path) -> None:
    line = (
        "python -m sglang.launch_server --model-path m.yaml --tp 1 --log-level '\x1b[31m[red]' "
        "--served-model-name '$(touch made)' ; touch made `touch made` $(touch made) > made"
    )
    result = run("size", "--launch", line, *BUDGET)
    assert result.exit_code in (0, 2)
    assert CONTROL.search(result.stdout + result.stderr) is None
    assert not Path("made").exists()


def test_variables_that_hold_each_other_ten_times_are_not_written_out() -> None:
    """x, then ten of it, ten of that ...: 10^9 characters from a script of ten lines."""
    lines = ["A0=xxxxxxxxxx", *(f"A{n}={f'$A{n - 1}' * 10}" for n in range(1, 9))]
    Path("bomb.sh").write_text("\n".join([*lines, "python -m sglang.launch_server --model-path $A8"]))
    result = run("size", "--launch", "@bomb.sh")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "kvplan: error: bomb.sh: its variables grow it by more than 65,536 characters\n"


@pytest.mark.parametrize(
    "row", ["{}, 81559, 81000, 9.0", "{}, none, 81000, 9.0", "A, 1, 1, 9.0\n{}, 2, 2, 9.0"]
)
def test_what_nvidia_smi_says_is_shown_harmlessly(
    folder: Path, monkeypatch: pytest.MonkeyPatch, row: str
) -> None:
    Path("said").write_text(row.format(f"GPU[red]{ESCAPES.replace(chr(0), '')}") + "\n")
    program = folder / "nvidia-smi"
    program.write_text(
        '#!/bin/sh\nread_all() { while IFS= read -r line; do echo "$line"; done; }\nread_all <said\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    result = run("size", "m.yaml", "--gpu", "local")
    assert CONTROL.search(result.stdout + result.stderr) is None
    assert result.exit_code in (0, 2)
    assert "Traceback" not in result.stderr


def fifo(path: Path) -> None:
    os.mkfifo(path)


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def socketed(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path.name)


READERS = {
    "model": (["size", "FILE"], "is not a regular file"),
    "log": (["verify", "FILE"], "is a device or a named pipe, not a file"),
    "launch": (["size", "--launch", "@FILE"], "is a device or a named pipe, not a file"),
    "gates": (["check", "FILE"], "is not a regular file"),
    "baseline": (["check", "gates.yaml", "--baseline", "FILE"], "is not a regular file"),
}


@pytest.mark.parametrize("make", [fifo, device, socketed])
@pytest.mark.parametrize("reader", READERS)
def test_no_file_is_waited_for_or_read_without_end(folder: Path, reader: str, make: object) -> None:
    assert callable(make)
    make(folder / "file.yaml")
    arguments, words = READERS[reader]
    started = time.monotonic()
    result = run(*(argument.replace("FILE", "file.yaml") for argument in arguments))
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"kvplan: error: file.yaml: {words}" in result.stderr
    assert time.monotonic() - started < 5


def test_a_pipe_of_the_shell_is_a_log() -> None:
    """`kvplan verify <(docker logs server)`."""
    reading, writing = os.pipe()
    os.write(writing, samples.V0_4.encode())
    os.close(writing)
    try:
        assert run("verify", f"/dev/fd/{reading}").exit_code == 0
    finally:
        os.close(reading)


@pytest.mark.parametrize(
    ("arguments", "content"), [(["size", "huge.json"], 100 << 20), (["check", "huge.yaml"], 100 << 20)]
)
def test_a_file_of_100_mb_is_not_read(arguments: list[str], content: int) -> None:
    with open(arguments[1], "wb") as file:
        file.truncate(content)
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"kvplan: error: {arguments[1]}: is larger than 8 MiB" in result.stderr


def test_a_log_of_100_mb_in_one_line_is_read_in_pieces() -> None:
    Path("huge.log").write_bytes(b"a" * (100 << 20))
    result = run("verify", "huge.log")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "kvplan: error: huge.log: holds no start of a server" in result.stderr


def test_a_log_of_starts_and_pools_without_end_is_bounded() -> None:
    """One rank says the same ten thousand times, and ten thousand ranks say it once."""
    pool = "KV Cache is allocated. #tokens: 38141, K size: 2.33 GB, V size: 2.33 GB\n"
    one = "".join(f"[2025-07-14 10:00:15] {pool}" for _ in range(10_000))
    many = "".join(f"[2025-07-14 10:00:15 TP{n}] {pool}" for n in range(10_000))
    Path("many.log").write_text(samples.V0_4 + one + many)
    started = time.process_time()
    result = run("verify", "many.log", "--format", "json")
    assert result.exit_code in (0, 3)
    assert len(result.stdout) < 1_000_000
    assert time.process_time() - started < 10
