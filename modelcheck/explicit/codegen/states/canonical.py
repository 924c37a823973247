"""The representative of a state's orbit as code: the least of its words over renamings of sorts.

It is the least over those renamings that put members in the order of their signatures: one, but for
members with the same signatures that cannot change places.  Few renamings are written out, each a few
shifts and small tables, which a part of the signatures chooses from; many are gone through
(`arranging.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import pairwise, permutations, product
from math import factorial, prod

from modelcheck.explicit.codegen.arithmetic import FALSE, TRUE, V, i64
from modelcheck.explicit.codegen.assembly import Function, Register
from modelcheck.explicit.codegen.states.arranging import by_signature, each_order
from modelcheck.explicit.codegen.states.layout import PackedLayout
from modelcheck.explicit.codegen.states.renamer import NewNames, Renamer, rename_state, squeeze
from modelcheck.explicit.codegen.states.signatures import Signatures
from modelcheck.explicit.codegen.states.state import StateBits
from modelcheck.explicit.codegen.values.packing import TooWide
from modelcheck.search.symmetry import MOST_RENAMINGS, with_too_many
from spec.frozen import frozen
from spec.model.ir import Model, Scope

WRITTEN_OUT = 6  # up to this many renamings are written out


def canonical(model: Model, scope: Scope, layout: PackedLayout, sorts: tuple[str, ...]) -> list[Function]:
    """`represent`: from one state's words to its representative's. Raises TooWide for too many renamings.

    Where a nat has no bound it squeezes the values of such nats, which no renaming of members changes, and
    calls `rename`, which is enough for a state in which they are squeezed.
    """
    if not scope.unbounded:
        return _Representative("represent", model, scope, layout, sorts).functions()
    renaming = _Representative("rename", model, scope, layout, sorts)
    return [*renaming.functions(), _squeeze_and_rename(model, scope, layout)]


def emitting(scope: Scope, sorts: tuple[str, ...]) -> dict[str, str | None]:
    """The functions that take a successor, each with that of its representative; None where it is itself.

    `emit_squeezed` is for steps that leave no gap between the values of nats without a bound.
    """
    if scope.unbounded:
        return {"emit": "represent", "emit_squeezed": "rename"}
    return {"emit": "represent" if sorts else None}


def _squeeze_and_rename(model: Model, scope: Scope, layout: PackedLayout) -> Function:
    """Write `represent` for a scope in which a nat has no bound."""
    fn = Function("represent", [("ptr noalias", "from"), ("ptr noalias", "to")], "void")
    own = fn.array(layout.words)
    state = StateBits(fn, layout, own)
    StateBits(fn, layout, "%from").copy_to(state)
    for nat in sorted(scope.unbounded):
        squeeze(model, state, nat)
    fn.emit(f"call void @rename(ptr {own}, ptr %to)")
    fn.end("ret void")
    return fn


@frozen
class _Representative:
    """Writes the function of a name that finds the least of a state's words over renamings of sorts."""

    name: str
    model: Model
    scope: Scope
    layout: PackedLayout
    sorts: tuple[str, ...]

    def functions(self) -> list[Function]:
        """The function, and what it calls. Raises TooWide."""
        sizes = {name: len(self.scope.sorts[name]) for name in self.sorts}
        if prod(map(factorial, sizes.values())) <= WRITTEN_OUT:
            return [self._of_few(sizes)]
        if many := with_too_many(self.model, self.scope, self.sorts):
            names = " and ".join(many)
            raise TooWide(
                f"more than {MOST_RENAMINGS:,} renamings of each state, since it relates members of {names}"
            )
        return [self._of_many(sizes), self._renamed(sizes)]

    def _function(self) -> tuple[Function, StateBits]:
        """A function with a copy of the state that it is given."""
        fn = Function(self.name, [("ptr noalias", "from"), ("ptr noalias", "to")], "void")
        source = StateBits(fn, self.layout, fn.array(self.layout.words))
        StateBits(fn, self.layout, "%from").copy_to(source)
        return fn, source

    def _of_few(self, sizes: dict[str, int]) -> Function:
        """The function that tries every renaming that puts a part of signatures in order."""
        fn, source = self._function()
        target = StateBits(fn, self.layout, fn.array(self.layout.words))
        best = [fn.cell(64, i64(-1)) for _ in range(self.layout.words)]
        signatures = Signatures(fn, self.model, self.scope, self.sorts)
        keys = {name: signatures.in_part(name, source) for name in sizes}
        for numbers in _all_renamings(sizes):
            with fn.when(_ascend(fn, keys, numbers)):
                source.copy_to(target)
                if any(list(each) != sorted(each) for each in numbers.values()):
                    renaming = {name: NewNames(tuple(map(i64, each))) for name, each in numbers.items()}
                    rename_state(Renamer(fn, self.model, renaming), self.model, source, target)
                _keep_less(fn, best, target.all_words())
        return self._ended(fn, best)

    def _of_many(self, sizes: dict[str, int]) -> Function:
        """The function that tries the renamings that put signatures in order."""
        fn, source = self._function()
        target = StateBits(fn, self.layout, fn.array(self.layout.words))
        best = [fn.cell(64, i64(-1)) for _ in range(self.layout.words)]
        numbers, signatures = (
            fn.array(sum(sizes.values())),
            Signatures(fn, self.model, self.scope, self.sorts),
        )
        at, orders = 0, []
        for name, size in sizes.items():
            of_sort, is_exact = signatures.of(name, source)
            orders.append((name, *by_signature(fn, of_sort, fn.at(numbers, at)), is_exact))
            at += size
        with ExitStack() as every:
            for name, order, keys, is_exact in orders:
                if not is_exact:
                    every.enter_context(
                        each_order(fn, order, keys, self._alike(fn, sizes, name, source, target))
                    )
            self._call(fn, source, target, numbers)
            _keep_less(fn, best, target.all_words())
        return self._ended(fn, best)

    def _alike(
        self, fn: Function, sizes: dict[str, int], sort: str, source: StateBits, target: StateBits
    ) -> Callable[[V, V], V]:
        """What emits whether two members of a sort can change places and the state stays as it is."""
        numbers = fn.array(sum(sizes.values()))

        def alike(one: V, two: V) -> V:
            at = 0
            for name, size in sizes.items():
                with fn.loop(i64(size)) as member:
                    new = member
                    if name == sort:
                        new = fn.select(fn.eq(member, two), one, member)
                        new = fn.select(fn.eq(member, one), two, new)
                    fn.write(numbers, new, fn.add(member, i64(at)))
                at += size
            self._call(fn, source, target, numbers)
            same = TRUE
            for mine, other in zip(source.all_words(), target.all_words(), strict=True):
                same = fn.and_(same, fn.eq(mine, other))
            return same

        return alike

    def _call(self, fn: Function, source: StateBits, target: StateBits, numbers: str) -> None:
        """Emit writing the state with new numbers of members to another."""
        fn.emit(f"call void @{self.name}.by(ptr {source.words}, ptr {target.words}, ptr {numbers})")

    def _renamed(self, sizes: dict[str, int]) -> Function:
        """The function that writes a state with new numbers of members to another."""
        parameters = [("ptr noalias", "from"), ("ptr noalias", "to"), ("ptr noalias", "numbers")]
        fn = Function(f"{self.name}.by", parameters, "void")
        source, target = StateBits(fn, self.layout, "%from"), StateBits(fn, self.layout, "%to")
        source.copy_to(target)
        at, names = 0, {}
        for name, size in sizes.items():
            table = fn.at("%numbers", at)
            names[name] = NewNames(tuple(fn.read(table, n) for n in range(size)), table)
            at += size
        rename_state(Renamer(fn, self.model, names), self.model, source, target)
        fn.end("ret void")
        return fn

    def _ended(self, fn: Function, best: list[Register]) -> Function:
        """The function, which returns the best."""
        for n, cell in enumerate(best):
            fn.write("%to", fn.load(cell), n)
        fn.end("ret void")
        return fn


