"""Frozen, keyword-only dataclasses that cost little to define.

The standard library compiles six methods for every dataclass that is imported, used or not: 0.6 ms a class,
where a whole plan takes 0.2 ms, and a report imports a hundred of them. Here the fields are the standard
library's, the methods are closures over their names, and only a class of which many objects are made gets
a compiled __init__. Type checkers see `dataclasses.dataclass` itself.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Set
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

T = TypeVar("T")

# Objects of one class after which compiling its __init__ pays.
_MANY = 500

_put = object.__setattr__


def _decorator(
    *, frozen: bool, kw_only: bool, slots: bool = False, eq: bool = True
) -> Callable[[type[T]], type[T]]:
    """As in the standard library; TypeError for a class that is not frozen and keyword-only."""
    if not (frozen and kw_only):
        raise TypeError("only frozen, keyword-only classes are made here")
    return partial(_make, slots, eq)


def _make(slots: bool, eq: bool, cls: type[T]) -> type[T]:
    written = set(cls.__dict__)
    cls.__doc__ = cls.__doc__ or cls.__name__  # or the standard library has `inspect` write one
    made = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots, kw_only=True)(cls)
    methods = {
        "__init__": _init(made),
        "__repr__": _repr(made),
        "__setattr__": _set,
        "__delattr__": _delete,
    }
    if eq:
        methods |= _comparisons(made)
    if slots:
        methods |= {"__getstate__": _state, "__setstate__": _restore}
    for name in methods.keys() - written:
        setattr(made, name, methods[name])
    return made


def _init(cls: Any) -> Callable[..., None]:
    fields = dataclasses.fields(cls)
    names = frozenset(field.name for field in fields)
    defaults = {field.name: field.default for field in fields if field.default is not dataclasses.MISSING}
    factories = {
        field.name: field.default_factory
        for field in fields
        if field.default_factory is not dataclasses.MISSING
    }
    finish = getattr(cls, "__post_init__", None)

    left = _MANY

    def __init__(self: object, **given: object) -> None:  # noqa: N807
        nonlocal left
        left -= 1
        if left == 0:
            cls.__init__ = _compiled(cls)
        if given.keys() != names:
            made = {name: make() for name, make in factories.items() if name not in given}
            given = {**defaults, **made, **given}
            if given.keys() != names:
                raise TypeError(_complaint(cls, given.keys(), names))
        for name, value in given.items():
            _put(self, name, value)
        if finish is not None:
            finish(self)

    return __init__


def _compiled(cls: type) -> Callable[..., None]:
    """The standard library's own, which takes less time per object."""
    fields = [(field.name, field.type, field) for field in dataclasses.fields(cls)]
    kept = {name: getattr(cls, name) for name in ("__doc__", "__post_init__") if hasattr(cls, name)}
    twin = dataclasses.make_dataclass(
        cls.__name__, fields, namespace=kept, frozen=True, kw_only=True, repr=False, eq=False
    )
    compiled: Callable[..., None] = twin.__dict__["__init__"]
    return compiled


def _complaint(cls: type, given: Set[str], names: Set[str]) -> str:
    wrong = [f"has no field {name!r}" for name in sorted(given - names)]
    wrong += [f"needs {name!r}" for name in sorted(names - given)]
    return f"{cls.__name__} {', '.join(wrong)}"


def _comparisons(cls: type) -> dict[str, Callable[..., Any]]:
    names = _names(cls)
    # Of one name the getter gives the bare value, which compares and hashes as well as a tuple of one.
    values: Callable[[object], object] = attrgetter(*names) if names else lambda _: ()

    def __eq__(self: object, other: object) -> bool:  # noqa: N807
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: object) -> int:  # noqa: N807
        return hash(values(self))

    return {"__eq__": __eq__, "__hash__": __hash__}


def _repr(cls: type) -> Callable[[object], str]:
    names = _names(cls)

    def __repr__(self: object) -> str:  # noqa: N807
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({shown})"

    return __repr__


def _names(cls: Any) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(cls))


def _set(self: object, name: str, value: object) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _delete(self: object, name: str) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: object) -> list[object]:
    """What copy and pickle keep."""
    return [getattr(self, name) for name in _names(type(self))]


def _restore(self: object, state: list[object]) -> None:
    for name, value in zip(_names(type(self)), state, strict=True):
        _put(self, name, value)


if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    dataclass = _decorator

__all__ = ["dataclass"]
