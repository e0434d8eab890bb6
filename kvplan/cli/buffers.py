"""`kvplan buffers`: the tensors that a server allocates, and what they differ from what is charged."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kvplan.cli.options import Given, deployment, takes_deployment
from kvplan.cli.output import check_format, show
from kvplan.cli.parameters import Changes, Debug, Format, Model, Output, Source
from kvplan.cli.progress import spinner
from kvplan.errors import InputError, Problem, bad_option

if TYPE_CHECKING:
    from kvplan.architecture import Architecture
    from kvplan.deployment import Deployment
    from kvplan.records import Plan

# Holds any number of tokens that is asked for without a budget (2^60 bytes).
_NO_LIMIT_BYTES = 1 << 60


@takes_deployment
def buffers(
    model: Model,
    output_format: Format = "table",
    output: Output = None,
    source: Source = None,
    changes: Changes = None,
    debug: Debug = False,
    **options: Given,
) -> None:
    """List the buffers as SGLang allocates them.

    Name, shape, dtype, count and bytes on one GPU, beside what the sizing formula charged: an extra page,
    padding slots and wide rows come on top.
    Needs a budget, or --max-total-tokens for the buffers of that many tokens.
    """
    asked, chosen = deployment(options), check_format(output_format)
    if not asked.has_budget and asked.max_total_tokens is None:
        raise InputError(_missing_budget())
    from kvplan.loading import load  # noqa: PLC0415 - help and usage errors need none of it
    from kvplan.planning import plan  # noqa: PLC0415
    from kvplan.render.buffers import of_buffers  # noqa: PLC0415
    from kvplan.whatif import changed  # noqa: PLC0415

    found = changed(load(model, source=source, on_fetch=spinner), changes or ())
    made = plan(found, asked) if asked.has_budget else _without_budget(found, asked)
    show(of_buffers(made), chosen, output)


def _missing_budget() -> Problem:
    return Problem(
        file="",
        key="--available-bytes",
        what="is missing: buffers follow from a budget or a number of tokens",
        hint="or --pre-model-load-gib with --free-gib, or --max-total-tokens",
    )


def _without_budget(model: Architecture, asked: Deployment) -> Plan:
    """The plan for --max-total-tokens alone. Raises InputError where it leaves state slots open."""
    from kvplan.planning import plan  # noqa: PLC0415

    by_requests = asked.disable_radix_cache and asked.max_running_requests is not None
    if model.states and asked.max_mamba_cache_size is None and not by_requests:
        raise bad_option(
            "max_mamba_cache_size", "is missing: tokens do not say how many states there are", "or a budget"
        )
    made = plan(model, replace(asked, available_bytes=_NO_LIMIT_BYTES))
    capacity = replace(made.capacity, available_bytes=None, kv_bytes=None)
    return replace(made, deployment=asked, capacity=capacity)
