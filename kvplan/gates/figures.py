"""The figures of a plan by their path in its JSON, and what a shorter name of one means."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from kvplan.accounting import Accounting
from kvplan.accounting.figures import Totals
from kvplan.config import near
from kvplan.decode import DecodeStep
from kvplan.deployment import Deployment
from kvplan.gates.records import Scalar
from kvplan.memory import Bound, Budget
from kvplan.records import Capacity, PoolChoice, Request, Resolved

# Lists, and mappings whose keys depend on the model: their paths are known once there is a plan.
OPEN = tuple(
    """
    model.changes pool.why pool.terms budget.weights budget.estimated advice common_gpus pools buffers
    draft_buffers uncharged_buffers layers assumed warnings
    """.split()
)
_BLOCKS: dict[str, tuple[type[Any], ...]] = {
    "deployment": (Deployment, Resolved),
    "pool": (PoolChoice,),
    "request": (Request,),
    "accounting": (Accounting,),
    "accounting.whole": (Totals,),
    "budget": (Budget,),
    "budget.low": (Bound,),
    "budget.high": (Bound,),
    "capacity": (Capacity,),
    "decode": (DecodeStep,),
}
_WORDS = ("model.id", "model.architecture", "model.source", "model.location", "model.revision")
_ENGINE = ("engine.name", "engine.version")
# The types of fields that are no figures themselves.
_NESTED = ("tuple", "Totals", "Bound")

# Every figure by its path, with the type of its field.
KNOWN: dict[str, str] = {
    "schema_version": "int",
    "starts": "bool",
    **dict.fromkeys((*_WORDS, *_ENGINE), "str"),
    **{
        f"{block}.{field.name}": str(field.type)
        for block, records in _BLOCKS.items()
        for record in records
        for field in dataclasses.fields(record)
        if not str(field.type).startswith(_NESTED)
    },
}


def is_open(path: str) -> bool:
    """Whether a path leads into one of OPEN, so that only a plan can say if it is there."""
    return any(path.startswith((f"{name}[", f"{name}.")) for name in OPEN)


def full_path(name: str) -> str:
    """The path of a figure from its path or its last word; ValueError for none and for several.

    Only figures that stand in a block itself have a short name: `requests_at_context` is the capacity, not
    a bound of its estimate.
    """
    if name in KNOWN or is_open(name):
        return name
    found = [path for path in KNOWN if path.partition(".")[2] == name]
    if len(found) > 1:
        raise ValueError(f"means several figures (one of {', '.join(found)})")
    if not found:
        raise ValueError(f"is no figure of a plan ({_near(name)})")
    return found[0]


def flat(value: Any, path: str = "") -> Iterator[tuple[str, Scalar]]:
    """`{"pools": [{"tokens": 1}]}` gives `("pools[0].tokens", 1)`."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from flat(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from flat(item, f"{path}[{index}]")
    else:
        yield path, value


def _near(name: str) -> str:
    last = {path.rpartition(".")[2]: path for path in KNOWN}
    hint = near(name, tuple(KNOWN) if "." in name else tuple(last))
    return hint if hint.startswith("did") else "`kvplan size --format json` shows them all"
