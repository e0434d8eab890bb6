"""What a plan assumed, and what its reader should be warned of."""

from __future__ import annotations

from kvplan.plan import Request
from kvplan.sglang.settings import Settings


def assumptions(settings: Settings) -> tuple[str, ...]:
    """Everything that was not given but decides figures."""
    return settings.model.architecture.assumed


def warnings(settings: Settings, request: Request) -> tuple[str, ...]:
    """Where the engine pays more than it must, or will not do what is asked."""
    return ()
