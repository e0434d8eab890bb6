"""Attention backends that a version knows, and those that a model class takes alone or not at all.

Sources: arg_groups/choices.py, attention_hook.py and model_hook.py (0.5.23); server_args.py,
ATTENTION_BACKEND_CHOICES and _handle_model_specific_adjustments (0.5.12).
"""

from __future__ import annotations

from kvplan.sglang.backend_defaults import FLASHINFER_PREFILL

# server_args.py, ATTENTION_BACKEND_CHOICES, by the release that added them.
ATTENTION_BACKENDS = {
    "0.5.12": """
        aiter ascend compressed cutlass_mla dsv4 dual_chunk_flash_attn fa3 fa4 flashinfer flashmla
        flex_attention intel_amx intel_xpu nsa tokenspeed_mla torch_native triton trtllm_mha trtllm_mla wave
    """,
    "0.5.13": "cutedsl_mla dsa",
    "0.5.17": "hpc_ops",
    "0.5.19": "minicpm_flashattn minicpm_flashinfer",
    "0.5.20": "qsa",
    "0.5.22": "llada2_cfg_flashinfer",
}
GONE_IN_0_5_20 = {"cutlass_mla", "dual_chunk_flash_attn"}

_SINK_KERNELS = frozenset({"triton", "trtllm_mha", "fa3", "fa4"})
# Kernels that read the windows of Llama-4 and Exaone.
CHUNK_KERNELS = frozenset({"fa3", "triton", "trtllm_mha"})
_GEMMA4_KERNELS = frozenset({"trtllm_mha", "triton", "fa4"})
_LLAMA4 = ("Llama4ForConditionalGeneration", "Llama4ForCausalLM")
GEMMA4 = frozenset(
    "Gemma4ForCausalLM Gemma4ForConditionalGeneration Gemma4UnifiedForConditionalGeneration".split()
)
# Classes that take these backends alone.
ACCEPTED_0_5_12 = {
    "GptOssForCausalLM": _SINK_KERNELS,
    "Llama4ForConditionalGeneration": CHUNK_KERNELS,
    **dict.fromkeys(FLASHINFER_PREFILL, frozenset({"flashinfer"})),
}
# Gemma-4 takes no fa4 before 0.5.22.
ACCEPTED_0_5_13 = {
    **ACCEPTED_0_5_12,
    **dict.fromkeys(GEMMA4, frozenset({"trtllm_mha", "triton"})),
}
ACCEPTED_0_5_15 = {**ACCEPTED_0_5_13, **dict.fromkeys(_LLAMA4, CHUNK_KERNELS)}
ACCEPTED_0_5_21 = {**ACCEPTED_0_5_15, "IQuestQ1ForCausalLM": frozenset({"fa3"})}
ACCEPTED_0_5_22 = {**ACCEPTED_0_5_21, **dict.fromkeys(GEMMA4, _GEMMA4_KERNELS)}
_NO_ATTENTION_FIRST = ("triton", "its first layer may not be attention")
_BAD_WINDOWS = ("flashinfer", "windows are badly served there")
# Classes that take all but one, and why.
REJECTED_0_5_12 = {
    "NemotronHForCausalLM": _NO_ATTENTION_FIRST,
    "Lfm2ForCausalLM": _NO_ATTENTION_FIRST,
    "Olmo2ForCausalLM": _BAD_WINDOWS,
}
REJECTED_0_5_17 = {**REJECTED_0_5_12, "Lfm2MoeForCausalLM": _NO_ATTENTION_FIRST}
REJECTED_0_5_19 = {name: why for name, why in REJECTED_0_5_17.items() if name != "NemotronHForCausalLM"}
