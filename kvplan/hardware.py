"""GPUs as the engine's rules see them: memory that nvidia-smi reports, and the architecture generation."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from kvplan.errors import bad_option


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """`memory_mib`: memory.total as nvidia-smi prints it, in MiB. `sm`: CUDA compute capability x 10."""

    name: str
    memory_mib: int
    sm: int

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


# memory.total in MiB as nvidia-smi reports it; compute capability from NVIDIA's CUDA GPU list.
GPUS: dict[str, Gpu] = {
    gpu.name: gpu
    for gpu in (
        Gpu(name="a100", memory_mib=81_920, sm=80),
        Gpu(name="l40s", memory_mib=46_068, sm=89),
        Gpu(name="h100", memory_mib=81_559, sm=90),
        Gpu(name="h20", memory_mib=97_871, sm=90),
        Gpu(name="h200", memory_mib=143_771, sm=90),
        Gpu(name="b200", memory_mib=183_359, sm=100),
        Gpu(name="b300", memory_mib=275_040, sm=103),
        Gpu(name="rtx6000pro", memory_mib=97_887, sm=120),
    )
}
ASSUMED_GPU = "h200"


def gpu_by_name(name: str) -> Gpu:
    """The catalogue entry, whatever the case; InputError with near names otherwise."""
    gpu = GPUS.get(name.lower())
    if gpu is None:
        near = difflib.get_close_matches(name.lower(), GPUS, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise bad_option("gpu", f"unknown GPU {name!r}", f"{hint}known: {', '.join(GPUS)}")
    return gpu
