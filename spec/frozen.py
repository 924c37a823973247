"""Frozen, slotted dataclasses whose methods are made when they are first called.

The standard library makes them all when a class is defined, by compiling half a
dozen texts; with some hundred classes that was a fifth of a second at each start,
most of it for classes of which the run has no instance.  In all else they are
dataclasses: `fields`, `replace`, `asdict` and `match` work, and type checkers know them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from typing import Any, NoReturn, TypeVar, dataclass_transform, overload

T = TypeVar("T")


@overload
def frozen(cls: type[T], /) -> type[T]: ...
@overload
def frozen(
    *, eq: bool = True, order: bool = False, kw_only: bool = False, slots: bool = True
) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(
    cls: type[T] | None = None,
    /,
    *,
    eq: bool = True,
    order: bool = False,
    kw_only: bool = False,
    slots: bool = True,
) -> type[T] | Callable[[type[T]], type[T]]:
    """A dataclass that cannot be changed: `@frozen`, or with options `@frozen(order=True)`.

    >>> @frozen
    ... class Point:
    ...     x: int
    ...     y: int = 0
    >>> Point(1), Point(1) == Point(x=1, y=0)
    (Point(x=1, y=0), True)
    """

    def decorate(plain: type[T]) -> type[T]:
        made = dataclass(init=False, repr=False, eq=False, kw_only=kw_only, slots=slots)(plain)
        methods: list[Callable[..., Any]] = [_init, _repr, _setattr, _delattr, _reduce]
        methods += [_eq, _hash] if eq else []
        methods += [_lt, _le, _gt, _ge] if order else []
        for method in methods:
            name = f"_{method.__name__}__" if method.__name__ != "_reduce" else "__reduce__"
            if name not in plain.__dict__:
                setattr(made, name, method)
        return made

    return decorate if cls is None else decorate(cls)


# ------------------------------------------------------------- made when first called


def _init(self: object, *args: object, **kwargs: object) -> None:
    cls: Any = type(self)
    cls.__init__ = _made(cls, "__init__", *_of_init(fields(cls), checked=hasattr(cls, "__post_init__")))
    cls.__init__(self, *args, **kwargs)


def _eq(self: object, other: object) -> bool:
    return _comparison(self, other, "eq", "==")


def _lt(self: object, other: object) -> bool:
    return _comparison(self, other, "lt", "<")


def _le(self: object, other: object) -> bool:
    return _comparison(self, other, "le", "<=")


def _gt(self: object, other: object) -> bool:
    return _comparison(self, other, "gt", ">")


def _ge(self: object, other: object) -> bool:
    return _comparison(self, other, "ge", ">=")


def _comparison(self: object, other: object, short: str, sign: str) -> bool:
    """Makes the method that compares the fields as tuples, and asks it."""
    cls: Any = type(self)
    name = f"__{short}__"
    mine, theirs = (f"({''.join(f'{who}.{each}, ' for each in _compared(cls))})" for who in ("self", "other"))
    body = f" return {mine} {sign} {theirs} if other.__class__ is self.__class__ else NotImplemented"
    method = _made(cls, name, f"def {name}(self, other):\n{body}", {})
    setattr(cls, name, method)
    return method(self, other)  # type: ignore[no-any-return]


def _hash(self: object) -> int:
    cls: Any = type(self)
    mine = f"({''.join(f'self.{name}, ' for name in _compared(cls))})"
    cls.__hash__ = _made(cls, "__hash__", f"def __hash__(self):\n return hash({mine})", {})
    return cls.__hash__(self)  # type: ignore[no-any-return]


def _made(cls: type, name: str, text: str, known: dict[str, object]) -> Any:  # noqa: ANN401 - a method
    """The method that a text defines."""
    exec(text, known)  # noqa: S102 - it is made of the names of fields, as in the standard library
    method: Any = known[name]
    method.__qualname__ = f"{cls.__qualname__}.{name}"
    return method


def _of_init(of: Iterable[Field[Any]], *, checked: bool) -> tuple[str, dict[str, object]]:
    """The text of an `__init__`, and the values it refers to."""
    known: dict[str, object] = {"_set": object.__setattr__, "_missing": MISSING}
    places: list[str] = []
    keywords: list[str] = []
    lines = []
    for each in of:
        value = each.name
        if each.default is not MISSING:
            known[f"_default_{each.name}"] = each.default
            given = f"{each.name}=_default_{each.name}"
        elif each.default_factory is not MISSING:
            known[f"_make_{each.name}"] = each.default_factory
            given = f"{each.name}=_missing"
            value = f"_make_{each.name}() if {each.name} is _missing else {each.name}"
        elif each.init:
            given = each.name
        else:
            continue  # `__post_init__` sets it
        if each.init:
            (keywords if each.kw_only else places).append(given)
        elif each.default is not MISSING:
            value = f"_default_{each.name}"
        else:
            value = f"_make_{each.name}()"
        lines.append(f" _set(self, {each.name!r}, {value})\n")
    star = ["*", *keywords] if keywords else []
    rest = " self.__post_init__()\n" if checked else ""
    return f"def __init__({', '.join(['self', *places, *star])}):\n{''.join(lines)}{rest} pass\n", known


def _compared(cls: type[Any]) -> list[str]:
    return [each.name for each in fields(cls) if each.compare]


# ------------------------------------------------------------- the same for all classes


def _repr(self: Any) -> str:  # noqa: ANN401 - of whatever class
    shown = ", ".join(f"{each.name}={getattr(self, each.name)!r}" for each in fields(self) if each.repr)
    return f"{type(self).__qualname__}({shown})"


def _setattr(_self: object, name: str, _value: object) -> NoReturn:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _delattr(_self: object, name: str) -> NoReturn:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _reduce(self: Any) -> tuple[object, ...]:  # noqa: ANN401 - of whatever class
    """What a pickle or a copy needs."""
    return _restored, (type(self), [getattr(self, each.name) for each in fields(self)])


def _restored(cls: type[Any], values: list[object]) -> object:
    made = object.__new__(cls)
    for each, value in zip(fields(cls), values, strict=True):
        object.__setattr__(made, each.name, value)
    return made
