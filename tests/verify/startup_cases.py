"""Published figures of real starts, each with what kvplan has for it.

Source: startup lines in issues and logs that users of SGLang published; `id` gives the date or version, the
GPUs, and the issue where there is one. Sizes are GiB with two decimals, as printed. `terms`: what is
predicted, and whether it lies within the rounding of the log (tokens: within 1 %). Where it does not, `why`
says what differs. Reports give free memory after loading and the weights; free memory before is their sum.
A report without the memory fraction is held to its bytes alone, or to the tokens of the version's default.
Starts whose model or device kvplan can't know are left out. Gemma-4 is in startup_gemma.py, hybrids and
DeepSeek-V4 are in startup_hybrids.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Term = tuple[str, float, bool]
TOKEN, SLIDING, FULL = "bytes per token", "bytes per token, sliding", "bytes per token, full"
CELL, TOKENS = "bytes per full token", "max_total_num_tokens"
CONV, STATE = "conv states", "recurrent states"


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """`pools`: (tokens, sizes) as logged. `states`: (slots, conv, recurrent). `free`: before, after loading.

    `tokens`: max_total_num_tokens, compared where free memory is known. `terms`: those that the report has.
    """

    id: str
    model: str
    settings: dict[str, Any]
    terms: tuple[Term, ...]
    pools: tuple[tuple[int, tuple[float, ...]], ...] = ()
    states: tuple[int, float, float] | None = None
    free: tuple[float, float] | None = None
    tokens: int | None = None
    sizing: dict[str, float] = field(default_factory=dict)
    why: str = ""


OLD: dict[str, Any] = {"engine_version": "0.5.12"}
V3_2: dict[str, Any] = {**OLD, "tp": 8, "dp": 8, "enable_dp_attention": True, "kv_cache_dtype": "fp8_e4m3"}
DRAFT: dict[str, Any] = {
    "speculative_algorithm": "EAGLE",
    "speculative_num_steps": 3,
    "speculative_eagle_topk": 1,
    "speculative_num_draft_tokens": 4,
}
# nvidia-smi's 16,376 MiB of an Ada GPU with 16 GB
SMALL: dict[str, Any] = {**OLD, "gpu": "sm89", "gpu_memory": 16_376 << 20}

STARTS = (
    Start(
        id="2025-10-07, before merge, 8 x B200 (sglang#11309)",
        model="deepseek-v3.2",
        settings={**V3_2, "gpu": "h200"},
        pools=((975_424, (43.67,)),),
        terms=((TOKEN, 48_068, True),),  # 61 x (656 + 132)
    ),
    Start(
        id="2025-10-07, before merge, 8 x B200 (sglang#11309), on B200",
        model="deepseek-v3.2",
        # 0.5.4, server_args.py: FP8 KV is read by flashmla_kv on every GPU.
        settings={
            **V3_2,
            "gpu": "b200",
            "dsa_prefill_backend": "flashmla_kv",
            "dsa_decode_backend": "flashmla_kv",
        },
        pools=((975_424, (43.67,)),),
        terms=((TOKEN, 48_068, True),),  # 61 x (656 + 132)
    ),
    Start(
        id="2025-10-07, 8 x B200 (sglang#11309)",
        model="deepseek-v3.2",
        settings={**V3_2, "gpu": "h200"},
        pools=((1_462_784, (54.52,)),),
        terms=(("bytes per token, without index keys", 40_016, True),),  # 61 x 656
    ),
    Start(
        id="2025-10-07, 8 x B200 (sglang#11309), with the index, as its author counted it",
        model="deepseek-v3.2",
        settings={**V3_2, "gpu": "h200"},
        pools=((1_462_784, (65.49,)),),
        terms=((TOKEN, 48_068, True),),
    ),
    Start(
        id="2025-07-22, 4 x H100 80GB (vllm-project/vllm#21348)",
        model="Qwen/Qwen3-235B-A22B-FP8",
        settings={**OLD, "tp": 4, "gpu": "h100"},
        pools=((367_404, (8.23, 8.23)),),
        terms=((TOKEN, 48_128, True),),  # 94 x 1 of 4 heads x 256 x 2
    ),
    Start(
        id="2026-07, 1 x CI GPU",
        model="meta-llama/Llama-2-7b-hf",
        settings={**OLD, **DRAFT, "gpu": "a100"},
        pools=((15_685, (3.83, 3.83)),),
        terms=((TOKEN, 524_288, True),),  # 32 x 32 x 256 x 2
    ),
    Start(
        id="2026-03, 8 x RTX PRO 6000 Blackwell 96GB",
        model="zai-org/GLM-5",
        settings={"tp": 8, "gpu": "rtx6000pro", "kv_cache_dtype": "bfloat16"},
        pools=((314_304, (29.32,)),),
        terms=((TOKEN, 100_152, True),),  # 78 x (576 x 2 + 132)
    ),
    Start(
        id="2026-03, 8 x RTX PRO 6000 Blackwell 96GB, with the default fraction",
        model="zai-org/GLM-5",
        settings={"tp": 8, "gpu": "rtx6000pro", "kv_cache_dtype": "bfloat16"},
        free=(93.99, 36.93),
        tokens=314_304,
        terms=((TOKENS, 227_648, False),),
        why="the fraction is not in the report: the pool leaves 7.6 of 93.99 GiB, a fraction of 0.92",
    ),
    Start(
        id="2025, 1 x H100/A100 80GB",
        model="mistralai/Mixtral-8x7B-v0.1",
        settings={**OLD, "gpu": "h100"},
        pools=((356_458, (21.76, 21.76)),),
        terms=((TOKEN, 131_072, True),),  # 32 x 8 x 256 x 2
    ),
    Start(
        id="2025-07-14, 1 x 24GB GPU",
        model="meta-llama/Llama-3.1-8B",
        settings={**OLD, "gpu": "rtx4090"},
        pools=((38_141, (2.33, 2.33)),),
        terms=((TOKEN, 131_072, True),),
    ),
    Start(
        id="2025-08-08, 1 x 16GB GPU",
        model="Qwen/Qwen3-0.6B",
        # The default of its time, 0.4.10, server_args.py: 1 - (2.8 + 1 / 10) x 1,024 / 16,376 = 0.819
        settings={**SMALL, "mem_fraction_static": 0.819},
        pools=((104_273, (5.57, 5.57)),),
        free=(15.16, 13.91),
        tokens=104_273,
        terms=((TOKEN, 114_688, True), (TOKENS, 104_539, True)),  # 28 x 8 x 256 x 2
    ),
    Start(
        id="2026-07-16, 4 x GB10",
        model="zai-org/GLM-5",
        settings={"tp": 4, "gpu": "gb10", "kv_cache_dtype": "fp8_e4m3", "max_total_tokens": 131_072},
        pools=((131_072, (7.51,)),),
        terms=((TOKEN, 61_464, True),),  # 78 x (656 + 132): FlashMLA rows for GLM-5 on SM12x
    ),
    Start(
        id="2025-05-02, 1 x 4GB GPU",
        model="Qwen/Qwen3-0.6B",
        settings={**OLD, "gpu": "sm89", "gpu_memory": 4 << 30},
        pools=((15_387, (0.82, 0.82)),),
        terms=((TOKEN, 114_688, True),),
    ),
    Start(
        id="2026-07-08, 1 x 40GB GPU",
        model="Qwen/Qwen2.5-0.5B-Instruct",
        settings={"gpu": "a100-40gb", "chunked_prefill_size": 8_192},
        pools=((2_658_165, (15.21, 15.21)),),
        free=(36.55, 35.57),
        tokens=2_658_165,
        terms=((TOKEN, 12_288, True), (TOKENS, 2_057_397, False)),  # 24 x 2 x 128 x 2
        # 0.858 of 97,887 MiB gives 2,654,636 tokens: a GPU of 96 GB of which others hold the rest, perhaps
        why="the fraction is not in the report: the pool leaves 5.15 of 36.55 GiB, 0.859, not 0.672 of 40 GB",
    ),
    Start(
        id="2026-02-26, 8 x MI355X",
        model="moonshotai/Kimi-K2.6",  # K2.5 has the same cache and vision tower
        settings={**OLD, "tp": 8, "gpu": "mi355x"},
        pools=((2_454_421, (160.63,)),),
        free=(283.56, 209.98),
        tokens=2_454_421,
        # 61 x 576 x 2; fraction 0.908 x 0.95 x (1 - 0.1 x (27 x 1,152^2 / (24 x 1,024^2) - 1)) = 0.826
        terms=((TOKEN, 70_272, True), (TOKENS, 2_454_730, True)),
    ),
    Start(
        id="2025-11-06, 1 x 96GB GPU",
        model="meta-llama/Llama-3.2-1B-Instruct",
        settings={"gpu": "rtx6000pro"},
        pools=((2_405_039, (36.7, 36.7)),),
        terms=((TOKEN, 32_768, True),),  # 16 x 8 x 128 x 2
    ),
    Start(
        id="2026, 1 x RTX PRO 6000 96GB",
        model="Qwen/Qwen3-30B-A3B",
        settings={"gpu": "rtx6000pro", "kv_cache_dtype": "fp8_e5m2"},
        pools=((1_428_864, (32.7, 32.7)),),
        terms=((TOKEN, 49_152, True),),  # 48 x 4 x 256
    ),
    Start(
        id="2026-09-26, 1 x CPU",
        model="Qwen3-1.7B",
        settings={},
        pools=((81_261, (4.34, 4.34)),),
        terms=((TOKEN, 114_688, True),),  # 28 x 8 x 256 x 2
    ),
    Start(
        id="2026-08-27, 1 x 80GB GPU",
        model="Qwen/Qwen3-30B-A3B",
        settings={**OLD, "gpu": "h100"},
        pools=((392_920, (17.99, 17.99)),),
        free=(78.48, 49.33),
        tokens=392_920,
        terms=((TOKEN, 98_304, True), (TOKENS, 393_089, True)),  # 48 x 4 x 256 x 2; fraction 0.830
    ),
    Start(
        id="2025-03-08, 4 x 24GB GPU",
        model="QwQ-32B",
        settings={**OLD, "tp": 4, "gpu": "rtx4090"},
        pools=((46_611, (1.42, 1.42)),),
        terms=((TOKEN, 65_536, True),),  # 64 x 2 of 8 heads x 256 x 2
    ),
    Start(
        id="2026-05-15, 8 x B200/B300",
        model="deepseek-ai/DeepSeek-V3.2",
        settings={"tp": 8, "gpu": "b200", "kv_cache_dtype": "fp8_e4m3"},
        pools=((4_636_736, (186.5,)),),
        terms=((TOKEN, 43_188, True),),  # 61 x (576 + 132)
    ),
    Start(
        id="2026-04-27, 1 x B200",
        model="Qwen/Qwen3-8B",
        settings={"gpu": "b200"},
        pools=((992_896, (68.18, 68.18)),),
        free=(177.57, 162.3),
        tokens=992_896,
        terms=((TOKEN, 147_456, True), (TOKENS, 993_024, True)),  # 36 x 8 x 256 x 2; fraction 0.854, page 64
    ),
    Start(
        id="2025-11-04, 1 x GB200",
        model="deepseek-ai/DeepSeek-V3",
        settings={**OLD, "tp": 8, "gpu": "b200", "kv_cache_dtype": "fp8_e4m3", "max_total_tokens": 524_288},
        pools=((524_288, (17.16,)),),
        terms=((TOKEN, 35_136, True),),  # 61 x 576
    ),
    Start(
        id="2026, 1 x 8GB",
        model="gpt2",
        settings={},
        pools=((248_479, (4.27, 4.27)),),
        terms=((TOKEN, 36_864, True),),  # 12 x 12 x 128 x 2
    ),
    Start(
        id="2026-06-10, 2 x RTX 3090 24GB",
        model="mistralai/Devstral-Small-2-24B-Instruct-2512",
        settings={**OLD, "tp": 2, "gpu": "rtx3090", "kv_cache_dtype": "fp8_e4m3", "mem_fraction_static": 0.9},
        pools=((202_093, (3.85, 3.85)),),
        free=(22.91, 10.0),
        tokens=202_093,
        terms=((TOKEN, 40_960, True), (TOKENS, 202_086, True)),  # 40 x 4 of 8 heads x 256
    ),
)
