"""kvplan: how many tokens and requests fit, before the GPUs are rented.

model = kvplan.load("Qwen/Qwen3.5-397B-A17B")
plan = kvplan.plan(model, kvplan.Deployment(tp=8, available_bytes=60 << 30))
plan.capacity.max_total_num_tokens
"""

from __future__ import annotations

from kvplan.architecture import Architecture
from kvplan.deployment import Deployment
from kvplan.errors import DoesNotFitError, InputError, KvplanError, RefusedError
from kvplan.loading import load
from kvplan.plan import Plan
from kvplan.planning import plan

__version__ = "0.1.0"

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
