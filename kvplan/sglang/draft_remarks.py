"""What a plan with speculative decoding should be read with."""

from __future__ import annotations

from collections.abc import Iterator

from kvplan.sglang.settings import Settings
from kvplan.sglang.speculation import DRAFT_HEAD


def draft_remarks(settings: Settings) -> Iterator[str]:
    """Drafts that are not counted, and drafts that the engine would not run as planned."""
    algorithm = settings.deployment.speculative_algorithm
    if algorithm in DRAFT_HEAD and settings.draft_layers == 0:
        yield (
            f"{algorithm} is planned without KV of the draft: the model ships no MTP layers that SGLang "
            "counts, and a draft model is not planned"
        )
    listed = settings.model.name in settings.rules.states_at_single_tokens
    if algorithm is not None and listed and settings.states.radix_cache:
        yield (
            f"SGLang {settings.rules.version} drafts for {settings.model.name} with --disable-radix-cache or "
            "--mamba-scheduler-strategy extra_buffer alone; the plan has neither"
        )
    if settings.model.name in settings.rules.sized_after_capture:
        yield (
            f"SGLang sizes the pool of {settings.model.name} once more after it captured its CUDA graphs: "
            "the tokens here are those of the first pass"
        )
