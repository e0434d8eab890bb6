"""Number formats by the names that torch gives them, and how a KV cache stores its elements."""

from __future__ import annotations

from fractions import Fraction

from kvplan.frozen import dataclass

BITS = {
    "float32": 32,
    "float16": 16,
    "bfloat16": 16,
    "float8_e4m3fn": 8,
    "float8_e5m2": 8,
    "int8": 8,
    "uint8": 8,
    "float4_e2m1fn_x2": 4,
    "int32": 32,
}

# Spellings found in config.json files.
_CONFIG_NAMES = {
    "float": "float32",
    "fp32": "float32",
    "half": "float16",
    "fp16": "float16",
    "bf16": "bfloat16",
    "float8_e4m3": "float8_e4m3fn",
}


def element_bytes(dtype: str) -> int:
    """Bytes of one element as torch stores it (two FP4 values share a byte)."""
    return max(1, BITS[dtype] // 8)


def canonical(name: str) -> str | None:
    """torch's name for a dtype as config files spell it (`torch.bfloat16`, `bf16`), or None."""
    short = name.removeprefix("torch.").lower()
    short = _CONFIG_NAMES.get(short, short)
    return short if short in BITS else None


@dataclass(frozen=True, slots=True, kw_only=True)
class KvFormat:
    """How one element of K, V or a latent is stored: its dtype, and a scale per block where it has one.

    `scale_block` elements share `scale_bytes`; 0 means no scales. FP4 with one byte per 16 elements
    takes 9/16 byte an element (SGLang: fp4_kv_cache_quant_method.py), mxfp8 33/32 byte.
    """

    dtype: str
    scale_block: int = 0
    scale_bytes: int = 0

    def bytes_for(self, elements: int) -> int:
        """Bytes of `elements` values with their scales, whole bytes."""
        plain = elements * BITS[self.dtype] // 8
        return plain + (elements // self.scale_block * self.scale_bytes if self.scale_block else 0)

    @property
    def bytes_per_element(self) -> Fraction:
        """Exact cost of one element, scales included."""
        scales = Fraction(self.scale_bytes, self.scale_block) if self.scale_block else Fraction(0)
        return Fraction(BITS[self.dtype], 8) + scales
