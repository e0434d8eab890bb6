"""Small architectures for the tests, from the published configs of the models that they are named after."""

from __future__ import annotations

from kvplan.architecture import Architecture, ConfigHeads
from kvplan.layers import (
    CompressedAttention,
    FullAttention,
    GatedDeltaNet,
    KimiDeltaAttention,
    LatentAttention,
    Layer,
    Mamba2,
    NoCache,
    SlidingAttention,
)

LLAMA_8B = Architecture(
    id="meta-llama/Llama-3.1-8B",
    architecture="LlamaForCausalLM",
    model_type="llama",
    layers=(FullAttention(kv_heads=8, head_dim=128, v_head_dim=128),) * 32,
    context_length=131_072,
    dtype="bfloat16",
    attention_heads=32,
    hidden_size=4096,
)
DEEPSEEK_V3 = Architecture(
    id="deepseek-ai/DeepSeek-V3",
    architecture="DeepseekV3ForCausalLM",
    model_type="deepseek_v3",
    layers=(LatentAttention(kv_lora_rank=512, qk_rope_head_dim=64),) * 61,
    context_length=163_840,
    dtype="bfloat16",
    attention_heads=128,
    hidden_size=7168,
    draft_layers=1,
)
INDEXED = LatentAttention(kv_lora_rank=512, qk_rope_head_dim=64, index_head_dim=128, index_topk=2048)
DEEPSEEK_V32 = Architecture(
    id="deepseek-ai/DeepSeek-V3.2",
    architecture="DeepseekV32ForCausalLM",
    model_type="deepseek_v32",
    layers=(INDEXED,) * 61,
    context_length=163_840,
    dtype="bfloat16",
    attention_heads=128,
    hidden_size=7168,
    config_heads=ConfigHeads(kv_heads=128, head_dim=64, v_head_dim=128),
    draft_layers=1,
)
_OSS_FULL = FullAttention(kv_heads=8, head_dim=64, v_head_dim=64)
_OSS_WINDOW = SlidingAttention(kv_heads=8, head_dim=64, v_head_dim=64, window=128)
GPT_OSS = Architecture(
    id="openai/gpt-oss-120b",
    architecture="GptOssForCausalLM",
    model_type="gpt_oss",
    layers=(_OSS_WINDOW, _OSS_FULL) * 18,
    context_length=131_072,
    dtype="bfloat16",
    attention_heads=64,
    hidden_size=2880,
)
_QWEN_FULL = FullAttention(kv_heads=2, head_dim=256, v_head_dim=256)
_QWEN_GDN = GatedDeltaNet(k_heads=16, v_heads=64, k_head_dim=128, v_head_dim=128, conv_kernel=4)
QWEN_35 = Architecture(
    id="Qwen/Qwen3.5-397B-A17B",
    architecture="Qwen3_5MoeForConditionalGeneration",
    model_type="qwen3_5_moe",
    layers=(_QWEN_GDN, _QWEN_GDN, _QWEN_GDN, _QWEN_FULL) * 15,
    context_length=262_144,
    dtype="bfloat16",
    attention_heads=32,
    hidden_size=4096,
    nested_text=True,
    modalities=("vision",),
)
_KDA = KimiDeltaAttention(heads=32, head_dim=128, conv_kernel=4)
_KIMI_LATENT = LatentAttention(kv_lora_rank=512, qk_rope_head_dim=64)
KIMI_LINEAR = Architecture(
    id="moonshotai/Kimi-Linear-48B-A3B-Instruct",
    architecture="KimiLinearForCausalLM",
    model_type="kimi_linear",
    # Full attention on layers 4, 8, 12, 16, 20, 24 and 27, counted from 1.
    layers=(*((_KDA, _KDA, _KDA, _KIMI_LATENT) * 6), _KDA, _KDA, _KIMI_LATENT),
    context_length=1_048_576,
    dtype="bfloat16",
    attention_heads=32,
    hidden_size=2304,
)


def v4_layer(ratio: int, *, source: bool = True) -> CompressedAttention:
    """A layer of DeepSeek-V4 with the published widths."""
    index = 128 if ratio in (1, 2, 4) else 0
    return CompressedAttention(
        ratio=ratio,
        head_dim=512,
        qk_rope_head_dim=64,
        window=128,
        index_head_dim=index,
        index_topk=512 if index else 0,
        source=source,
    )


V4_FLASH = Architecture(
    id="deepseek-ai/DeepSeek-V4-Flash",
    architecture="DeepseekV4ForCausalLM",
    model_type="deepseek_v4",
    # compress_ratios: 0, 0, then 4 and 128 in turn up to layer 43; the 44th entry, 0, belongs to MTP.
    layers=(v4_layer(0), v4_layer(0), *((v4_layer(4), v4_layer(128)) * 20), v4_layer(4)),
    mtp_ratios=(0,),
    context_length=1_048_576,
    dtype="bfloat16",
    attention_heads=64,
    hidden_size=4096,
    draft_layers=1,
)
_MAMBA = Mamba2(heads=64, head_dim=64, state_size=128, groups=8, conv_kernel=4)
NEMOTRON_NANO = Architecture(
    id="nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16",
    architecture="NemotronHForCausalLM",
    model_type="nemotron_h",
    # 52 layers: 23 Mamba-2, 6 attention, 23 expert layers, here in another order.
    layers=(
        *((_MAMBA, NoCache()) * 23),
        *((FullAttention(kv_heads=2, head_dim=128, v_head_dim=128),) * 6),
    ),
    context_length=262_144,
    dtype="bfloat16",
    attention_heads=32,
    hidden_size=2688,
)

BY_LINK: dict[str, Architecture] = {
    "DSV4": V4_FLASH,
    "DSA": DEEPSEEK_V32,
    "MLA": DEEPSEEK_V3,
    "SWA": GPT_OSS,
    "MAMBA": QWEN_35,
    "MHA": LLAMA_8B,
}


def of_layers(architecture: Architecture, *layers: Layer) -> Architecture:
    """The same model with other layers."""
    return Architecture(
        id=architecture.id,
        architecture=architecture.architecture,
        model_type=architecture.model_type,
        layers=layers,
        context_length=architecture.context_length,
        dtype=architecture.dtype,
        attention_heads=architecture.attention_heads,
        hidden_size=architecture.hidden_size,
    )
