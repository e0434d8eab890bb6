"""Layers that keep a state of fixed size instead of tokens.

Shapes follow SGLang's configs/mamba_utils.py, which all follow the published model code: a
convolution state of the last `w - 1` inputs and a recurrent state per head, both split over TP.
"""

from __future__ import annotations

from typing import ClassVar

from kvplan.dtypes import element_bytes
from kvplan.frozen import dataclass
from kvplan.layers.base import ONCE, Part, StateKind, Storage


def state_bytes(layer: StateKind, storage: Storage) -> int:
    """Bytes of one layer's state on one GPU."""
    conv, recurrent = layer.state_elements(storage.attention_tp)
    dtype = storage.state_dtype or layer.state_dtype
    return conv * element_bytes(layer.conv_dtype) + recurrent * element_bytes(dtype)


def _uneven(what: str, count: int, attention_tp: int) -> str | None:
    return f"{count} {what}" if count % attention_tp else None


@dataclass(frozen=True, slots=True, kw_only=True)
class StateFormula:
    """Elements of a state over all GPUs: in symbols, and with the values of a layer put in."""

    symbols: str
    numbers: str


# (convolution, recurrent) state of each kind; `{g}` are groups (k heads for GDN), padded up to TP.
_FORMULAS: dict[str, tuple[StateFormula | None, StateFormula | None]] = {
    "gdn": (
        StateFormula(
            symbols="(w - 1) (Nv Hv + 2 Nqk Hk)",
            numbers="({0.conv_kernel} - 1) x ({0.v_heads} x {0.v_head_dim} + 2 x {g} x {0.k_head_dim})",
        ),
        StateFormula(symbols="Nv Hk Hv", numbers="{0.v_heads} x {0.k_head_dim} x {0.v_head_dim}"),
    ),
    "kda": (
        StateFormula(symbols="3 (w - 1) N H", numbers="3 x ({0.conv_kernel} - 1) x {0.heads} x {0.head_dim}"),
        StateFormula(symbols="N H H", numbers="{0.heads} x {0.head_dim} x {0.head_dim}"),
    ),
    "mamba2": (
        StateFormula(
            symbols="(w - 1) (N H + 2 g n)",
            numbers="({0.conv_kernel} - 1) x ({0.heads} x {0.head_dim} + 2 x {g} x {0.state_size})",
        ),
        StateFormula(symbols="N H n", numbers="{0.heads} x {0.head_dim} x {0.state_size}"),
    ),
    "mamba1": (
        StateFormula(symbols="(w - 1) C", numbers="({0.conv_kernel} - 1) x {0.intermediate}"),
        StateFormula(symbols="C n", numbers="{0.intermediate} x {0.state_size}"),
    ),
    "lightning": (None, StateFormula(symbols="N H H", numbers="{0.heads} x {0.head_dim} x {0.head_dim}")),
    "short_conv": (StateFormula(symbols="(w - 1) C", numbers="({0.conv_kernel} - 1) x {0.dim}"), None),
}


class _FixedState:
    """The ledger of a layer that keeps no tokens: its state, all of which each step reads."""

    __slots__ = ()

    def parts(self: StateKind, storage: Storage) -> tuple[Part, ...]:
        """The recurrent state and the convolution state, whichever the kind has."""
        conv, recurrent = self.state_elements(storage.attention_tp)
        dtype = storage.state_dtype or self.state_dtype
        conv_formula, formula = _FORMULAS[self.kind]
        found = []
        if formula is not None:
            found.append(_state_part(self, "recurrent state", recurrent, "e_s", dtype, formula, storage))
        if conv_formula is not None:
            found.append(
                _state_part(self, "convolution state", conv, "e_c", self.conv_dtype, conv_formula, storage)
            )
        return tuple(found)


