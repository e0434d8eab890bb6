"""Model classes by the treatment they get, version by version (paths under sglang/srt/)."""

from __future__ import annotations

# configs/model_config.py, is_deepseek_v4.
DSV4 = frozenset({"DeepseekV4ForCausalLM", "DeepseekV4ForCausalLMNextN", "DeepseekV4ForCausalLMDSpark"})

# configs/model_config.py, is_deepseek_nsa (0.5.12) and is_deepseek_dsa (0.5.13); index_topk must be set.
DSA = {
    "0.5.12": """
        DeepseekV32ForCausalLM DeepseekV3ForCausalLM DeepseekV3ForCausalLMNextN GlmMoeDsaForCausalLM
        MistralLarge3ForCausalLM PixtralForConditionalGeneration
    """,
    "0.5.16": "GlmMoeDsaForCausalLMNextN LongcatFlashForCausalLM LongcatFlashForCausalLMNextN",
    "0.5.19": "Dots3NoteForCausalLM Dots3NoteForCausalLMNextN",
    "0.5.20": """
        Glm5NextForConditionalGeneration Glm5NextForConditionalGenerationNextN HYV4ForCausalLM
        HYV4ForCausalLMNextN
    """,
}

# configs/model_config.py, _derive_model_shapes: MLA goes by name alone.
MLA = {
    "0.5.12": """
        BailingMoeForCausalLMNextN BailingMoeV2_5ForCausalLM DeepseekV2ForCausalLM DeepseekV32ForCausalLM
        DeepseekV3ForCausalLM DeepseekV3ForCausalLMNextN DeepseekVL2ForCausalLM DotsVLMForCausalLM
        Eagle3DeepseekV2ForCausalLM Glm4MoeLiteForCausalLM GlmMoeDsaForCausalLM
        KimiK25ForConditionalGeneration KimiLinearForCausalLM KimiVLForConditionalGeneration
        LongcatFlashForCausalLM LongcatFlashForCausalLMNextN MiniCPM3ForCausalLM MistralLarge3ForCausalLM
        MistralLarge3ForCausalLMEagle PixtralForConditionalGeneration SarvamMLAForCausalLM
    """,
    "0.5.13": "Glm4MoeLiteForCausalLMNextN",
    "0.5.16": "GlmMoeDsaForCausalLMNextN",
    "0.5.17": "KimiK3ForConditionalGeneration",
    "0.5.19": """
        BailingMoeV3ForCausalLM Dots3NoteForCausalLM Dots3NoteForCausalLMNextN KimiK3LinearForCausalLM
    """,
    "0.5.20": """
        Glm5NextForConditionalGeneration Glm5NextForConditionalGenerationNextN HYV4ForCausalLM
        HYV4ForCausalLMNextN
    """,
    "0.5.21": """
        BailingMoeV3VLForConditionalGeneration GigaChat35ForCausalLM GigaChat35ForCausalLMNextN
    """,
}

# configs/model_config.py, is_hybrid_swa_model.
HYBRID_SWA = {
    "0.5.12": """
        DeepseekV4ForCausalLM DeepseekV4ForCausalLMNextN Gemma4ForCausalLM Gemma4ForConditionalGeneration
        GptOssForCausalLM LagunaForCausalLM Llama4ForConditionalGeneration MiMoV2FlashForCausalLM
        MiMoV2ForCausalLM MiMoV2MTP Step3p5ForCausalLM Step3p5MTP
    """,
    "0.5.13": "Gemma4UnifiedForConditionalGeneration Step3p7ForConditionalGeneration",
    "0.5.15": "UnlimitedOCRForCausalLM",
    "0.5.16": """
        DeepseekV4ForCausalLMDSpark InklingForConditionalGeneration InklingForConditionalGenerationMTP
        MellumForCausalLM
    """,
    "0.5.18": "MuseGlimmerForCausalLM MuseGlimmerForConditionalGeneration",
    "0.5.19": "GraniteMoeSWAForCausalLM GraniteSWAForCausalLM Spark2_5ForCausalLM",
    "0.5.21": "DiffusionGemmaForBlockDiffusion IQuestQ1ForCausalLM IQuestQ1MTP",
    "0.5.22": "EmbeddingGemma2Model",
    "0.5.23": "BeamForCausalLM MuseSparkForConditionalGeneration",
}

