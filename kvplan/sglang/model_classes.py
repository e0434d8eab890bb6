"""Which facts of a checkpoint the engine's model classes pass on (srt/models/), by release."""

from __future__ import annotations

# Classes that drop the quantisation config: an FP8 KV declaration of the checkpoint never reaches
# kv_cache_dtype.configure_kv_cache_dtype.
DROPS_QUANT_CONFIG = {
    "0.5.13": """
        BertForSequenceClassification BertModel CLIPModel Cohere2VisionForConditionalGeneration Contriever
        DFlashDraftModel DeciLMForCausalLM DeepseekOCRForCausalLM DeepseekVL2ForCausalLM
        DotsOCRForCausalLM DotsVLMForCausalLM Ernie4_5_MoeForCausalLMMTP
        Ernie4_5_VLMoeForConditionalGeneration Glm4vForConditionalGeneration
        GlmAsrForConditionalGeneration GlmOcrForConditionalGeneration HunYuanDenseV1ForCausalLM
        HunYuanMoEV1ForCausalLM JetVLMForConditionalGeneration LagunaForCausalLM
        LightOnOCRForConditionalGeneration LlamaEmbeddingModel LlavaForConditionalGeneration
        LlavaLlamaForCausalLM LlavaMistralForCausalLM LlavaQwenForCausalLM LlavaVidForCausalLM
        MindSporeForCausalLM MiniCPMO MiniCPMV MiniCPMV4_6ForConditionalGeneration
        Mistral3ForConditionalGeneration MistralModel MultiModalityCausalLM NVILAForConditionalGeneration
        NVILALiteForConditionalGeneration NemotronH_Nano_Omni_Reasoning_V3 NemotronH_Nano_VL_V2
        Olmo2ForCausalLM OlmoForCausalLM Phi4MMForCausalLM PixtralForConditionalGeneration
        PixtralVisionModel QWenLMHeadModel Qwen2AudioForConditionalGeneration
        Qwen2VLForConditionalGeneration Qwen2_5_VLForConditionalGeneration
        Qwen3ASRForConditionalGeneration Qwen3OmniMoeForConditionalGeneration Sarashina2VisionForCausalLM
        Starcoder2ForCausalLM Step3p7ForConditionalGeneration StepVLForConditionalGeneration
        VoxtralForConditionalGeneration WhisperForConditionalGeneration
        XLMRobertaForSequenceClassification XLMRobertaModel YiVLForCausalLM
    """,
    "0.5.15": "DFlashLagunaForCausalLM UnlimitedOCRForCausalLM",
    "0.5.16": "GlmImageForConditionalGeneration Qwen3DSparkModel",
    "0.5.17": "DSparkDraftModel Lfm2BidirectionalModel",
    "0.5.18": "MuseGlimmerAssistantModel",
    "0.5.19": "DFlash2DraftModel Lfm2DSparkDraftModel LingDSparkModel",
    "0.5.20": "NemotronH_Omni_Reasoning_V3",
    "0.5.21": "LiLiCorrDraftModel",
    "0.5.22": "EmbeddingGemma2Model",
    "0.5.23": """
        BeamForCausalLM DFlash2BeamDraftModel DSparkMiniMaxDraftModel MiniCPMV4_7ForConditionalGeneration
        MiniMaxDFlash2DraftModel
    """,
}

