"""Flags of SGLang that kvplan plans with, and the field of `Deployment` that each one sets.

Source: sglang/srt/arg_groups/fields/ (0.5.23) and sglang/srt/server_args.py (0.5.12); a field of the
server's arguments is named as its flag, so the same table reads `server_args=` in a log.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from kvplan.frozen import dataclass
from kvplan.sglang.dsa_backends import DSA_BACKENDS
from kvplan.units import parse_number, parse_tokens

MODEL_FLAG = "--model-path"
REVISION_FLAG = "--revision"
# 0.5.23: `--attn-dp-size N` is `--dp-size N --enable-dp-attention` (parallel_hook.py).
DP_FLAG = "--dp-size"
ATTENTION_DP_FLAG = "--attn-dp-size"
# Since 0.5.18 its value megamoe is that of --moe-a2a-backend (mega_moe_hook.py).
MOE_RUNNER_FLAG = "--moe-runner-backend"

_WHOLE = re.compile(r"-?[0-9]{1,18}\Z")
_SUFFIXED = re.compile(r"(?:[0-9]{1,12}[KMGT]i|[0-9]{1,12}(?:\.[0-9]{1,12})?[kMGT])\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Modelled:
    """The field that a flag sets; `read` turns its text into the value, None for a switch.

    `unset`: values that mean the same as leaving the flag out, as a resolved `server_args` line has them.
    """

    field: str
    read: Callable[[str], object] | None = None
    unset: tuple[object, ...] = ()


def _count(text: str) -> int:
    if not _WHOLE.match(text):
        raise ValueError(f"{text!r} is not a whole number")
    return int(text)


def _tokens(text: str) -> int:
    """`128k` and `128Ki` as 0.5.23 takes them (utils/common.py, human_readable_int)."""
    return parse_tokens(text) if _SUFFIXED.match(text) else _count(text)


def _word(text: str) -> str:
    if not text:
        raise ValueError("is empty")
    return text


def _dsa_kernel(text: str) -> str:
    if text not in DSA_BACKENDS:
        raise ValueError(f"no kernel of sparse MLA on CUDA (known: {', '.join(DSA_BACKENDS)})")
    return text


def _counts(**fields: str) -> dict[str, Modelled]:
    return {_flag(name): Modelled(field=field, read=_count) for name, field in fields.items()}


def _words(*fields: str) -> dict[str, Modelled]:
    return {_flag(field): Modelled(field=field, read=_word) for field in fields}


def _switches(*fields: str) -> dict[str, Modelled]:
    return {_flag(field): Modelled(field=field) for field in fields}


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


MODELLED: dict[str, Modelled] = {
    **_counts(
        tp_size="tp",
        dp_size="dp",
        pp_size="pp",
        dcp_size="dcp",
        ep_size="ep",
        moe_dense_tp_size="moe_dense_tp_size",
        page_size="page_size",
        chunked_prefill_size="chunked_prefill_size",
        max_running_requests="max_running_requests",
        max_mamba_cache_size="max_mamba_cache_size",
        speculative_num_steps="speculative_num_steps",
        speculative_eagle_topk="speculative_eagle_topk",
        speculative_num_draft_tokens="speculative_num_draft_tokens",
    ),
    "--ep-num-redundant-experts": Modelled(field="ep_num_redundant_experts", read=_count, unset=(0,)),
    "--context-length": Modelled(field="context_length", read=_tokens),
    "--max-total-tokens": Modelled(field="max_total_tokens", read=_tokens),
    "--mem-fraction-static": Modelled(field="mem_fraction_static", read=parse_number),
    # Both versions hold 0.8 where nothing is given; the ratio of a model class replaces it there.
    "--swa-full-tokens-ratio": Modelled(field="swa_full_tokens_ratio", read=parse_number, unset=(0.8,)),
    "--mamba-full-memory-ratio": Modelled(field="mamba_full_memory_ratio", read=parse_number),
    **_words(
        "kv_cache_dtype", "attention_backend", "mamba_ssm_dtype", "speculative_algorithm", "moe_a2a_backend"
    ),
    "--dsa-prefill-backend": Modelled(field="dsa_prefill_backend", read=_dsa_kernel),
    "--dsa-decode-backend": Modelled(field="dsa_decode_backend", read=_dsa_kernel),
    **_switches(
        "enable_dp_attention",
        "enable_dp_lm_head",
        "disable_radix_cache",
        "disable_hybrid_swa_memory",
        "enable_hisparse",
        "prefill_only_disable_kv_cache",
    ),
}

# Variables that are another way to set a field; the flag wins (serving_hook.py sets the variable from it).
VARIABLES: dict[str, str] = {"SGLANG_MAMBA_SSM_DTYPE": "--mamba-ssm-dtype"}

# Other spellings that SGLang's own parser takes, and `--pp`, which it took before it had a second --pp-*.
ALIASES: dict[str, str] = {
    "--model": MODEL_FLAG,
    "--tensor-parallel-size": "--tp-size",
    "--data-parallel-size": "--dp-size",
    "--pipeline-parallel-size": "--pp-size",
    "--decode-context-parallel-size": "--dcp-size",
    "--expert-parallel-size": "--ep-size",
    "--attention-data-parallel-size": ATTENTION_DP_FLAG,
    "--attention-context-parallel-size": "--attn-cp-size",
    "--moe-data-parallel-size": "--moe-dp-size",
    "--speculative-draft-model": "--speculative-draft-model-path",
    "--enable-hicache": "--enable-hierarchical-cache",
    "--hierarchical-sparse-attention-extra-config": "--hisparse-config",
    "--nccl-init-addr": "--dist-init-addr",
    "--grpc-http-sidecar-port": "--smg-http-sidecar-port",
    "--context-bucket": "--cuda-graph-prefill-max-context",
    # Their names in 0.5.12.
    "--nsa-prefill-backend": "--dsa-prefill-backend",
    "--nsa-decode-backend": "--dsa-decode-backend",
    "--tp": "--tp-size",
    "--dp": "--dp-size",
    "--pp": "--pp-size",
    "--ep": "--ep-size",
}
