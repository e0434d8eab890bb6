"""Kernels of sparse MLA (DSA) for prefill and decode: they decide how FP8 latents are laid out.

Source: arg_groups/overrides.py, _dsa_split_backend_resolution and _check_dsa_backend_constraints
(server_args.py, _set_default_nsa_backends, in 0.5.12); hisparse_hook.py.
"""

from __future__ import annotations

from kvplan.config import near
from kvplan.deployment import Deployment
from kvplan.errors import bad_option, refused
from kvplan.hardware import Gpu
from kvplan.sglang.model import EngineModel
from kvplan.sglang.rule_set import Rules

TRTLLM, TILELANG = "trtllm", "tilelang"
_FLASHMLA = ("flashmla_sparse", "flashmla_sparse_q8", "flashmla_kv", "flashmla_auto")
DSA_BACKENDS = (*_FLASHMLA, "flashinfer_sparse_mla", "triton_sparse_mla", "fa3", TILELANG, TRTLLM)
_FP8 = "fp8_e4m3"
# Kernels that swap pages with the host (HISPARSE_CUDA_DSA_BACKENDS_BY_DTYPE).
_HISPARSE = {_FP8: ("flashmla_kv", "flashinfer_sparse_mla"), "bfloat16": ("flashmla_sparse",)}


def dsa_backends(
    model: EngineModel, deployment: Deployment, flag: str, gpu: Gpu, rules: Rules
) -> tuple[str, str]:
    """(prefill, decode), each the user's where given; `flag` is the resolved KV dtype."""
    prefill, decode = _defaults(model, deployment, flag, gpu, rules)
    return deployment.dsa_prefill_backend or prefill, deployment.dsa_decode_backend or decode


def _defaults(
    model: EngineModel, deployment: Deployment, flag: str, gpu: Gpu, rules: Rules
) -> tuple[str, str]:
    if deployment.dcp == 1 and deployment.enable_hisparse:
        default = "flashmla_kv" if flag == _FP8 else "flashmla_sparse"
    elif deployment.dcp == 1 and _glm_on_sm120(model, flag, gpu, rules):
        default = "flashinfer_sparse_mla"
    elif flag == _FP8:
        default = TRTLLM if gpu.sm >= 100 or deployment.dcp > 1 else "flashmla_kv"
    else:
        return "flashmla_sparse", TRTLLM if gpu.sm >= 100 else "fa3"
    return default, default


def _glm_on_sm120(model: EngineModel, flag: str, gpu: Gpu, rules: Rules) -> bool:
    named = model.name == "GlmMoeDsaForCausalLM" and rules.glm_on_sm120_keeps_scales
    return named and gpu.sm // 10 == 12 and flag == _FP8


def keeps_plain_rows(backends: tuple[str, str], rules: Rules) -> bool:
    """Whether FP8 latents are kept as bare values, without scales (calculate_mla_kv_cache_dim)."""
    return TRTLLM in backends or (rules.plain_rows_for_tilelang and backends == (TILELANG, TILELANG))


def refuse_dsa_backends(
    model: EngineModel, deployment: Deployment, flag: str, gpu: Gpu, rules: Rules
) -> None:
    """InputError for a name that is none, RefusedError for one that does not go with the rest."""
    given = {
        "dsa_prefill_backend": deployment.dsa_prefill_backend,
        "dsa_decode_backend": deployment.dsa_decode_backend,
    }
    for option, name in given.items():
        if name is not None and name not in DSA_BACKENDS:
            what = f"no kernel of sparse MLA on CUDA is called {name!r}"
            raise bad_option(option, what, near(name, DSA_BACKENDS))
    named = [name for name in given.values() if name is not None]
    if not model.dsa or not named:
        return
    allowed = _HISPARSE.get(flag, ())
    if deployment.enable_hisparse and not set(named) <= set(allowed):
        raise refused(
            f"HiSparse with {flag} KV runs on {' or '.join(allowed)}, not {' and '.join(named)}",
            "leave --dsa-prefill-backend and --dsa-decode-backend out",
        )
    checked = rules.plain_rows_for_tilelang and not _glm_on_sm120(model, flag, gpu, rules)
    if flag == _FP8 and checked and TILELANG in named and named != [TILELANG] * 2:
        raise refused(
            "FP8 latents of tilelang and of another kernel have different layouts",
            "tilelang for both --dsa-prefill-backend and --dsa-decode-backend",
        )
