"""Which reader understands which model class. A class that is not here is refused, never guessed."""

from __future__ import annotations

from collections.abc import Callable

from kvplan.layers import Layer
from kvplan.readers import deepseek_v4, latent, linear, mamba, minimax_m3, other, standard
from kvplan.readers.reading import Reading

Reader = Callable[[Reading], list[Layer]]

# Decoders (and the few encoders that engines give a KV pool) whose layers are plain attention.
_STANDARD = """
AfmoeForCausalLM ApertusForCausalLM ArceeForCausalLM BaichuanForCausalLM
BailingMM2NativeForConditionalGeneration BailingMMNativeForConditionalGeneration BailingMoEForCausalLM
BailingMoeForCausalLM BailingMoeV2ForCausalLM BeamForCausalLM BertForSequenceClassification BertModel
BloomForCausalLM CLIPModel ChatGLMModel CogVLMVideoForCausalLM Cohere2ForCausalLM Cohere2MoeForCausalLM
Cohere2VisionForConditionalGeneration CohereForCausalLM Contriever Cosmos3EdgeForConditionalGeneration
Cosmos3ForConditionalGeneration DbrxForCausalLM DeepseekForCausalLM DotsOCRForCausalLM
EmbeddingGemmaModel Ernie4_5_ForCausalLM Ernie4_5_MoeForCausalLM Ernie4_5_VLMoeForConditionalGeneration
Exaone4ForCausalLM ExaoneForCausalLM ExaoneMoEForCausalLM ExaoneMoeForCausalLM FalconForCausalLM
GPT2LMHeadModel GPTBigCodeForCausalLM GPTJForCausalLM GPTNeoXForCausalLM Gemma2ForCausalLM
Gemma2ForSequenceClassification Gemma3ForCausalLM Gemma3ForConditionalGeneration Gemma3nForCausalLM
Gemma3nForConditionalGeneration GemmaForCausalLM Glm4ForCausalLM Glm4MoeForCausalLM
Glm4vForConditionalGeneration Glm4vMoeForConditionalGeneration GlmAsrForConditionalGeneration
GlmImageForConditionalGeneration GlmOcrForConditionalGeneration GptOssForCausalLM GraniteForCausalLM
GraniteMoeForCausalLM GraniteMoeSWAForCausalLM GraniteMoeSharedForCausalLM GraniteSWAForCausalLM
Grok1ForCausalLM Grok1ModelForCausalLM HYV3ForCausalLM HeliumForCausalLM HunYuanDenseV1ForCausalLM
HunYuanMoEV1ForCausalLM HunYuanVLForConditionalGeneration IQuestCoderForCausalLM
IQuestLoopCoderForCausalLM IQuestQ1ForCausalLM Idefics3ForConditionalGeneration InternLM2ForCausalLM
InternLM2ForRewardModel InternLM3ForCausalLM InternLMForCausalLM InternS1ForConditionalGeneration
InternS1ProForConditionalGeneration InternVLChatModel K2HorizonForCausalLM LLaDA2MoeModelLM
LLaMAForCausalLM LagunaForCausalLM LightOnOCRForConditionalGeneration Llama4ForCausalLM
Llama4ForConditionalGeneration LlamaEmbeddingModel LlamaForCausalLM LlamaForClassification
LlamaForSequenceClassification LlamaForSequenceClassificationWithNormal_Weights
LlavaForConditionalGeneration LlavaLlamaForCausalLM LlavaLlamaModel LlavaMistralForCausalLM
LlavaQwenForCausalLM LlavaVidForCausalLM LocateAnythingForConditionalGeneration
LogicsForConditionalGeneration MellumForCausalLM MiDashengLMModel MiMoForCausalLM MiMoV2ASRForCausalLM
MiniCPMO MiniCPMV MiniMaxM2ForCausalLM Ministral3ForCausalLM Mistral3ForConditionalGeneration
MistralForCausalLM MistralModel MixtralForCausalLM MllamaForConditionalGeneration MolmoForCausalLM
MossVLForConditionalGeneration MptForCausalLM MultiModalityCausalLM MuseGlimmerForCausalLM
MuseGlimmerForConditionalGeneration MuseSparkForConditionalGeneration NVILAForConditionalGeneration
NVILALiteForConditionalGeneration NanbeigeForCausalLM NanbeigeForSequenceClassification OPTForCausalLM
Olmo2ForCausalLM Olmo3ForCausalLM OlmoForCausalLM OlmoeForCausalLM OrionForCausalLM POINTSV15ChatModel
PaddleOCRVLForConditionalGeneration PanguEmbeddedForCausalLM PersimmonForCausalLM Phi3ForCausalLM
Phi3SmallForCausalLM Phi3VForCausalLM Phi4MMForCausalLM PhiForCausalLM PhiMoEForCausalLM QWenLMHeadModel
QuantMixtralForCausalLM Qwen2AudioForConditionalGeneration Qwen2ForCausalLM Qwen2ForRewardModel
Qwen2ForSequenceClassification Qwen2MoeForCausalLM Qwen2VLForConditionalGeneration
Qwen2_5OmniForConditionalGeneration Qwen2_5_VLForConditionalGeneration Qwen3ASRForConditionalGeneration
Qwen3ForCausalLM Qwen3ForRewardModel Qwen3ForSequenceClassification Qwen3Model Qwen3MoeForCausalLM
Qwen3OmniMoeForConditionalGeneration Qwen3VLForConditionalGeneration Qwen3VLMoeForConditionalGeneration
RWForCausalLM SDARForCausalLM SDARMoeForCausalLM Sarashina2VisionForCausalLM SarvamMoEForCausalLM
SeedOssForCausalLM SmallThinkerForCausalLM SmolLM3ForCausalLM SolarForCausalLM Spark2_5ForCausalLM
StableLmForCausalLM Starcoder2ForCausalLM Step3VLForConditionalGeneration StepVLForConditionalGeneration
TeleFLMForCausalLM TelechatForCausalLM TorchNativeLlamaForCausalLM TorchNativePhi3ForCausalLM
VibeVoiceForConditionalGeneration VoxtralForConditionalGeneration XLMRobertaForSequenceClassification
XLMRobertaModel XllmForCausalLM XverseForCausalLM XverseMoeForCausalLM YiVLForCausalLM
"""
_LATENT = """
DeepseekV2ForCausalLM DeepseekV32ForCausalLM DeepseekV3ForCausalLM DotsVLMForCausalLM
Glm4MoeLiteForCausalLM GlmMoeDsaForCausalLM HYV4ForCausalLM KimiK25ForConditionalGeneration
KimiVLForConditionalGeneration MiniCPM3ForCausalLM MistralLarge3ForCausalLM SarvamMLAForCausalLM
"""
_LATENT_OR_HEADS = """
DeepseekOCR2ForCausalLM DeepseekOCRForCausalLM DeepseekVL2ForCausalLM DeepseekVLV2ForCausalLM
PixtralForConditionalGeneration
"""
_LONGCAT = "LongcatCausalLM LongcatFlashForCausalLM LongcatFlashNgramForCausalLM"
_GATED_DELTA_NET = """
InternS2MobiusForConditionalGeneration InternS2PreviewForConditionalGeneration
MiniCPMV4_6ForConditionalGeneration
MiniCPMV4_7ForConditionalGeneration Qwen3NextForCausalLM Qwen3_5ForCausalLM
Qwen3_5ForConditionalGeneration Qwen3_5MoeForCausalLM Qwen3_5MoeForConditionalGeneration
"""
_KIMI_DELTA = """
Glm5NextForConditionalGeneration KimiK3ForConditionalGeneration KimiK3LinearForCausalLM
KimiLinearForCausalLM
"""
_BAILING_HYBRID = """
BailingMoeV2_5ForCausalLM BailingMoeV3ForCausalLM BailingMoeV3VLForConditionalGeneration
"""
_NEMOTRON_H = """
NemotronHForCausalLM NemotronH_Nano_Omni_Reasoning_V3 NemotronH_Nano_VL_V2 NemotronH_Omni_Reasoning_V3
"""
_SHORT_CONV = "Lfm2BidirectionalModel Lfm2ForCausalLM Lfm2MoeForCausalLM Lfm2VlForConditionalGeneration"
_LIGHTNING = "MiniMaxForCausalLM MiniMaxM1ForCausalLM MiniMaxText01ForCausalLM"
_OWN_WINDOWS = """
MiMoV2FlashForCausalLM MiMoV2ForCausalLM Step3p5ForCausalLM Step3p7FlashForCausalLM
Step3p7ForConditionalGeneration
"""
_GEMMA4 = """
DiffusionGemmaForBlockDiffusion Gemma4ForCausalLM Gemma4ForConditionalGeneration
Gemma4UnifiedForConditionalGeneration
"""

