"""Plans per second and milliseconds per load, on one core.

python -m tests.benchmarks.planning [FOLDER]    configs below FOLDER; the bundled models without it
"""

from __future__ import annotations

import sys
import time
from itertools import product
from pathlib import Path

import kvplan

BUNDLED = Path(__file__).parents[2] / "configs"
ROUNDS = 10


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else BUNDLED
    paths = sorted(path for path in folder.rglob("*") if path.suffix in (".json", ".yaml"))
    models, seconds = [], 0.0
    for path in paths:
        start = time.process_time()
        try:
            models.append(kvplan.load(str(path)))
        except kvplan.KvplanError:
            continue  # encoders and the like: refusing them is not what is measured
        seconds += time.process_time() - start
    print(f"load   {seconds / len(models) * 1e3:.2f} ms in the mean over {len(models)} models")
    deployments = [
        kvplan.Deployment(tp=tp, gpu=gpu, available_bytes=60 << 30, assume_supported=True)
        for tp, gpu in product((1, 2, 8), ("h200", "b200"))
    ]
    rounds = [run(models, deployments) for _ in range(ROUNDS)]
    # The least time of each plan: a busy machine makes some slower and none faster.
    best = sum(map(min, zip(*rounds, strict=True))) / len(rounds[0])
    print(f"plan   {best * 1e6:.0f} µs, {1 / best:,.0f} plans a second; mean of the least of {ROUNDS} rounds")


def run(models: list[kvplan.Architecture], deployments: list[kvplan.Deployment]) -> list[float]:
    """Seconds of each plan; what is refused, which takes less, is left out."""
    seconds = []
    for model, deployment in product(models, deployments):
        start = time.perf_counter()
        try:
            kvplan.plan(model, deployment)
        except kvplan.KvplanError:
            continue
        seconds.append(time.perf_counter() - start)
    return seconds


if __name__ == "__main__":
    main()
