"""The long run: mutated configs and model YAMLs by the million, each one planned or refused.

python -m tests.fuzz --cases 1000000 [--seed N] [--first N] [--jobs N] [--corpus FOLDER]

A case is a function of the seed and its number: `--first N --cases 1` runs a failing one again. The corpus
is a folder with published configs under `hf` and what lies beside them under `hf_quant`.
"""

from __future__ import annotations

import argparse
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterable
from multiprocessing import Pool
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

from tests.fuzz.cases import run_case
from tests.fuzz.seeds import ROOT, seeds

HANG_SECONDS = 10
GROWTH_MIB = 200
_WARM_UP = 2_000
_TOLD_EVERY = 100_000
_SHOWN = 20


def main() -> None:
    """Run the cases and report; exit 1 where one went wrong."""
    options = _options()
    share = -(-options.cases // options.jobs)
    starts = range(options.first, options.first + options.cases, share)
    end = options.first + options.cases
    jobs = [(options.seed, start, min(start + share, end), options.corpus) for start in starts]
    started = time.monotonic()
    if options.jobs == 1:
        reports = [_run(jobs[0])]
    else:
        with Pool(options.jobs) as pool:
            reports = pool.map(_run, jobs, chunksize=1)
    _print(reports, options, time.monotonic() - started)
    sys.exit(1 if any(report["failures"] for report in reports) else 0)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    corpus = ROOT.parent / "shared" / "corpus"
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--corpus", type=Path, default=corpus if corpus.is_dir() else None)
    return parser.parse_args()


def _hang(_signal: int, _frame: FrameType | None) -> None:
    raise TimeoutError(f"no outcome after {HANG_SECONDS} s of computing")


def _run(job: tuple[int, int, int, Path | None]) -> dict[str, Any]:
    seed, first, end, corpus = job
    known = seeds(corpus)
    signal.signal(signal.SIGPROF, _hang)
    outcomes: Counter[str] = Counter()
    failures: dict[str, list[str]] = {}
    slowest, slowest_case, before = 0.0, first, 0
    with tempfile.TemporaryDirectory(prefix="kvplan-fuzz-") as name:
        for number in range(first, end):
            signal.setitimer(signal.ITIMER_PROF, HANG_SECONDS)
            try:
                verdict, checked = run_case(known, Random(f"{seed}:{number}"), Path(name))
            except Exception as error:
                _note(failures, error, number)
                outcomes["FAILED"] += 1
            else:
                outcomes.update([verdict.kind, *checked])
                if verdict.seconds > slowest:
                    slowest, slowest_case = verdict.seconds, number
            if (number - first + 1) % _TOLD_EVERY == 0:
                failed, memory = sum(map(len, failures.values())), _peak_kib() >> 10
                _tell(f"{number - first + 1:,} cases, {failed} failed, {memory} MiB")
            if number - first == min(_WARM_UP, end - first - 1):
                before = _peak_kib()
    signal.setitimer(signal.ITIMER_PROF, 0)
    return {
        "outcomes": outcomes,
        "failures": failures,
        "slowest": slowest,
        "slowest_case": slowest_case,
        "before": before,
        "peak": _peak_kib(),
    }


def _note(failures: dict[str, list[str]], error: Exception, number: int) -> None:
    """Under the place that raised, so that a bug that many cases meet is shown once."""
    frames = traceback.extract_tb(error.__traceback__)
    own = next((frame for frame in reversed(frames) if "/kvplan/" in frame.filename), frames[-1])
    last = frames[-1]
    text = f"{type(error).__name__}: {error}"
    place = f"{Path(last.filename).name}:{last.lineno} under {Path(own.filename).name}:{own.lineno}"
    if place not in failures:
        _tell(f"case {number} at {place}: {text[:300]!a}")
    failures.setdefault(place, []).append(f"case {number}: {text[:300]!a}")


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _peak_kib() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _print(reports: Iterable[dict[str, Any]], options: argparse.Namespace, seconds: float) -> None:
    outcomes: Counter[str] = Counter()
    for report in reports:
        outcomes.update(report["outcomes"])
        growth = (report["peak"] - report["before"]) / 1024
        print(f"slowest case {report['slowest_case']}: {report['slowest'] * 1e3:.0f} ms by the clock")
        print(f"peak memory {report['peak'] / 1024:.0f} MiB, {growth:.0f} MiB above that of the first cases")
        if growth > GROWTH_MIB:
            report["failures"]["memory"] = [f"grew by {growth:.0f} MiB"]
        for place, lines in report["failures"].items():
            print(f"FAILED {len(lines)} x at {place}")
            for line in lines[:3]:
                print(f"    {line}")
    print(f"{options.cases:,} cases of seed {options.seed} in {seconds:.0f} s, {options.jobs} at a time")
    for name, count in outcomes.most_common():
        print(f"    {name:16} {count:>10,}")


if __name__ == "__main__":
    main()