_GROUPS: tuple[tuple[str, Reader], ...] = (
    (_STANDARD, standard.read_standard),
    (_LATENT, latent.read_latent),
    (_LATENT_OR_HEADS, latent.read_latent_or_heads),
    (_LONGCAT, latent.read_longcat),
    ("DeepseekV4ForCausalLM DeepseekV41ForCausalLM", deepseek_v4.read_deepseek_v4),
    (_GATED_DELTA_NET, linear.read_gated_delta_net),
    ("GigaChat35ForCausalLM", linear.read_gigachat),
    (_KIMI_DELTA, linear.read_kimi_delta),
    (_BAILING_HYBRID, linear.read_bailing_hybrid),
    (_LIGHTNING, linear.read_lightning),
    ("BailingMoeLinearV2ForCausalLM", linear.read_bailing_linear),
    ("MiniCPMForCausalLM", linear.read_minicpm),
    ("MiniCPMSALAForCausalLM", linear.read_minicpm_sala),
    ("JetNemotronForCausalLM JetVLMForConditionalGeneration", linear.read_jet_nemotron),
    (_NEMOTRON_H, mamba.read_nemotron_h),
    ("NemotronHPuzzleForCausalLM", mamba.read_nemotron_puzzle),
    ("FalconH1ForCausalLM", mamba.read_falcon_h1),
    ("GraniteMoeHybridForCausalLM", mamba.read_granite_hybrid),
    ("JambaForCausalLM", mamba.read_jamba),
    ("MambaForCausalLM FalconMambaForCausalLM", mamba.read_mamba1),
    ("Mamba2ForCausalLM", mamba.read_mamba2),
    (_SHORT_CONV, mamba.read_short_conv),
    ("MiniMaxM3SparseForCausalLM MiniMaxM3SparseForConditionalGeneration", minimax_m3.read_minimax_m3),
    (_OWN_WINDOWS, standard.read_own_windows),
    (_GEMMA4, standard.read_gemma4),
    ("DeciLMForCausalLM", other.read_deci),
    ("WhisperForConditionalGeneration", other.read_whisper),
)
READERS: dict[str, Reader] = {name: reader for names, reader in _GROUPS for name in names.split()}

