"""Named tuples of ours are those of ``typing``."""

from __future__ import annotations

import pickle
import typing

import pytest

from tpulint import records


class Ours(records.NamedTuple):
    """What it is."""

    start: int
    end: int = 7
    """Where it ends."""

    @property
    def size(self) -> int:
        return self.end - self.start

    @classmethod
    def empty(cls) -> Ours:
        return cls(0, 0)


class Theirs(typing.NamedTuple):
    """What it is."""

    start: int
    end: int = 7
    """Where it ends."""

    @property
    def size(self) -> int:
        return self.end - self.start

    @classmethod
    def empty(cls) -> Theirs:
        return cls(0, 0)


def test_they_are_alike() -> None:
    one, other = Ours(2), Theirs(2)
    assert one == other == (2, 7)
    assert repr(one) == repr(other).replace("Theirs", "Ours")
    assert (one.size, Ours.empty()) == (5, (0, 0))
    assert one._replace(end=9) == Ours(2, end=9)
    assert set(dir(Theirs)) - set(dir(Ours)) <= {"__orig_bases__"}
    for name in ("__doc__", "__module__", "_fields", "_field_defaults", "__slots__", "__match_args__"):
        assert getattr(Ours, name) == getattr(Theirs, name), name


def test_they_are_pickled_by_name() -> None:
    assert pickle.loads(pickle.dumps(Ours(1))) == Ours(1)
    assert Ours.__qualname__ == "Ours"


def test_fields_without_a_value_are_asked_for() -> None:
    with pytest.raises(TypeError):
        Ours()  # type: ignore[call-arg]


@pytest.mark.parametrize("given", [((1, 2, 3), {}), ((1,), {"start": 2}), ((1,), {"stop": 2})])
def test_what_does_not_fit_the_fields_is_refused(given: tuple[tuple[int, ...], dict[str, int]]) -> None:
    values, named = given
    for one in (Ours, Theirs):
        with pytest.raises(TypeError):
            one(*values, **named)
        with pytest.raises(TypeError):
            one._make((1, 2, 3))
        with pytest.raises(ValueError, match="stop"):
            one(1)._replace(stop=2)  # type: ignore[call-arg]


class Longer(Ours):
    """A class of a class."""

    @property
    def double(self) -> int:
        return 2 * self.size


def test_classes_of_them_make_instances_of_their_own() -> None:
    assert type(Longer(2)) is Longer and Longer(2).double == 10
    assert type(Longer(2)._replace(end=3)) is Longer
    assert (Ours(1)._asdict(), Ours._make([1, 2])) == ({"start": 1, "end": 7}, (1, 2))


class Named(records.NamedTuple):
    """As many fields as ``Ours`` has, with other names."""

    first: int
    second: int


def test_classes_with_as_many_fields_have_their_own_names() -> None:
    assert (Ours(1, end=2), Named(second=2, first=1), Ours(1)) == ((1, 2), (1, 2), (1, 7))
    with pytest.raises(TypeError, match=r"Named.__new__\(\) missing 1 required positional argument: 'second'"):
        Named(1)  # type: ignore[call-arg]
