"""Storage formats of K and V behind the names of --kv-cache-dtype."""

from __future__ import annotations

from kvplan.dtypes import KvFormat

BF16 = KvFormat(dtype="bfloat16")
FP8_E4M3 = KvFormat(dtype="float8_e4m3fn")
FP8_E5M2 = KvFormat(dtype="float8_e5m2")
# One scale byte per 16 FP4 values (layers/quantization/fp4_kv_cache_quant_method.py).
FP4_BLOCK_16 = KvFormat(dtype="float4_e2m1fn_x2", scale_block=16, scale_bytes=1)
# One scale byte per 32 FP8 values (model_executor/pool_configurator.py, scale_block_size).
MXFP8 = KvFormat(dtype="float8_e4m3fn", scale_block=32, scale_bytes=1)

COMMON_FORMATS = {"bf16": BF16, "bfloat16": BF16, "fp8_e4m3": FP8_E4M3, "fp8_e5m2": FP8_E5M2}