def _state_part(
    layer: StateKind,
    name: str,
    elements: int,
    symbol: str,
    dtype: str,
    formula: StateFormula,
    storage: Storage,
) -> Part:
    tp, size = storage.attention_tp, element_bytes(dtype)
    groups = getattr(layer, "groups", getattr(layer, "k_heads", 0))
    numbers = formula.numbers.format(layer, g=padded_groups(groups, tp))
    return Part(
        name=name,
        entry_bytes=elements * size,
        elements=elements,
        symbols=f"{formula.symbols} {symbol}" + (" / TP" if tp > 1 else ""),
        numbers=f"{numbers} x {size}" + (f" / {tp}" if tp > 1 else ""),
        entries=ONCE,
        reads=ONCE,
        is_state=True,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class GatedDeltaNet(_FixedState):
    """GDN (Qwen3-Next, Qwen3.5): `Nv * Hk * Hv` state, convolution over q, k and v."""

    kind: ClassVar[str] = "gdn"
    k_heads: int
    v_heads: int
    k_head_dim: int
    v_head_dim: int
    conv_kernel: int
    state_dtype: str = "float32"
    conv_dtype: str = "bfloat16"

    def state_elements(self, attention_tp: int) -> tuple[int, int]:
        """Elements on one GPU of (convolution, recurrent) state; k heads are padded up to TP."""
        groups = padded_groups(self.k_heads, attention_tp)
        conv_dim = self.v_heads * self.v_head_dim + 2 * groups * self.k_head_dim
        conv = conv_dim // attention_tp * (self.conv_kernel - 1)
        return conv, self.v_heads // attention_tp * self.k_head_dim * self.v_head_dim

    def undivided(self, attention_tp: int) -> str | None:
        """Value heads must divide evenly."""
        return _uneven("linear-attention value heads", self.v_heads, attention_tp)


@dataclass(frozen=True, slots=True, kw_only=True)
class KimiDeltaAttention(_FixedState):
    """KDA: `N * H * H` state; q, k and v all have N heads of H."""

    kind: ClassVar[str] = "kda"
    heads: int
    head_dim: int
    conv_kernel: int
    state_dtype: str = "float32"
    conv_dtype: str = "bfloat16"

    def state_elements(self, attention_tp: int) -> tuple[int, int]:
        """Elements on one GPU of (convolution, recurrent) state."""
        conv = (self.conv_kernel - 1) * (3 * self.heads * self.head_dim // attention_tp)
        return conv, self.heads // attention_tp * self.head_dim * self.head_dim

    def undivided(self, attention_tp: int) -> str | None:
        """Heads must divide evenly."""
        return _uneven("linear-attention heads", self.heads, attention_tp)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mamba2(_FixedState):
    """Mamba-2: `heads * head_dim * state` and a convolution over x, B and C."""

    kind: ClassVar[str] = "mamba2"
    heads: int
    head_dim: int
    state_size: int
    groups: int
    conv_kernel: int
    state_dtype: str = "float32"
    conv_dtype: str = "bfloat16"

    def state_elements(self, attention_tp: int) -> tuple[int, int]:
        """Elements on one GPU of (convolution, recurrent) state; groups are padded up to TP."""
        groups = padded_groups(self.groups, attention_tp)
        conv_dim = self.heads * self.head_dim + 2 * groups * self.state_size
        conv = conv_dim // attention_tp * (self.conv_kernel - 1)
        return conv, self.heads // attention_tp * self.head_dim * self.state_size

    def undivided(self, attention_tp: int) -> str | None:
        """Heads must divide evenly."""
        return _uneven("Mamba heads", self.heads, attention_tp)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mamba1(_FixedState):
    """Mamba-1: `intermediate * state` and a convolution over the intermediate channels."""

    kind: ClassVar[str] = "mamba1"
    intermediate: int
    state_size: int
    conv_kernel: int
    state_dtype: str = "float32"
    conv_dtype: str = "bfloat16"

    def state_elements(self, attention_tp: int) -> tuple[int, int]:
        """Elements on one GPU of (convolution, recurrent) state."""
        channels = self.intermediate // attention_tp
        return channels * (self.conv_kernel - 1), channels * self.state_size

    def undivided(self, attention_tp: int) -> str | None:
        """Channels must divide evenly."""
        return _uneven("Mamba channels", self.intermediate, attention_tp)


@dataclass(frozen=True, slots=True, kw_only=True)
class LightningAttention(_FixedState):
    """Lightning attention: `N * H * H` state, no convolution."""

    kind: ClassVar[str] = "lightning"
    heads: int
    head_dim: int
    state_dtype: str = "float32"
    conv_dtype: str = "bfloat16"

    def state_elements(self, attention_tp: int) -> tuple[int, int]:
        """Elements on one GPU of (convolution, recurrent) state."""
        return 0, self.heads // attention_tp * self.head_dim * self.head_dim

    def undivided(self, attention_tp: int) -> str | None:
        """Heads must divide evenly."""
        return _uneven("lightning-attention heads", self.heads, attention_tp)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortConv(_FixedState):
    """A gated short convolution (LFM2): the last `w - 1` inputs of `dim` channels."""

    kind: ClassVar[str] = "short_conv"
    dim: int
    conv_kernel: int
    state_dtype: str = "float32"
    conv_dtype: str = "bfloat16"

    def state_elements(self, attention_tp: int) -> tuple[int, int]:
        """Elements on one GPU of (convolution, recurrent) state."""
        return self.dim // attention_tp * (self.conv_kernel - 1), 0

    def undivided(self, attention_tp: int) -> str | None:
        """Channels must divide evenly."""
        return _uneven("convolution channels", self.dim, attention_tp)


def padded_groups(groups: int, attention_tp: int) -> int:
    """Groups that don't divide TP are padded up to it, so that each GPU has a whole one."""
    return groups if groups % attention_tp == 0 else attention_tp
