"""Which values of a nat without a bound are in use in a state, as code: the bits of a word."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import spec.model.types as t
from modelcheck.explicit.codegen.arithmetic import V, i64
from modelcheck.explicit.codegen.assembly import Function
from modelcheck.explicit.codegen.states.layout import PackedLayout
from modelcheck.explicit.codegen.states.state import StateBits
from modelcheck.explicit.codegen.values.members import candidate, entry, length
from modelcheck.explicit.codegen.values.packing import (
    Array,
    Mask,
    Never,
    Optional,
    Product,
    Sequence,
    Slots,
    TaggedUnion,
)
from modelcheck.explicit.codegen.values.values import Live, cut_out, some, split, tag_of
from spec.frozen import frozen
from spec.model.ir import Model, Scope
from spec.model.values_in_use import has

FEW = 2  # members of a set that are looked at without a loop


def greatest(model: Model, scope: Scope, layout: PackedLayout) -> Iterator[Function]:
    """For each nat without a bound the function that finds the greatest value in use in a state, or 0."""
    for nat in sorted(scope.unbounded):
        fn = Function(greatest_of(nat), [("ptr readonly", "state")], "i64")
        in_use = fn.or_(values_in_use(model, StateBits(fn, layout, "%state"), nat), i64(1))
        fn.end(f"ret {fn.highest(in_use)}")
        yield fn


def greatest_of(nat: str) -> str:
    """The name of the function that finds the greatest value of a nat in use."""
    return f"greatest.{nat}"


def values_in_use(model: Model, state: StateBits, nat: str) -> V:
    """A word with the bit of each value of a nat that is in use in a state."""
    fn, found = state.fn, i64(0)
    for index, variable in enumerate(model.variables):
        if has(variable.type, nat):
            live = state.get(state.variable(index))
            found = fn.or_(found, _InUse(fn, model, nat).in_(live, variable.type))
    return found


@frozen
class _InUse:
    """Finds which values of a nat are in use, as the bits of a word."""

    fn: Function
    model: Model
    nat: str

    def in_(self, live: Live, of: t.Type) -> V:
        """Those in a value of a type."""
        fn, packing = self.fn, live.packing
        if not has(of, self.nat) or isinstance(packing, Never):
            return i64(0)
        match of, packing:
            case t.Nat(), _:
                return fn.shl(i64(1), live.v)
            case t.Option(inner), Optional(packed):
                return self._if(fn.is_set(live.v), some(fn, live, packed), inner)
            case _, Product():
                pairs = zip(split(fn, live), t.parts(of), strict=True)
                return self._any(self.in_(part, inner) for part, inner in pairs)
            case t.Case(name), _:
                return self.in_(live, next(each for each in self.model.unions if each.name == name))
            case t.Union(_, cases), TaggedUnion():
                tag = tag_of(fn, live)
                return self._any(
                    self._if(fn.eq(tag, i64(ordinal)), cut_out(fn, live.v, 0, part), case, parts=True)
                    for ordinal, (case, part) in enumerate(zip(cases, packing.cases, strict=True))
                )
            case t.Map(_, inner), Array():
                return self._any(self.in_(part, inner) for part in split(fn, live))
            case t.Set(t.Nat()), Mask():
                return fn.resize(live.v, 64)
            case ((t.Set(inner) | t.Bag(inner)), (Mask() | Slots())):
                return self._in_members(live, inner, packing.most)
            case t.Seq(inner), Sequence():
                count = length(fn, live)
                return self._any(
                    self._if(fn.less(i64(at), count), entry(fn, live, i64(at)), inner)
                    for at in range(packing.most)
                )
            case _:
                raise TypeError(f"{packing} is no {of}")

    def _any(self, words: Iterable[V]) -> V:
        found = i64(0)
        for word in words:
            found = self.fn.or_(found, word)
        return found

    def _if(self, there: V, live: Live, of: t.Type, *, parts: bool = False) -> V:
        """Those in a value that is there only under a condition; of a case of a union those in its fields."""
        if parts:
            pairs = zip(split(self.fn, live), t.parts(of), strict=True)
            word = self._any(self.in_(part, inner) for part, inner in pairs)
        else:
            word = self.in_(live, of)
        return self.fn.select(there, word, i64(0))

    def _in_members(self, live: Live, inner: t.Type, most: int) -> V:
        fn = self.fn
        found = fn.cell(64, i64(0))

        def one(index: V) -> None:
            there, member = candidate(fn, live, index)
            with fn.when(there):
                fn.store(found, fn.or_(fn.load(found), self.in_(member, inner)))

        fn.rounds(most, one, written_out=most <= FEW)
        return fn.load(found)
