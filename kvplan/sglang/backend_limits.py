"""Attention backends that a version, a GPU or a model class does not take: the engine stops at them.

Sources: arg_groups/choices.py, attention_hook.py, mamba_hook.py and model_hook.py (0.5.23);
server_args.py, ATTENTION_BACKEND_CHOICES, _handle_attention_backend_compatibility and
_handle_model_specific_adjustments (0.5.12).
"""

from __future__ import annotations

from kvplan.config import near
from kvplan.deployment import Deployment
from kvplan.errors import bad_option, refused
from kvplan.hardware import Gpu
from kvplan.sglang.backend_defaults import EXAONE_WINDOWS
from kvplan.sglang.backend_names import CHUNK_KERNELS
from kvplan.sglang.model import EngineModel
from kvplan.sglang.rule_set import Rules
from kvplan.sglang.state_cache import StateCache

_CUTEDSL = ("cutedsl_mla", "tokenspeed_mla")


def check_backend(deployment: Deployment, rules: Rules) -> None:
    """InputError for a name that this version does not know."""
    name = deployment.attention_backend
    choices = sorted(rules.attention_backends)
    if name is not None and name not in choices:
        raise bad_option(
            "attention_backend",
            f"SGLang {rules.version} has no attention backend {name!r}",
            near(name, choices),
        )


def refuse_backend(
    model: EngineModel, deployment: Deployment, backends: tuple[str, str], gpu: Gpu, rules: Rules
) -> None:
    """RefusedError for a backend that the model class (if the user asks for it) or the GPU does not take."""
    if deployment.attention_backend is not None:
        _refuse_for_class(model, deployment.attention_backend, rules)
    if backends[1] in _CUTEDSL:
        _refuse_cutedsl(deployment, backends[1], gpu, rules)
    if "trtllm_mha" in backends:
        _refuse_trtllm_mha(deployment, backends[0], gpu, rules)


def refuse_unnamed_backend(model: EngineModel, deployment: Deployment, rules: Rules) -> None:
    """Classes with windows that the engine starts with a named backend alone."""
    windows = "sliding" in model.architecture.kinds or rules.backend_named_without_windows
    if deployment.attention_backend is None and windows and model.name in rules.backend_must_be_named:
        raise refused(
            f"SGLang {rules.version} starts {model.name} with a named backend alone",
            f"--attention-backend {' or '.join(sorted(CHUNK_KERNELS))}",
        )


def _refuse_for_class(model: EngineModel, backend: str, rules: Rules) -> None:
    accepted = rules.accepted_backends.get(model.name)
    windows = "sliding" in model.architecture.kinds or rules.backend_named_without_windows
    if model.name in EXAONE_WINDOWS and windows:
        accepted = CHUNK_KERNELS
    if accepted is not None and backend not in accepted:
        raise refused(
            f"{model.name} does not run on the {backend} backend",
            f"--attention-backend {' or '.join(sorted(accepted))}",
        )
    rejected, why = rules.rejected_backends.get(model.name, ("", ""))
    if backend == rejected:
        raise refused(
            f"{model.name} does not run on the {backend} backend: {why}", "another --attention-backend"
        )


def _refuse_cutedsl(deployment: Deployment, backend: str, gpu: Gpu, rules: Rules) -> None:
    # The kernel was called tokenspeed_mla first, and read FP8 alone.
    early = not rules.extra_buffer_strategy
    if not (gpu.is_blackwell if early else gpu.is_sm100):
        raise refused(f"the {backend} backend needs a Blackwell GPU", "another --attention-backend")
    if early and deployment.kv_cache_dtype != "fp8_e4m3":
        raise refused(f"the {backend} backend reads fp8_e4m3 KV alone", "--kv-cache-dtype fp8_e4m3")


def _refuse_trtllm_mha(deployment: Deployment, prefill: str, gpu: Gpu, rules: Rules) -> None:
    generations = (9, 10, 12) if rules.trtllm_mha_before_blackwell or prefill != "trtllm_mha" else (10,)
    if gpu.sm // 10 not in generations:
        raise refused(
            f"the trtllm_mha backend of SGLang {rules.version} does not run on {gpu.name}",
            "another --attention-backend",
        )
    if (
        rules.trtllm_mha_before_blackwell
        and prefill == "trtllm_mha"
        and gpu.sm // 10 == 12
        and deployment.kv_cache_dtype == "fp8_e4m3"
    ):
        raise refused("trtllm_mha can't prefill from fp8_e4m3 KV on SM120", "another --attention-backend")


def refuse_paged_states(model: EngineModel, deployment: Deployment, states: StateCache, rules: Rules) -> None:
    """Classes whose radix cache keeps states at single tokens (no_buffer): no pages, no trtllm_mha."""
    no_buffer = model.name in rules.radix_states and model.name not in rules.extra_buffer
    if not no_buffer or not states.radix_cache:
        return
    if deployment.page_size not in (None, 1):
        raise refused(
            f"the radix cache of {model.name} keeps states at single tokens, not at pages of "
            f"{deployment.page_size}",
            "--page-size 1 or --disable-radix-cache",
        )
    if deployment.attention_backend == "trtllm_mha":
        raise refused(
            f"the radix cache of {model.name} keeps states at single tokens, which trtllm_mha can't read",
            "another --attention-backend or --disable-radix-cache",
        )
