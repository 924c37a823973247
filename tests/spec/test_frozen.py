"""Data classes whose methods are made late are data classes in all else."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import pytest

from spec.frozen import frozen


@frozen
class Point:
    """A point."""

    x: int
    y: int = 0
    seen: list[int] = field(default_factory=list, compare=False, repr=False)


@frozen(order=True)
class Version:
    major: int
    minor: int = 0


@frozen(kw_only=True)
class Named:
    name: str

    def __post_init__(self) -> None:
        if not self.name:
            raise ValueError("no name")


@frozen
class Special(Point):
    z: int = 3


@frozen(eq=False)
class Alone:
    x: int


@frozen(slots=False)
class Wide:
    x: int
    kind: ClassVar[str] = "wide"
    unit: str = field(default="m", kw_only=True)

    @cached_property
    def doubled(self) -> int:
        return 2 * self.x


class Derived(Point):
    """Has no fields of its own, and is no data class by itself."""


@dataclass(frozen=True, slots=True, order=True)
class Plain:
    major: int
    minor: int = 0


def test_they_are_made_told_and_compared_like_data_classes() -> None:
    assert Point(1) == Point(x=1, y=0) != Point(1, 2)
    assert repr(Point(1)) == "Point(x=1, y=0)"
    assert hash(Point(1)) == hash(Point(1, seen=[1]))
    assert Point(1).seen == []
    assert Point(1).seen is not Point(1).seen
    assert [each.name for each in fields(Point)] == ["x", "y", "seen"]
    assert replace(Point(1), y=5) == Point(1, 5)
    assert asdict(Version(1)) == {"major": 1, "minor": 0}
    match Point(1, 2):
        case Point(x, y):
            assert (x, y) == (1, 2)


def test_kinds_differ_and_what_derives_has_more() -> None:
    version: object = Version(1)
    assert Point(1) != version
    assert Point(1, 0) != Special(1, 0)
    assert repr(Special(1)) == "Special(x=1, y=0, z=3)"
    assert Alone(1) != Alone(1)


def test_fields_are_those_of_the_standard_library_in_its_order() -> None:
    assert [each.name for each in fields(Special)] == ["x", "y", "seen", "z"]
    assert [each.name for each in fields(Wide)] == ["x", "unit"]
    assert (Point.__match_args__, Special.__match_args__) == (("x", "y", "seen"), ("x", "y", "seen", "z"))
    assert Wide.__match_args__ == ("x",)
    assert [vars(each)["__slots__"] for each in (Point, Special)] == [("x", "y", "seen"), ("z",)]
    assert replace(Special(1), z=4).z == 4
    assert is_dataclass(Special)


def test_what_is_of_the_class_is_no_field() -> None:
    assert Wide(1).doubled == 2
    assert Wide.kind == "wide"
    assert repr(Wide(1, unit="km")) == "Wide(x=1, unit='km')"


def test_a_class_that_is_only_derived_has_the_methods() -> None:
    assert repr(Point(1)) == "Point(x=1, y=0)"
    assert repr(Derived(1)) == "Derived(x=1, y=0)"
    assert Derived(1) == Derived(1)


def test_order_is_that_of_the_fields() -> None:
    pairs = [(1, 0), (0, 9), (1, -1), (0, 0)]

    assert sorted(Version(*each) for each in pairs) == [Version(*each) for each in sorted(pairs)]
    assert Version(1) <= Version(1)
    assert not Version(1) < Version(1)
    assert Version(2) >= Version(1, 5)
    with pytest.raises(TypeError):
        Version(1) < Point(1)  # type: ignore[operator]  # noqa: B015 - it raises


def test_nothing_can_be_changed() -> None:
    point: Any = Point(1)

    with pytest.raises(FrozenInstanceError):
        point.x = 2
    with pytest.raises(FrozenInstanceError):
        del point.x
    with pytest.raises((FrozenInstanceError, AttributeError, TypeError)):
        point.other = 2
    assert not hasattr(point, "__dict__")


@pytest.mark.parametrize(
    ("args", "named"), [((), {}), ((1, 2, 3), {}), ((1,), {"major": 1}), ((1,), {"other": 1})]
)
def test_wrong_calls_are_type_errors_as_of_the_standard_library(args: Any, named: Any) -> None:  # noqa: ANN401
    for kind in (Version, Plain):
        with pytest.raises(TypeError):
            kind(*args, **named)


def test_after_it_is_made_it_may_be_refused() -> None:
    assert Named(name="a").name == "a"
    with pytest.raises(ValueError, match="no name"):
        Named(name="")
    with pytest.raises(TypeError):
        Named("a")  # type: ignore[call-arg]


def test_they_are_copied_and_sent() -> None:
    for each in (Point(1, 2, [3]), Version(1), Named(name="a"), Special(1)):
        assert pickle.loads(pickle.dumps(each)) == each == copy.deepcopy(each)  # noqa: S301 - our own
    assert pickle.loads(pickle.dumps(Point(1, 2, [3]))).seen == [3]  # noqa: S301 - our own
