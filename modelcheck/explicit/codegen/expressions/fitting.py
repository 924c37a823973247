"""What fits where, as code: a step beyond the scope is cut, a number outside its range is an error."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum, auto

import spec.model.types as t
from modelcheck.explicit.codegen.arithmetic import TRUE, InstructionBlock, V, i64
from modelcheck.explicit.codegen.assembly import Function
from modelcheck.explicit.codegen.values.members import size
from modelcheck.explicit.codegen.values.packing import (
    Array,
    Mask,
    Never,
    Number,
    Optional,
    Packing,
    Product,
    Sequence,
    Slots,
    TaggedUnion,
    typed_parts,
)
from modelcheck.explicit.codegen.values.values import Live, collection, cut_out, some, split, tag_of
from modelcheck.explicit.codegen.values.walks import walk_of
from spec.frozen import frozen
from spec.model.ir import Scope

WRITTEN_OUT = 8  # up to this many members are examined one by one


class FitLimit(Enum):
    """The two kinds of bound on a stored value, in the order of the checks: an error precedes a cut."""

    DECLARED = auto()  # by the model: an error
    SCOPE = auto()  # by the check: a cut

    @staticmethod
    def of(limit: t.Limit) -> FitLimit:
        """The kind of a size limit: SCOPE if it is a name whose value the scope gives, else DECLARED."""
        return FitLimit.SCOPE if isinstance(limit.of, str) else FitLimit.DECLARED


@frozen
class Fitting:
    """Emits the check of a value before it is stored: beyond its type is an error, beyond the scope a cut.

    `cut(name)` is the block to jump to if the value exceeds the limit of that name.
    """

    fn: Function
    scope: Scope
    unions: dict[str, t.Union]
    error: InstructionBlock
    cut: Callable[[str], InstructionBlock]

    def check(self, live: Live, of: t.Type) -> None:
        """Emit a jump to `error` or a cut block unless the value can be stored as that type."""
        for bound in FitLimit:
            self._check_bound(live, of, bound)

    def _check_bound(  # noqa: C901 - a dispatch over a union
        self, live: Live, of: t.Type, bound: FitLimit, here: V = TRUE
    ) -> None:
        """Emit the checks of one kind of bound on a value and its parts, effective only if `here` is true."""
        if always_fits(live.packing, of, self.scope, self.unions, bound):
            return
        fn = self.fn
        match of, live.packing:
            case t.Range(lo, hi), Number(least, most):
                inside = TRUE if least >= lo else fn.at_most(i64(lo), live.v)
                inside = inside if most <= hi else fn.and_(inside, fn.at_most(live.v, i64(hi)))
                self._leave_if_both(here, fn.not_(inside), self.error)
            case t.Nat(name), Number():
                if bound is FitLimit.SCOPE:
                    self._leave_if_both(here, fn.less(i64(self.scope.limit(name)), live.v), self.cut(name))
                else:
                    self._leave_if_both(here, fn.less(live.v, i64(0)), self.error)
            case t.Option(inner), Optional(packed):
                there = fn.and_(here, fn.is_set(live.v))
                self._check_bound(some(fn, live, packed), inner, bound, there)
            case t.Option(inner), _:
                self._check_bound(live, inner, bound, here)
            case t.Map(_, inner), Array(_, count):
                self._parts(live, [inner] * count, bound, here)
            case _, Product():
                self._parts(live, t.parts(of), bound, here)
            case _, TaggedUnion():
                for ordinal, (case, product) in enumerate(typed_parts(of, live.packing, self.unions)):
                    mine = fn.and_(here, fn.eq(tag_of(fn, live), i64(ordinal)))
                    self._parts(cut_out(fn, live.v, 0, product), t.parts(case), bound, mine)
            case ((t.Seq(inner, limit) | t.Set(inner, limit) | t.Bag(inner, limit)), _):
                if limit is not None and FitLimit.of(limit) is bound:
                    self._count(live, limit, here)
                self._members(live, inner, bound, here)
            case _:
                raise TypeError(f"{live.packing} is no {of}")

    def _leave_if_both(self, here: V, misfit: V, to: InstructionBlock) -> None:
        """Emit a jump to `to` if both `here` and `misfit` are true."""
        self.fn.leave_if(self.fn.and_(here, misfit), to)

    def _parts(self, live: Live, types: Iterable[t.Type], bound: FitLimit, here: V) -> None:
        """Emit the checks of the parts of a record, tuple, map or case, each against its type."""
        for part, of in zip(split(self.fn, live), types, strict=True):
            self._check_bound(part, of, bound, here)

    def _count(self, live: Live, limit: t.Limit, here: V) -> None:
        """Emit the check of the number of elements against a limit."""
        most = self.scope.most(limit)
        if collection(live).most > most:
            to = self.cut(limit.of) if isinstance(limit.of, str) else self.error
            self._leave_if_both(here, self.fn.less(i64(most), size(self.fn, live).v), to)

    def _members(self, live: Live, inner: t.Type, bound: FitLimit, here: V) -> None:
        """Emit the checks of each element of a collection or option."""
        fn = self.fn
        walk = walk_of(fn, live, in_order=bound is FitLimit.SCOPE)  # the first that is beyond it is counted
        if always_fits(walk.packing, inner, self.scope, self.unions, bound):
            return

        def one(index: V) -> None:
            there, member = walk.candidate(index)
            self._check_bound(member, inner, bound, fn.and_(here, there))

        fn.rounds(walk.count, one, written_out=walk.count <= WRITTEN_OUT, limit=walk.limit)


def always_fits(
    packing: Packing, of: t.Type, scope: Scope, unions: dict[str, t.Union], bound: FitLimit
) -> bool:
    """Whether every value of a packing is within that kind of bound of a type, so that no check is needed."""
    if isinstance(packing, Never):
        return True
    match of, packing:
        case t.Range(lo, hi), Number(least, most):
            return bound is FitLimit.SCOPE or (lo <= least and most <= hi)
        case t.Nat(name), Number(least, most):
            return most <= scope.limit(name) if bound is FitLimit.SCOPE else least >= 0
        case ((t.Seq(_, limit) | t.Set(_, limit) | t.Bag(_, limit)), (Mask() | Sequence() | Slots())):
            if limit is not None and FitLimit.of(limit) is bound and packing.most > scope.most(limit):
                return False
        case _:
            pass
    return all(always_fits(p, o, scope, unions, bound) for o, p in typed_parts(of, packing, unions))
