"""Renaming the members of a sort: one representative of each orbit of states.

A sort has no order and no named members, so a run with its members renamed is
a run again (Ip and Dill 1996, "Better verification through symmetry").  When
that is so of a sort is in `spec/model/interchangeable.py`.

NOTE(alike): whatever step there is from a state, the renamed step is there from the
renamed state, and an expression, an `old` or a `did` in it included, is true of both or of
neither, since nothing in it names a member.  So a property of steps is asked of every
step that a representative takes, with the state that the step leads to as it is, before
its own representative is looked for; then each step of the model is like one that was asked.
Properties of fair runs are refused.  A step to the same state under other names is a circle of
one representative, although it changes something, and a circle of several may not close:
its run comes back under other names, and repeats itself only after some rounds.  Whoever
answers has to follow the renaming of each step (Emerson and Sistla, "Utilizing symmetry when
model-checking under fairness assumptions", TOPLAS 19(4), 1997), which no engine here does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, product
from math import factorial, prod

import spec.model.ir as ir
import spec.model.types as t
from spec.meaning.semantics import Machine, State
from spec.model.renaming import Rename, Renaming, rename_of
from spec.model.values import encode

MOST_RENAMINGS = 5040  # of a state, of members that are related: those of seven

_Signature = Callable[[ir.Value, int], object]


def neighbours(size: int) -> Iterator[Renaming]:
    """The exchanges of each member with the next one, which generate all renamings."""
    for one in range(size - 1):
        yield (*range(one), one + 1, one, *range(one + 2, size))


def exchanged(size: int, one: int, two: int) -> Renaming:
    """The exchange of two members of a sort with `size` members."""
    return tuple([two if n == one else one if n == two else n for n in range(size)])


def with_too_many(model: ir.Model, scope: ir.Scope, sorts: tuple[str, ...]) -> tuple[str, ...]:
    """The sorts that may need too many renamings of a state for a representative; empty where none do.

    Members that no value relates to others need one, however many they are.
    """
    related = [
        name
        for name in sorts
        if not all(is_local(variable.type, name, sorts) for variable in model.variables)
    ]
    renamings = prod(factorial(len(scope.sorts[name])) for name in related)
    return tuple(related) if renamings > MOST_RENAMINGS else ()


def is_local(of: t.Type, sort: str, sorts: tuple[str, ...]) -> bool:
    """Whether a value relates no member of a sort to others: it is what it tells about each alone.

    It is not where members are next to each other in what has no order: in a set of pairs, or in
    the value that a member has in a map.
    """
    if sort not in t.sorts_in(of):
        return True
    match of:
        case t.Map(key, inner) if key == t.Sort(sort):
            return not _named(inner, sorts)
        case t.Map(key) if _named(key, sorts):
            return False
        case t.Set(inner) | t.Bag(inner):
            return _named(inner, sorts) < 2
        case _:
            return all(is_local(part, sort, sorts) for part in t.parts(of))


def _named(of: t.Type, sorts: tuple[str, ...]) -> int:
    """The most members of sorts that a value names; 2 for any more."""
    if set(sorts).isdisjoint(t.sorts_in(of)):
        return 0
    match of:
        case t.Sort():
            return 1
        case t.Option(inner):
            return _named(inner, sorts)
        case t.Union():
            return max(_named(part, sorts) for part in t.parts(of))
        case t.Record() | t.Tuple() | t.Case():
            return min(2, sum(_named(part, sorts) for part in t.parts(of)))
        case _:
            return 2


class Orbits:
    """Computes the representative of each state under renamings of interchangeable members.

    The least of the canonical bytes over those renamings that sort the members
    by features of each that name no member, and that differ in more than members that
    can change places; so a handful are tried, not all.
    """

    def __init__(self, machine: Machine, sorts: tuple[str, ...]) -> None:
        self._machine = machine
        variables = machine.model.variables
        self._sorts = [(name, len(machine.scope.sorts[name])) for name in sorts]
        self._renames = {
            name: [rename_of(v.type, t.Sort(name)) for v in variables] for name, _ in self._sorts
        }
        self._signatures = {
            name: [
                (index, made)
                for index, v in enumerate(variables)
                if _names_only(v.type, name, sorts)
                and (made := _signature(v.type, name, machine.scope)) is not None
            ]
            for name, _ in self._sorts
        }

    def key(self, state: State) -> bytes:
        """The canonical bytes of the state's representative: the least encoding in its orbit."""
        choices = [
            [(name, renaming) for renaming in self._renamings(state, name, size)]
            for name, size in self._sorts
        ]
        return min(self._machine.encode(self._renamed(state, chosen)) for chosen in product(*choices))

    def _renamed(self, state: State, chosen: tuple[tuple[str, Renaming], ...]) -> State:
        """The state after a renaming of each sort."""
        for name, renaming in chosen:
            state = tuple(
                value if rename is None else rename(value, renaming)
                for value, rename in zip(state, self._renames[name], strict=True)
            )
        return state

    def _renamings(self, state: State, name: str, size: int) -> Iterator[Renaming]:
        """The renamings that sort the members by their signatures; ties in every order that differs."""
        parts = [(state[index], made) for index, made in self._signatures[name]]
        signatures = [tuple([made(value, member) for value, made in parts]) for member in range(size)]
        ordered = sorted(range(size), key=signatures.__getitem__)
        tied = [
            self._alike(state, name, size, [*of]) for _, of in groupby(ordered, key=signatures.__getitem__)
        ]
        for arranged in product(*map(_orders, tied)):
            renaming = [0] * size
            for new, old in enumerate(member for group in arranged for member in group):
                renaming[old] = new
            yield tuple(renaming)

    def _alike(self, state: State, name: str, size: int, tied: list[int]) -> list[tuple[int, ...]]:
        """Members in groups of those that can change places, and the state stays as it is."""
        groups: list[tuple[int, ...]] = []
        for member in tied:
            for number, group in enumerate(groups):
                if self._renamed(state, ((name, exchanged(size, group[0], member)),)) == state:
                    groups[number] = (*group, member)
                    break
            else:
                groups.append((member,))
        return groups


