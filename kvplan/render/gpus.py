"""The catalogue of GPUs."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from kvplan.hardware import Gpu
from kvplan.records import SCHEMA_VERSION
from kvplan.render.blocks import Column, Grid, Remark, Report
from kvplan.render.formats import Document
from kvplan.render.text import exact, plural
from kvplan.units import GIB, MIB

_COLUMNS = (
    Column(heading="name"),
    Column(heading="product"),
    Column(heading="MiB", figures=True),
    Column(heading="GiB", figures=True),
    Column(heading="generation"),
    Column(heading="GB/s", figures=True),
)


def document(found: Sequence[Gpu]) -> Document:
    """GPUs that can be named: `kvplan gpus`."""
    return Document(
        report=lambda: report(found),
        data=lambda: {"schema_version": SCHEMA_VERSION, "gpus": records(found)},
        records=lambda: records(found),
    )


def report(found: Sequence[Gpu]) -> Report:
    """One row a GPU, in the order given."""
    return Report(
        title=plural(len(found), "GPU"),
        grids=(Grid(columns=_COLUMNS, rows=tuple(_row(gpu) for gpu in found)),),
        remarks=(
            Remark(tag="names:", text="in any letter case; --gpu h200x8 is eight of them"),
            Remark(tag="others:", text="--gpu-memory SIZE, with --gpu sm89 or the like for the generation"),
            *_unverified(found),
            Remark(tag="AMD:", text="kvplan has SGLang's rules for CUDA; designs that differ are refused"),
        ),
    )


def _unverified(found: Sequence[Gpu]) -> tuple[Remark, ...]:
    names = ", ".join(gpu.name for gpu in found if not gpu.verified)
    text = f"the memory of {names}, not seen on a device: --gpu-memory SIZE gives another"
    return (Remark(tag="unverified:", text=text),) if names else ()


def records(found: Sequence[Gpu]) -> list[dict[str, Any]]:
    """The same facts and their sources, under the names of the JSON."""
    return [
        {**dataclasses.asdict(gpu), "also": list(gpu.also), "generation": gpu.generation} for gpu in found
    ]


def _row(gpu: Gpu) -> tuple[str, ...]:
    return (
        gpu.name,
        gpu.title,
        exact(gpu.memory_mib),
        f"{gpu.memory_mib * MIB / GIB:.1f}",
        gpu.generation,
        "-" if gpu.bandwidth_gb_s is None else exact(gpu.bandwidth_gb_s),
    )