def _all_renamings(sizes: dict[str, int]) -> Iterator[dict[str, tuple[int, ...]]]:
    """Every renaming of the members of the sorts: the new number of each."""
    for chosen in product(*(permutations(range(size)) for size in sizes.values())):
        yield dict(zip(sizes, chosen, strict=True))


def _ascend(fn: Function, keys: dict[str, list[V]], numbers: dict[str, tuple[int, ...]]) -> V:
    """Emit whether the keys of the members of each sort ascend with their new numbers."""
    found = TRUE
    for name, each in numbers.items():
        for one, two in pairwise(sorted(range(len(each)), key=each.__getitem__)):
            found = fn.and_(found, fn.up_to(keys[name][one], keys[name][two]))
    return found


def _keep_less(fn: Function, best: list[Register], words: list[V]) -> None:
    """Emit replacing `best` by `words` if that state is less; the last word counts most."""
    less, same = FALSE, TRUE
    known = [fn.load(cell) for cell in best]
    for mine, theirs in reversed(list(zip(words, known, strict=True))):
        less = fn.or_(less, fn.and_(same, fn.below(mine, theirs)))
        same = fn.and_(same, fn.eq(mine, theirs))
    for cell, mine, theirs in zip(best, words, known, strict=True):
        fn.store(cell, fn.select(less, mine, theirs))
