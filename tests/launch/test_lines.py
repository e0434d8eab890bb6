"""The shell around a server start: quotes, comments, continuations, other commands; nothing is run."""

from __future__ import annotations

import pytest

from kvplan.errors import InputError
from kvplan.launch.lines import MAX_CHARACTERS, commands

SCRIPT = r"""#!/bin/bash
set -euo pipefail   # don't stop
export MODEL="Qwen/Qwen3-8B"   # the model's name
TP=8
pip install --upgrade something && echo 'ready; go'
SGLANG_LOG_MS=1 python3 -m sglang.launch_server \
  --model-path "$MODEL" \
  --tp ${TP}  \
  --json-model-override-args '{"rope": {"a": 1},
   "b": "c # d"}' \
  --served-model-name "a \"quoted\" name" > server.log 2>&1 &
sleep 60; curl http://127.0.0.1:30000/health | grep -q ok
"""


def test_a_script_is_read_as_its_shell_would() -> None:
    (found,) = commands(SCRIPT, "f")
    assert found.arguments == (
        "--model-path",
        "Qwen/Qwen3-8B",
        "--tp",
        "8",
        "--json-model-override-args",
        '{"rope": {"a": 1},\n   "b": "c # d"}',
        "--served-model-name",
        'a "quoted" name',
    )
    assert found.variables == {"MODEL": "Qwen/Qwen3-8B", "TP": "8", "SGLANG_LOG_MS": "1"}


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("sglang serve m --tp 2 > log", ("m", "--tp", "2")),
        ("sglang serve m --tp 2 2>&1 | tee log", ("m", "--tp", "2")),
        ("sglang serve m --tp 2 2>/dev/null", ("m", "--tp", "2")),
        ("sglang serve m --tp 2 &> log", ("m", "--tp", "2")),
        ("sglang serve m --tp 2 # --tp 4", ("m", "--tp", "2")),
        ("sglang serve m --name a#b", ("m", "--name", "a#b")),
        ("sglang serve m \\\r\n --tp 2\r\n", ("m", "--tp", "2")),
        ("cd x && sglang serve m --tp 2; echo done", ("m", "--tp", "2")),
        ("(sglang serve m --tp 2)", ("m", "--tp", "2")),
        ("numactl -N 0 python3 -u -m sglang.launch_server --tp 2", ("--tp", "2")),
        ("nohup sglang serve m --x 'a;b && c | d'", ("m", "--x", "a;b && c | d")),
        ("sglang serve m --x $(cat secret)", ("m", "--x", "$")),
        ("bash -c 'sglang serve m --tp 2 > log'", ("m", "--tp", "2")),
        ('docker run -e A=1 img /bin/bash -e -lc "cd /x && sglang serve m --tp 2"', ("m", "--tp", "2")),
        ("sglang serve m `# the model` \\\n --tp 2", ("m", "--tp", "2")),
        ("bash -c 'echo it'; sglang serve m", ("m",)),
    ],
)
def test_arguments_end_where_the_command_does(text: str, arguments: tuple[str, ...]) -> None:
    assert commands(text, "f")[0].arguments == arguments


def test_commands_for_the_nodes_of_one_server_are_all_found() -> None:
    lines = "".join(f"sglang serve m --nnodes 2 --node-rank {rank}\n" for rank in (0, 1))
    assert [one.arguments[-1] for one in commands(lines, "f")] == ["0", "1"]


def test_a_script_within_a_command_has_its_variables_and_its_image() -> None:
    text = "T=2\ndocker run -e SGLANG_X=1 lmsysorg/sglang:v0.5.12 bash -c 'sglang serve m --tp $T'"
    (found,) = commands(text, "f")
    assert (found.arguments, found.version) == (("m", "--tp", "2"), "v0.5.12")
    assert found.variables == {"T": "2", "SGLANG_X": "1"}


def test_a_text_that_is_no_script_is_refused_by_its_size() -> None:
    with pytest.raises(InputError, match="far more than a launch script"):
        commands("x" * (MAX_CHARACTERS + 1), "f")
