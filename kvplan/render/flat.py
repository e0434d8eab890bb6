"""A plan as one flat record: the paths of its figures in the JSON as keys."""

from __future__ import annotations

from typing import Any

from kvplan.records import Plan

_BLOCKS = ("model", "engine", "deployment", "pool", "request", "accounting", "budget", "capacity", "decode")
_REMARKS = ("assumed", "warnings")


def flat(plan: Plan) -> dict[str, Any]:
    """`{"request": {"bytes": 1}}` becomes `{"request.bytes": 1}`; lists of records are left to the JSON."""
    record = plan.to_dict()
    blocks = {block: record[block] or {} for block in _BLOCKS}
    blocks["accounting.whole"] = blocks["accounting"].get("whole", {})
    figures = {
        f"{block}.{name}": value
        for block, values in blocks.items()
        for name, value in values.items()
        if not isinstance(value, (list, dict))
    }
    figures["starts"] = record["starts"]
    return figures | {name: "; ".join(record[name]) for name in _REMARKS}
