"""Attention backends that the engine prefers for certain model classes, by GPU generation.

None leaves the choice to the design (MHA or MLA). Sources: server_args.py,
_handle_model_specific_adjustments (to 0.5.14), and arg_groups/overrides.py and model_overrides/*.py.
"""

from __future__ import annotations

from kvplan.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendDefault:
    """Backend on Hopper (SM 9.x), Blackwell (SM 10.x; SM 12.x where it differs) and everything else."""

    hopper: str | None = None
    sm100: str | None = None
    sm120: str | None = None
    other: str | None = None


_EVERYWHERE_TRITON = BackendDefault(hopper="triton", sm100="triton", other="triton")
_SM100_TRITON = BackendDefault(sm100="triton")
_SM100_FLASHINFER = BackendDefault(sm100="flashinfer")
_SM100_TRTLLM_MLA = BackendDefault(sm100="trtllm_mla")
_FA3_ELSE_TRITON = BackendDefault(hopper="fa3", sm100="trtllm_mha", other="triton")
FA3_SINCE_AMPERE = BackendDefault(hopper="fa3", sm100="trtllm_mha", other="fa3")
_FA4_ELSE_TRITON = BackendDefault(hopper="fa4", sm100="fa4", other="triton")

_DEEPSEEK = (
    "DeepseekV3ForCausalLM",
    "DeepseekV32ForCausalLM",
    "GlmMoeDsaForCausalLM",
    "KimiK25ForConditionalGeneration",
    "MistralLarge3ForCausalLM",
    "PixtralForConditionalGeneration",
)
_BOTH = {
    "GptOssForCausalLM": _FA3_ELSE_TRITON,
    "Llama4ForConditionalGeneration": _FA3_ELSE_TRITON,
    "Llama4ForCausalLM": _FA3_ELSE_TRITON,
    "Olmo2ForCausalLM": FA3_SINCE_AMPERE,
    "FalconH1ForCausalLM": _SM100_TRITON,
    "JetNemotronForCausalLM": _SM100_TRITON,
    "JetVLMForConditionalGeneration": _SM100_TRITON,
    "MiniCPMV4_6ForConditionalGeneration": _SM100_TRITON,
    "Lfm2ForCausalLM": _SM100_FLASHINFER,
    **dict.fromkeys(_DEEPSEEK, _SM100_TRTLLM_MLA),
}

BACKENDS_0_5_12 = {
    **_BOTH,
    "Gemma4ForConditionalGeneration": _EVERYWHERE_TRITON,
    "GraniteMoeHybridForCausalLM": _SM100_TRITON,
    "NemotronHForCausalLM": _SM100_FLASHINFER,
}
_GEMMA4 = dict.fromkeys(
    ("Gemma4ForCausalLM", "Gemma4ForConditionalGeneration", "Gemma4UnifiedForConditionalGeneration"),
    BackendDefault(hopper="triton", sm100="trtllm_mha", other="triton"),
)
_STEP3 = dict.fromkeys(
    ("Step3p5ForCausalLM", "Step3p7ForConditionalGeneration"),
    BackendDefault(hopper="fa3", sm100="fa4", sm120="fa4"),
)
BACKENDS_0_5_13 = {
    **BACKENDS_0_5_12,
    **_GEMMA4,
    **_STEP3,
    "GraniteMoeHybridForCausalLM": _SM100_FLASHINFER,
    "NemotronHPuzzleForCausalLM": _SM100_FLASHINFER,
}
_MINIMAX_M3 = dict.fromkeys(
    ("MiniMaxM3SparseForCausalLM", "MiniMaxM3SparseForConditionalGeneration"),
    BackendDefault(hopper="fa3", sm100="fa4"),
)
BACKENDS_0_5_16 = {
    **BACKENDS_0_5_13,
    **_MINIMAX_M3,
    "InklingForConditionalGeneration": BackendDefault(hopper="triton", sm100="fa4", other="triton"),
    "LongcatFlashForCausalLM": _SM100_TRTLLM_MLA,
}
BACKENDS_0_5_17 = {
    **BACKENDS_0_5_16,
    "KimiK3ForConditionalGeneration": _SM100_TRTLLM_MLA,
    "Lfm2MoeForCausalLM": _SM100_FLASHINFER,
}
# Nemotron-H goes by its drafts since (backend.py).
BACKENDS_0_5_19 = {**BACKENDS_0_5_17, "Dots3NoteForCausalLM": _SM100_TRTLLM_MLA}
BACKENDS_0_5_20 = {
    **BACKENDS_0_5_19,
    "Glm5NextForConditionalGeneration": _SM100_TRTLLM_MLA,
    "HYV4ForCausalLM": _SM100_TRTLLM_MLA,
}
BACKENDS_0_5_21 = {
    **BACKENDS_0_5_20,
    "DiffusionGemmaForBlockDiffusion": _EVERYWHERE_TRITON,
    "IQuestQ1ForCausalLM": BackendDefault(hopper="fa3", sm100="fa3", other="fa3"),
}
BACKENDS_0_5_22 = {
    **BACKENDS_0_5_21,
    "EmbeddingGemma2Model": _EVERYWHERE_TRITON,
    "InklingForConditionalGeneration": _FA4_ELSE_TRITON,
    "MiMoV2ForCausalLM": BackendDefault(sm100="fa4"),
    "MiMoV2FlashForCausalLM": BackendDefault(sm100="fa4"),
}
BACKENDS_0_5_23 = {
    **BACKENDS_0_5_22,
    "BeamForCausalLM": BackendDefault(hopper="trtllm_mha", sm100="trtllm_mha", sm120="trtllm_mha"),
    "MiniCPMV4_7ForConditionalGeneration": _SM100_TRITON,
}

# Hybrids that follow the general SM100 choice only where their state cache allows pages
# (model_overrides/qwen3_5.py; the same branch in 0.5.12), else triton.
PAGED_STATE_HYBRIDS = frozenset(
    """
    InternS2MobiusForConditionalGeneration InternS2PreviewForConditionalGeneration Qwen3NextForCausalLM
    Qwen3_5ForConditionalGeneration Qwen3_5MoeForConditionalGeneration
    """.split()
)

# model_overrides/moss_vl.py, and the same branch in 0.5.12: masks of cross attention.
FLASHINFER_PREFILL = frozenset({"MossVLForConditionalGeneration"})

# model_overrides/exaone.py and nemotron_h.py (0.5.23): by windows, and by speculative decoding.
EXAONE_WINDOWS = ("Exaone4ForCausalLM", "ExaoneMoEForCausalLM", "ExaoneMoeForCausalLM")
NEMOTRON_H = ("NemotronHForCausalLM", "NemotronHPuzzleForCausalLM", "NemotronH_Omni_Reasoning_V3")
# model_overrides/granitemoehybrid.py: the preference counts where the model has Mamba layers.
STATES_DECIDE = ("GraniteMoeHybridForCausalLM",)