# Classes without start_layer: every pipeline stage is sized for all layers
# (model_runner_components/layer_setup.py, _resolve_pp_layer_range; model_runner.py to 0.5.15).
SIZED_FOR_ALL_STAGES = {
    "0.5.13": """
        AfmoeForCausalLM BaichuanForCausalLM BailingMoeForCausalLMNextN BertForSequenceClassification
        BertModel CLIPModel ChatGLMModel Cohere2ForCausalLM Cohere2MoeForCausalLM
        Cohere2VisionForConditionalGeneration CohereForCausalLM Contriever DFlashDraftModel
        DbrxForCausalLM DeciLMForCausalLM DeepseekForCausalLM DeepseekOCRForCausalLM
        DeepseekVL2ForCausalLM DotsOCRForCausalLM DotsVLMForCausalLM Eagle3DeepseekV2ForCausalLM
        Ernie4_5_ForCausalLM Ernie4_5_MoeForCausalLM Ernie4_5_MoeForCausalLMMTP
        Ernie4_5_VLMoeForConditionalGeneration ExaoneForCausalLM FalconH1ForCausalLM GPT2LMHeadModel
        GPTBigCodeForCausalLM GPTJForCausalLM Gemma2ForCausalLM Gemma2ForSequenceClassification
        Gemma3ForCausalLM Gemma3ForConditionalGeneration Gemma3nForCausalLM
        Gemma3nForConditionalGeneration Gemma4AssistantForCausalLM Gemma4ForCausalLM
        Gemma4ForConditionalGeneration Gemma4UnifiedAssistantForCausalLM
        Gemma4UnifiedForConditionalGeneration GemmaForCausalLM Glm4vForConditionalGeneration
        Glm4vMoeForConditionalGeneration GlmAsrForConditionalGeneration GlmOcrForConditionalGeneration
        GlmOcrForConditionalGenerationNextN GraniteForCausalLM GraniteMoeForCausalLM Grok1ForCausalLM
        Grok1ModelForCausalLM HYV3ForCausalLM HYV3ForCausalLMNextN HunYuanDenseV1ForCausalLM
        HunYuanMoEV1ForCausalLM IQuestLoopCoderForCausalLM InternLM2ForCausalLM InternLM2ForRewardModel
        InternS1ForConditionalGeneration InternVLChatModel JetNemotronForCausalLM
        JetVLMForConditionalGeneration KimiLinearForCausalLM KimiVLForConditionalGeneration
        Lfm2ForCausalLM Lfm2MoeForCausalLM Lfm2VlForConditionalGeneration
        LightOnOCRForConditionalGeneration Llama4ForConditionalGeneration LlamaEmbeddingModel
        LlamaForClassification LlamaForSequenceClassification
        LlamaForSequenceClassificationWithNormal_Weights LlavaForConditionalGeneration
        LlavaLlamaForCausalLM LlavaMistralForCausalLM LlavaQwenForCausalLM LlavaVidForCausalLM
        LongcatFlashForCausalLM LongcatFlashForCausalLMNextN MiDashengLMModel MiMoForCausalLM MiMoMTP
        MindSporeForCausalLM MiniCPM3ForCausalLM MiniCPMForCausalLM MiniCPMO MiniCPMV
        MiniCPMV4_6ForConditionalGeneration MiniMaxM2ForCausalLM Mistral3ForConditionalGeneration
        MistralModel MllamaForConditionalGeneration MossVLForConditionalGeneration MultiModalityCausalLM
        NVILAForConditionalGeneration NVILALiteForConditionalGeneration NemotronHForCausalLM
        NemotronHForCausalLMMTP NemotronHPuzzleForCausalLM NemotronH_Nano_Omni_Reasoning_V3
        NemotronH_Nano_VL_V2 Olmo2ForCausalLM OlmoForCausalLM OlmoeForCausalLM OrionForCausalLM
        POINTSV15ChatModel PaddleOCRVLForConditionalGeneration PersimmonForCausalLM Phi3SmallForCausalLM
        Phi4MMForCausalLM PhiForCausalLM PhiMoEForCausalLM PixtralForConditionalGeneration
        PixtralVisionModel QWenLMHeadModel QuantMixtralForCausalLM Qwen2AudioForConditionalGeneration
        Qwen2ForRewardModel Qwen2ForSequenceClassification Qwen2VLForConditionalGeneration
        Qwen2_5_VLForConditionalGeneration Qwen3ASRForConditionalGeneration Qwen3ForRewardModel
        Qwen3ForSequenceClassification Qwen3NextForCausalLM Qwen3NextForCausalLMMTP
        Qwen3OmniMoeForConditionalGeneration Qwen3_5ForCausalLMMTP Sarashina2VisionForCausalLM
        SolarForCausalLM StableLmForCausalLM Starcoder2ForCausalLM Step3VLForConditionalGeneration
        Step3p7ForConditionalGeneration StepVLForConditionalGeneration TorchNativeLlamaForCausalLM
        TorchNativePhi3ForCausalLM VoxtralForConditionalGeneration WhisperForConditionalGeneration
        XLMRobertaForSequenceClassification XLMRobertaModel XverseForCausalLM XverseMoeForCausalLM
        YiVLForCausalLM
    """,
    "0.5.14": "MiMoV2ASRForCausalLM ZayaForCausalLM",
    "0.5.15": """
        DFlashLagunaForCausalLM HrmTextForCausalLM LocateAnythingForConditionalGeneration
        UnlimitedOCRForCausalLM
    """,
    "0.5.16": "GlmImageForConditionalGeneration Qwen3DSparkModel",
    "0.5.17": "DSparkDraftModel EmbeddingGemmaModel Lfm2BidirectionalModel Qwen3Model",
    "0.5.18": """
        MuseGlimmerAssistantModel MuseGlimmerForCausalLM MuseGlimmerForConditionalGeneration
    """,
    "0.5.19": """
        DFlash2DraftModel GraniteMoeSWAForCausalLM GraniteMoeSharedForCausalLM GraniteSWAForCausalLM
        KimiK3LinearForCausalLM Lfm2DSparkDraftModel LingDSparkModel MiniCPMSALAForCausalLM
    """,
    "0.5.20": """
        FalconMambaForCausalLM HYV4ForCausalLM HYV4ForCausalLMNextN Mamba2ForCausalLM MambaForCausalLM
        NanbeigeForSequenceClassification NemotronH_Omni_Reasoning_V3 Qwen4ExpForCausalLMMTP
    """,
    "0.5.21": """
        BailingMM2NativeForConditionalGeneration BailingMMNativeForConditionalGeneration
        BailingMoeV3VLForConditionalGeneration DiffusionGemmaForBlockDiffusion GigaChat35ForCausalLM
        GigaChat35ForCausalLMNextN IQuestQ1ForCausalLM IQuestQ1MTP LiLiCorrDraftModel
    """,
    "0.5.22": "EmbeddingGemma2Model",
    "0.5.23": """
        DFlash2BeamDraftModel DSparkMiniMaxDraftModel MiniCPMV4_7ForConditionalGeneration
        MiniMaxDFlash2DraftModel MuseSparkForConditionalGeneration
    """,
}
# Those of them that keep a range of layers since.
KEEPS_A_RANGE = {"0.5.17": "KimiLinearForCausalLM", "0.5.23": "KimiK3LinearForCausalLM"}

