"""How weights are stored: bytes for one parameter, scales included, under a name that people know."""

from __future__ import annotations

from fractions import Fraction

from kvplan.dtypes import BITS
from kvplan.frozen import dataclass

# Bytes of a scale: float32 beside FP8 blocks (DeepSeek-V3's weight_scale_inv), bfloat16 or float16
# beside groups of integers, one byte beside FP4 and MXFP8 (OCP microscaling formats; NVIDIA's NVFP4).
_BLOCK_SCALE, _GROUP_SCALE, _BYTE_SCALE = 4, 2, 1
_MX_BLOCK, _NVFP4_BLOCK = 32, 16
# bitsandbytes: a float32 maximum per 64 values.
_NF4_BLOCK, _NF4_SCALE = 64, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightFormat:
    """`bytes_per_parameter` with scales; what lies once per channel or tensor is left out.

    `block`: rows and columns of what engines don't cut, such as numbers that share a scale.
    """

    name: str
    bytes_per_parameter: Fraction
    block: tuple[int, int] | None = None

    def bytes_for(self, count: int) -> int:
        """Bytes of `count` parameters."""
        return int(count * self.bytes_per_parameter)


def plain(dtype: str) -> WeightFormat:
    """A dtype as torch names it."""
    return WeightFormat(name=dtype, bytes_per_parameter=Fraction(BITS[dtype], 8))


FP8 = WeightFormat(name="fp8", bytes_per_parameter=Fraction(1))
INT8 = WeightFormat(name="int8", bytes_per_parameter=Fraction(1))
NVFP4 = WeightFormat(name="nvfp4", bytes_per_parameter=Fraction(1, 2) + Fraction(_BYTE_SCALE, _NVFP4_BLOCK))
MXFP4 = WeightFormat(name="mxfp4", bytes_per_parameter=Fraction(1, 2) + Fraction(_BYTE_SCALE, _MX_BLOCK))
MXFP8 = WeightFormat(name="mxfp8", bytes_per_parameter=1 + Fraction(_BYTE_SCALE, _MX_BLOCK))
NF4 = WeightFormat(name="nf4", bytes_per_parameter=Fraction(1, 2) + Fraction(_NF4_SCALE, _NF4_BLOCK))


def fp8_blocks(rows: int, columns: int) -> WeightFormat:
    """FP8 with a float32 scale per block."""
    return WeightFormat(
        name=f"fp8, block {rows} x {columns}",
        bytes_per_parameter=1 + Fraction(_BLOCK_SCALE, rows * columns),
        block=(rows, columns),
    )


def integers(bits: int, group: int, *, zero_points: bool) -> WeightFormat:
    """Packed integers; `group` of them share a scale (0: a whole channel does), and a zero point if any."""
    size = Fraction(bits, 8)
    if group <= 0:
        return WeightFormat(name=f"int{bits}", bytes_per_parameter=size)
    beside = Fraction(_GROUP_SCALE) + (size if zero_points else 0)
    return WeightFormat(
        name=f"int{bits}, group {group}", bytes_per_parameter=size + beside / group, block=(1, group)
    )
