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
ROUNDS = 5


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
    best = min(run(models, deployments) for _ in range(ROUNDS))
    print(f"plan   {best * 1e6:.0f} µs, {1 / best:,.0f} plans a second; best of {ROUNDS} rounds")


def run(models: list[kvplan.Architecture], deployments: list[kvplan.Deployment]) -> float:
    """Seconds per plan."""
    start = time.process_time()
    plans = 0
    for model, deployment in product(models, deployments):
        try:
            kvplan.plan(model, deployment)
        except kvplan.KvplanError:
            continue  # refused, which takes less than a plan
        plans += 1
    return (time.process_time() - start) / plans


if __name__ == "__main__":
    main()