# Classes that the engine counts as multimodal (configs/model_config.py, multimodal_model_archs).
MULTIMODAL = {
    "0.5.12": """
        CLIPModel DeepseekOCRForCausalLM DeepseekVL2ForCausalLM DotsOCRForCausalLM DotsVLMForCausalLM
        Ernie4_5_VLMoeForConditionalGeneration Gemma3ForConditionalGeneration
        Gemma3nForConditionalGeneration Gemma4ForConditionalGeneration Glm4vForConditionalGeneration
        Glm4vMoeForConditionalGeneration GlmAsrForConditionalGeneration GlmOcrForConditionalGeneration
        Grok1AForCausalLM Grok1VForCausalLM InternS1ForConditionalGeneration
        InternS1ProForConditionalGeneration InternS2PreviewForConditionalGeneration InternVLChatModel
        JetVLMForConditionalGeneration KimiK25ForConditionalGeneration KimiVLForConditionalGeneration
        Lfm2VlForConditionalGeneration LightOnOCRForConditionalGeneration Llama4ForConditionalGeneration
        LlavaForConditionalGeneration LlavaLlamaForCausalLM LlavaMistralForCausalLM LlavaQwenForCausalLM
        LlavaVidForCausalLM MiDashengLMModel MiMoV2ForCausalLM MiniCPMO MiniCPMV
        Mistral3ForConditionalGeneration MllamaForConditionalGeneration MossVLForConditionalGeneration
        MultiModalityCausalLM NVILAForConditionalGeneration NVILALiteForConditionalGeneration
        NemotronH_Nano_Omni_Reasoning_V3 NemotronH_Nano_VL_V2 POINTSV15ChatModel
        PaddleOCRVLForConditionalGeneration Phi4MMForCausalLM PixtralForConditionalGeneration
        Qwen2AudioForConditionalGeneration Qwen2VLForConditionalGeneration
        Qwen2_5_VLForConditionalGeneration Qwen3ASRForConditionalGeneration
        Qwen3OmniMoeForConditionalGeneration Qwen3VLForConditionalGeneration
        Qwen3VLMoeForConditionalGeneration Qwen3_5ForConditionalGeneration
        Qwen3_5MoeForConditionalGeneration Sarashina2VisionForCausalLM Step3VLForConditionalGeneration
        StepVLForConditionalGeneration VoxtralForConditionalGeneration WhisperForConditionalGeneration
    """,
    "0.5.13": """
        Cohere2VisionForConditionalGeneration Gemma4UnifiedForConditionalGeneration
        Step3p7ForConditionalGeneration
    """,
    "0.5.14": "MiMoV2ASRForCausalLM",
    "0.5.15": "LocateAnythingForConditionalGeneration UnlimitedOCRForCausalLM",
    "0.5.16": "GlmImageForConditionalGeneration MiniMaxM3SparseForConditionalGeneration",
    "0.5.18": "InternS2MobiusForConditionalGeneration MuseGlimmerForConditionalGeneration",
    "0.5.19": "Dots3NoteForCausalLM",
    "0.5.20": """
        Cosmos3EdgeForConditionalGeneration Glm5NextForConditionalGeneration NemotronH_Omni_Reasoning_V3
        Qwen4ExpForConditionalGeneration
    """,
    "0.5.21": """
        BailingMM2NativeForConditionalGeneration BailingMMNativeForConditionalGeneration
        BailingMoeV3VLForConditionalGeneration DiffusionGemmaForBlockDiffusion
    """,
    "0.5.22": "EmbeddingGemma2Model",
    "0.5.23": "MuseSparkForConditionalGeneration",
}