# Classes whose window the engine takes as exclusive, one less than the config says
# (models/*.py, get_attention_sliding_window_size).
EXCLUSIVE_WINDOW = frozenset(
    """
    BeamForCausalLM DiffusionGemmaForBlockDiffusion Gemma4ForCausalLM Gemma4ForConditionalGeneration
    Gemma4UnifiedForConditionalGeneration GptOssForCausalLM MellumForCausalLM MuseGlimmerForCausalLM
    MuseGlimmerForConditionalGeneration
    """.split()
)

# configs/model_config.py, piecewise_cuda_graph_disabled_model_archs (0.5.12).
NO_PREFILL_GRAPH_0_5_12 = frozenset(
    """
    BailingMoeV2_5ForCausalLM DeepseekV32ForCausalLM DeepseekV4ForCausalLM DeepseekV4ForCausalLMNextN
    GlmMoeDsaForCausalLM LLaDAModelLM Qwen3NextForCausalLM
    """.split()
)

# arg_groups/overrides.py, _MAMBA_EXTRA_BUFFER_ARCHS, and server_args.py of 0.5.14,
# _support_mamba_cache_extra_buffer; the others keep no tracking slots.
EXTRA_BUFFER = {
    "0.5.14": """
        BailingMoeV2_5ForCausalLM FalconH1ForCausalLM GraniteMoeHybridForCausalLM
        InternS2PreviewForConditionalGeneration MiniCPMV4_6ForConditionalGeneration NemotronHForCausalLM
        NemotronHPuzzleForCausalLM Qwen3NextForCausalLM Qwen3_5ForConditionalGeneration
        Qwen3_5MoeForConditionalGeneration
    """,
    "0.5.16": "InklingForConditionalGeneration KimiLinearForCausalLM",
    "0.5.17": "KimiK3ForConditionalGeneration",
    "0.5.19": "BailingMoeV3ForCausalLM Qwen3_5ForCausalLM Qwen3_5MoeForCausalLM",
    "0.5.20": """
        Glm5NextForConditionalGeneration NemotronH_Omni_Reasoning_V3 Qwen4ExpForConditionalGeneration
    """,
    "0.5.21": "BailingMoeV3VLForConditionalGeneration",
    "0.5.23": "MiniCPMV4_7ForConditionalGeneration",
}
# arg_groups/overrides.py, _MAMBA_RADIX_CACHE_ARCHS: the strategy is resolved for these.
RADIX_STATE = {
    "0.5.14": """
        BailingMoeV2_5ForCausalLM FalconH1ForCausalLM GraniteMoeHybridForCausalLM
        InternS2PreviewForConditionalGeneration JetNemotronForCausalLM JetVLMForConditionalGeneration
        KimiLinearForCausalLM Lfm2ForCausalLM MiniCPMV4_6ForConditionalGeneration NemotronHForCausalLM
        NemotronHPuzzleForCausalLM Qwen3NextForCausalLM Qwen3_5ForConditionalGeneration
        Qwen3_5MoeForConditionalGeneration ZayaForCausalLM
    """,
    "0.5.17": "KimiK3ForConditionalGeneration Lfm2MoeForCausalLM",
    "0.5.18": "InternS2MobiusForConditionalGeneration",
    "0.5.19": "BailingMoeV3ForCausalLM Qwen3_5ForCausalLM Qwen3_5MoeForCausalLM",
    "0.5.20": """
        Glm5NextForConditionalGeneration NemotronH_Omni_Reasoning_V3 Qwen4ExpForConditionalGeneration
    """,
    "0.5.21": "BailingMoeV3VLForConditionalGeneration GigaChat35ForCausalLM",
    "0.5.23": "MiniCPMV4_7ForConditionalGeneration",
}
# server_args.py and nemotron_h_hook.py (0.5.12): classes that go through _handle_mamba_radix_cache, whose
# radix cache keeps states at single tokens.
RADIX_STATE_0_5_12 = frozenset(
    """
    BailingMoeV2_5ForCausalLM FalconH1ForCausalLM GraniteMoeHybridForCausalLM
    InternS2PreviewForConditionalGeneration JetNemotronForCausalLM JetVLMForConditionalGeneration
    KimiLinearForCausalLM Lfm2ForCausalLM MiniCPMV4_6ForConditionalGeneration NemotronHForCausalLM
    Qwen3NextForCausalLM Qwen3_5ForConditionalGeneration Qwen3_5MoeForConditionalGeneration
    """.split()
)
# server_args.py (0.5.12), _handle_mamba_radix_cache(support_mamba_cache=False).
NO_RADIX_0_5_12 = frozenset({"BailingMoeV2_5ForCausalLM", "KimiLinearForCausalLM"})

