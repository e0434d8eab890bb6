"""Time and peak memory of whole runs, beside a run that only imports what they need.

python -m tests.benchmarks.startup [MODEL.yaml]
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from pathlib import Path

ROUNDS = 20
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
MODEL = Path(__file__).parents[2] / "configs" / "meta-llama__Llama-3.1-8B.yaml"


def main() -> None:
    model = sys.argv[1] if len(sys.argv) > 1 else str(MODEL)
    runs = {
        "imports alone": ["-c", "import typer, rich.table, yaml"],
        "kvplan --help": ["-m", "kvplan", "--help"],
        "kvplan size FILE": ["-m", "kvplan", "size", model],
        "kvplan compare": ["-m", "kvplan", "compare"],
    }
    for arguments in runs.values():  # writes the bytecode, as a user's first run does
        run(arguments)
    measured: dict[str, list[tuple[float, int]]] = {name: [] for name in runs}
    for _ in range(ROUNDS):  # in turn, so that a busy machine is unfair to none
        for name, arguments in runs.items():
            measured[name].append(run(arguments))
    base = statistics.median(seconds for seconds, _ in measured["imports alone"])
    for name, samples in measured.items():
        median = statistics.median(seconds for seconds, _ in samples)
        peak = max(kib for _, kib in samples)
        print(f"{name:18} {median * 1e3:7.1f} ms  {median / base:5.2f} x  {peak / 1024:6.1f} MiB peak")


def run(arguments: list[str]) -> tuple[float, int]:
    """Wall seconds and peak resident KiB of one process."""
    silent = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_WRONLY, 0) for stream in (1, 2)]
    start = time.perf_counter()
    child = os.posix_spawn(sys.executable, [sys.executable, *arguments], ENVIRONMENT, file_actions=silent)
    _, status, usage = os.wait4(child, 0)
    if status:
        raise SystemExit(f"{' '.join(arguments)} failed")
    return time.perf_counter() - start, usage.ru_maxrss


if __name__ == "__main__":
    main()