def _orders(groups: Sequence[tuple[int, ...]]) -> Iterator[tuple[int, ...]]:
    """The orders of all members in which those of a group keep theirs."""
    if not any(groups):
        yield ()
    for number, group in enumerate(groups):
        if group:
            for others in _orders([*groups[:number], group[1:], *groups[number + 1 :]]):
                yield group[0], *others


def _names_only(of: t.Type, sort: str, sorts: tuple[str, ...]) -> bool:
    """Whether what a value shows about a member does not depend on renamings of the other sorts."""
    return not set(t.sorts_in(of)) & (set(sorts) - {sort})


# ------------------------------------------------------------------ features of a member


def _signature(of: t.Type, sort: str, scope: ir.Scope) -> _Signature | None:
    """A function from value and member to a sort key that renaming both together does not change.

    None where there is no cheap feature; that costs ties, never soundness.
    """
    match of:
        case t.Sort(name) if name == sort:
            return lambda value, member: value == member
        case t.Option(t.Sort(name)) if name == sort:
            return lambda value, member: 0 if value is None else 1 if value == member else 2
        case t.Set(t.Sort(name)) if name == sort:
            return lambda value, member: (member in value, len(value))
        case t.Set(inner) | t.Bag(inner) if (rename := rename_of(inner, t.Sort(sort))) is not None:
            has_keys = any(isinstance(p, t.Map) and p.key == t.Sort(sort) for p in t.walk_type(inner))
            return None if has_keys else _mentions(of, rename, len(scope.sorts[sort]))
        case t.Map(t.Sort(name), inner) if name == sort:
            one = _of_own(inner, sort, scope)
            return None if one is None else lambda value, member: one(value[member], member)
        case _:
            return None


def _mentions(of: t.Set | t.Bag, rename: Rename, size: int) -> _Signature:
    """How many members of a set or bag name a member of a sort."""
    without = [tuple([size if n == member else n for n in range(size)]) for member in range(size)]
    if isinstance(of, t.Bag):
        return lambda value, member: sum(n for v, n in value if rename(v, without[member]) != v)
    return lambda value, member: sum(rename(v, without[member]) != v for v in value)


def _of_own(of: t.Type, sort: str, scope: ir.Scope) -> _Signature | None:
    """The same for a field of the member itself, which also distinguishes members when it names none."""
    if rename_of(of, t.Sort(sort)) is not None:
        return _signature(of, sort, scope)
    if isinstance(of, t.Bool | t.Range | t.Nat | t.Enum | t.Sort):
        return lambda value, _: value
    return _memoised(encode(of, scope))


def _memoised(of: Callable[[ir.Value], bytes]) -> _Signature:
    """The signature by a function of the value alone, cached."""
    known: dict[ir.Value, bytes] = {}

    def signature(value: ir.Value, _member: int) -> bytes:
        if value not in known:
            known[value] = of(value)
        return known[value]

    return signature
