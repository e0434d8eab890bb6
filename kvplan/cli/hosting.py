"""What `host` does once its command line is understood."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from kvplan.cli.output import show
from kvplan.cli.progress import spinner
from kvplan.deployment import Deployment
from kvplan.hicache import DEFAULT_BATCH_PAGES, DEFAULT_RATIO, HostRequest, host_pools
from kvplan.hisparse import hisparse_pool
from kvplan.loading import load
from kvplan.planning import plan
from kvplan.render.host import of_host
from kvplan.render.host_data import HostPlan
from kvplan.transfer import transfer
from kvplan.whatif import changed

# Pages and items do not depend on the budget: where none is given, this one gives their shapes.
_ANY_BUDGET = 1 << 42


def run_host(
    model: str,
    asked: Deployment,
    values: Mapping[str, Any],
    *,
    chosen: str,
    output: str | None,
    source: str | None,
    changes: Sequence[str],
) -> None:
    """Plan the device pools, derive host pools and transfer from them, and show both."""
    sized = asked.has_budget
    given = asked if sized else replace(asked, available_bytes=_ANY_BUDGET)
    made = plan(changed(load(model, source=source, on_fetch=spinner), changes), given)
    request = HostRequest(ratio=values["ratio"] or DEFAULT_RATIO, size_gb=values["size_gb"] or 0)
    by_size = f"--hicache-size {request.size_gb} for each pool"
    host = HostPlan(
        plan=made,
        pools=host_pools(made, request),
        hisparse=hisparse_pool(made),
        transfer=transfer(made),
        how=by_size if request.size_gb else f"--hicache-ratio {request.ratio:g}",
        batch_pages=values["batch_pages"] or DEFAULT_BATCH_PAGES,
        bandwidth=values["bandwidth"],
        sized=sized,
    )
    show(of_host(host), chosen, output)