# Name endings of draft models: they hold the pool of their target's tokens, and are planned with it.
DRAFT_ENDINGS = (
    *("NextN", "MTP", "Eagle", "Eagle3", "DSpark"),
    *("DraftModel", "AssistantForCausalLM", "AssistantModel"),
)
# Model classes of the engine whose cache design kvplan does not have, with what is special about it.
NOT_PLANNED = {
    "Dots3NoteForCausalLM": "windows over latents",
    "EmbeddingGemma2Model": "an embedding model with layers of two shapes",
    "HrmTextForCausalLM": "layers that are run in cycles",
    "InklingForConditionalGeneration": "convolution states beside windowed attention",
    "MindSporeForCausalLM": "the MindSpore backend",
    "Qwen4ExpForConditionalGeneration": "a compressed index beside a gated delta net",
    "UnlimitedOCRForCausalLM": "a window around the image on all layers",
    "ZayaForCausalLM": "convolution states inside attention",
}
# Configs of models that keep no KV cache for decoding, by model_type.
NOT_DECODERS = {
    "albert": "an encoder",
    "bart": "an encoder-decoder",
    "bert": "an encoder",
    "distilbert": "an encoder",
    "mbart": "an encoder-decoder",
    "mt5": "an encoder-decoder",
    "pegasus": "an encoder-decoder",
    "roberta": "an encoder",
    "siglip": "a vision and text encoder",
    "t5": "an encoder-decoder",
    "umt5": "an encoder-decoder",
    "vit": "a vision encoder",
}
