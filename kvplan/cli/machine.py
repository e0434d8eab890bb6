"""`--gpu h200x8` and `--gpu local`: one option that says which GPUs there are, and how many."""

from __future__ import annotations

from typing import Any

from kvplan.deployment import Deployment
from kvplan.errors import bad_option
from kvplan.hardware import split_count
from kvplan.units import MIB

LOCAL = "local"
_HALVES = ("pre_model_load_gib", "free_gib")


def is_local(gpu: object) -> bool:
    """Whether `--gpu` asks for whatever the machine has."""
    return isinstance(gpu, str) and split_count(gpu.strip())[0].lower() == LOCAL


def on_gpus(asked: dict[str, Any]) -> dict[str, Any]:
    """The options with `--gpu` taken apart: a name, and a --tp that uses all GPUs where none is given.

    `local` alone says how many GPUs there are at most, `h200x8` and `localx8` how many are used. One of
    free memory before and after loading asks for the other to be worked out. Raises InputError where the
    numbers of GPUs disagree.
    """
    if asked.get("gpu") is None:
        return asked
    name, count = split_count(asked["gpu"])
    found, most = {**asked, "gpu": name}, count
    if name.lower() == LOCAL:
        from kvplan.nvidia_smi import local_gpus  # noqa: PLC0415 - few runs start another program

        local = local_gpus()
        found |= {"gpu": local.gpu.name, "gpu_memory": asked.get("gpu_memory") or local.gpu.memory_bytes}
        if count is not None and count > local.count:
            raise bad_option("gpu", f"{asked['gpu']}: this machine has {_gpus(local.count)}")
        most = count or local.count
    if most is not None:
        found["tp"] = _tensor_parallel(found, most, asked["gpu"], exact=count is not None)
    if sum(half in asked for half in _HALVES) == 1 and not {"weights", "weights_per_gpu"} & set(asked):
        found["weights"] = "auto"
    return found


def in_use(gpu: object, asked: Deployment) -> tuple[str, ...]:
    """What other programs hold of a local GPU, where the plan takes free memory from its size.

    An idle GPU has less in use than a server takes before its weights: beyond that it is another program's.
    """
    given = asked.pre_model_load_gib is not None or asked.available_bytes is not None
    if given or asked.gpu is None or not is_local(gpu):
        return ()
    from kvplan.budget import overhead_of  # noqa: PLC0415 - few runs need it
    from kvplan.nvidia_smi import local_gpus  # noqa: PLC0415 - few runs start another program

    local = local_gpus()
    used = local.gpu.memory_bytes - local.free_bytes
    if used <= overhead_of(local.gpu).value:
        return ()
    return (
        f"{used // MIB:,} MiB of a local GPU are in use, and the plan takes them as free "
        "(--free-before GIB says what the server will find)",
    )


def _tensor_parallel(asked: dict[str, Any], count: int, told: str, *, exact: bool) -> int:
    """The --tp that is asked for, or the one that uses all GPUs; not `exact`: some may be left over."""
    replicas = 1 if asked.get("enable_dp_attention") else asked.get("dp", 1)
    others = asked.get("pp", 1) * replicas
    if "tp" not in asked:
        if others < 1:
            return count  # --dp 0 and the like are the deployment's to refuse
        if count % others:
            what = f"{told}: {count} GPUs can't be dealt out to {others} stages and replicas"
            raise bad_option("gpu", what)
        return int(count // others)
    used: int = asked["tp"]
    if exact and used * others != count:
        what = f"{told}: the other options use {_gpus(used * others)}"
        raise bad_option("gpu", what, "leave out --tp or xN")
    if used * others > count:
        what = f"{told}: this machine has {_gpus(count)}, the other options use {used * others}"
        raise bad_option("gpu", what)
    return used


def _gpus(count: int) -> str:
    return f"{count} GPU{'s' * (count > 1)}"
