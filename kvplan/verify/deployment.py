"""What a log says of the deployment: the arguments that it repeats, the GPU and the rules behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from kvplan.bootlog import BootLog
from kvplan.frozen import dataclass
from kvplan.hardware import GPUS, Gpu
from kvplan.launch.modelled import ALIASES, ATTENTION_DP_FLAG, MODELLED, Modelled
from kvplan.launch.unmodelled import UNMODELLED
from kvplan.units import GIB, MIB

_NEWER_RULES, _OLDER_RULES = "0.5.23", "0.5.12"
# Unmodelled flags whose values in a log are the user's own: what the engine resolves itself says nothing.
_SAID_BY_USERS = (
    "--dtype",
    "--json-model-override-args",
    "--attn-cp-size",
    "--disaggregation-mode",
    "--enable-hierarchical-cache",
    "--enable-unified-memory",
    "--enable-kv-cache-sharding",
    "--enable-dsa-cache-layer-split",
    "--enable-int8-mamba-checkpoint",
    "--enable-linear-replayssm",
    "--enable-linear-replayssm-spec",
    "--speculative-draft-kv-cache-dtype",
    "--dsv4-attn-backend",
    "--dllm-algorithm",
    "--device",
)
# A CUDA context takes as much of a GPU before anything else does; boot logs show 1.1 GiB and more.
_LEAST_OVERHEAD_GIB = 0.25
_EMPTY = (None, False, "", "{}")
# Attention backends that run on one generation alone (model_override_base.py).
_GENERATIONS = {
    "fa3": range(90, 100),
    "flashmla": range(90, 100),
    "trtllm_mha": range(100, 110),
    "trtllm_mla": range(100, 110),
    "cutlass_mla": range(100, 110),
    "fa4": range(100, 110),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """Fields of Deployment. `guessed`: how those that the log does not name were found; `notes`: the rest."""

    settings: Mapping[str, object]
    guessed: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    not_modelled: tuple[str, ...] = ()


def told_by(log: BootLog) -> Told:
    """The deployment that a log describes, as far as it does."""
    arguments = log.server_args
    settings: dict[str, object] = {}
    for flag, entry in MODELLED.items():
        spellings = (flag, *(alias for alias, stands_for in ALIASES.items() if stands_for == flag))
        value = next((arguments[name] for name in map(_name, spellings) if name in arguments), None)
        if _is_set(entry, value):
            settings[entry.field] = value
    ranks = arguments.get(_name(ATTENTION_DP_FLAG))
    if isinstance(ranks, int) and ranks > 1:
        settings |= {"dp": ranks, "enable_dp_attention": True}
    _undo_division(settings)
    settings["engine_version"] = _NEWER_RULES if log.newer else _OLDER_RULES
    if "speculative_algorithm" in settings and not log.newer:
        settings["assume_supported"] = True  # drafts of hybrids need a strategy that is not modelled, and run
    guessed = {"engine_version": "the rules nearest to the form of the log"}
    notes = []
    gpu = _gpu(log, arguments.get("attention_backend"))
    if gpu is not None:
        settings["gpu"] = gpu.name
        guessed["gpu"] = "the smallest that has the free memory of the log"
    if not arguments:
        notes.append("no server_args line: everything that the options don't say is SGLang's default")
    elif "mem_fraction_static" not in settings:
        notes.append("mem_fraction_static is not in the log: the version's default")
    if log.starts > 1:
        which = "the last one that made pools" if log.later_starts else "the last one"
        notes.append(f"the log holds {log.starts} starts: {which} is compared")
    return Told(settings=settings, guessed=guessed, notes=tuple(notes), not_modelled=_not_modelled(log))


def _name(flag: str) -> str:
    return flag.removeprefix("--").replace("-", "_")


def _is_set(entry: Modelled, value: object) -> bool:
    """Whether the value was given and has the type of its field."""
    if entry.read is None:
        return value is True
    if value is None or isinstance(value, bool) or value in entry.unset:
        return False
    try:
        return entry.read(str(value)) == value
    except ValueError:
        return False


def _undo_division(settings: dict[str, object]) -> None:
    """The arguments hold the chunk of one attention rank (kv_cache_hook.py; server_args.py of 0.5.12)."""
    chunk, ranks = settings.get("chunked_prefill_size"), settings.get("dp")
    if (
        settings.get("enable_dp_attention")
        and isinstance(chunk, int)
        and isinstance(ranks, int)
        and chunk > 0
    ):
        settings["chunked_prefill_size"] = chunk * ranks


def _gpu(log: BootLog, backend: object) -> Gpu | None:
    """The catalogue's smallest GPU with the free memory, of the generation that the backend runs on."""
    free = log.free_before_gib
    if free is None:
        return None
    known = _GENERATIONS.get(str(backend))
    fitting = [
        gpu
        for gpu in GPUS.values()
        if gpu.memory_mib * MIB >= (free + _LEAST_OVERHEAD_GIB) * GIB
        and not gpu.is_rocm
        and (known is None or gpu.sm in known)
    ]
    return min(fitting, key=lambda gpu: gpu.memory_mib, default=None)


def _not_modelled(log: BootLog) -> tuple[str, ...]:
    found = []
    for flag in _SAID_BY_USERS:
        value, entry = log.server_args.get(_name(flag)), UNMODELLED[flag]
        if value not in _EMPTY and str(value).lower() not in entry.neutral:
            found.append(f"{flag} {value!s:.40}: {entry.reason}")
    return tuple(found)
