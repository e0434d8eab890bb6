"""Model classes that take a kind of parallelism, or do not, by release.

Sources: arg_groups/model_overrides/*.py and arg_groups/model_hook.py; server_args.py before 0.5.19.
"""

from __future__ import annotations

# --moe-a2a-backend, by the release that added them (arg_groups/fields/exec_.py, or server_args.py).
A2A_BACKENDS = {
    "0.5.12": "none deepep mooncake nixl mori flashinfer megamoe",
    "0.5.17": "pplx",
    "0.5.19": "deepep_v2",
    "0.5.20": "flashinfer_megamoe",
}
# Those for Ascend, which kvplan has no rules of.
ASCEND_A2A = ("ascend_fuseep", "ascend_tp")
NO_ATTENTION_DP = {
    "0.5.19": "MiniCPMForCausalLM MiniCPMSALAForCausalLM",
    "0.5.21": "IQuestQ1ForCausalLM",
    "0.5.22": "Ernie4_5_VLMoeForConditionalGeneration",
}
# Stages of LongCat would be sized for half of their attention blocks.
NO_PIPELINE = {
    "0.5.12": "LongcatFlashForCausalLM",
    "0.5.18": "InternS2MobiusForConditionalGeneration",
    "0.5.21": "IQuestQ1ForCausalLM",
}
SPLITS_SINCE = {"0.5.13": "LongcatFlashForCausalLM"}
NO_DCP = {"0.5.20": "HYV4ForCausalLM", "0.5.21": "IQuestQ1ForCausalLM"}

# Classes whose forward takes pp_proxy_tensors; ModelRunner stops at any other (model_runner.py, support_pp).
PIPELINE = {
    "0.5.12": """
        ApertusForCausalLM ArceeForCausalLM BailingMoEForCausalLM BailingMoeForCausalLM
        BailingMoeV2ForCausalLM BailingMoeV2_5ForCausalLM DFlashDraftModel DeciLMForCausalLM
        DeepseekV2ForCausalLM DeepseekV32ForCausalLM DeepseekV3ForCausalLM DeepseekV4ForCausalLM
        DotsVLMForCausalLM Eagle3DeepseekV2ForCausalLM Exaone4ForCausalLM ExaoneMoEForCausalLM
        Glm4ForCausalLM Glm4MoeForCausalLM Glm4MoeLiteForCausalLM Glm4vForConditionalGeneration
        Glm4vMoeForConditionalGeneration GlmMoeDsaForCausalLM GlmOcrForConditionalGeneration
        GptOssForCausalLM GraniteMoeHybridForCausalLM IQuestCoderForCausalLM InternLM3ForCausalLM
        InternS1ProForConditionalGeneration InternS2PreviewForConditionalGeneration
        KimiK25ForConditionalGeneration KimiLinearForCausalLM LLaDA2MoeModelLM LagunaForCausalLM
        Llama4ForCausalLM LlamaForCausalLM LlamaForCausalLMEagle LlamaForCausalLMEagle3
        LlavaForConditionalGeneration MiMoV2FlashForCausalLM MiMoV2ForCausalLM MiniMaxM2ForCausalLM
        Ministral3ForCausalLM Mistral3ForConditionalGeneration MistralForCausalLM MistralForCausalLMEagle
        MistralLarge3ForCausalLM MistralLarge3ForCausalLMEagle MixtralForCausalLM
        MossVLForConditionalGeneration NemotronHForCausalLM OPTForCausalLM Phi3ForCausalLM
        Qwen2ForCausalLM Qwen2ForCausalLMEagle Qwen2MoeForCausalLM Qwen2_5_VLForConditionalGeneration
        Qwen3ForCausalLM Qwen3MoeForCausalLM Qwen3VLForConditionalGeneration
        Qwen3VLMoeForConditionalGeneration Qwen3_5ForConditionalGeneration
        Qwen3_5MoeForConditionalGeneration SDARForCausalLM SDARMoeForCausalLM SarvamMLAForCausalLM
        SarvamMoEForCausalLM Step3p5ForCausalLM TeleFLMForCausalLM TransformersEmbeddingModel
        TransformersForCausalLM TransformersForSequenceClassification TransformersMoEEmbeddingModel
        TransformersMoEForCausalLM TransformersMoEForSequenceClassification
        TransformersMultiModalEmbeddingModel TransformersMultiModalForCausalLM
        TransformersMultiModalForSequenceClassification TransformersMultiModalMoEEmbeddingModel
        TransformersMultiModalMoEForCausalLM TransformersMultiModalMoEForSequenceClassification
    """,
    "0.5.13": "Gemma4ForCausalLM Gemma4ForConditionalGeneration NemotronHPuzzleForCausalLM",
    "0.5.14": "MiMoV2ASRForCausalLM ZayaForCausalLM",
    "0.5.15": "DFlashLagunaForCausalLM",
    "0.5.16": """
        DeepseekV4ForCausalLMDSpark GlmMoeDsaForCausalLMNextN MellumForCausalLM MiniMaxM3SparseForCausalLM
        MiniMaxM3SparseForConditionalGeneration Qwen3DSparkModel
    """,
    "0.5.17": """
        DSparkDraftModel KimiK3ForConditionalGeneration Qwen3_5ForCausalLM Qwen3_5MoeForCausalLM
    """,
    "0.5.18": "InternS2MobiusForConditionalGeneration MuseGlimmerAssistantModel",
    "0.5.19": """
        BailingMoeV3ForCausalLM DFlash2DraftModel KimiK3LinearForCausalLM Lfm2DSparkDraftModel
        LingDSparkModel Spark2_5ForCausalLM
    """,
    "0.5.20": """
        Cosmos3EdgeForConditionalGeneration Cosmos3ForConditionalGeneration DeepseekV3ForCausalLMNextN
        Glm5NextForConditionalGeneration Glm5NextForConditionalGenerationNextN K2HorizonForCausalLM
        NanbeigeForCausalLM Qwen4ExpForConditionalGeneration XllmForCausalLM
    """,
    "0.5.21": """
        BailingMM2NativeForConditionalGeneration BailingMMNativeForConditionalGeneration
        BailingMoeV3VLForConditionalGeneration GigaChat35ForCausalLM LiLiCorrDraftModel
    """,
    "0.5.22": "ExaoneMoeForCausalLM SolarForCausalLM",
    "0.5.23": """
        BeamForCausalLM DFlash2BeamDraftModel DSparkMiniMaxDraftModel MiniMaxDFlash2DraftModel
    """,
}
