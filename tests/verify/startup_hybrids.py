"""Published starts of hybrids, and DeepSeek-V4; see startup_cases.py."""

from __future__ import annotations

from typing import Any

from tests.verify.startup_cases import (
    CELL,
    CONV,
    DRAFT,
    FULL,
    OLD,
    SLIDING,
    SMALL,
    STATE,
    TOKEN,
    TOKENS,
    Start,
)

V4_PRO: dict[str, Any] = {"tp": 8, "gpu": "h200", "swa_full_tokens_ratio": 0.15}
V4_1_DSPARK: dict[str, Any] = {"engine_version": "0.5.21", "tp": 4, "speculative_algorithm": "DSPARK"}
RANKS: dict[str, Any] = {"dp": 8, "enable_dp_attention": True, "disable_radix_cache": True}
QWEN_27B = "Qwen/Qwen3.5-27B"  # Qwen3.6-27B and Qwen3.8-27B have the same layers


HYBRIDS = (
    Start(
        id="2026-01-31, 4 x GPU not named (sglang#18039)",
        model="XiaomiMiMo/MiMo-V2-Flash",
        settings={**OLD, "tp": 4, "gpu": "h200", "page_size": 64},
        pools=((300_288, (8.38, 5.59)), (375_360, (0.0, 0.0))),  # the full pool's size was not kept
        terms=((SLIDING, 49_920, True),),  # 39 x 2 of 8 heads x (192 + 128) x 2
    ),
    Start(
        id="2026-02-01, 1 x 16GB card",
        model="granite-4.0-h-micro",
        settings=SMALL,
        pools=((399_740, (1.52, 1.52)),),
        states=(38, 0.03, 2.74),
        terms=(
            (TOKEN, 8_192.0, True),  # 4 x 8 x 128 x 2
            (CONV, 0.0341, True),  # 39 x 36 x 4,352 x 3 x 2
            (STATE, 2.7422, True),  # 39 x 36 x 64 x 64 x 128 x 4
        ),
    ),
    Start(
        id="2026-10, 8 x B300",
        model="moonshotai/Kimi-K3",
        settings={"tp": 8, "gpu": "b300", "kv_cache_dtype": "fp8_e4m3"},
        pools=((1_167_552, (15.03,)),),
        states=(257, 0.46, 13.04),
        terms=(
            (TOKEN, 13_824.0, True),  # 24 x 576
            (CONV, 0.4584, True),  # 258 x 69 x 3 x 3 x 12 x 128 x 2
            (STATE, 13.0386, True),  # 258 x 69 x 12 x 128 x 128 x 4
        ),
    ),
    Start(
        id="2026-06-12, 1 x GB10",
        model="google/gemma-4-26B-A4B",
        settings={
            **OLD,
            "gpu": "gb10",
            "page_size": 256,
            "kv_cache_dtype": "fp4_e2m1",
            "attention_backend": "triton",
        },
        pools=((189_696, (5.09, 5.09)), (237_312, (0.64, 0.64))),
        terms=((SLIDING, 102_400, False), (FULL, 10_240, False)),
        why="a build that packs FP4 in sliding pools too, 9/16 B an element: no release does",
    ),
    Start(
        id="0.5.13, 1 x GB10",
        model="gemma-4-12B",
        settings={
            **OLD,
            "gpu": "gb10",
            "page_size": 256,
            "kv_cache_dtype": "fp4_e2m1",
            "attention_backend": "triton",
        },
        pools=((612_620, (26.29, 26.29)), (765_776, (1.64, 1.64))),
        terms=((SLIDING, 163_840, False), (FULL, 8_192, False)),  # 40 x 8 x 512 and 8 x 1 x 1,024
        why="packs FP4 in sliding pools too, 9/16 B an element: no release does",
    ),
    Start(
        id="0.5.17, 1 x GPU not named",
        model=QWEN_27B,
        settings={**DRAFT, "engine_version": "0.5.17", "gpu": "h200", "mamba_ssm_dtype": "bfloat16"},
        pools=((171_008, (5.22, 5.22)),),
        states=(43, 0.12, 3.09),
        terms=(
            (TOKEN, 65_536.0, True),  # 16 x 4 x 512 x 2
            (CONV, 0.1208, True),  # 44 x 48 x 10,240 x 3 x 2
            (STATE, 3.0938, True),  # 44 x 48 x 48 x 128 x 128 x 2
        ),
    ),
    Start(
        id="2025-12-29, 1 x 16GB GPU",
        model="LFM2-700M",
        settings=SMALL,
        pools=((473_854, (2.71, 2.71)),),
        states=(85_292, 4.88, 0.0),
        terms=(
            (TOKEN, 12_288.0, True),  # 6 x 8 x 128 x 2
            (CONV, 4.8805, True),  # 85,293 x 10 x 1,536 x 2 x 2
            (STATE, 0.0, True),  # no recurrent part
        ),
    ),
    Start(
        id="2026-08, 1 x AMD Strix Halo",
        model="Qwen/Qwen3.5-35B-A3B",
        settings={"gpu": "h200", "max_total_tokens": 4_096},
        pools=((4_096, (0.04, 0.04)),),
        states=(32, 0.05, 1.93),
        terms=(
            (TOKEN, 20_480.0, True),  # 10 x 2 x 512 x 2
            (CONV, 0.0453, True),  # 33 x 30 x 8,192 x 3 x 2
            (STATE, 1.9336, True),  # 33 x 30 x 32 x 128 x 128 x 4
        ),
    ),
    Start(
        id="2026-06, 1 x RTX PRO 6000 96GB",
        model=QWEN_27B,
        settings={"gpu": "rtx6000pro"},
        pools=((403_904, (12.33, 12.33)),),
        states=(154, 0.43, 21.8),
        terms=(
            (TOKEN, 65_536.0, True),  # 16 x 4 x 512 x 2
            (CONV, 0.4257, True),  # 155 x 48 x 10,240 x 3 x 2
            (STATE, 21.7969, True),  # 155 x 48 x 48 x 128 x 128 x 4
        ),
    ),
    Start(
        id="2026-09, 1 x H20",
        model="Qwen3.5-35B-A3B, 8 layers",
        settings={"gpu": "h20", "max_mamba_cache_size": 512},
        pools=((15_809_808, (30.15, 30.15)),),
        states=(512, 0.14, 6.01),
        terms=(
            (TOKEN, 4_096.0, True),  # 2 x 2 x 512 x 2
            (CONV, 0.1409, True),  # 513 x 6 x 8,192 x 3 x 2
            (STATE, 6.0117, True),  # 513 x 6 x 32 x 128 x 128 x 4
        ),
    ),
    Start(
        id="0.5.17, 1 x RTX 5090 32GB (sglang#29857)",
        model=QWEN_27B,
        settings={"gpu": "rtx5090", "kv_cache_dtype": "fp8_e4m3"},
        pools=((34_873, (1.13,)),),
        terms=((TOKEN, 32_768, False),),
        why="the size is that of target and draft together: 17 of 16 layers are 34,816",
    ),
)