# Multimodal classes that keep prefill CUDA graphs (configs/model_config.py,
# multimodal_breakable_cuda_graph_supported_model_archs).
MULTIMODAL_PREFILL_GRAPH = {
    "0.5.16": "Qwen3_5ForConditionalGeneration Qwen3_5MoeForConditionalGeneration",
    "0.5.18": """
        InternS2MobiusForConditionalGeneration KimiK25ForConditionalGeneration
        KimiK3ForConditionalGeneration MuseGlimmerForConditionalGeneration
    """,
    "0.5.19": "Cohere2VisionForConditionalGeneration PaddleOCRVLForConditionalGeneration",
    "0.5.20": "Glm5NextForConditionalGeneration",
    "0.5.22": """
        MiniMaxM3SparseForCausalLM MiniMaxM3SparseForConditionalGeneration
        Qwen4ExpForConditionalGeneration
    """,
    "0.5.23": "MuseSparkForConditionalGeneration",
}

# Those that keep piecewise ones instead (multimodal_piecewise_cuda_graph_supported_model_archs); none
# since 0.5.22.
PIECEWISE_MULTIMODAL_0_5_14 = frozenset({"Cohere2VisionForConditionalGeneration"})
PIECEWISE_MULTIMODAL_0_5_19 = frozenset(
    """
    KimiK25ForConditionalGeneration MiniMaxM3SparseForCausalLM MiniMaxM3SparseForConditionalGeneration
    """.split()
)
PIECEWISE_MULTIMODAL_0_5_16 = PIECEWISE_MULTIMODAL_0_5_14 | PIECEWISE_MULTIMODAL_0_5_19
