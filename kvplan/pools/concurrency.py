"""How many requests of one length run at once, and what runs out first."""

from __future__ import annotations

from kvplan.pools.base import Sizes
from kvplan.pools.swa import engine_window
from kvplan.sglang.settings import Settings
from kvplan.units import ceil_to_page, floor_to_page

KV_TOKENS = "KV tokens"
SWA_TOKENS = "SWA tokens"
STATE_SLOTS = "state slots"
MAX_RUNNING_REQUESTS = "max_running_requests"


def requests_at_context(
    settings: Settings, sizes: Sizes, *, state_slots: int | None, running: int, context: int
) -> tuple[int, str]:
    """Requests of `context` tokens that one attention-DP rank holds at once, and the first limit.

    Tokens are taken in whole pages; a sliding layer keeps its window and the page that it ends in.
    """
    limits = [(sizes.max_total // ceil_to_page(context, settings.page), KV_TOKENS)]
    window = engine_window(settings)
    if window is not None and sizes.swa is not None:
        kept = min(ceil_to_page(context, settings.page), ceil_to_page(window, settings.page) + settings.page)
        limits.append((sizes.swa // kept, SWA_TOKENS))
    if state_slots is not None:
        limits.append((state_slots // settings.states.slots_per_request, STATE_SLOTS))
    limits.append((running, MAX_RUNNING_REQUESTS))
    return min(limits, key=lambda limit: limit[0])


def context_at_concurrency(settings: Settings, sizes: Sizes, *, running: int, requests: int) -> int:
    """The longest context of which `requests` run at once on one rank; 0 where no length would do."""
    if requests > running:
        return 0
    longest = floor_to_page(sizes.max_total // requests, settings.page)
    window = engine_window(settings)
    if window is not None and sizes.swa is not None:
        # A sliding layer keeps no more than its window and the page that it ends in, however long.
        kept = floor_to_page(sizes.swa // requests, settings.page)
        if kept < ceil_to_page(window, settings.page) + settings.page:
            longest = min(longest, kept)
    return min(longest, settings.context)
