"""Figures that SGLang computed, and where a plan has what SGLang calls by the same name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from kvplan import Architecture, Deployment, plan

# What a row that leaves the key out has.
ABSENT: dict[str, int | None] = {
    "state_bytes_per_request": 0,
    "max_mamba_cache_size": None,
    "full_max_total_num_tokens": None,
    "swa_max_total_num_tokens": None,
    "c4_max_total_num_tokens": 0,
    "c128_max_total_num_tokens": 0,
    "c4_state_pool_size": 0,
    "c128_state_pool_size": 0,
}
# Everything else is part of the capacity.
_PARTS = {
    "cell_size": "pool",
    "state_bytes_per_request": "pool",
    "kv_cache_dtype": "deployment",
    "page_size": "deployment",
    "mem_fraction_static": "deployment",
    "context_length": "deployment",
}


def assert_figures(model: Architecture, options: Mapping[str, Any], figures: Mapping[str, Any]) -> None:
    """A cell of a double-precision formula is compared as one; whole numbers have to be equal."""
    made = plan(model, Deployment(**options)).to_dict()
    expected = ABSENT | dict(figures)
    found = {key: made[_PARTS.get(key, "capacity")][key] for key in expected}
    assert found == {
        key: pytest.approx(value, rel=1e-12) if isinstance(value, float) else value
        for key, value in expected.items()
    }, options
