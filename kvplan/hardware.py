"""GPUs as the engine's rules see them: memory that nvidia-smi reports, and the architecture generation."""

from __future__ import annotations

import difflib
import json
import re
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path

from kvplan.errors import InputError, bad_option
from kvplan.frozen import dataclass
from kvplan.units import MIB

_CATALOGUE_FILE = Path(__file__).with_name("gpus.json")
# `h200x8`, or `8 x h200` as reports have it; and `sm89`: a generation, beside --gpu-memory.
_COUNTED = r"(?i)(.+?)[\s_-]*x\s*([1-9][0-9]{0,4})\Z"
_COUNT_FIRST = r"(?i)([1-9][0-9]{0,4})\s*x\s*(.+)\Z"
# The same with any number: one that no machine has is told apart from an unknown name.
_MISCOUNTED = r"(?i)(?:.+?[\s_-]*x\s*([0-9]+)|([0-9]+)\s*x\s*.+)\Z"
_MOST_GPUS = 99_999
_GENERATION = r"(?i)sm[_-]?([0-9]{2,3})\Z"
_SEPARATORS = r"[\s_-]+"
# Names that people and nvidia-smi put in front.
_VENDORS = r"(?i)(nvidia|amd|geforce|instinct|tesla)[\s_-]+"
_HOPPER = 90
_SHOWN = 40  # characters of a slip of the keyboard


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """`memory_mib`: memory.total as nvidia-smi prints it, in MiB. `sm`: CUDA compute capability x 10.

    `sm` is 0 on AMD. `bandwidth_gb_s`: memory bandwidth in 10^9 bytes per second, None where it is not
    known. `unified`: CPU and GPU share the memory. `source`: of the figures. `verified`: whether its memory
    was seen on a device, or in a document that says what nvidia-smi prints.
    """

    name: str
    memory_mib: int
    sm: int
    title: str = ""
    bandwidth_gb_s: int | None = None
    also: tuple[str, ...] = ()
    unified: bool = False
    verified: bool = True
    source: str = ""

    @property
    def memory_bytes(self) -> int:
        """The same memory in bytes."""
        return self.memory_mib * MIB

    @property
    def is_rocm(self) -> bool:
        """AMD."""
        return self.sm == 0

    @property
    def is_hopper(self) -> bool:
        """SM 9.x."""
        return self.sm // 10 == 9

    @property
    def is_sm100(self) -> bool:
        """Data-centre Blackwell, SM 10.x (B200, B300)."""
        return self.sm // 10 == 10

    @property
    def is_blackwell(self) -> bool:
        """SM 10.x or 12.x."""
        return self.sm // 10 in (10, 12)

    @property
    def generation(self) -> str:
        """`Hopper, SM 9.0`."""
        if self.is_rocm:
            return "AMD, ROCm"
        family = _FAMILIES.get(self.sm, _FAMILIES.get(self.sm // 10 * 10, ""))
        return f"{family}, SM {self.sm // 10}.{self.sm % 10}".removeprefix(", ")


_FAMILIES = {80: "Ampere", 89: "Ada", 90: "Hopper", 100: "Blackwell", 120: "Blackwell"}


def _catalogue() -> dict[str, Gpu]:
    listed = json.loads(_CATALOGUE_FILE.read_text(encoding="utf-8"))["gpus"]
    return {entry["name"]: Gpu(**{**entry, "also": tuple(entry.get("also", ()))}) for entry in listed}


GPUS: dict[str, Gpu] = _catalogue()
# Where no GPU is named: this one, or with its memory given one of the same generation.
ASSUMED_GPU = "h200"
ASSUMED_GENERATION = f"sm{_HOPPER}"


def gpu_by_name(name: str, memory_bytes: int | None = None) -> Gpu:
    """The catalogue entry, whatever the case and the separators; InputError with near names otherwise.

    `memory_bytes` replaces the memory of an entry, and makes one of a name that is not in the catalogue,
    of the generation that the name gives (`sm89`) or else of Hopper.
    """
    found = find(name)
    if found is None:
        _check_count(name)
    if memory_bytes is None:
        if found is None:
            raise _unknown(name)
        return found
    if memory_bytes < MIB:
        raise bad_option("gpu_memory", f"{memory_bytes} bytes are less than 1 MiB")
    if found is not None:
        return replace(found, memory_mib=memory_bytes // MIB)
    generation = re.match(_GENERATION, name)
    sm = int(generation[1]) if generation else _HOPPER
    return Gpu(name=name.lower(), memory_mib=memory_bytes // MIB, sm=sm)


@lru_cache(maxsize=256)
def find(name: str) -> Gpu | None:
    """The catalogue entry of a name as people or nvidia-smi write it, None without one."""
    return _spellings().get(_plain(name))


@cache
def _spellings() -> dict[str, Gpu]:
    listed = reversed(GPUS.values())  # the first of a spelling wins
    return {_plain(known): gpu for gpu in listed for known in (gpu.name, gpu.title, *gpu.also)}


def names_generation(name: str) -> bool:
    """Whether a name such as `sm89` stands for a generation."""
    return re.match(_GENERATION, name) is not None


def split_count(text: str) -> tuple[str, int | None]:
    """`h200x8` and `8 x h200` -> (`h200`, 8); a name alone has no count."""
    if find(text) is not None:
        return text, None
    if first := re.match(_COUNT_FIRST, text.strip()):
        return first[2], int(first[1])
    match = re.match(_COUNTED, text.strip())
    return (match[1], int(match[2])) if match else (text, None)


def _check_count(name: str) -> None:
    """Raise InputError for a name with a number that `split_count` takes for none, as `h200x0`."""
    match = re.match(_MISCOUNTED, name.strip())
    if match and split_count(name)[1] is None:
        count = match[1] or match[2]
        what = f"{name[:_SHOWN]!r}: {count[:_SHOWN]} is not a number of GPUs from 1 to {_MOST_GPUS:,}"
        raise bad_option("gpu", what)


def _plain(name: str) -> str:
    """One spelling for `RTX 4090`, `rtx-4090` and `NVIDIA GeForce RTX 4090`."""
    short = name.strip()
    while match := re.match(_VENDORS, short):
        short = short[match.end() :]
    return re.sub(_SEPARATORS, "", short).lower()


def _unknown(name: str) -> InputError:
    if names_generation(name):
        return bad_option("gpu", f"{name!r} is a generation", "--gpu-memory SIZE says how much memory it has")
    near = difflib.get_close_matches(name.lower(), GPUS, n=1)
    hint = f"did you mean {near[0]}? " if near else ""
    known = ", ".join(GPUS)
    return bad_option("gpu", f"unknown GPU {name!r}", f"{hint}known: {known}; or --gpu-memory SIZE")
