"""Plans written by hand, whole and with right figures, for the tests of renderers and command line.

Budgets, cells and token counts: SGLang 0.5.23's own results for these configs.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from kvplan.architecture import Architecture, Source
from kvplan.deployment import Deployment
from kvplan.layers import CompressedAttention, FullAttention, GatedDeltaNet, LatentAttention, Layer
from kvplan.records import Buffer, Capacity, Plan, Pool, PoolChoice, Request, Resolved, Term, Verdict

GIB = 1 << 30

_GDN = GatedDeltaNet(k_heads=16, v_heads=64, k_head_dim=128, v_head_dim=128, conv_kernel=4)
_QWEN_FULL = FullAttention(kv_heads=2, head_dim=256, v_head_dim=256)
QWEN = Architecture(
    id="Qwen/Qwen3.5-397B-A17B",
    architecture="Qwen3_5MoeForConditionalGeneration",
    layers=(_GDN, _GDN, _GDN, _QWEN_FULL) * 15,
    attention_heads=32,
    context_length=262_144,
    dtype="bfloat16",
    source=Source(kind="bundled", location="configs/Qwen__Qwen3.5-397B-A17B.yaml"),
)
LLAMA = Architecture(
    id="meta-llama/Llama-3.1-8B",
    architecture="LlamaForCausalLM",
    layers=(FullAttention(kv_heads=8, head_dim=128, v_head_dim=128),) * 32,
    attention_heads=32,
    hidden_size=4_096,
    context_length=131_072,
    dtype="bfloat16",
    source=Source(
        kind="hub", location="meta-llama/Llama-3.1-8B", revision="d04e592bb4f6aa9cfee91e2e20afa771667e1d4b"
    ),
)


def _v4(ratio: int) -> Layer:
    index = 128 if ratio == 4 else 0
    return CompressedAttention(
        ratio=ratio, head_dim=512, qk_rope_head_dim=64, window=128, index_head_dim=index, index_topk=4 * index
    )


V4_FLASH = Architecture(
    id="deepseek-ai/DeepSeek-V4-Flash",
    architecture="DeepseekV4ForCausalLM",
    layers=(_v4(0), _v4(0), *(_v4(4), _v4(128)) * 20, _v4(4)),
    attention_heads=64,
    context_length=1_048_576,
    dtype="bfloat16",
    source=Source(kind="file", location="v4/config.json"),
)


def resolved(**changes: Any) -> Resolved:
    """Options on an H200 in bfloat16, page 1, without recurrent state."""
    known: dict[str, Any] = {
        "gpu": "h200",
        "attention_tp": 1,
        "attention_dp": 1,
        "kv_cache_dtype": "bfloat16",
        "kv_cache_flag": "auto",
        "page_size": 1,
        "attention_backend": "fa3",
        "dsa_prefill_backend": None,
        "dsa_decode_backend": None,
        "mem_fraction_static": 0.903,
        "chunked_prefill_size": 8192,
        "context_length": 131_072,
        "swa_full_tokens_ratio": 0.8,
        "mamba_full_memory_ratio": 0.9,
        "state_slots_per_request": 0,
        "draft_layers": 0,
        "speculative_num_draft_tokens": None,
    }
    return Resolved(**(known | changes))


def qwen() -> Plan:
    """TP 8, 60 GiB: 2 KV heads of 256 on 8 GPUs, so each keeps 1: 15 x 1 x 512 x 2 = 15,360."""
    return Plan(
        architecture=QWEN,
        deployment=Deployment(tp=8, ctx=100_000, available_bytes=60 * GIB),
        resolved=resolved(
            attention_tp=8, mem_fraction_static=0.893, context_length=262_144, state_slots_per_request=5
        ),
        pool=PoolChoice(
            link="MAMBA",
            why=(
                Verdict(link="DSV4", matches=False, why="no compressed layers"),
                Verdict(link="DSA", matches=False, why="no indexer"),
                Verdict(link="MLA", matches=False, why="no latent layers"),
                Verdict(link="SWA", matches=False, why="not on the engine's list"),
                Verdict(link="MAMBA", matches=True, why="45 layers keep a recurrent state"),
            ),
            cell_size=15_360,
            state_bytes_per_request=24_007_680,
            terms=(Term(name="K and V", bytes_per_token=15_360, formula="15 x 1 x (256 + 256) x 2"),),
        ),
        # 100,000 x 15,360 + 24,007,680 = 1,560,007,680; 8 times that on 8 GPUs
        request=Request(
            context=100_000,
            bytes_per_token=15_360,
            fixed_bytes=24_007_680,
            bytes=1_560_007_680,
            bytes_total=12_480_061_440,
        ),
        capacity=Capacity(
            available_bytes=60 * GIB,
            state_bytes=30_513_761_280,
            kv_bytes=33_910_748_160,
            max_total_num_tokens=2_207_731,
            max_mamba_cache_size=1_270,
            max_running_requests=254,
            requests_at_context=22,
            limited_by="kv tokens",
        ),
        pools=(
            Pool(
                name="state",
                layers=45,
                tokens=1_270,
                bytes_per_token=24_007_680,
                charged_bytes=30_513_761_280,
                allocated_bytes=30_513_761_280,
            ),
            Pool(
                name="KV",
                layers=15,
                tokens=2_207_731,
                bytes_per_token=15_360,
                charged_bytes=33_910_748_160,
                allocated_bytes=33_910_763_520,
            ),
        ),
        buffers=(
            Buffer(name="k", shape=(2_207_732, 1, 256), dtype="bfloat16", count=15, bytes=16_955_381_760),
        ),
        assumed=("GPU h200: no --gpu is given",),
    )


def llama(**options: Any) -> Plan:
    """TP 1, 100 GiB: 107,374,182,400 / 131,072 = 819,200 tokens."""
    budget: dict[str, Any] = {"gpu": "h200", "available_bytes": 100 * GIB}
    return Plan(
        architecture=LLAMA,
        deployment=Deployment(**(budget | options)),
        resolved=resolved(),
        pool=PoolChoice(
            link="MHA",
            why=(Verdict(link="MHA", matches=True, why="every layer keeps K and V"),),
            cell_size=131_072,
            state_bytes_per_request=0,
        ),
        request=Request(
            context=100_000,
            bytes_per_token=131_072,
            fixed_bytes=0,
            bytes=13_107_200_000,
            bytes_total=13_107_200_000,
        ),
        capacity=Capacity(
            available_bytes=100 * GIB,
            state_bytes=0,
            kv_bytes=100 * GIB,
            max_total_num_tokens=819_200,
            max_running_requests=3_200,
            requests_at_context=8,
            limited_by="kv tokens",
        ),
        pools=(
            Pool(
                name="KV",
                layers=32,
                tokens=819_200,
                bytes_per_token=131_072,
                charged_bytes=107_374_182_400,
                allocated_bytes=107_374_313_472,
            ),
        ),
    )


def v4_flash() -> Plan:
    """No budget. Accounting: 21 x (584 + 132) / 4 + 20 x 584 / 128 = 3,850.25; the pool's cell 7,086.75."""
    return Plan(
        architecture=V4_FLASH,
        deployment=Deployment(gpu="h200"),
        resolved=resolved(
            kv_cache_dtype="float8_e4m3fn",
            page_size=256,
            mem_fraction_static=0.907,
            context_length=1_048_576,
            swa_full_tokens_ratio=0.1,
        ),
        pool=PoolChoice(
            link="DSV4",
            why=(Verdict(link="DSV4", matches=True, why="DeepseekV4ForCausalLM"),),
            cell_size=7_086.75,
            state_bytes_per_request=0,
        ),
        # 21 x 25,000 x 716 + 20 x 781 x 584 + 15,420,416 = 400,442,496
        request=Request(
            context=100_000,
            bytes_per_token=3_850.25,
            fixed_bytes=15_420_416,
            bytes=400_442_496,
            bytes_total=400_442_496,
        ),
        capacity=Capacity(),
        warnings=("--kv-cache-dtype changes nothing: DeepSeek-V4 rows are fp8",),
    )


