"""What a plan assumed, and what its reader should be warned of."""

from __future__ import annotations

from collections.abc import Iterator

from kvplan.hardware import find, names_generation
from kvplan.layers import LatentAttention, SharedAttention, SlidingAttention
from kvplan.records import Pool, Request
from kvplan.sglang.draft_remarks import draft_remarks
from kvplan.sglang.prefill_only import FLAG, implied_options
from kvplan.sglang.settings import UNNAMED_CONTEXT, Settings
from kvplan.units import GIB, format_gib

# Allocated over charged bytes by more than this is how planned servers run out of memory.
_TOLERATED_PERCENT = 1


def assumptions(settings: Settings) -> tuple[str, ...]:
    """Everything that was not given but decides figures."""
    architecture, deployment = settings.model.architecture, settings.deployment
    found = list(architecture.assumed)
    found += _gpu_assumptions(settings)
    if architecture.context_length is None and deployment.context_length is None:
        found.append(f"context length {UNNAMED_CONTEXT}: the config names none, SGLang's own default")
    implied = implied_options(deployment)
    if implied:
        found.append(f"{', '.join(implied)}: SGLang demands it with {FLAG}")
    if not settings.model.supported:
        found.append(
            f"SGLang {settings.rules.version} serves {architecture.architecture}: it has no such class "
            "(--assume-supported)"
        )
    return tuple(found)


def _gpu_assumptions(settings: Settings) -> Iterator[str]:
    asked, gpu = settings.deployment, settings.gpu
    if asked.gpu is None and asked.gpu_memory is None:
        yield "GPU H200: none is given, so the rules of Hopper with 143,771 MiB apply"
    elif asked.gpu is None:
        yield f"GPU of {gpu.memory_mib:,} MiB: the rules of Hopper apply (--gpu sm89 or sm120 for another)"
    elif find(asked.gpu) is None and not names_generation(asked.gpu):
        yield f"GPU {asked.gpu}: not in the catalogue, so the rules of Hopper apply (else --gpu sm89, sm120)"
    elif not gpu.verified and asked.gpu_memory is None:
        yield (
            f"GPU {gpu.name.upper()}: {gpu.memory_mib:,} MiB are not verified on a device (--gpu-memory SIZE "
            "gives another)"
        )


def _rocm(settings: Settings) -> Iterator[str]:
    if settings.gpu.is_rocm:
        yield (
            f"{settings.gpu.title}: kvplan has SGLang's rules for CUDA; on ROCm other attention backends and "
            "their page sizes apply"
        )


def _more_than_there_is(settings: Settings) -> Iterator[str]:
    """Free memory above that of the GPU that is named: of another GPU, or in another unit."""
    asked, memory = settings.deployment, settings.gpu.memory_bytes
    if asked.gpu_memory is None and (asked.gpu is None or find(asked.gpu) is None):
        return
    free = asked.pre_model_load_gib
    if free is not None and free * GIB > memory:
        yield f"{free:g} GiB free are more than the {format_gib(memory)} of one {settings.gpu.name.upper()}"


def warnings(
    settings: Settings, request: Request, pools: tuple[Pool, ...], fewest_tokens: int | None
) -> tuple[str, ...]:
    """Where the engine pays more than it must, or will not do what is asked."""
    return (
        *settings.model.architecture.notes,
        *_rocm(settings),
        *_more_than_there_is(settings),
        *draft_remarks(settings),
        *_unused_windows(settings),
        *_shared_layers(settings),
        *_long_context(settings, request),
        *_rope_alias(settings),
        *_stages(settings, fewest_tokens),
        *_uncharged(pools),
    )


def _unused_windows(settings: Settings) -> Iterator[str]:
    groups = settings.model.groups
    sliding = [(layer, count) for layer, count in groups if isinstance(layer, SlidingAttention)]
    if not sliding or settings.model.hybrid_swa:
        return
    count = sum(number for _, number in sliding)
    window = sliding[0][0].window
    extra = sum(
        settings.storage.kv.bytes_for(layer.token_elements(settings.storage)) * number
        for layer, number in sliding
    )
    yield (
        f"windows save nothing here: SGLang gives the {count} sliding layers (window {window:,}) full KV, "
        f"{extra:,} bytes per token per GPU that the model itself does not need past the window"
    )


def _shared_layers(settings: Settings) -> Iterator[str]:
    shared = [(layer.reads, n) for layer, n in settings.model.groups if isinstance(layer, SharedAttention)]
    if shared:
        count = sum(number for _, number in shared)
        yield f"{count} layers read the KV of others, but SGLang allocates KV for each of them"


def _long_context(settings: Settings, request: Request) -> Iterator[str]:
    longest, limit = settings.model.architecture.context_length, settings.deployment.context_length
    if limit is not None and request.context > limit:
        yield f"a context of {request.context:,} tokens is beyond --context-length {limit:,}: it is refused"
    elif longest is not None and request.context > longest:
        yield f"a context of {request.context:,} tokens is beyond the model's {longest:,}"


def _rope_alias(settings: Settings) -> Iterator[str]:
    generic = settings.model.architecture.config_heads
    latents = [layer for layer, _ in settings.model.groups if isinstance(layer, LatentAttention)]
    if settings.model.name in settings.rules.rope_dim_is_head_dim and generic is not None and latents:
        published = latents[0].qk_rope_head_dim
        if generic.head_dim != published:
            yield (
                f"SGLang {settings.rules.version} takes head_dim {generic.head_dim} for qk_rope_head_dim "
                f"{published}, and so pays for wider rows"
            )


def _stages(settings: Settings, fewest_tokens: int | None) -> Iterator[str]:
    if settings.deployment.pp > 1 and not settings.rules.minimum_over_stages and fewest_tokens is not None:
        yield (
            f"max_total_num_tokens is that of the first pipeline stage; the server takes the smallest of all "
            f"stages, {fewest_tokens:,} tokens, and requests are counted on that"
        )


def _uncharged(pools: tuple[Pool, ...]) -> Iterator[str]:
    charged = sum(pool.charged_bytes for pool in pools)
    allocated = sum(pool.allocated_bytes for pool in pools)
    if allocated * 100 <= charged * (100 + _TOLERATED_PERCENT):
        return
    worst = max(pools, key=lambda pool: pool.allocated_bytes - pool.charged_bytes)
    share = f" ({allocated / charged - 1:+.1%})" if charged else ""
    yield (
        f"SGLang allocates {allocated:,} bytes per GPU for its pools where the sizing charges {charged:,}"
        f"{share}, most of it for {worst.name}: keep {allocated - charged:,} bytes more free"
    )
