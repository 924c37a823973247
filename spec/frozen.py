"""Frozen, slotted dataclasses of which hardly anything is made before it is used.

The standard library makes fields, methods and documentation when a class is defined, and
compiles half a dozen texts for it; with some hundred classes that was a fifth of a second
at each start, most of it for classes of which the run has no instance.  Here a class is
given slots, and the rest is made when it is first asked for.  In all else they are
dataclasses: `fields`, `replace`, `asdict` and `match` work, and type checkers know them.
They derive from classes of this kind, or from such as have no fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field
from functools import partial
from inspect import get_annotations
from types import MemberDescriptorType
from typing import Any, Generic, NamedTuple, NoReturn, TypeVar, dataclass_transform, overload

T = TypeVar("T")


class This(Generic[T]):
    """A wrapper that compares objects by identity, as a key of caches: to hash a deep value takes long."""

    def __init__(self, value: T) -> None:
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, This) and other.value is self.value


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
    """A decorator for immutable dataclasses: `@frozen`, or with options `@frozen(order=True)`.

    >>> @frozen
    ... class Point:
    ...     x: int
    ...     y: int = 0
    >>> Point(1), Point(1) == Point(x=1, y=0)
    (Point(x=1, y=0), True)
    """

    def decorate(plain: type[T]) -> type[T]:
        names = [name for name, kind in get_annotations(plain).items() if not _is_of_class(kind)]
        own = {name: vars(plain).get(name, MISSING) for name in names}
        methods: list[Callable[..., Any]] = [_init, _repr, _setattr, _delattr, _reduce]
        methods += [_eq, _hash] if eq else []
        methods += [_lt, _le, _gt, _ge] if order else []
        members: dict[str, Any] = {f"_{each.__name__}__": each for each in methods if each is not _reduce}
        members |= {"__reduce__": _reduce, "__match_args__": _Late("__match_args__", _match_args)}
        by_library = partial(_by_library, plain, kw_only=kw_only)
        members |= {name: _Late(name, by_library) for name in OF_LIBRARY}
        members |= {"__own_fields__": (own, kw_only), "__all_fields__": _Late("__all_fields__", _all_fields)}
        return _with_members(plain, members, names if slots else None)

    return decorate if cls is None else decorate(cls)


# ------------------------------------------------------------- what a class is made with


def _is_of_class(annotation: object) -> bool:
    """Whether an annotation is a ClassVar, and so no field."""
    return str(annotation).removeprefix("typing.").startswith("ClassVar")


def _with_members(plain: type[T], members: dict[str, Any], slots: Iterable[str] | None) -> type[T]:
    """The class with these members added; with `slots` it is a new class."""
    new = {name: value for name, value in members.items() if name not in vars(plain)}
    if slots is None:
        made = plain
        for name, value in new.items():
            setattr(made, name, value)
    else:
        inherited = {name for base in plain.__mro__[1:] for name in vars(base).get("__slots__", ())}
        left_out = {*slots, "__dict__", "__weakref__"}
        new["__slots__"] = tuple(name for name in slots if name not in inherited)
        new["__qualname__"] = plain.__qualname__
        kept = {name: value for name, value in vars(plain).items() if name not in left_out}
        metaclass: Any = type(plain)
        made = metaclass(plain.__name__, plain.__bases__, kept | new)
    for value in new.values():
        if isinstance(value, _Late):
            value.of = made
    return made


class _Late:
    """A descriptor that makes a method of the class `of` at its first use."""

    of: type[Any]

    def __init__(self, name: str, make: Callable[[type[Any]], dict[str, object]]) -> None:
        self._name, self._make = name, make

    def __get__(self, _instance: object, _cls: type[Any]) -> object:
        made = self._make(self.of)
        for name, value in made.items():
            setattr(self.of, name, value)
        return made[self._name]


OF_LIBRARY = ("__dataclass_fields__", "__dataclass_params__")


def _by_library(plain: type[Any], _made: type[Any], *, kw_only: bool) -> dict[str, object]:
    """The attributes that the standard library's functions expect of a dataclass."""
    dataclass(init=False, repr=False, eq=False, kw_only=kw_only)(plain)
    return {name: vars(plain)[name] for name in OF_LIBRARY}


def _match_args(cls: type[Any]) -> dict[str, object]:
    """The names for positional patterns."""
    return {"__match_args__": tuple(each.name for each in _parts(cls) if each.init and not each.kw_only)}


