"""The versions of the variables on their way through a step, and the names that they get.

NOTE(versions): later statements see what earlier ones changed, so a version
that is read again needs a name: the last one is `x'` itself, the others are
defined by LET; one that is not read is written where it is used.  How often a
version is read is known only at the end, so statements are gone through
twice: first to count, then to write.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import modelcheck.export.tla.terms as tla
from modelcheck.export.tla.blocks import Condition, Definition, NextValue, StepEnd, TlaBlock
from modelcheck.export.tla.expressions import TlaEnv, TlaExpressions
from modelcheck.export.tla.fits import Fits, Stored, stop
from modelcheck.export.tla.names import local
from modelcheck.export.tla.terms import TlaTerm
from spec.formatting.documents import Doc
from spec.frozen import frozen

Ask = Callable[[Stored], Sequence[TlaTerm]]  # conditions of a store, which may name what is stored


@dataclass(slots=True)
class VersionCounts:
    """Results of the first pass: how often each version is read, carried on, and last; all names used."""

    reads: Counter[int] = field(default_factory=Counter)
    carried: Counter[int] = field(default_factory=Counter)
    last: Counter[int] = field(default_factory=Counter)
    ends: int = 0
    names: set[str] = field(default_factory=set)


@frozen
class VariableVersion:
    """A variable's value at a point of a step: how to read it, and its text if it is inlined.

    `updates` are those of a text that is `[root EXCEPT updates]`.
    """

    number: int
    name: TlaTerm
    text: TlaTerm
    root: TlaTerm | None = None
    updates: tuple[Doc, ...] = ()


@dataclass(slots=True)
class BranchPath:
    """The position in one branch of a step; `path` are the tests on the way."""

    versions: list[VariableVersion]
    env: TlaEnv
    block: TlaBlock
    path: tuple[TlaTerm, ...] = ()
    asserts: tuple[tuple[str, TlaTerm], ...] = ()

    def fork(self, block: TlaBlock) -> BranchPath:
        """A copy of the position that continues in another block."""
        return replace(self, versions=list(self.versions), block=block)


class Versions:
    """Names and counts the versions of variables in one pass; the second uses the counts of the first."""

    def __init__(self, expressions: TlaExpressions, before: VersionCounts | None, *, is_start: bool) -> None:
        self.counts = VersionCounts()
        self.expressions = expressions
        self.fits = Fits(expressions)
        self.variables = expressions.values.words.variables
        self.is_start = is_start
        self.used = set(expressions.values.taken)
        self.round: Callable[[BranchPath], StepEnd] | None = None  # what ends a round of the loop we are in
        self._before = before
        self._number = 0

    def name_for(self, wanted: str) -> str:
        """A new name in this step."""
        made = local(wanted, frozenset(self.used))
        self.used.add(made)
        self.counts.names.add(made)
        return made

    def before(self, env: TlaEnv) -> BranchPath:
        """The position at the start of a step."""
        own = [
            VariableVersion(-1 - index, name, name)
            for index, name in enumerate(map(tla.atom, self.variables))
        ]
        return BranchPath(own, env, [])

    def cheap(self, text: TlaTerm) -> VariableVersion:
        """A version that is always inlined."""
        self._number += 1
        return VariableVersion(self._number, text, text)

    def read(self, version: VariableVersion) -> TlaTerm:
        """The expression that reads a version."""
        self.counts.reads[version.number] += 1
        return version.name

    def carry(self, version: VariableVersion) -> TlaTerm:
        """The expression of a version that is passed on unchanged."""
        self.counts.carried[version.number] += 1
        return version.text if self.is_inline(version.number) else version.name

    def is_inline(self, number: int) -> bool:
        """Whether a version needs no name."""
        before = self._before
        return before is not None and before.reads[number] == 0 and before.carried[number] <= 1

    def is_last(self, number: int) -> bool:
        """Whether a version is the variable's final value in every branch."""
        before = self._before
        return self.round is None and before is not None and before.last[number] == before.ends

    def after(self, var: int) -> str:
        """The name of a variable after the step."""
        return self.variables[var] if self.is_start else f"{self.variables[var]}'"

    def env_of(self, state: BranchPath) -> TlaEnv:
        """The context of expressions at a position."""
        versions = tuple(state.versions)
        names = set() if self._before is None else self._before.names
        taken = frozenset(state.env.taken | self.used | names)
        return replace(state.env, read=lambda index: self.read(versions[index]), taken=taken)

    def put(
        self,
        state: BranchPath,
        var: int,
        text: TlaTerm,
        ask: Ask | None = None,
        root: TlaTerm | None = None,
        updates: tuple[Doc, ...] = (),
    ) -> None:
        """Give a variable a new version from here on, if the conditions hold."""
        self._number += 1
        number, name = self._number, self.variables[var]
        item: NextValue | Definition | None = None
        if self.is_last(number):
            own = tla.atom(self.after(var))
            item = NextValue(str(own), text)
        elif self.is_inline(number):
            own = text
        else:
            own = tla.atom(self.name_for(name))
            item = Definition(tla.definition(str(own), (), text))
        version = VariableVersion(number, own, text, root, updates)
        items = self._conditions(state, [] if ask is None else ask(lambda: self.read(version)))
        own_items = [] if item is None else [item]
        speaks = self.counts.reads[number] > 0
        state.block += [*own_items, *items] if speaks else [*items, *own_items]
        state.versions[var] = version

    def demand(self, state: BranchPath, conditions: Sequence[TlaTerm]) -> None:
        """Add conditions of the step."""
        state.block += self._conditions(state, conditions)

    def _conditions(self, state: BranchPath, conditions: Sequence[TlaTerm]) -> list[Condition]:
        """The conditions; in a branch, only for steps that take it."""
        tests = [tla.implies(tla.both(state.path), each) if state.path else each for each in conditions]
        if self.is_start:
            message = "an initial state beyond the scope"
            tests = [test if test.op == "Assert" else stop(test, message) for test in tests]
        return list(map(Condition, tests))
