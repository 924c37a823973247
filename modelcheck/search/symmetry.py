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

from collections.abc import Callable, Iterator
from itertools import groupby, permutations, product

import spec.model.ir as ir
import spec.model.types as t
from spec.meaning.semantics import Machine, State
from spec.model.renaming import Renaming, rename_of
from spec.model.values import encode

MOST_RENAMINGS = 5040  # of a state, that the explicit engine looks at: those of seven members

_Signature = Callable[[ir.Value, int], object]


def neighbours(size: int) -> Iterator[Renaming]:
    """The exchanges of each member with the next one, which generate all renamings."""
    for one in range(size - 1):
        yield (*range(one), one + 1, one, *range(one + 2, size))


class Orbits:
    """Computes the representative of each state under renamings of interchangeable members.

    The least of the canonical bytes over those renamings that sort the members
    by features of each that name no member; so a handful are tried,
    not all.
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
        """The renamings that sort the members by their signatures; ties are tried in every order."""
        parts = [(state[index], made) for index, made in self._signatures[name]]
        signatures = [tuple([made(value, member) for value, made in parts]) for member in range(size)]
        ordered = sorted(range(size), key=signatures.__getitem__)
        tied = [list(group) for _, group in groupby(ordered, key=signatures.__getitem__)]
        for arranged in product(*map(permutations, tied)):
            renaming = [0] * size
            for new, old in enumerate(member for group in arranged for member in group):
                renaming[old] = new
            yield tuple(renaming)


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
        case t.Map(t.Sort(name), inner) if name == sort:
            one = _of_own(inner, sort, scope)
            return None if one is None else lambda value, member: one(value[member], member)
        case _:
            return None


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
