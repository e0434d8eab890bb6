"""kvplan: how many tokens and requests fit, before the GPUs are rented.

model = kvplan.load("Qwen/Qwen3.5-397B-A17B")
plan = kvplan.plan(model, kvplan.Deployment(tp=8, available_bytes=60 << 30))
plan.capacity.max_total_num_tokens
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kvplan.architecture import Architecture
    from kvplan.deployment import Deployment
    from kvplan.errors import DoesNotFitError, InputError, KvplanError, RefusedError
    from kvplan.loading import load
    from kvplan.planning import plan
    from kvplan.records import Plan

__version__ = "0.1.0"

_HOMES = {
    "Architecture": "kvplan.architecture",
    "Deployment": "kvplan.deployment",
    "DoesNotFitError": "kvplan.errors",
    "InputError": "kvplan.errors",
    "KvplanError": "kvplan.errors",
    "Plan": "kvplan.records",
    "RefusedError": "kvplan.errors",
    "load": "kvplan.loading",
    "plan": "kvplan.planning",
}

__all__ = [
    "Architecture",
    "Deployment",
    "DoesNotFitError",
    "InputError",
    "KvplanError",
    "Plan",
    "RefusedError",
    "__version__",
    "load",
    "plan",
]


def __getattr__(name: str) -> object:
    """Import a public name when it is first used, so that `kvplan --help` starts fast."""
    if name not in _HOMES:
        raise AttributeError(f"module 'kvplan' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
