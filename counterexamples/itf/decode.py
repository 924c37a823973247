"""Values by the type they should have, from what the Informal Trace Format has in their place.

Read is more than is written: plain numbers as the format had them before
September 2023, and how other tools spell what it leaves open.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NoReturn, TypeVar, assert_never

from counterexamples.itf.encode import Json
from spec.diagnostics import suggest
from spec.model.ir import Scope, Value
from spec.model.types import (
    Bag,
    Bool,
    Case,
    Enum,
    Field,
    Int,
    Map,
    Nat,
    Option,
    Range,
    Record,
    Seq,
    Set,
    Sort,
    Tuple,
    Type,
    Union,
    UnknownType,
)
from spec.model.values import members, show

# NOTE(spellings): a case of a union without a payload has a value of no meaning: Quint writes an empty
# tuple, Apalache a constant of its own.  A payload may be the record of the fields, the tuple of them, or
# the one field itself; or the case is a record whose field `tag` is its name.  An enum member may be a
# case without payload.  An option may be its value itself, or `None`.  A member of a sort may say of which
# type it is (`r1_OF_REPLICA`).  A sequence may be a tuple and the other way round.
DIGITS = 1000  # of a number in a trace; more is no number of a model
Path = tuple[str | int, ...]
Decoder = Callable[[Json], Value]
Inner = Callable[[Type], Decoder]  # decoders for the parts of a type
_T = TypeVar("_T")


@dataclass(slots=True)
class TypeMismatch(Exception):  # noqa: N818 - becomes a SpecError where the text is known
    """Raised for JSON at a path that is no value of the expected type."""

    path: Path
    message: str
    help: str = ""


def decode(of: Type, found: Json, scope: Scope) -> Value:
    """The value of a type from its ITF encoding; build a `decoder` once to decode many."""
    return decoder(of, scope)(found)


def decoder(of: Type, scope: Scope, *, stored: bool = True) -> Decoder:  # noqa: C901 - one case a type
    """A function that decodes values of a type, in this tool's and other tools' spellings.

    It raises Mismatch with the path of the part that does not fit.  That a
    number is within its range is looked at where the value is `stored` in a
    state, since the language looks there; that a collection is within its limit never.
    """

    def inner(of: Type) -> Decoder:
        return decoder(of, scope, stored=stored)

    match of:
        case Bool():
            return _bool
        case Int():
            return _number
        case Range() | Nat() if not stored:
            return _number
        case Range(lo, hi):
            return _bounded(lo, hi, "")
        case Nat(name):
            return _bounded(0, scope.limit(name), f", the scope of {name}")
        case Enum(name, names):
            return _name_decoder(name, names, _enum_name)
        case Sort(name):
            return _name_decoder(name, scope.sorts[name], _sort_name)
        case Option(item):
            return _option_decoder(item, inner(item))
        case Record(name, fields):
            return _record_decoder(name, fields, inner)
        case Case(name=name):
            return _union_decoder(name, (of,), inner)
        case Union(name, cases):
            return _union_decoder(name, cases, inner)
        case Tuple(items):
            return partial(_tuple, [inner(item) for item in items])
        case Seq(item):
            entries = partial(_each, inner(item))
            return lambda found: _sequence("a list", found, entries)
        case Set(item):
            member = inner(item)
            return lambda found: frozenset(_listed("#set", member, found))
        case Bag(item):
            member = inner(item)
            return lambda found: _bag(_pairs(member, _count, found))
        case Map():
            return _map_decoder(of, scope, inner)
        case UnknownType():
            raise TypeError("a value of unknown type is in no state")
        case _:
            assert_never(of)


def _mismatch(found: Json, what: str, *path: str | int) -> NoReturn:
    """Raise TypeMismatch."""
    raise TypeMismatch(path, f"here belongs {what}, not {_brief(found)}")


def _brief(found: Json) -> str:
    """A JSON value cut short."""
    match found:
        case {"#unserializable": what}:
            return f"{what}, which the tool that wrote it could not write"
        case dict():
            return f"an object with {', '.join(f'`{key}`' for key in list(found)[:3]) or 'nothing in it'}"
        case list():
            return f"a list of {len(found)}"
        case _:
            shown = json.dumps(found, ensure_ascii=False)
            return shown if len(shown) <= 40 else shown[:39] + "…"


def _inside(key: str | int, decode: Callable[[Json], _T], found: Json) -> _T:
    """Apply `decode` to the part of a JSON value under `key`, which errors then name.

    A TypeMismatch in it is raised again with `key` at the front of its path.
    """
    try:
        return decode(found)
    except TypeMismatch as mismatch:
        raise TypeMismatch((key, *mismatch.path), mismatch.message, mismatch.help) from None


def _each(decode: Decoder, found: list[Json]) -> list[Value]:
    """Decode the items of a list."""
    values: list[Value] = []
    try:
        for part in found:
            values.append(decode(part))  # noqa: PERF401 - the length tells which part does not fit
    except TypeMismatch as mismatch:
        raise TypeMismatch((len(values), *mismatch.path), mismatch.message, mismatch.help) from None
    return values


# --------------------------------------------------------------------- scalars


def _bool(found: Json) -> bool:
    """Decode a Boolean."""
    if not isinstance(found, bool):
        _mismatch(found, "true or false")
    return found


def _number(found: Json) -> int:
    """Decode a number."""
    if isinstance(found, dict) and set(found) == {"#bigint"}:
        text = found["#bigint"]
        if not isinstance(text, str) or len(text) > DIGITS or not re.fullmatch("-?[0-9]+", text):
            _mismatch(text, "a whole number in digits", "#bigint")
        return int(text)
    if isinstance(found, bool) or not isinstance(found, int):
        _mismatch(found, "a number")
    return found


def _bounded(lo: int, hi: int, why: str) -> Decoder:
    """A decoder for numbers from `lo` to `hi`."""

    def decode(found: Json) -> int:
        number = _number(found)
        if not lo <= number <= hi:
            raise TypeMismatch((), f"here belongs a number from {lo} to {hi}{why}, not {number}")
        return number

    return decode


def _count(found: Json) -> int:
    """Decode a positive count of a bag."""
    number = _number(found)
    if number < 0:
        raise TypeMismatch((), f"here belongs a count, not {number}")
    return number


def _name_decoder(kind: str, names: tuple[str, ...], spelled: Callable[[Json], Json]) -> Decoder:
    """A decoder for names, of an enum or sort; `spelled` normalizes other tools' spellings."""
    ordinals = {name: ordinal for ordinal, name in enumerate(names)}

    def decode(found: Json) -> int:
        if isinstance(found, str) and found in ordinals:
            return ordinals[found]
        name = spelled(found)
        if isinstance(name, str) and name in ordinals:
            return ordinals[name]
        near = suggest(found, names) if isinstance(found, str) else ""
        raise TypeMismatch((), f"here belongs one of {kind}: {', '.join(names)}, not {_brief(found)}", near)

    return decode