class _FieldSpec(NamedTuple):
    """A field of a class, as the generated methods need it."""

    name: str
    default: object
    factory: object
    init: bool
    repr: bool
    compare: bool
    kw_only: bool


def _parts(cls: Any) -> tuple[_FieldSpec, ...]:  # noqa: ANN401 - a class that was made here, or derives from one
    """The fields of a class with inherited ones, in the order of the standard library."""
    return cls.__all_fields__  # type: ignore[no-any-return]


def _all_fields(cls: type[Any]) -> dict[str, object]:
    """The fields as the standard library describes them."""
    found = {each.name: each for base in reversed(cls.__mro__) for each in _own_parts(base)}
    return {"__all_fields__": tuple(found.values())}


def _own_parts(cls: type[Any]) -> Iterator[_FieldSpec]:
    """The fields that the class declares itself."""
    own, kw_only = vars(cls).get("__own_fields__", ({}, False))
    for name, given in own.items():
        if isinstance(given, Field):
            kw = kw_only if given.kw_only is MISSING else given.kw_only
            flags = (given.init, given.repr, given.compare, kw)
            yield _FieldSpec(name, given.default, given.default_factory, *flags)
        else:
            yield _FieldSpec(name, given, MISSING, init=True, repr=True, compare=True, kw_only=kw_only)


# ------------------------------------------------------------- made when first called


def _init(self: object, *args: object, **kwargs: object) -> None:
    cls: Any = type(self)
    cls.__init__ = _made(cls, "__init__", *_of_init(cls, checked=hasattr(cls, "__post_init__")))
    cls.__init__(self, *args, **kwargs)


def _repr(self: object) -> str:
    cls: Any = type(self)
    shown = ", ".join(f"{each.name}={{self.{each.name}!r}}" for each in _parts(cls) if each.repr)
    text = f"def __repr__(self):\n return f'{{type(self).__qualname__}}({shown})'\n"
    cls.__repr__ = _made(cls, "__repr__", text, {})
    return cls.__repr__(self)  # type: ignore[no-any-return]


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
    """The result of `self sign other`, comparing fields as tuples.

    Only runs once for a class: it puts a generated `__short__`, such as `__lt__`, in its own place.
    """
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
    """The method that a source text defines."""
    exec(text, known)  # noqa: S102 - it is made of the names of fields, as in the standard library
    method: Any = known[name]
    method.__qualname__ = f"{cls.__qualname__}.{name}"
    return method


def _of_init(cls: type[Any], *, checked: bool) -> tuple[str, dict[str, object]]:
    """The source text of an `__init__`, and the values it refers to."""
    known: dict[str, object] = {"_set": object.__setattr__, "_missing": MISSING}
    places: list[str] = []
    keywords: list[str] = []
    lines = []
    for each in _parts(cls):
        value = each.name
        if each.default is not MISSING:
            known[f"_default_{each.name}"] = each.default
            given = f"{each.name}=_default_{each.name}"
        elif each.factory is not MISSING:
            known[f"_make_{each.name}"] = each.factory
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
        slot = next((vars(base)[each.name] for base in cls.__mro__ if each.name in vars(base)), None)
        if isinstance(slot, MemberDescriptorType):  # it takes half as long as `object.__setattr__`
            known[f"_set_{each.name}"] = slot.__set__
            lines.append(f" _set_{each.name}(self, {value})\n")
        else:
            lines.append(f" _set(self, {each.name!r}, {value})\n")
    star = ["*", *keywords] if keywords else []
    rest = " self.__post_init__()\n" if checked else ""
    return f"def __init__({', '.join(['self', *places, *star])}):\n{''.join(lines)}{rest} pass\n", known


def _compared(cls: type[Any]) -> list[str]:
    """The names of the fields that comparisons use."""
    return [each.name for each in _parts(cls) if each.compare]


# ------------------------------------------------------------- the same for all classes


def _setattr(_self: object, name: str, _value: object) -> NoReturn:
    """Refuse an assignment."""
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _delattr(_self: object, name: str) -> NoReturn:
    """Refuse a deletion."""
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _reduce(self: Any) -> tuple[object, ...]:  # noqa: ANN401 - of whatever class
    """The data for pickle and copy."""
    return _restored, (type(self), [getattr(self, each.name) for each in _parts(type(self))])


def _restored(cls: type[Any], values: list[object]) -> object:
    """The object with these values of its fields, for pickle and copy."""
    made = object.__new__(cls)
    for each, value in zip(_parts(cls), values, strict=True):
        object.__setattr__(made, each.name, value)
    return made
