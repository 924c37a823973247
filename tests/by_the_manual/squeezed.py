"""Nats without a bound: which of their values a state has, and the state with the least of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from tests.by_the_manual.values import Type, Value

State = dict[str, Value]
Numbers = Mapping[str, Mapping[int, int]]  # of each nat without a bound, the new number of each of its values


def has_no_bound(of: Type) -> bool:
    """Whether a type is a nat that the check leaves without a bound."""
    return len(of) == 3 and of[0] == "nat" and of[2] is None


def has_unbounded(of: Type) -> bool:
    """Whether a nat without a bound is somewhere in a type."""
    return has_no_bound(of) or any(
        isinstance(part, tuple) and part != () and has_unbounded(part) for part in of
    )


def squeezed(state: State, variables: Mapping[str, Type]) -> State:
    """The state in which the least value in use above 0 is 1, the next 2, and so on; 0 stays."""
    used: dict[str, set[int]] = defaultdict(lambda: {0})
    for nat, value in _in_use(state, variables):
        used[nat].add(value)
    numbers = {nat: {v: at for at, v in enumerate(sorted(values))} for nat, values in used.items()}
    changed = {name: _renumbered(state[name], of, numbers) for name, of in variables.items()}
    return {name: changed.get(name, value) for name, value in state.items()}


def greatest(nat: str, state: State, variables: Mapping[str, Type]) -> int:
    """The greatest value in use of a nat without a bound, 0 where there is none."""
    return max((value for name, value in _in_use(state, variables) if name == nat), default=0)


def _in_use(state: State, variables: Mapping[str, Type]) -> Iterator[tuple[str, int]]:
    for name, of in variables.items():
        if name in state:
            yield from _values(state[name], of)


def _values(value: Value, of: Type) -> Iterator[tuple[str, int]]:
    """Each value of a nat without a bound, with the name of the nat."""
    if has_no_bound(of):
        yield of[1], value
        return
    for part, inner in _parts(value, of):
        yield from _values(part, inner)


def _renumbered(value: Value, of: Type, numbers: Numbers) -> Value:
    """The value with other numbers.  They keep the order, so a set stays ascending."""
    if has_no_bound(of):
        return numbers[of[1]][value]
    match of:
        case ("option", inner):
            return None if value is None else _renumbered(value, inner, numbers)
        case ("bag", inner, _):
            return tuple([(_renumbered(each, inner, numbers), count) for each, count in value])
        case ("union", *_):
            return (value[0], *[_renumbered(v, t, numbers) for v, t in _parts(value, of)])
        case ("tuple" | "record" | "map" | "set" | "seq", *_):
            return tuple([_renumbered(v, t, numbers) for v, t in _parts(value, of)])
        case _:
            return value


def _parts(value: Value, of: Type) -> Iterable[tuple[Value, Type]]:
    """The parts of a value with their types; of a bag the distinct members."""
    match of:
        case ("option", inner):
            return [] if value is None else [(value, inner)]
        case ("tuple", *types):
            return zip(value, types, strict=True)
        case ("record", _, fields):
            return [(v, t) for v, (_, t) in zip(value, fields, strict=True)]
        case ("union", _, cases):
            return [(v, t) for v, (_, t) in zip(value[1:], cases[value[0]][1], strict=True)]
        case ("map", _, inner) | ("set" | "seq", inner, _):
            return [(v, inner) for v in value]
        case ("bag", inner, _):
            return [(v, inner) for v, _ in value]
        case _:
            return []
