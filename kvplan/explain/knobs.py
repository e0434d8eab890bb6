"""Which knobs a model turns, compared with plain multi-head attention of the same shape.

The slope alpha is turned from that of MHA into that of the model one knob after another; each knob's
factor is the slope before it over the slope after it, so that the factors multiply to the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

from kvplan.accounting import Ledger, Row, ledger
from kvplan.architecture import Architecture
from kvplan.dtypes import element_bytes
from kvplan.explain.lines import Line, Section, shown
from kvplan.frozen import dataclass
from kvplan.layers import CompressedAttention, LatentAttention, Layer, Storage
from kvplan.sglang.model import head_shape

FALLBACK_DTYPE = "bfloat16"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layer:
    """What decides the slope of `count` equal layers: their token rows, or none for a state."""

    count: int
    main: Row | None
    index: Row | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shape:
    """MHA of the same shape: bytes of one layer's token, and of one element of it."""

    token_bytes: int
    element_bytes: int


def knobs(model: Architecture, storage: Storage) -> Section | None:
    """A line for each knob that is turned; None where the model has no heads to compare with."""
    shape = _mha(model)
    if shape is None:
        return None
    book = ledger(model.groups, replace(storage, attention_tp=1), model.loops)
    layers = _layers(model, book)
    return Section(
        title="knobs, against multi-head attention of the same shape (whole model)",
        lines=tuple(_lines(model, layers, shape)),
        sources=("alpha of MHA: every layer keeps 2 N H e for each token",),
    )


def _mha(model: Architecture) -> _Shape | None:
    """N (D + Dv) of the query heads, in the published dtype; layers that are not attention follow it."""
    widths = [width for layer, _ in model.groups if (width := _width(layer))]
    if model.attention_heads is None or not widths:
        return None
    size = element_bytes(model.dtype or FALLBACK_DTYPE)
    return _Shape(token_bytes=model.attention_heads * widths[0] * size, element_bytes=size)


def _width(layer: Layer) -> int:
    match layer:
        case LatentAttention():
            return layer.head_dim + layer.v_head_dim
        case CompressedAttention():
            return 2 * layer.head_dim
        case _:
            shape = head_shape(layer)
            return 0 if shape is None else shape.head_dim + shape.v_head_dim


def _layers(model: Architecture, book: Ledger) -> list[_Layer]:
    found = []
    for layer, count in model.groups:
        rows = [row for row in book.rows if row.layer == layer]
        if not rows:
            continue  # an MLP block: MHA would keep nothing there either
        tokens = [row for row in rows if row.part.entries.fixed is None]
        # Of a window and compressed entries, the entries are what grows.
        main = next((row for row in reversed(tokens) if not row.part.is_index), None)
        index = next((row for row in tokens if row.part.is_index), None)
        found.append(_Layer(count=count * model.loops, main=main, index=index))
    return found


def _lines(model: Architecture, layers: list[_Layer], shape: _Shape) -> Iterator[Line]:
    total = sum(layer.count for layer in layers)
    before = Fraction(total * shape.token_bytes)
    yield Line(
        what="alpha of MHA",
        symbols="L N (D + Dv) e",
        numbers=f"{total} x {shape.token_bytes:,}",
        result=before,
    )
    for what, symbols, each in _KNOBS:
        after = sum((layer.count * each(layer, shape) for layer in layers), Fraction(0))
        if after == before:
            continue
        yield Line(what=what, symbols=symbols, numbers=_factor(before, after), result=after)
        before = after
    yield Line(
        what="altogether",
        symbols="alpha of MHA / alpha",
        numbers=_factor(Fraction(total * shape.token_bytes), before),
        result=before,
    )


def _factor(before: Fraction, after: Fraction) -> str:
    if not after:
        return "nothing is left that grows"
    factor = before / after
    if factor >= 1:
        return f"/ {_short(factor)}"
    return f"x {_short(1 / factor)}"


def _short(factor: Fraction) -> str:
    return shown(factor) if factor.denominator == 1 else f"{float(factor):.4g}"


def _without_states(layer: _Layer, shape: _Shape) -> Fraction:
    return Fraction(shape.token_bytes if layer.main is not None else 0)


def _without_windows(layer: _Layer, shape: _Shape) -> Fraction:
    grows = layer.main is not None and layer.main.part.entries.slope
    return _without_states(layer, shape) if grows else Fraction(0)


def _with_copies(layer: _Layer, shape: _Shape) -> Fraction:
    copies = layer.main.part.copies if layer.main is not None else 0
    return copies * _without_windows(layer, shape)


def _compressed(layer: _Layer, shape: _Shape) -> Fraction:
    slope = layer.main.part.entries.slope if layer.main is not None else Fraction(0)
    return slope * _with_copies(layer, shape)


def _narrowed(layer: _Layer, shape: _Shape) -> Fraction:
    if layer.main is None:
        return Fraction(0)
    part = layer.main.part
    return part.copies * part.entries.slope * part.elements * shape.element_bytes


def _quantised(layer: _Layer, shape: _Shape) -> Fraction:
    return layer.main.part.token_bytes if layer.main is not None else Fraction(0)


def _indexed(layer: _Layer, shape: _Shape) -> Fraction:
    return _quantised(layer, shape) + (layer.index.part.token_bytes if layer.index is not None else 0)


_KNOBS: tuple[tuple[str, str, Callable[[_Layer, _Shape], Fraction]], ...] = (
    ("recurrent layers: n(S) = 0", "L / L without states", _without_states),
    ("windows: n(S) = min(S, W)", "L / L that grow", _without_windows),
    ("copies: other layers' cache is read", "L / L with copies = 1", _with_copies),
    ("one entry for m tokens", "n(S) = floor(S/m)", _compressed),
    ("width of an entry", "N (D + Dv) / elements of an entry", _narrowed),
    ("bytes of an element", "e of the model / e stored", _quantised),
    ("index keys, stored beside it", "E + d_I e_I", _indexed),
)
