"""Published starts of Gemma-4, full and sliding layers in two pools; see startup_cases.py."""

from __future__ import annotations

from typing import Any

from tests.verify.startup_cases import FULL, OLD, SLIDING, TOKENS, Start

SPARK: dict[str, Any] = {"gpu": "gb10", "page_size": 256, "mem_fraction_static": 0.55}
PAIR: dict[str, Any] = {
    **OLD,
    "tp": 2,
    "gpu": "rtx3090",
    "max_running_requests": 1,
    "chunked_prefill_size": 4096,
}


def _gemma(
    number: str,
    model: str,
    settings: dict[str, Any],
    free: tuple[float, float],
    sliding: tuple[int, float],
    full: tuple[int, float],
    terms: tuple[int, int, int],
) -> Start:
    """Two Gemma-4 pools whose keys and values are equally large; predicted: sliding, full, tokens."""
    pools = tuple((tokens, (size, size)) for tokens, size in (sliding, full))
    predicted = ((SLIDING, terms[0], True), (FULL, terms[1], True), (TOKENS, terms[2], True))
    return Start(
        id=number, model=model, settings=settings, pools=pools, free=free, tokens=full[0], terms=predicted
    )


def _pair(ratio: float, fraction: float = 0.85, **more: Any) -> dict[str, Any]:
    return {**PAIR, "swa_full_tokens_ratio": ratio, "mem_fraction_static": fraction, **more}


# 12B: 40 x 4 of 8 heads x 512 x 2 and 8 x 1 x 1,024 x 2; 26B: 25 x 4 of 8 and 5 x 1 of 2; 31B: 50 x 8 of 16
# and 10 x 2 of 4. On one GPU the heads are whole.
GEMMA = (
    _gemma(
        "2026-06, 1 x GB10",
        "google/gemma-4-26B-A4B",
        SPARK,
        (111.65, 61.91),
        (54_016, 5.18),
        (67_584, 0.65),
        (204_800, 20_480, 67_328),
    ),
    _gemma(
        "2026-06, 1 x GB10",
        "google/gemma-4-26B-A4B",
        SPARK,
        (111.53, 62.35),
        (56_320, 5.4),
        (70_656, 0.68),
        (204_800, 20_480, 70_144),
    ),
    _gemma(
        "2026-06-10, 2 x RTX 3090 24GB",
        "gemma-4-12B",
        _pair(0.8),
        (22.92, 17.5),
        (81_675, 6.23),
        (102_094, 0.78),
        (163_840, 16_384, 102_396),
    ),
    _gemma(
        "2026-06-10, 2 x RTX 3090 24GB",
        "gemma-4-12B",
        _pair(0.03),
        (22.92, 17.5),
        (21_204, 1.62),
        (706_807, 5.39),
        (163_840, 16_384, 708_897),
    ),
    _gemma(
        "2026-06-10, 2 x RTX 3090 24GB",
        "gemma-4-12B",
        _pair(0.5),
        (22.92, 17.5),
        (76_570, 5.84),
        (153_141, 1.17),
        (163_840, 16_384, 153_594),
    ),
    _gemma(
        "2026-06-10, 2 x RTX 3090 24GB",
        "google/gemma-4-26B-A4B",
        _pair(0.0625),
        (22.91, 13.57),
        (40_790, 1.95),
        (652_652, 3.11),
        (102_400, 10_240, 653_891),
    ),
    _gemma(
        "2026-06-10, 2 x RTX 3090 24GB",
        "google/gemma-4-26B-A4B",
        _pair(0.1),
        (22.91, 13.57),
        (53_028, 2.53),
        (530_280, 2.53),
        (102_400, 10_240, 531_287),
    ),
    _gemma(
        "2026-06-10, 2 x RTX 3090 24GB",
        "google/gemma-4-26B-A4B",
        _pair(0.25),
        (22.91, 13.57),
        (75_754, 3.61),
        (303_017, 1.44),
        (102_400, 10_240, 303_592),
    ),
    _gemma(
        "2026-06-10, 2 x RTX 3090 24GB",
        "gemma-4-31B",
        _pair(0.03),
        (22.91, 11.84),
        (5_036, 0.96),
        (167_877, 3.2),
        (409_600, 40_960, 169_455),
    ),
    _gemma(
        "2026-06-10, 2 x RTX 3090 24GB",
        "gemma-4-31B",
        _pair(0.1),
        (22.91, 11.84),
        (10_912, 2.08),
        (109_120, 2.08),
        (409_600, 40_960, 110_146),
    ),
    _gemma(
        "2026-06-10, 2 x RTX 3090 24GB",
        "gemma-4-31B",
        _pair(0.1, 0.92),
        (22.91, 11.84),
        (13_014, 2.48),
        (130_144, 2.48),
        (409_600, 40_960, 131_166),
    ),
    _gemma(
        "2026-06-11, 2 x RTX 3090 24GB",
        "gemma-4-31B",
        _pair(0.1, 0.92, kv_cache_dtype="fp8_e5m2"),
        (22.91, 11.84),
        (26_028, 2.48),
        (260_289, 2.48),
        (204_800, 20_480, 262_332),
    ),
)
