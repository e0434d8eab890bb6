"""The GPUs of this machine, as nvidia-smi tells them."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace

from kvplan.errors import InputError, bad_option
from kvplan.frozen import dataclass
from kvplan.hardware import Gpu, find
from kvplan.units import MIB

PROGRAM = "nvidia-smi"
_FIELDS = "name,memory.total,memory.free,compute_cap"
_SECONDS = 20
_OTHERWISE = "name the GPU instead: --gpu NAME, see `kvplan gpus`"


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalGpus:
    """`count` GPUs of one kind, and the least memory that is free on one of them."""

    gpu: Gpu
    count: int
    free_bytes: int


def local_gpus() -> LocalGpus:
    """Ask nvidia-smi. Raises InputError without it, and for GPUs of different kinds."""
    path = shutil.which(PROGRAM)
    if path is None:
        raise _error(f"there is no {PROGRAM} on this machine")
    command = [path, f"--query-gpu={_FIELDS}", "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _error(f"{PROGRAM} can't be run: {error}") from error
    if done.returncode:
        reason = (done.stderr or done.stdout).strip().splitlines()
        raise _error(f"{PROGRAM} fails: {reason[0] if reason else f'exit code {done.returncode}'}")
    return read(done.stdout)


def read(text: str) -> LocalGpus:
    """The lines of `nvidia-smi --query-gpu=name,memory.total,memory.free,compute_cap`, in MiB."""
    rows = [[cell.strip() for cell in line.split(",")] for line in text.splitlines() if line.strip()]
    if not rows:
        raise _error(f"{PROGRAM} lists no GPU")
    if len({(row[0], row[1]) for row in rows}) > 1:
        kinds = ", ".join(dict.fromkeys(f"{row[0]} ({row[1]} MiB)" for row in rows))
        raise _error(f"the GPUs differ: {kinds}")
    try:
        (name, total, _, capability), free = rows[0], min(int(row[2]) for row in rows)
        gpu = _gpu(name, int(total), int(float(capability) * 10 + 0.5))
    except ValueError as error:
        raise _error(f"{PROGRAM} does not report its memory: {', '.join(rows[0])}") from error
    return LocalGpus(gpu=gpu, count=len(rows), free_bytes=free * MIB)


def _gpu(name: str, memory_mib: int, sm: int) -> Gpu:
    """The catalogue's entry where the machine's agrees with it, else what was read."""
    known = find(name)
    if known is not None and known.sm == sm:
        return replace(known, memory_mib=memory_mib)
    return Gpu(name=f"sm{sm}", memory_mib=memory_mib, sm=sm, title=name)


def _error(what: str) -> InputError:
    return bad_option("gpu", f"local: {what}", _OTHERWISE)
