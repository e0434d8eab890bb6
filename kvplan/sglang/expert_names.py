"""Model classes that hold shared experts or dense layers whole on each GPU, and for which backends.

Sources (SGLang 0.5.23, sglang/srt/models/*.py): `parallel_group="replicated"` of shared experts, under
get_moe_a2a_backend(), and is_dense_ffn_fully_dp() of dense layers (--moe-dense-tp-size 1).
"""

from __future__ import annotations

_ALL = "deepep deepep_v2 flashinfer flashinfer_megamoe megamoe mooncake mori nixl pplx"
_MOST = "deepep flashinfer flashinfer_megamoe mooncake mori nixl"

# deepseek_v2.py, and what is built of its layers.
_DEEPSEEK = """
    DeepseekOCRForCausalLM DeepseekV2ForCausalLM DeepseekV32ForCausalLM DeepseekV3ForCausalLM
    DeepseekV4ForCausalLM DeepseekVL2ForCausalLM DotsVLMForCausalLM Glm5NextForConditionalGeneration
    GlmMoeDsaForCausalLM KimiK25ForConditionalGeneration KimiVLForConditionalGeneration
    MistralLarge3ForCausalLM PixtralForConditionalGeneration
"""
_BAILING_V3 = "BailingMoeV3ForCausalLM BailingMoeV3VLForConditionalGeneration"
_BAILING = """
    BailingMMNativeForConditionalGeneration BailingMM2NativeForConditionalGeneration BailingMoEForCausalLM
    BailingMoeForCausalLM BailingMoeV2ForCausalLM LLaDA2MoeModelLM
"""
_GLM4 = "Glm4MoeForCausalLM Glm4vMoeForConditionalGeneration"
_EXAONE = "ExaoneMoEForCausalLM ExaoneMoeForCausalLM"
_KIMI_K3 = "KimiK3ForConditionalGeneration KimiK3LinearForCausalLM"
_SARVAM = "SarvamMLAForCausalLM SarvamMoEForCausalLM"
_XLLM = "K2HorizonForCausalLM XllmForCausalLM"
_MIMO = "MiMoV2FlashForCausalLM MiMoV2ForCausalLM"
_STEP = "Step3p5ForCausalLM Step3p7ForConditionalGeneration"
_MINIMAX_M3 = "MiniMaxM3SparseForCausalLM MiniMaxM3SparseForConditionalGeneration"
_QWEN = """
    Qwen2MoeForCausalLM Qwen3NextForCausalLM Qwen3_5MoeForCausalLM Qwen3_5MoeForConditionalGeneration
"""

# Backends of --moe-a2a-backend under which each GPU holds the shared experts whole; others cut them.
SHARED_WHOLE: dict[str, frozenset[str]] = {
    name: frozenset(backends.split())
    for names, backends in (
        (f"{_DEEPSEEK} {_BAILING_V3} {_KIMI_K3} HYV4ForCausalLM", _ALL),
        (f"{_GLM4} {_STEP}", _MOST),
        ("Glm4MoeLiteForCausalLM", "deepep mooncake"),
        (f"{_BAILING} {_EXAONE} Dots3NoteForCausalLM", "deepep"),
        ("NemotronHForCausalLM", "deepep flashinfer flashinfer_megamoe"),
        (_QWEN, "deepep deepep_v2 flashinfer flashinfer_megamoe megamoe mori"),
        (_MINIMAX_M3, "deepep megamoe"),
        (_XLLM, "deepep flashinfer mori"),
    )
    for name in names.split()
}
# Classes that --moe-dense-tp-size 1 makes hold their dense layers whole.
DENSE_WHOLE = frozenset(
    f"""
    {_DEEPSEEK} {_BAILING_V3} {_BAILING} {_GLM4} {_MIMO} {_MINIMAX_M3} {_SARVAM} {_XLLM}
    Dots3NoteForCausalLM Ernie4_5_MoeForCausalLM Glm4MoeLiteForCausalLM
    """.split()
)
# Classes that make room for copies of experts (ep_num_redundant_experts in their module, or in that of the
# layers that they are built of); others drop the option.
COPIES_EXPERTS = frozenset(
    f"""
    {_DEEPSEEK} {_BAILING_V3} {_BAILING} {_EXAONE} {_GLM4} {_MIMO} {_MINIMAX_M3} {_QWEN} {_SARVAM}
    {_STEP} {_XLLM} BeamForCausalLM Gemma4ForCausalLM Gemma4ForConditionalGeneration
    Gemma4UnifiedForConditionalGeneration Glm4MoeLiteForCausalLM GptOssForCausalLM HYV4ForCausalLM
    InternS1ForConditionalGeneration InternS1ProForConditionalGeneration
    InternS2MobiusForConditionalGeneration LagunaForCausalLM MellumForCausalLM MiniMaxM2ForCausalLM
    NemotronHForCausalLM NemotronHPuzzleForCausalLM NemotronH_Nano_Omni_Reasoning_V3
    NemotronH_Nano_VL_V2 NemotronH_Omni_Reasoning_V3 Qwen3MoeForCausalLM
    Qwen3VLMoeForConditionalGeneration Qwen4ExpForConditionalGeneration SDARMoeForCausalLM
    """.split()
)
# Shared experts stay apart from routed ones that are as wide (shared_experts_fusion_disable_reason).
SHARED_APART = frozenset({"DeepseekV4ForCausalLM"})
