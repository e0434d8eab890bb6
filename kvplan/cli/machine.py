"""`--gpu h200x8` and `--gpu local`: one option that says which GPUs there are, and how many."""

from __future__ import annotations

from typing import Any

from kvplan.errors import bad_option
from kvplan.hardware import split_count

LOCAL = "local"
_HALVES = ("pre_model_load_gib", "free_gib")


def is_local(gpu: object) -> bool:
    """Whether `--gpu` asks for whatever the machine has."""
    return isinstance(gpu, str) and split_count(gpu.strip())[0].lower() == LOCAL


def on_gpus(asked: dict[str, Any]) -> dict[str, Any]:
    """The options with `--gpu` taken apart: a name, and a --tp that uses all GPUs where none is given.

    One of free memory before and after loading asks for the other to be worked out. Raises InputError
    where the numbers of GPUs disagree.
    """
    if asked.get("gpu") is None:
        return asked
    name, count = split_count(asked["gpu"])
    found = {**asked, "gpu": name}
    if name.lower() == LOCAL:
        from kvplan.nvidia_smi import local_gpus  # noqa: PLC0415 - few runs start another program

        local = local_gpus()
        found |= {"gpu": local.gpu.name, "gpu_memory": asked.get("gpu_memory") or local.gpu.memory_bytes}
        count = count or local.count
    if count is not None:
        found["tp"] = _tensor_parallel(found, count, asked["gpu"])
    if sum(half in asked for half in _HALVES) == 1 and not {"weights", "weights_per_gpu"} & set(asked):
        found["weights"] = "auto"
    return found


def _tensor_parallel(asked: dict[str, Any], count: int, told: str) -> int:
    replicas = 1 if asked.get("enable_dp_attention") else asked.get("dp", 1)
    others = asked.get("pp", 1) * replicas
    if "tp" not in asked:
        if count % others:
            what = f"{told}: {count} GPUs can't be dealt out to {others} stages and replicas"
            raise bad_option("gpu", what)
        return int(count // others)
    used: int = asked["tp"]
    if used * others != count:
        gpus = f"{used * others} GPU{'s' * (used * others > 1)}"
        raise bad_option("gpu", f"{told}: the other options use {gpus}", "leave out --tp or xN")
    return used
