"""kvplan's own dataclass decorator does what the standard library's does."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import pytest

from kvplan.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    tokens: int
    name: str = "sliding"
    pages: tuple[int, ...] = dataclasses.field(default_factory=lambda: (1, 2))


@dataclass(frozen=True, kw_only=True)
class Checked:
    tokens: int

    def __post_init__(self) -> None:
        if self.tokens < 0:
            raise ValueError("negative")


@dataclass(frozen=True, slots=True, kw_only=True)
class Empty:
    pass


MANY = 1_000  # beyond the number of objects after which __init__ is compiled


@pytest.mark.parametrize("made", [0, MANY])
def test_fields_defaults_and_factories(made: int) -> None:
    for _ in range(made):
        Window(tokens=1)
    assert Window(tokens=7) == Window(tokens=7, name="sliding", pages=(1, 2))
    assert Window(tokens=7, name="w").name == "w"
    assert [field.name for field in dataclasses.fields(Window)] == ["tokens", "name", "pages"]


@pytest.mark.parametrize("made", [0, MANY])
@pytest.mark.parametrize(
    "given", [{}, {"name": "w"}, {"tokens": 1, "size": 2}, {"tokens": 1, "name": "w", "pages": (), "x": 0}]
)
def test_missing_and_unknown_fields_are_type_errors(made: int, given: dict[str, object]) -> None:
    for _ in range(made):
        Window(tokens=1)
    with pytest.raises(TypeError):
        Window(**given)  # type: ignore[arg-type]


def test_positional_values_are_a_type_error() -> None:
    with pytest.raises(TypeError):
        Window(1)  # type: ignore[call-arg]


@pytest.mark.parametrize("made", [0, MANY])
def test_what_follows_the_fields_is_run(made: int) -> None:
    for _ in range(made):
        Checked(tokens=1)
    with pytest.raises(ValueError, match="negative"):
        Checked(tokens=-1)


@pytest.mark.parametrize("record", [Window(tokens=1), Checked(tokens=1)])
def test_nothing_can_be_changed(record: Window | Checked) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError, match="tokens"):
        record.tokens = 2  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError, match="tokens"):
        del record.tokens
    assert record.tokens == 1


def test_equal_records_hash_alike_and_different_ones_are_not_equal() -> None:
    one, same, other = Window(tokens=1), Window(tokens=1), Window(tokens=2)
    assert (one == same, one == other, {one, same, other}) == (True, False, {one, other})
    assert (Checked(tokens=1) == Checked(tokens=1), one.__eq__(Checked(tokens=1))) == (True, NotImplemented)
    assert (Empty() == Empty(), hash(Empty())) == (True, hash(Empty()))


def test_repr_is_that_of_the_standard_library() -> None:
    assert repr(Window(tokens=1)) == "Window(tokens=1, name='sliding', pages=(1, 2))"


@pytest.mark.parametrize("record", [Window(tokens=3, name="w"), Checked(tokens=3), Empty()])
def test_records_are_copied_replaced_and_pickled(record: Window | Checked | Empty) -> None:
    assert copy.copy(record) == copy.deepcopy(record) == pickle.loads(pickle.dumps(record)) == record
    assert dataclasses.replace(record) == record


def test_a_record_is_replaced_in_part() -> None:
    assert dataclasses.replace(Window(tokens=3, name="w"), tokens=4) == Window(tokens=4, name="w")


def test_other_classes_are_refused() -> None:
    with pytest.raises(TypeError):
        dataclass(frozen=False, kw_only=True)