DEEPSEEK_V4 = (
    Start(
        id="0.5.13, 8 x 288GB AMD GPU",
        model="deepseek-ai/DeepSeek-V4-Pro",
        settings={**V4_PRO, **RANKS, "engine_version": "0.5.13"},
        sizing={"bytes_per_full_token": 32_781.44, "available_bytes": 105.08},
        tokens=3_441_920,
        terms=((CELL, 32_781.4375, True), (TOKENS, 3_441_664, True)),
    ),
    Start(
        id="0.5.15, 8 x MI355X 288GB",
        model="deepseek-ai/DeepSeek-V4-Pro",
        # Its 1.01 GiB of C128 states are those of 64 requests: 67 x 128 rows x 4,096 B x 31 layers.
        settings={**V4_PRO, "engine_version": "0.5.15", "max_running_requests": 64},
        sizing={"bytes_per_full_token": 13_735.04, "available_bytes": 118.93},
        tokens=9_217_792,
        terms=((CELL, 13_735.0375, True), (TOKENS, 9_218_048, True)),
    ),
    Start(
        id="2026-08-10, 4 x Ascend 910B 64GB",
        model="deepseek-ai/DeepSeek-V4-Flash",
        settings={**RANKS, "engine_version": "0.5.17", "tp": 4, "dp": 4, "max_running_requests": 4},
        sizing={"bytes_per_full_token": 7_705.45, "available_bytes": 6.16},
        tokens=852_992,
        terms=((CELL, 7_705.45, True), (TOKENS, 852_736, True)),
    ),
    Start(
        id="2026-05-15, 1 x 96GB GPU",
        model="deepseek-ai/DeepSeek-V4-Flash",
        settings={**OLD, "gpu": "rtx6000pro"},
        sizing={"bytes_per_full_token": 15_955.85, "available_bytes": 19.58},
        tokens=1_317_632,
        terms=((CELL, 15_955.85, True), (TOKENS, 1_317_376, True)),
    ),
    # With the DSpark draft of the checkpoint, charged as one layer more: 1,630 x 41 / 40. Tokens go by the
    # requests that may run, which are not in the report.
    Start(
        id="2026-10, 4 x GB10",
        model="deepseek-ai/DeepSeek-V4.1-Flash",
        settings={**V4_1_DSPARK, "gpu": "gb10"},
        sizing={"bytes_per_full_token": 1_670.75},
        terms=((CELL, 1_670.75, True),),
    ),
    Start(
        id="2026-09, 4 x H20, with DSpark",
        model="deepseek-ai/DeepSeek-V4.1-Flash",
        settings={**V4_1_DSPARK, "gpu": "h20"},
        sizing={"bytes_per_full_token": 1_670.75},
        terms=((CELL, 1_670.75, True),),
    ),
    Start(
        id="2026-10, 4 x 21GB GPU",
        model="deepseek-ai/DeepSeek-V4-Flash",
        settings={"gpu": "h200", "pp": 4},
        sizing={"bytes_per_full_token": 1_457.0},
        terms=((CELL, 1_457.0, True),),  # the first of four stages
    ),
)