def flagship(name: str, layer: Layer, count: int, per_token: int) -> Plan:
    """One of the flagships without recurrent state, bf16, whole model, 100,000 tokens, no budget."""
    model = Architecture(id=name, architecture="", layers=(layer,) * count, attention_heads=64)
    total = per_token * 100_000
    return dataclasses.replace(
        llama(available_bytes=None, gpu=None),
        architecture=model,
        pool=PoolChoice(link="MHA", why=(), cell_size=per_token, state_bytes_per_request=0),
        request=Request(
            context=100_000, bytes_per_token=per_token, fixed_bytes=0, bytes=total, bytes_total=total
        ),
        capacity=Capacity(),
        pools=(),
    )


def flagships() -> tuple[Plan, ...]:
    """The five models of the reference document, in no special order, in bf16 and whole."""
    latent = LatentAttention(kv_lora_rank=512, qk_rope_head_dim=64)
    indexed = dataclasses.replace(latent, index_head_dim=128, index_topk=2048)
    gqa = FullAttention(kv_heads=8, head_dim=128, v_head_dim=128)
    qwen_whole = dataclasses.replace(
        flagship("Qwen/Qwen3.5-397B-A17B", _GDN, 60, 30_720),
        architecture=QWEN,
        request=Request(
            context=100_000,
            bytes_per_token=30_720,
            fixed_bytes=192_061_440,
            bytes=3_264_061_440,
            bytes_total=3_264_061_440,
        ),
    )
    return (
        flagship("MiniMaxAI/MiniMax-M2.7", gqa, 62, 253_952),
        flagship("zai-org/GLM-5.1", indexed, 78, 100_152),
        qwen_whole,
        flagship("moonshotai/Kimi-K2.6", latent, 61, 70_272),
        flagship("deepseek-ai/DeepSeek-V3.2", indexed, 61, 78_324),
    )
