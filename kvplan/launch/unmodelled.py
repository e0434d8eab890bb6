"""What changes the pools and is not modelled: flags and variables of SGLang, each with what it changes.

Source: sglang/srt/arg_groups/ (0.5.23), sglang/srt/server_args.py (0.5.12), and the readers of the
variables in model_executor/pool_configurator.py, mem_cache/, distributed/ and configs/mamba_utils.py.
"""

from __future__ import annotations

from typing import Literal

from kvplan.frozen import dataclass

# What of a plan is wrong without it: the sizes themselves, the memory fraction that the engine takes where
# none is given, or the memory that is left beside the weights.
Touches = Literal["pool", "fraction", "weights"]
# What a deployment needs for it to change anything: several pipeline stages, experts that are dealt whole, or
# DeepEP as --moe-a2a-backend.
Under = Literal["any", "stages", "dealt experts", "deepep"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unmodelled:
    """`neutral`: values that change nothing. `takes`: values that follow the flag, None for any number."""

    reason: str
    touches: Touches = "pool"
    under: Under = "any"
    neutral: tuple[str, ...] = ()
    takes: int | None = 1


_TAKES: dict[str, int | None] = {"!": 0, "*": None}


def _all(
    reason: str, flags: str, *, touches: Touches = "pool", under: Under = "any", neutral: str = ""
) -> dict[str, Unmodelled]:
    """One reason for several flags; `!` marks a switch, `*` one that any number of values may follow."""
    return {
        flag.rstrip("!*"): Unmodelled(
            reason=reason,
            touches=touches,
            under=under,
            neutral=tuple(neutral.split()),
            takes=_TAKES.get(flag[-1], 1),
        )
        for flag in flags.split()
    }


UNMODELLED: dict[str, Unmodelled] = {
    **_all("the KV dtype on auto follows it", "--dtype", neutral="auto half float16 bfloat16"),
    **_all("it changes the config that pools are sized from", "--json-model-override-args"),
    **_all("the options in the file are not read", "--config"),
    **_all("another class may load the model", "--model-impl", neutral="auto sglang"),
    **_all("the config may be read differently", "--model-config-parser", neutral="auto"),
    **_all("pools are sized for CUDA", "--device", neutral="cuda"),
    **_all("heads are split over fewer GPUs", "--attn-cp-size", neutral="1"),
    **_all(
        "context parallelism changes how heads and caches are split",
        "--enable-prefill-cp! --enable-prefill-context-parallel! --enable-nsa-prefill-context-parallel! "
        "--enable-dsa-prefill-context-parallel! "
        "--enable-cp-decode-attn-tp! --enable-dsa-cache-layer-split!",
    ),
    **_all("storage at rest is shared out over the group", "--enable-kv-cache-sharding!"),
    **_all("one pool stands for all", "--enable-unified-memory! --enable-page-major-kv-layout!"),
    **_all("old way to split full and sliding pools", "--hybrid-kvcache-ratio*"),
    **_all("it decides state slots per request and chunks in flight", "--disable-overlap-schedule!"),
    # arg_groups/attention_hook.py, handle_multi_item_scoring.
    **_all("it turns CUDA graphs, the radix cache and chunked prefill off", "--enable-mis!"),
    **_all(
        "it decides state slots per request",
        "--mamba-radix-cache-strategy --mamba-scheduler-strategy",
        neutral="auto",
    ),
    **_all(
        "state slots per request depend on it",
        "--linear-attn-backend --linear-attn-decode-backend --linear-attn-prefill-backend",
        neutral="triton",
    ),
    **_all(
        "it adds or shrinks state buffers",
        "--enable-int8-mamba-checkpoint! --int8-mamba-ckpt-size --enable-linear-replayssm! "
        "--enable-linear-replayssm-spec! --enable-gdn-replayssm-spec! --linear-replayssm-cache-len",
    ),
    **_all(
        "page size and FP8 rows can depend on it",
        "--prefill-attention-backend --decode-attention-backend --speculative-draft-attention-backend",
    ),
    **_all(
        "the default attention backend changes with it",
        "--enable-deterministic-inference! --rl-on-policy-target",
    ),
    **_all(
        "layers that share an index get index keys of their own", "--enable-unified-cache-external-linker!"
    ),
    **_all("it changes the rows of DeepSeek-V4", "--dsv4-attn-backend", neutral="auto flashmla"),
    **_all("it changes the rows of DeepSeek-V4", "--enable-deepseek-v4-fp4-indexer! --c128-page-size"),
    **_all(
        "it sizes the sliding pool of DeepSeek-V4",
        "--swa-prefix-tails --enable-encoder-swa-bounded-replay! --enable-decoder-swa-bounded-replay! "
        "--no-enable-decoder-swa-bounded-replay!",
    ),
    **_all("it changes the index cache", "--qsa-indexer-dtype"),
    **_all("prefill gets a workspace in the pool", "--prefill-kv-cache-dequant-dtype"),
    **_all("a prefill or decode server sizes differently", "--disaggregation-mode", neutral="null"),
    **_all(
        "host memory is not planned here, and some models lose their sliding pools",
        "--enable-hierarchical-cache!",
    ),
    **_all("--hisparse-ratio of kvplan says the same", "--hisparse-config"),
    **_all(
        "the layers of the draft are not read",
        "--speculative-draft-model-path --speculative-draft-window-size --enable-multi-layer-eagle!",
    ),
    **_all("the draft's KV is priced as the target's", "--speculative-draft-kv-cache-dtype"),
    **_all(
        "the number of draft tokens follows from it",
        "--speculative-dflash-block-size --speculative-dspark-block-size --speculative-adaptive!",
    ),
    **_all("diffusion models are sized differently", "--dllm-algorithm"),
    **_all(
        "the multimodal reserve depends on it",
        "--enable-multimodal! --language-only! --language-model-only! --encoder-only! --mm-feature-transport",
        touches="weights",
        neutral="cpu",
    ),
    **_all(
        "the default memory fraction depends on it",
        "--cuda-graph-max-bs --cuda-graph-bs* --cuda-graph-max-bs-decode --cuda-graph-bs-decode* "
        "--cuda-graph-max-bs-prefill --cuda-graph-bs-prefill* --cuda-graph-config "
        "--cuda-graph-backend-decode --cuda-graph-backend-prefill --disable-cuda-graph! "
        "--disable-prefill-cuda-graph! --disable-decode-cuda-graph! --disable-piecewise-cuda-graph! "
        "--enable-piecewise-cuda-graph! --enforce-piecewise-cuda-graph! --enable-breakable-cuda-graph! "
        "--piecewise-cuda-graph-max-tokens --piecewise-cuda-graph-tokens* --max-prefill-tokens "
        "--enable-two-batch-overlap! --enable-eplb!",
        touches="fraction",
    ),
    **_all(
        "the default memory fraction depends on it",
        "--deepep-mode",  # normal turns CUDA graphs off (arg_groups/moe_hook.py, handle_a2a_moe)
        touches="fraction",
        under="deepep",
        neutral="auto low_latency",
    ),
    **_all(
        "it changes what one GPU loads",
        "--quantization --cpu-offload-gb --offload-group-size --torchao-config --modelopt-quant "
        "--quantize-and-serve! --enable-fp32-lm-head! --enable-lora! --lora-paths* --max-loras-per-batch "
        "--max-lora-rank --max-ep-size --dwdp-size "
        "--enable-deepep-waterfill! --enable-waterfill! "
        "--shared-experts-tp-size --enable-shared-experts-attn-tp! "
        "--enable-dense-mlp-attn-tp! --speculative-draft-model-quantization --kt-weight-path "
        "--kt-num-gpu-experts --enable-paged-experts! --paged-experts-num-resident "
        "--mm-enable-dp-encoder! --ple-offload-embedding! --uno-lora-path",
        touches="weights",
    ),
    # A fused shared expert is whole on each GPU that experts are dealt to, one of its own is split over TP
    # (layers/moe/fused_moe_triton/layer.py); without expert parallelism both are split.
    **_all(
        "it changes what one GPU loads",
        "--disable-shared-experts-fusion! --enforce-shared-experts-fusion!",
        touches="weights",
        under="dealt experts",
    ),
    **_all("its buffers take GPU memory", "--enable-symm-mem!", touches="weights"),
    **_all("it changes what one GPU loads", "--moe-dp-size", touches="weights", neutral="1"),
}

UNMODELLED_VARIABLES: dict[str, Unmodelled] = {
    **_all("the pool is sized again after graphs are captured", "SGLANG_ENABLE_POST_CAPTURE_KV_SIZING"),
    # distributed/utils.py, get_pp_indices.
    **_all("each stage has as many layers as it says", "SGLANG_PP_LAYER_PARTITION", under="stages"),
    **_all("dtype of convolution states", "SGLANG_MAMBA_CONV_DTYPE", neutral="bfloat16"),
    **_all("state slots per request", "SGLANG_OPT_MAMBA_SKIP_DECODE_LOCK", neutral="0 false"),
    **_all("size of the sliding pool under a request cap", "SGLANG_SWA_EVICTION_INTERVAL", neutral="128"),
    **_all("rows of DeepSeek-V4", "SGLANG_DSV4_KV_LAYOUT", neutral="v4"),
    **_all("rows of DeepSeek-V4", "SGLANG_DSV4_COMPRESSED_KV_LAYOUT", neutral="auto"),
    **_all("rows of DeepSeek-V4", "SGLANG_OPT_SM120_DIRECT_SWA_KV", neutral="0 false"),
    **_all("states of DeepSeek-V4", "SGLANG_DSV4_COMPRESS_STATE_DTYPE", neutral="float32"),
    **_all(
        "states of DeepSeek-V4",
        "SGLANG_OPT_USE_ONLINE_COMPRESS SGLANG_EXPERIMENTAL_ONLINE_C128_MTP",
        neutral="0 false",
    ),
    **_all("rows of DeepSeek-V4", "SGLANG_DSV4_UNIFIED_KV_FP8", neutral="0 false"),
    **_all("index cache of MiniMax-M3", "SGLANG_OPT_MINIMAX_M3_FP8_INDEX_CACHE", neutral="1 true"),
    **_all("KV dtype and index cache of MiniMax-M3", "SGLANG_DISABLE_M3_FP8_ATTN_GEMM", neutral="0 false"),
    **_all("it changes what one GPU loads", "SGLANG_SHARED_EXPERT_TP1", touches="weights", neutral="0 false"),
    **_all("its buffers take GPU memory", "SGLANG_SYMM_MEM_PREALLOC_GB_SIZE", touches="weights", neutral="0"),
    **_all(
        "the multimodal reserve",
        "SGLANG_VLM_CACHE_SIZE_MB SGLANG_MM_FEATURE_CACHE_MB",
        touches="weights",
    ),
    **_all(
        "a context beyond the model's own, which kvplan refuses",
        "SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN",
        neutral="0 false",
    ),
    **_all("the default memory fraction", "SGLANG_AITER_HONOR_EXPLICIT_MEM_FRACTION", touches="fraction"),
}
