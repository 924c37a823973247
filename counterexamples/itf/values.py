"""Values as the Informal Trace Format writes them, and back by the type they should have."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, NoReturn, assert_never

from spec.ir import Scope, Value
from spec.types import (
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
    Unknown,
)
from spec.values import members, ordered

EXACT = 2**53  # integers of JSON are below, of either sign (RFC 7159)
DIGITS = 1000  # of a number in a trace; more is no number of a model
Json = Any  # what the json module makes of a text
Path = tuple[str | int, ...]


@dataclass(slots=True)
class Mismatch(Exception):  # noqa: N818 - becomes a SpecError where the text is known
    """What stands at a path (of keys and indices) is no value of the type that belongs there."""

    path: Path
    message: str


def encode(of: Type, value: Value, scope: Scope) -> Json:  # noqa: C901 - one case a type
    """A value as ITF writes it.

    An option is a variant `None` or `Some`, as in Quint; a bag is a map from its members to their counts.
    """
    match of:
        case Bool():
            return value
        case Int() | Range() | Nat():
            return value if -EXACT < value < EXACT else {"#bigint": str(value)}
        case Enum():
            return of.members[value]
        case Sort():
            return scope.sorts[of.name][value]
        case Option():
            inner = {"#tup": []} if value is None else encode(of.of, value, scope)
            return {"tag": "None" if value is None else "Some", "value": inner}
        case Record():
            return {f.name: encode(f.type, part, scope) for f, part in zip(of.fields, value, strict=True)}
        case Case():
            fields = {
                f.name: encode(f.type, part, scope) for f, part in zip(of.fields, value[1:], strict=True)
            }
            return {"tag": of.name, "value": fields}
        case Union():
            return encode(of.cases[value[0]], value, scope)
        case Tuple():
            return {"#tup": [encode(item, part, scope) for item, part in zip(of.items, value, strict=True)]}
        case Seq():
            return [encode(of.of, part, scope) for part in value]
        case Set():
            return {"#set": [encode(of.of, part, scope) for part in ordered(value)]}
        case Bag():
            return {"#map": [[encode(of.of, part, scope), count] for part, count in ordered(value)]}
        case Map():
            pairs = zip(members(of.key, scope), value, strict=True)
            return {
                "#map": [[encode(of.key, key, scope), encode(of.value, part, scope)] for key, part in pairs]
            }
        case Unknown():
            raise TypeError("a value of unknown type is in no state")
        case _:
            assert_never(of)


def decode(of: Type, found: Json, scope: Scope, path: Path = ()) -> Value:  # noqa: C901 - one case a type
    """The value of that type that ITF writes so: `encode` backwards.

    Raises Mismatch with the path of the part that does not fit.  That a
    collection is within its limit is not looked at.
    """
    match of:
        case Bool():
            return _need(found, isinstance(found, bool), "true or false", path)
        case Int() | Range() | Nat():
            return _number(of, found, scope, path)
        case Enum():
            return _named(of.name, of.members, found, path)
        case Sort():
            return _named(of.name, scope.sorts[of.name], found, path)
        case Option():
            tag, inner = _variant(found, path)
            _need(tag, tag in ("None", "Some"), "an option, `None` or `Some`", (*path, "tag"))
            return None if tag == "None" else decode(of.of, inner, scope, (*path, "value"))
        case Record():
            return _fields(of.name, of.fields, found, scope, path)
        case Case() | Union():
            return _case(of, found, scope, path)
        case Tuple():
            items = _listed(found, "#tup", path)
            _need(items, len(items) == len(of.items), f"a tuple of {len(of.items)}", path)
            return tuple(
                decode(item, part, scope, (*path, "#tup", i))
                for i, (item, part) in enumerate(zip(of.items, items, strict=True))
            )
        case Seq():
            _need(found, isinstance(found, list), "a list", path)
            return tuple(decode(of.of, part, scope, (*path, i)) for i, part in enumerate(found))
        case Set():
            items = _listed(found, "#set", path)
            return frozenset(decode(of.of, part, scope, (*path, "#set", i)) for i, part in enumerate(items))
        case Bag():
            return frozenset(_pairs(of.of, Int(), found, scope, path).items())
        case Map():
            return _map(of, found, scope, path)
        case Unknown():
            raise TypeError("a value of unknown type is in no state")
        case _:
            assert_never(of)


def _need(found: Value, fits: bool, what: str, path: Path) -> Value:  # noqa: FBT001 - an assertion reads best so
    if not fits:
        _mismatch(found, what, path)
    return found


def _mismatch(found: Json, what: str, path: Path) -> NoReturn:
    raise Mismatch(path, f"here belongs {what}, not {_brief(found)}")


def _brief(found: Json) -> str:
    """A JSON value in a few characters."""
    match found:
        case dict():
            return f"an object with {', '.join(f'`{key}`' for key in list(found)[:3]) or 'nothing in it'}"
        case list():
            return f"a list of {len(found)}"
        case _:
            shown = json.dumps(found, ensure_ascii=False)
            return shown if len(shown) <= 40 else shown[:39] + "…"


def _number(of: Int | Range | Nat, found: Json, scope: Scope, path: Path) -> int:
    if isinstance(found, dict) and set(found) == {"#bigint"}:
        text = found["#bigint"]
        fits = isinstance(text, str) and len(text) <= DIGITS and re.fullmatch("-?[0-9]+", text)
        number = int(text) if fits else _mismatch(text, "the digits of a number", (*path, "#bigint"))
    elif isinstance(found, int) and not isinstance(found, bool):
        number = found
    else:
        _mismatch(found, "a number", path)
    match of:
        case Range(lo, hi):
            _need(number, lo <= number <= hi, f"a number from {lo} to {hi}", path)
        case Nat(name):
            most = scope.limit(name)
            _need(number, 0 <= number <= most, f"a number from 0 to {most}, the scope of {name}", path)
        case Int():
            pass
    return number


def _named(kind: str, names: tuple[str, ...], found: Json, path: Path) -> int:
    if not isinstance(found, str) or found not in names:
        _mismatch(found, f"one of {kind}: {', '.join(names)}", path)
    return names.index(found)


def _variant(found: Json, path: Path) -> tuple[Json, Json]:
    if not isinstance(found, dict) or not {"tag", "value"} <= set(found):
        _mismatch(found, "an object with `tag` and `value`", path)
    return found["tag"], found["value"]


def _fields(name: str, fields: tuple[Field, ...], found: Json, scope: Scope, path: Path) -> tuple[Value, ...]:
    if fields and not isinstance(found, dict):
        _mismatch(found, f"an object with the fields of {name}", path)
    for field in fields:
        if field.name not in found:
            raise Mismatch(path, f"a {name} has a field `{field.name}`, which is missing here")
    return tuple(decode(field.type, found[field.name], scope, (*path, field.name)) for field in fields)


def _case(of: Case | Union, found: Json, scope: Scope, path: Path) -> tuple[Value, ...]:
    tag, inner = _variant(found, path)
    cases = of.cases if isinstance(of, Union) else (of,)
    ordinal = _named(str(of), tuple(case.name for case in cases), tag, (*path, "tag"))
    return (ordinal, *_fields(str(tag), cases[ordinal].fields, inner, scope, (*path, "value")))


def _listed(found: Json, key: str, path: Path) -> list[Json]:
    if not isinstance(found, dict) or not isinstance(found.get(key), list):
        _mismatch(found, f'{{"{key}": [...]}}', path)
    items: list[Json] = found[key]
    return items


def _pairs(key: Type, value: Type, found: Json, scope: Scope, path: Path) -> dict[Value, Value]:
    result = {}
    for i, pair in enumerate(_listed(found, "#map", path)):
        here: Path = (*path, "#map", i)
        _need(pair, isinstance(pair, list) and len(pair) == 2, "a pair of a key and a value", here)
        result[decode(key, pair[0], scope, (*here, 0))] = decode(value, pair[1], scope, (*here, 1))
    return result


def _map(of: Map, found: Json, scope: Scope, path: Path) -> tuple[Value, ...]:
    pairs = _pairs(of.key, of.value, found, scope, path)
    keys = tuple(members(of.key, scope))
    if set(pairs) != set(keys):
        _mismatch(found, f"a map with one value for each {of.key}", path)
    return tuple(pairs[key] for key in keys)