# Of the classes with split windows, those that a schedule without sliding layers turns into plain ones.
PLAIN_WITHOUT_WINDOWS = frozenset(
    """
    BeamForCausalLM LagunaForCausalLM MuseSparkForConditionalGeneration Spark2_5ForCausalLM
    """.split()
)

# configs/model_config.py (0.5.23), uses_kda_attention: by linear_attn_config, which Ling does not have.
KDA_BY_CONFIG = frozenset(
    "KimiK3ForConditionalGeneration KimiK3LinearForCausalLM KimiLinearForCausalLM".split()
)

# arg_groups/speculative_hook.py (0.5.23), _handle_eagle_family: the target doubles as its own draft, and
# without num_nextn_predict_layers all of its layers are taken for draft layers.
SELF_DRAFTING = frozenset(
    """
    BailingMoeForCausalLM BailingMoeV2ForCausalLM BailingMoeV2_5ForCausalLM DeepseekV32ForCausalLM
    DeepseekV3ForCausalLM Glm4MoeForCausalLM Glm4MoeLiteForCausalLM GlmMoeDsaForCausalLM HYV3ForCausalLM
    HYV4ForCausalLM MistralLarge3ForCausalLM PixtralForConditionalGeneration
    Qwen4ExpForConditionalGeneration
    """.split()
)

# Those of them that draft with one layer, whatever their config lists (configs/model_config.py,
# _config_draft_model).
ONE_DRAFT_LAYER = frozenset({"HYV3ForCausalLM", "HYV4ForCausalLM"})

# arg_groups/model_overrides/minicpm.py: the radix cache is off where layers keep states.
NO_RADIX_0_5_19 = frozenset({"MiniCPMForCausalLM", "MiniCPMSALAForCausalLM"})

# configs/model_config.py (0.5.23), PURE_SSM_ARCHITECTURES.
PURE_STATE = frozenset({"FalconMambaForCausalLM", "Mamba2ForCausalLM", "MambaForCausalLM"})

# configs/model_config.py, _derive_model_shapes: classes whose layers are counted once per loop.
LOOPED = frozenset({"IQuestLoopCoderForCausalLM", "NanbeigeForCausalLM"})

# utils/hf_transformers/config.py: one class under three names.
LONGCAT = dict.fromkeys(("LongcatCausalLM", "LongcatFlashNgramForCausalLM"), "LongcatFlashForCausalLM")

# The same file: names that DeepSeek's vision models were published under.
DEEPSEEK_VL = {
    "DeepseekOCR2ForCausalLM": "DeepseekOCRForCausalLM",
    "DeepseekVLV2ForCausalLM": "DeepseekVL2ForCausalLM",
}

# Multimodal classes that serve text alone unless --enable-multimodal is given (configs/model_config.py).
TEXT_ALONE = frozenset(
    """
    Gemma3ForConditionalGeneration InklingForConditionalGeneration Llama4ForConditionalGeneration
    Step3VLForConditionalGeneration
    """.split()
)

# Multi-layer attention sinks rule out FlashInfer (configs/model_config.py, SWA_SINK_ARCHS).
SINKS = frozenset(
    """
    GptOssForCausalLM GraniteMoeSWAForCausalLM GraniteSWAForCausalLM IQuestQ1ForCausalLM IQuestQ1MTP
    """.split()
)

# configs/model_config.py, is_generation_model: classes that return vectors or scores decode nothing.
_VECTORS_OR_SCORES = ("Classification", "Embedding", "Reward")


def generates(name: str) -> bool:
    """Whether a class has an output head, by the words of its name."""
    bare = name.endswith("Model") and not name.endswith("LMHeadModel")
    return not bare and not any(word in name for word in _VECTORS_OR_SCORES)
