"""Model classes of the registry, by the release that added them: `EntryClass` of every file in srt/models/.

A class that is not there would be served through Transformers, if at all; kvplan then plans only
on request (`--assume-supported`).
"""

from __future__ import annotations

CLASSES = {
    "0.5.12": """
        AfmoeForCausalLM ApertusForCausalLM ArceeForCausalLM BaichuanForCausalLM BailingMoEForCausalLM
        BailingMoeForCausalLM BailingMoeForCausalLMNextN BailingMoeV2ForCausalLM
        BailingMoeV2_5ForCausalLM BertForSequenceClassification BertModel CLIPModel ChatGLMModel
        Cohere2ForCausalLM CohereForCausalLM Contriever DFlashDraftModel DbrxForCausalLM
        DeciLMForCausalLM DeepseekForCausalLM DeepseekOCRForCausalLM DeepseekV2ForCausalLM
        DeepseekV32ForCausalLM DeepseekV3ForCausalLM DeepseekV3ForCausalLMNextN DeepseekV4ForCausalLM
        DeepseekV4ForCausalLMNextN DeepseekVL2ForCausalLM DotsOCRForCausalLM DotsVLMForCausalLM
        Eagle3DeepseekV2ForCausalLM Ernie4_5_ForCausalLM Ernie4_5_MoeForCausalLM
        Ernie4_5_MoeForCausalLMMTP Ernie4_5_VLMoeForConditionalGeneration Exaone4ForCausalLM
        ExaoneForCausalLM ExaoneMoEForCausalLM ExaoneMoEForCausalLMMTP FalconH1ForCausalLM
        GPT2LMHeadModel GPTBigCodeForCausalLM GPTJForCausalLM Gemma2ForCausalLM
        Gemma2ForSequenceClassification Gemma3ForCausalLM Gemma3ForConditionalGeneration
        Gemma3nForCausalLM Gemma3nForConditionalGeneration Gemma4AssistantForCausalLM
        Gemma4ForCausalLM Gemma4ForConditionalGeneration GemmaForCausalLM Glm4ForCausalLM
        Glm4MoeForCausalLM Glm4MoeForCausalLMNextN Glm4MoeLiteForCausalLM
        Glm4vForConditionalGeneration Glm4vMoeForConditionalGeneration GlmAsrForConditionalGeneration
        GlmMoeDsaForCausalLM GlmOcrForConditionalGeneration GlmOcrForConditionalGenerationNextN
        GptOssForCausalLM GraniteForCausalLM GraniteMoeForCausalLM GraniteMoeHybridForCausalLM
        Grok1ForCausalLM Grok1ModelForCausalLM HYV3ForCausalLM HYV3ForCausalLMNextN
        HunYuanDenseV1ForCausalLM HunYuanMoEV1ForCausalLM IQuestCoderForCausalLM
        IQuestLoopCoderForCausalLM InternLM2ForCausalLM InternLM2ForRewardModel InternLM3ForCausalLM
        InternS1ForConditionalGeneration InternS1ProForConditionalGeneration
        InternS2PreviewForConditionalGeneration InternVLChatModel JetNemotronForCausalLM
        JetVLMForConditionalGeneration KimiK25ForConditionalGeneration KimiLinearForCausalLM
        KimiVLForConditionalGeneration LLaDA2MoeModelLM LagunaForCausalLM Lfm2ForCausalLM
        Lfm2MoeForCausalLM Lfm2VlForConditionalGeneration LightOnOCRForConditionalGeneration
        Llama4ForCausalLM Llama4ForConditionalGeneration LlamaEmbeddingModel LlamaForCausalLM
        LlamaForCausalLMEagle LlamaForCausalLMEagle3 LlamaForClassification
        LlamaForSequenceClassification LlamaForSequenceClassificationWithNormal_Weights
        LlavaForConditionalGeneration LlavaLlamaForCausalLM LlavaMistralForCausalLM
        LlavaQwenForCausalLM LlavaVidForCausalLM LongcatFlashForCausalLM LongcatFlashForCausalLMNextN
        MiDashengLMModel MiMoForCausalLM MiMoMTP MiMoV2FlashForCausalLM MiMoV2ForCausalLM MiMoV2MTP
        MindSporeForCausalLM MiniCPM3ForCausalLM MiniCPMForCausalLM MiniCPMO MiniCPMV
        MiniCPMV4_6ForConditionalGeneration MiniMaxM2ForCausalLM Ministral3ForCausalLM
        Mistral3ForConditionalGeneration MistralForCausalLM MistralForCausalLMEagle
        MistralLarge3ForCausalLM MistralLarge3ForCausalLMEagle MistralModel MixtralForCausalLM
        MllamaForConditionalGeneration MossVLForConditionalGeneration MultiModalityCausalLM
        NVILAForConditionalGeneration NVILALiteForConditionalGeneration NemotronHForCausalLM
        NemotronHForCausalLMMTP NemotronH_Nano_Omni_Reasoning_V3 NemotronH_Nano_VL_V2 OPTForCausalLM
        Olmo2ForCausalLM OlmoForCausalLM OlmoeForCausalLM OrionForCausalLM POINTSV15ChatModel
        PaddleOCRVLForConditionalGeneration PersimmonForCausalLM Phi3ForCausalLM Phi3SmallForCausalLM
        Phi4MMForCausalLM PhiForCausalLM PhiMoEForCausalLM PixtralForConditionalGeneration
        PixtralVisionModel QWenLMHeadModel QuantMixtralForCausalLM Qwen2AudioForConditionalGeneration
        Qwen2ForCausalLM Qwen2ForCausalLMEagle Qwen2ForRewardModel Qwen2ForSequenceClassification
        Qwen2MoeForCausalLM Qwen2VLForConditionalGeneration Qwen2_5_VLForConditionalGeneration
        Qwen3ASRForConditionalGeneration Qwen3ForCausalLM Qwen3ForRewardModel
        Qwen3ForSequenceClassification Qwen3MoeForCausalLM Qwen3NextForCausalLM
        Qwen3NextForCausalLMMTP Qwen3OmniMoeForConditionalGeneration Qwen3VLForConditionalGeneration
        Qwen3VLMoeForConditionalGeneration Qwen3_5ForCausalLMMTP Qwen3_5ForConditionalGeneration
        Qwen3_5MoeForConditionalGeneration SDARForCausalLM SDARMoeForCausalLM
        Sarashina2VisionForCausalLM SarvamMLAForCausalLM SarvamMoEForCausalLM SolarForCausalLM
        StableLmForCausalLM Starcoder2ForCausalLM Step3VLForConditionalGeneration Step3p5ForCausalLM
        Step3p5MTP StepVLForConditionalGeneration TeleFLMForCausalLM TorchNativeLlamaForCausalLM
        TorchNativePhi3ForCausalLM TransformersEmbeddingModel TransformersForCausalLM
        TransformersForSequenceClassification TransformersMoEEmbeddingModel TransformersMoEForCausalLM
        TransformersMoEForSequenceClassification TransformersMultiModalEmbeddingModel
        TransformersMultiModalForCausalLM TransformersMultiModalForSequenceClassification
        TransformersMultiModalMoEEmbeddingModel TransformersMultiModalMoEForCausalLM
        TransformersMultiModalMoEForSequenceClassification VoxtralForConditionalGeneration
        WhisperForConditionalGeneration XLMRobertaForSequenceClassification XLMRobertaModel
        XverseForCausalLM XverseMoeForCausalLM YiVLForCausalLM
    """,
    "0.5.13": """
        Cohere2MoeForCausalLM Cohere2VisionForConditionalGeneration Gemma4UnifiedAssistantForCausalLM
        Gemma4UnifiedForConditionalGeneration Glm4MoeLiteForCausalLMNextN NemotronHPuzzleForCausalLM
        Qwen3MoeForCausalLMMTP Step3p7ForConditionalGeneration
    """,
    "0.5.14": "MiMoV2ASRForCausalLM ZayaForCausalLM",
    "0.5.15": """
        DFlashLagunaForCausalLM HrmTextForCausalLM LocateAnythingForConditionalGeneration
        UnlimitedOCRForCausalLM
    """,
    "0.5.16": """
        DeepseekV4ForCausalLMDSpark GlmImageForConditionalGeneration GlmMoeDsaForCausalLMNextN
        InklingForConditionalGeneration InklingForConditionalGenerationMTP MellumForCausalLM
        MiniMaxM3SparseForCausalLM MiniMaxM3SparseForConditionalGeneration Qwen3DSparkModel
    """,
    "0.5.17": """
        DSparkDraftModel EmbeddingGemmaModel KimiK3ForConditionalGeneration Lfm2BidirectionalModel
        Qwen3Model Qwen3_5ForCausalLM Qwen3_5MoeForCausalLM
    """,
    "0.5.18": """
        InternS2MobiusForConditionalGeneration MuseGlimmerAssistantModel MuseGlimmerForCausalLM
        MuseGlimmerForConditionalGeneration
    """,
    "0.5.19": """
        BailingMoeV3ForCausalLM DFlash2DraftModel Dots3NoteForCausalLM Dots3NoteForCausalLMNextN
        GraniteMoeSWAForCausalLM GraniteMoeSharedForCausalLM GraniteSWAForCausalLM
        KimiK3LinearForCausalLM Lfm2DSparkDraftModel LingDSparkModel MiniCPMSALAForCausalLM
        Spark2_5ForCausalLM
    """,
    "0.5.20": """
        Cosmos3EdgeForConditionalGeneration Cosmos3ForConditionalGeneration FalconMambaForCausalLM
        Glm5NextForConditionalGeneration Glm5NextForConditionalGenerationNextN HYV4ForCausalLM
        HYV4ForCausalLMNextN K2HorizonForCausalLM Mamba2ForCausalLM MambaForCausalLM
        NanbeigeForCausalLM NanbeigeForSequenceClassification NemotronH_Omni_Reasoning_V3
        Qwen4ExpForCausalLMMTP Qwen4ExpForConditionalGeneration XllmForCausalLM
    """,
    "0.5.21": """
        BailingMM2NativeForConditionalGeneration BailingMMNativeForConditionalGeneration
        BailingMoeV3VLForConditionalGeneration DiffusionGemmaForBlockDiffusion GigaChat35ForCausalLM
        GigaChat35ForCausalLMNextN IQuestQ1ForCausalLM IQuestQ1MTP LiLiCorrDraftModel
    """,
    "0.5.22": "EmbeddingGemma2Model ExaoneMoeForCausalLM",
    "0.5.23": """
        BeamForCausalLM DFlash2BeamDraftModel DSparkMiniMaxDraftModel
        MiniCPMV4_7ForConditionalGeneration MiniMaxDFlash2DraftModel MuseSparkForConditionalGeneration
    """,
}
