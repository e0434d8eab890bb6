"""The default fraction, as SGLang 0.5.23's own argument resolution printed it."""

from __future__ import annotations

import pytest

from kvplan import Deployment, plan
from kvplan.architecture import Architecture
from tests.models import DEEPSEEK_V3, LLAMA_8B

# GPU -> fraction at TP 1, 2, 4, 8 for text models.
MHA = {
    "h100": (0.830, 0.828, 0.819, 0.812),
    "a100": (0.830, 0.829, 0.819, 0.813),
    "h200": (0.903, 0.902, 0.897, 0.893),
    "b200": (0.854, 0.853, 0.852, 0.849),
    "b300": (0.902, 0.902, 0.901, 0.899),
    "l40s": (0.843, 0.840, 0.829, 0.818),
    "rtx6000pro": (0.858, 0.857, 0.849, 0.844),
}
MLA = {
    "h100": (0.816, 0.815, 0.805, 0.799),
    "a100": (0.817, 0.816, 0.806, 0.800),
    "h200": (0.896, 0.895, 0.890, 0.886),
    "b200": (0.849, 0.848, 0.846, 0.844),
    "b300": (0.899, 0.899, 0.898, 0.896),
    "l40s": (0.818, 0.815, 0.804, 0.793),
    "rtx6000pro": (0.847, 0.846, 0.838, 0.833),
}
ROWS = [
    (model, gpu, tp, fraction)
    for model, table in ((LLAMA_8B, MHA), (DEEPSEEK_V3, MLA))
    for gpu, fractions in table.items()
    for tp, fraction in zip((1, 2, 4, 8), fractions, strict=True)
]


@pytest.mark.parametrize(("model", "gpu", "tp", "fraction"), ROWS)
def test_by_gpu_and_tp(model: Architecture, gpu: str, tp: int, fraction: float) -> None:
    assert plan(model, Deployment(gpu=gpu, tp=tp)).resolved.mem_fraction_static == fraction


@pytest.mark.parametrize(("model", "fraction"), [(LLAMA_8B, 0.765), (DEEPSEEK_V3, 0.758)])
def test_attention_dp_reserves_more(model: Architecture, fraction: float) -> None:
    deployment = Deployment(gpu="h200", tp=8, dp=8, enable_dp_attention=True)
    assert plan(model, deployment).resolved.mem_fraction_static == fraction


def test_the_users_fraction_wins() -> None:
    deployment = Deployment(mem_fraction_static=0.8)
    assert plan(LLAMA_8B, deployment).resolved.mem_fraction_static == 0.8