def _enum_name(found: Json) -> Json:
    """NOTE(spellings): a case without payload."""
    return found.get("tag") if isinstance(found, dict) else None


def _sort_name(found: Json) -> Json:
    """NOTE(spellings): a constant of Apalache, without its type."""
    return found.rpartition("_OF_")[0] if isinstance(found, str) else None


# ----------------------------------------------------- options, records, unions


def _option_decoder(of: Type, some: Decoder) -> Decoder:
    """NOTE(spellings): the value itself will do, unless it could be mistaken for the variant."""
    is_tagged = isinstance(of, Union | Case | Enum)

    def decode(found: Json) -> Value:
        if isinstance(found, dict) and "tag" in found:
            if found["tag"] == "None":
                return None
            if found["tag"] == "Some":
                if "value" not in found:
                    _mismatch(found, "an object with `tag` and `value`")
                return _inside("value", some, found["value"])
            if not is_tagged:
                _mismatch(found["tag"], "an option, `None` or `Some`", "tag")
        try:
            return some(found)
        except TypeMismatch:
            if isinstance(found, str) and found.partition("_OF_")[0] == "None":
                return None
            raise

    return decode


def _record_decoder(name: str, fields: tuple[Field, ...], inner: Inner) -> Decoder:
    """A decoder for records."""
    parts = [(field.name, inner(field.type)) for field in fields]

    def decode(found: Json) -> tuple[Value, ...]:
        if not isinstance(found, dict):
            _mismatch(found, f"an object with the fields of {name}")
        values: list[Value] = []
        for key, part in parts:
            if key not in found:
                near = suggest(key, set(found) - {other for other, _ in parts})
                raise TypeMismatch((), f"a {name} has a field `{key}`, which is missing here", near)
            values.append(_inside(key, part, found[key]))
        return tuple(values)

    return decode


