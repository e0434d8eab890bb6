"""--prefill-only-disable-kv-cache: a server that embeds reads K and V once, so no pool need hold them.

Source: arg_groups/kv_cache_hook.py, validate_prefill_only_disable_kv_cache_args and
handle_prefill_only_disable_kv_cache, and kv_cache_configurator.py,
_validate_prefill_only_disable_kv_cache_pool_family (0.5.23); the same names in server_args.py and
model_runner_kv_cache_mixin.py (0.5.12).
"""

from __future__ import annotations

from kvplan.deployment import UNCHUNKED, Deployment
from kvplan.errors import refused
from kvplan.sglang.settings import Settings

FLAG = "--prefill-only-disable-kv-cache"
_FA_BACKENDS = ("fa3", "fa4")


def refuse_prefill_only(settings: Settings) -> None:
    """RefusedError where the engine has no pool that keeps nothing."""
    deployment = settings.deployment
    if not deployment.prefill_only_disable_kv_cache:
        return
    family = _pool_family(settings)
    if family is not None:
        raise refused(f"{FLAG} is for plain K and V alone, not for {family}", f"leave {FLAG} out")
    if settings.flag in settings.rules.fp4_flags or settings.flag == "mxfp8":
        raise refused(
            f"{FLAG} does not go with {settings.flag} KV, whose pool has scales of its own",
            "another --kv-cache-dtype",
        )
    if deployment.chunked_prefill_size not in (None, UNCHUNKED):
        raise refused(
            f"{FLAG} needs whole prompts, not chunks of {deployment.chunked_prefill_size} tokens",
            "--chunked-prefill-size -1",
        )
    if settings.prefill_backend not in _FA_BACKENDS:
        raise refused(
            f"{FLAG} needs FlashAttention for prefill, not {settings.prefill_backend}",
            "--attention-backend fa3 or fa4",
        )


def implied_options(deployment: Deployment) -> tuple[str, ...]:
    """Options that the server demands beside the flag, as far as the deployment does not have them."""
    if not deployment.prefill_only_disable_kv_cache:
        return ()
    implied = ["--is-embedding"]
    if deployment.chunked_prefill_size is None:
        implied.append("--chunked-prefill-size -1")
    if not deployment.disable_radix_cache:
        implied.append("--disable-radix-cache")
    return tuple(implied)


def _pool_family(settings: Settings) -> str | None:
    model = settings.model
    families = {
        "DeepSeek-V4 pools": model.dsv4,
        "latent rows (MLA)": model.mla or model.dsa,
        "sliding-window pools": model.hybrid_swa,
        "recurrent state": model.has_state,
        "a block index": "indexed" in model.architecture.kinds,
        "HiSparse": settings.deployment.enable_hisparse,
    }
    return next((name for name, found in families.items() if found), None)
