"""The catalogue, and the names by which its entries are found."""

from __future__ import annotations

import pytest

from kvplan.deployment import Deployment
from kvplan.errors import InputError
from kvplan.hardware import GPUS, find, gpu_by_name, split_count
from kvplan.loading import load
from kvplan.nvidia_smi import read
from kvplan.planning import plan

# memory.total of nvidia-smi in MiB and compute capability x 10.
FIXED = {
    "a100": (81_920, 80),
    "l40s": (46_068, 89),
    "h100": (81_559, 90),
    "h20": (97_871, 90),
    "h200": (143_771, 90),
    "b200": (183_359, 100),
    "b300": (275_040, 103),
    "rtx6000pro": (97_887, 120),
}


@pytest.mark.parametrize(("name", "facts"), FIXED.items())
def test_gpus_whose_figures_the_engine_s_defaults_follow(name: str, facts: tuple[int, int]) -> None:
    assert (GPUS[name].memory_mib, GPUS[name].sm) == facts


def test_every_entry_has_all_facts_and_a_source() -> None:
    for gpu in GPUS.values():
        assert all((gpu.title, gpu.source, gpu.bandwidth_gb_s, gpu.memory_mib > 20_000))
    names = [name for gpu in GPUS.values() for name in (gpu.name, *gpu.also)]
    assert len(names) == len(set(names))


def test_memory_that_nobody_saw_on_a_device_is_an_assumption_of_the_plan() -> None:
    assert {gpu.name for gpu in GPUS.values() if not gpu.verified} == {"gb10", "gb300"}
    line = "GPU GB300: 284,208 MiB are not verified on a device (--gpu-memory SIZE gives another)"
    assert line in plan(load("llama-3.1-8b"), Deployment(gpu="gb300")).assumed
    given = plan(load("llama-3.1-8b"), Deployment(gpu="gb300", gpu_memory=284_208 << 20))
    assert not any("GB300" in text for text in given.assumed)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("H200", "h200"),
        ("NVIDIA GeForce RTX 4090", "rtx4090"),
        ("rtx-pro-6000", "rtx6000pro"),
        ("NVIDIA RTX PRO 6000 Blackwell Server Edition", "rtx6000pro-se"),
        ("NVIDIA H100 PCIe", "h100-pcie"),
        ("NVIDIA A100 80GB PCIe", "a100-pcie"),
        ("NVIDIA A100-SXM4-80GB", "a100"),
        ("NVIDIA H100 80GB HBM3", "h100"),
        ("AMD Instinct MI300X", "mi300x"),
        ("h300", None),
    ],
)
def test_names_are_found_as_people_and_nvidia_smi_write_them(text: str, name: str | None) -> None:
    found = find(text)
    assert (found and found.name) == name


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("h200", ("h200", None)),
        ("h200x8", ("h200", 8)),
        ("H100-NVL x2", ("H100-NVL", 2)),
        ("8xh200", ("h200", 8)),
        ("8 x RTX 4090", ("RTX 4090", 8)),
        ("mi300x", ("mi300x", None)),
        ("mi300xx4", ("mi300x", 4)),
        ("h200x0", ("h200x0", None)),
    ],
)
def test_a_count_behind_a_name(text: str, parts: tuple[str, int | None]) -> None:
    assert split_count(text) == parts


def test_memory_makes_a_gpu_of_any_name() -> None:
    gib = 1 << 30
    assert (gpu_by_name("h200", 80 * gib).memory_mib, gpu_by_name("h200", 80 * gib).sm) == (81_920, 90)
    assert (gpu_by_name("sm89", 48 * gib).memory_mib, gpu_by_name("sm89", 48 * gib).sm) == (49_152, 89)
    assert gpu_by_name("of-tomorrow", 48 * gib).sm == 90


@pytest.mark.parametrize(
    ("name", "memory", "words"),
    [
        ("h2000", None, "--gpu: unknown GPU 'h2000' (did you mean h200?"),
        ("sm89", None, "--gpu: 'sm89' is a generation (--gpu-memory SIZE says how much memory it has)"),
        ("h200", 1_000, "--gpu-memory: 1000 bytes are less than 1 MiB"),
    ],
)
def test_gpus_that_can_t_be(name: str, memory: int | None, words: str) -> None:
    with pytest.raises(InputError) as caught:
        gpu_by_name(name, memory)
    assert words in str(caught.value)


def test_nvidia_smi_s_lines_become_one_kind_of_gpu() -> None:
    found = read("NVIDIA H200, 143771, 143100, 9.0\nNVIDIA H200, 143771, 143000, 9.0\n")
    assert (found.gpu.name, found.count, found.free_bytes) == ("h200", 2, 143_000 << 20)
    unknown = read("NVIDIA RTX A4000, 16376, 16000, 8.6\n")
    assert (unknown.gpu.name, unknown.gpu.memory_mib, unknown.gpu.sm) == ("sm86", 16_376, 86)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "nvidia-smi lists no GPU"),
        ("NVIDIA H200, 143771, 1, 9.0\nNVIDIA H100, 81559, 1, 9.0\n", "the GPUs differ: NVIDIA H200"),
        ("NVIDIA GB10, [N/A], [N/A], 12.1\n", "nvidia-smi does not report its memory"),
    ],
)
def test_machines_that_say_too_little(text: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        read(text)
    assert f"--gpu: local: {words}" in str(caught.value)