def _union_decoder(name: str, cases: tuple[Case, ...], inner: Inner) -> Decoder:
    """A decoder for unions."""
    ordinal = _name_decoder(name, tuple(case.name for case in cases), _enum_name)
    payloads = [_payload_decoder(case, inner) for case in cases]

    def decode(found: Json) -> tuple[Value, ...]:
        if not isinstance(found, dict) or "tag" not in found:
            _mismatch(found, "an object with `tag` and `value`")
        number = _inside("tag", ordinal, found["tag"])
        if "value" in found:
            return (number, *_inside("value", payloads[number], found["value"]))
        return (number, *payloads[number](found))

    return decode


def _payload_decoder(case: Case, inner: Inner) -> Decoder:
    """NOTE(spellings): the record of the fields, the tuple of them, the one field, or anything for none."""
    if not case.fields:
        return lambda _: ()
    record = _record_decoder(case.name, case.fields, inner)
    parts = [inner(field.type) for field in case.fields]
    names = {field.name for field in case.fields}

    def decode(found: Json) -> Value:
        if isinstance(found, dict) and names & set(found):
            return record(found)
        if len(parts) == 1 and found != {}:
            return (parts[0](found),)
        if isinstance(found, dict) and "#tup" in found:
            return _tuple(parts, found)
        return record(found)

    return decode


# ----------------------------------------------------------------- collections


def _sequence(what: str, found: Json, decode: Callable[[list[Json]], list[Value]]) -> tuple[Value, ...]:
    """Decode a list, or another tool's tuple (NOTE(spellings))."""
    if isinstance(found, dict) and isinstance(found.get("#tup"), list):
        return tuple(_inside("#tup", decode, found["#tup"]))
    if not isinstance(found, list):
        _mismatch(found, what)
    return tuple(decode(found))


def _tuple(parts: list[Decoder], found: Json) -> tuple[Value, ...]:
    """Decode a tuple."""
    what = f"a tuple of {len(parts)}"

    def decode(items: list[Json]) -> list[Value]:
        if len(items) != len(parts):
            _mismatch(items, what)
        return [_inside(at, part, item) for at, (part, item) in enumerate(zip(parts, items, strict=True))]

    return _sequence(what, found, decode)


def _listed(key: str, decode: Decoder, found: Json) -> list[Value]:
    """Decode the members of an object like `{"#set": [...]}`."""
    if not isinstance(found, dict) or not isinstance(found.get(key), list):
        _mismatch(found, f'{{"{key}": [...]}}')
    return _inside(key, partial(_each, decode), found[key])


def _pairs(key: Decoder, value: Decoder, found: Json) -> dict[Value, Value]:
    """Decode the entries of a map."""
    result: dict[Value, Value] = {}

    def decode(pair: Json) -> None:
        if not isinstance(pair, list) or len(pair) != 2:
            _mismatch(pair, "a pair of a key and a value")
        at = _inside(0, key, pair[0])
        if at in result:
            raise TypeMismatch((0,), f"the map has the key {_brief(pair[0])} already")
        result[at] = _inside(1, value, pair[1])

    _listed("#map", decode, found)
    return result


def _bag(pairs: dict[Value, Value]) -> frozenset[tuple[Value, Value]]:
    """The bag with these counts."""
    return frozenset(pair for pair in pairs.items() if pair[1])


def _map_decoder(of: Map, scope: Scope, inner: Inner) -> Decoder:
    """A decoder for maps."""
    key, value = inner(of.key), inner(of.value)
    keys = members(of.key, scope)

    def decode(found: Json) -> tuple[Value, ...]:
        pairs = _pairs(key, value, found)
        for missing in keys:
            if missing not in pairs:
                name = show(of.key, missing, scope)
                raise TypeMismatch((), f"a map has a value for each {of.key}, and {name} has none")
        return tuple(pairs[each] for each in keys)

    return decode
