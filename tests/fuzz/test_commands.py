"""Every command on a changed config: a report, or one clear error, and nothing that a terminal would obey."""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cli.console import run
from tests.fuzz import structure
from tests.fuzz.seeds import seeds

SEEDS = seeds()
CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]")
COMMANDS = """
size MODEL
size MODEL --available-bytes 60GiB --tp 8 --format markdown
size MODEL --available-bytes 60GiB --pp 3 --format csv
size MODEL --gpu h100x8
size MODEL --set layers=7
compare MODEL llama-3.1-8b --available-bytes 60GiB
explain MODEL --available-bytes 60GiB
explain MODEL --tp 4 --format json
curve MODEL --per-layer
host MODEL --available-bytes 60GiB
buffers MODEL --available-bytes 60GiB --tp 4
fit MODEL --concurrency 4 --ctx 10k
export MODEL
""".strip().splitlines()


@given(number=st.integers(0, 1 << 32), command=st.sampled_from(COMMANDS))
@settings(
    max_examples=60,
    deadline=None,  # other programs may keep the machine busy
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_a_command_ends_in_a_report_or_in_clear_errors(tmp_path: Path, number: int, command: str) -> None:
    random = Random(number)
    seed, other = random.choice(SEEDS), random.choice(SEEDS)
    path = tmp_path / "model.json"
    path.write_text(json.dumps(structure.mutated(seed.mapping, other.mapping, random)))
    result = run(*command.replace("MODEL", str(path)).split())
    assert result.exit_code in (0, 2, 3), result.stderr
    assert CONTROL.search(result.stdout + result.stderr) is None
    lines = result.stderr.splitlines()
    assert all(line.startswith("kvplan: error: ") for line in lines)
    assert bool(lines) == (result.exit_code != 0)
