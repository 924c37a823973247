"""Statements in TLA+, where nothing is assigned: each change of a variable makes a new version of it.

See NOTE(versions) in `versions.py`.  A branch without a choice in it makes
`IF … THEN … ELSE …` of every variable it changes; with one, the rest of the
step is written for each side.  A `for` whose rounds each write a place of their
own makes a function; any other one becomes a recursive operator over the
sequence of the members, in canonical order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import modelcheck.export.tla.terms as tla
import spec.ir as ir
import spec.types as t
from modelcheck.export.known import Reach
from modelcheck.export.rounds import asserted, is_parallel, written
from modelcheck.export.tla.blocks import (
    Condition,
    Definition,
    MemberChoice,
    NextValue,
    Split,
    StepEnd,
    TlaBlock,
    as_set,
)
from modelcheck.export.tla.expressions import TlaEnv, TlaExpressions, is_split_by_tlc
from modelcheck.export.tla.fits import LONG, Stored, stop
from modelcheck.export.tla.names import field_name, legal, local
from modelcheck.export.tla.terms import TlaTerm
from modelcheck.export.tla.versions import BranchPath, VersionCounts, Versions
from spec.op import Op
from spec.pretty import LINE, Doc, Group, Nest, cat, joined
from spec.values import members
from spec.walk import chooses

NOTHING = ("done", tla.TRUE)  # where a loop with a choice in it changes nothing


class Flow(Versions):
    """One pass over the statements of a step; with the counts of the pass before, the one that counts."""

    def __init__(
        self,
        expressions: TlaExpressions,
        before: VersionCounts | None,
        looked_at: frozenset[str],
        counters: Sequence[str] = (),
        *,
        is_start: bool = False,
    ) -> None:
        super().__init__(expressions, before, is_start=is_start)
        self._looked_at = looked_at  # the asserts that matter
        self._counters = tuple(counters)

    # ------------------------------------------------------------------ whole steps

    def step(self, action: ir.Action, env: TlaEnv) -> TlaBlock:
        """The block of an action."""
        self.used |= env.taken
        state = BranchPath(
            [self.base(name, index) for index, name in enumerate(self.variables)], env, TlaBlock()
        )
        block = state.block
        for part in action.head:
            if isinstance(part, ir.Bound):
                self._bind(part, state)
            else:
                block.items += [Condition(guard) for guard in self.guards(part.test, self.env_of(state))]
        self._go(action.body, state)
        return block

    def start(self, variables: Sequence[ir.Variable], body: Sequence[ir.Stmt], env: TlaEnv) -> TlaBlock:
        """The block of the initial states."""
        state = BranchPath(
            [self.base(name, index) for index, name in enumerate(self.variables)], env, TlaBlock()
        )
        block = state.block
        for index, variable in enumerate(variables):
            fit = ir.Fit(variable.init, type=variable.type, span=variable.init.span)
            here = self.env_of(state)
            self.demand(state, self.fits.conditions(fit, here))
            self.put(state, index, self.expressions.term(variable.init, here))
        self._go(tuple(body), state)
        return block

    def guards(self, test: ir.Expr, env: TlaEnv) -> Iterator[TlaTerm]:
        """The parts of a guard, each so that TLC makes one step of it."""
        for part in test.parts if isinstance(test, ir.And) else (test,):
            term = self.expressions.term(part, env)
            yield (
                tla.call(self.expressions.values.library.use("Holds"), term)
                if is_split_by_tlc(part)
                else term
            )

    # ------------------------------------------------------------------ in order, through choices

    def _go(self, todo: tuple[ir.Stmt, ...], state: BranchPath) -> None:
        """Statements up to the end."""
        for place, statement in enumerate(todo):
            if chooses(statement):
                self._choosing(statement, todo[place + 1 :], state)
                return
            self._plain(statement, state)
        state.block.items.append(self._end(state) if self.round is None else self.round(state))

    def _choosing(self, statement: ir.Stmt, rest: tuple[ir.Stmt, ...], state: BranchPath) -> None:
        match statement:
            case ir.Choose():
                self._choose(statement, rest, state)
            case ir.Branch(test=test, then=then, other=other):
                term = self.expressions.term(test, self.env_of(state))
                sides = [replace(state, versions=list(state.versions), block=TlaBlock()) for _ in range(2)]
                for branch, side in zip((then, other), sides, strict=True):
                    block = side.block
                    self._go((*branch, *rest), side)
                    side.block = block
                state.block.items.append(Split(term, sides[0].block, sides[1].block))
            case ir.Each():
                self._each_chooses(statement, rest, state)
            case _:
                raise TypeError(f"{statement} has no choice in it")

    def _choose(self, statement: ir.Choose, rest: tuple[ir.Stmt, ...], state: BranchPath) -> None:
        name, env = self.name_for(statement.name), self.env_of(state)
        domain, test, inner = self._walk(statement, name, env)
        tests = [] if test is None else [test]
        tests += [] if statement.where is None else [self.expressions.term(statement.where, inner)]
        block = TlaBlock()
        state.block.items.append(MemberChoice(name, domain, tla.both(tests) if tests else None, block))
        after = replace(state.env, names=inner.names, known=inner.known)
        self._go(rest, replace(state, versions=list(state.versions), env=after, block=block))

    def _end(self, state: BranchPath) -> StepEnd:
        """The end of a step."""
        self.counts.ends += 1
        unchanged = []
        for index, version in enumerate(state.versions):
            if version.number < 0:
                unchanged.append(self.variables[index])
                continue
            self.counts.last[version.number] += 1
            if not self.is_last(version.number):  # it is on this side of a split only
                state.block.items.append(NextValue(self.after(index), self.carry(version)))
        ends = [
            tla.call("Assert", test, tla.atom(f'"the assertion {name} is false"'))
            for name, test in state.asserts
        ]
        return StepEnd(tuple(ends), (*unchanged, *self._counters))

    # ------------------------------------------------------------------ statements without choice

    def _plain(self, statement: ir.Stmt, state: BranchPath) -> None:
        match statement:
            case ir.Assign():
                self._assign(statement, state)
            case ir.Bound():
                self._bind(statement, state)
            case ir.Branch():
                self._branch(statement, state)
            case ir.Each():
                values = self.expressions.values
                at_once = is_parallel(statement, self.expressions.knowledge, values.scope, state.env.known)
                (self._all_at_once if at_once else self._one_by_one)(statement, state)
            case ir.Assert(name=name, test=test):
                if name in self._looked_at:
                    found = self.expressions.term(test, self.env_of(state))
                    path = tla.implies(tla.both(state.path), found) if state.path else found
                    state.asserts = (*state.asserts, (name, path))
            case ir.Choose():
                raise TypeError("a choice has its own way")

    def _bind(self, statement: ir.Bound, state: BranchPath) -> None:
        env = self.env_of(state)
        value = self.expressions.term(statement.value, env)
        known = self.expressions.knowledge.of(statement.value, env.known)
        if not value.is_atom:
            name = self.name_for(statement.name.rpartition(".")[2])
            state.block.items.append(Definition(tla.definition(name, (), value)))
            value = tla.atom(name)
        state.env = state.env.bound(statement.slot, value, known)
        state.env = state.env.standing_for(statement.slot, statement.value, env)

    def _assign(self, statement: ir.Assign, state: BranchPath) -> None:
        env, var, value = self.env_of(state), statement.var, statement.value
        if not statement.path:
            text = self.expressions.term(value, env)
            self.put(state, var, text, lambda stored: self.fits.conditions(value, env, stored))
            return
        steps, here = self._place(statement, state, env)
        new = self.expressions.term(value, replace(env, here=here))
        update = cat("!", *[doc for doc, _ in steps], " = ", Nest(2, new.doc))
        before = state.versions[var]
        carried = self.carry(before)
        chained = before.root is not None and self.is_inline(before.number)
        root = before.root if chained and before.root is not None else carried
        updates = (*before.updates, update) if chained else (update,)
        listed = joined((",", LINE), updates)
        text = TlaTerm(Group(cat("[", tla.within(root, tla.APPLIED), " EXCEPT ", Nest(2, listed), "]")))

        def ask(stored: Stored) -> Sequence[TlaTerm]:
            def placed() -> TlaTerm:
                whole = stored()
                return TlaTerm(cat(tla.within(whole, tla.APPLIED), *[doc for doc, _ in steps]), tla.APPLIED)

            return self.fits.conditions(value, env, placed)

        self.put(state, var, text, ask, root, updates)

    def _place(
        self, statement: ir.Assign, state: BranchPath, env: TlaEnv
    ) -> tuple[list[tuple[Doc, t.Type]], ir.Expr]:
        """The steps of a path as TLA+ has them, and the expression that reads the place."""
        variable, span = self.expressions.knowledge.model.variables[statement.var], statement.span
        here: ir.Expr = ir.Var(statement.var, type=variable.type, span=span)
        steps: list[tuple[Doc, t.Type]] = []
        for step in statement.path:
            match step, here.type:
                case ir.Key(key), t.Map(of, value):
                    term = self.expressions.term(key, env)
                    self.demand(state, self._is_key(key, term, of, env))
                    steps.append((cat("[", tla.unbound(term), "]"), value))
                    here = ir.Apply(Op.LOOKUP, (here, key), type=value, span=span)
                case ir.At(index), t.Record(_, fields):
                    steps.append((cat(f".{field_name(fields[index].name)}"), fields[index].type))
                    here = ir.Part(here, index, type=fields[index].type, span=span)
                case ir.At(index), t.Tuple(items):
                    steps.append((cat(f"[{index + 1}]"), items[index]))
                    here = ir.Part(here, index, type=items[index], span=span)
                case _:
                    raise TypeError(f"{here.type} has no place {step}")
        return steps, here

    def _is_key(self, key: ir.Expr, term: TlaTerm, of: t.Type, env: TlaEnv) -> list[TlaTerm]:
        """EXCEPT passes over keys that are not there, and the model makes an error of them."""
        if not t.is_number(of):
            return []
        keys = members(of, self.expressions.values.scope)
        if self.expressions.knowledge.reach(key, env.known).within(Reach(keys[0], keys[-1])):
            return []
        test = tla.infix(r"\in", tla.RELATION, term, self.expressions.values.all_of(of))
        return [stop(test, "outside the keys of the map", "R0602")]

    def _branch(self, statement: ir.Branch, state: BranchPath) -> None:
        test = self.expressions.term(statement.test, self.env_of(state))
        if len(str(test)) > LONG:  # it is asked for every variable
            name = self.name_for("when")
            state.block.items.append(Definition(tla.definition(name, (), test)))
            test = tla.atom(name)
        sides = []
        for branch, way in ((statement.then, test), (statement.other, tla.negated(test))):
            side = replace(state, versions=list(state.versions), path=(*state.path, way))
            for each in branch:
                self._plain(each, side)
            state.asserts = side.asserts
            sides.append(side.versions)
        for var, (then, other) in enumerate(zip(*sides, strict=True)):
            if then is not other:
                self.put(state, var, tla.choice(test, self.carry(then), self.carry(other)))

    # ------------------------------------------------------------------ loops

    def _all_at_once(self, statement: ir.Each, state: BranchPath) -> None:
        """A function for each variable: new where the loop goes, as it was elsewhere."""
        env = self.env_of(state)
        name = local(statement.name, env.taken)
        domain, test, inner = self._walk(statement, name, env.among(frozenset({name})))
        kept = domain if test is None else tla.those(name, domain, test)
        rounds = []
        for each in statement.body:
            assert isinstance(each, ir.Assign), "all of a parallel loop are"
            found = self.fits.conditions(each.value, inner)
            rounds.append((each.var, self.expressions.term(each.value, inner)))
            self.demand(state, [tla.quantified(r"\A", name, kept, tla.both(found))] if found else [])
        for var, value in rounds:
            of = self.expressions.knowledge.model.variables[var].type
            assert isinstance(of, t.Map), "its place has a key"
            keys = self.expressions.values.all_of(of.key)
            new = value
            if str(keys) != str(kept):
                was = tla.applied(self.read(state.versions[var]), tla.atom(name))
                new = tla.choice(tla.infix(r"\in", tla.RELATION, tla.atom(name), kept), value, was)
            self.put(state, var, tla.a_function(name, keys, new))

    def _one_by_one(self, statement: ir.Each, state: BranchPath) -> None:
        """A recursive operator over the members that are left and the values of the variables so far."""
        names = (f"for_{legal(statement.name)}", "todo", "was", "after")
        loop, todo, was, after = map(self.name_for, names)
        outer, self.round = self.round, lambda _: StepEnd()
        inner = self._inside(statement, state, was)
        for each in statement.body:
            self._plain(each, inner)
        self.round = outer
        items = inner.block.items
        tests = [item.test for item in items if isinstance(item, Condition)]
        texts = [item.text for item in items if isinstance(item, Definition)]
        ok = [] if not tests else [("ok", tla.both([_field(was, "ok"), *tests]))]
        own = self._ends(statement, inner, was)
        if not own and not tests:
            return  # nothing comes of it
        ends = tla.a_record([*ok, *own])
        again = tla.call(loop, tla.call("Tail", tla.atom(todo)), ends)
        body = tla.let_term([*self._head(statement, inner, todo), *texts], again)
        over = tla.equal(tla.atom(todo), tla.a_tuple(()))
        if tests:
            over = tla.either([over, tla.negated(_field(was, "ok"))])
        self._define_loop(state, loop, (todo, was), tla.choice(over, tla.atom(was), body))
        begin = tla.a_record([*[(name, tla.TRUE) for name, _ in ok], *self._begin(statement, state)])
        done = tla.call(loop, self._in_order(statement, state), begin)
        state.block.items.append(Definition(tla.definition(after, (), done)))
        self.demand(state, [_field(after, "ok")] if tests else [])
        self._take_over(statement, state, after)

    def _each_chooses(self, statement: ir.Each, rest: tuple[ir.Stmt, ...], state: BranchPath) -> None:
        """The same over the set of all values that they may have so far."""
        names = (f"for_{legal(statement.name)}", "todo", "was", "ways", "after")
        loop, todo, was, ways, after = map(self.name_for, names)
        inner = self._inside(statement, state, was)
        outer = self.round
        self.round = lambda end: StepEnd(values=dict(self._ends(statement, end, was) or [NOTHING]))
        block = inner.block
        self._go(statement.body, inner)
        self.round = outer
        one = tla.let_term(self._head(statement, inner, todo), as_set(block))
        all_ = TlaTerm(cat("UNION ", tla.each(was, tla.atom(ways), one).doc), tla.SETS)
        again = tla.call(loop, tla.call("Tail", tla.atom(todo)), all_)
        over = tla.equal(tla.atom(todo), tla.a_tuple(()))
        self._define_loop(state, loop, (todo, ways), tla.choice(over, tla.atom(ways), again))
        begin = tla.a_set([tla.a_record(self._begin(statement, state) or [NOTHING])])
        done = tla.call(loop, self._in_order(statement, state), begin)
        then = TlaBlock()
        state.block.items.append(MemberChoice(after, done, None, then))
        branch = replace(state, versions=list(state.versions), block=then)
        self._take_over(statement, branch, after)
        self._go(rest, branch)

    def _walk(
        self, statement: ir.Choose | ir.Each, name: str, env: TlaEnv
    ) -> tuple[TlaTerm, TlaTerm | None, TlaEnv]:
        return self.expressions.walk(statement.slot, name, statement.domain, statement.case, env)

    def _in_order(self, statement: ir.Each, state: BranchPath) -> TlaTerm:
        return self.expressions.in_order(statement.domain, statement.case, self.env_of(state))

    def _inside(self, statement: ir.Each, state: BranchPath, was: str) -> BranchPath:
        """A round of a loop, which reads what the rounds before it wrote."""
        versions = list(state.versions)
        for var in written(statement.body):
            versions[var] = self.cheap(_field(was, self.variables[var]))
        name = self.name_for(statement.name)
        known = self.expressions.knowledge.member(statement.domain, statement.case, state.env.known)
        return BranchPath(versions, state.env.bound(statement.slot, tla.atom(name), known), TlaBlock())

    def _head(self, statement: ir.Each, inner: BranchPath, todo: str) -> list[Doc]:
        name = str(inner.env.names[statement.slot])
        return [tla.definition(name, (), tla.call("Head", tla.atom(todo)))]

    def _define_loop(self, state: BranchPath, loop: str, params: Sequence[str], body: TlaTerm) -> None:
        head = f"RECURSIVE {loop}({', '.join('_' for _ in params)})"
        state.block.items.append(Definition(cat(head, LINE, tla.definition(loop, params, body))))

    def _claims(self, statement: ir.Each) -> Mapping[str, str]:
        """The asserts in a loop that matter, each with its field."""
        return {name: f"{name}_ok" for name in asserted(statement.body) if name in self._looked_at}

    def _begin(self, statement: ir.Each, state: BranchPath) -> list[tuple[str, TlaTerm]]:
        """What a loop starts with."""
        own = [(self.variables[var], self.carry(state.versions[var])) for var in written(statement.body)]
        return [*own, *[(name, tla.TRUE) for name in self._claims(statement).values()]]

    def _ends(self, statement: ir.Each, inner: BranchPath, was: str) -> list[tuple[str, TlaTerm]]:
        """What a round ends with."""
        own = [(self.variables[var], self.carry(inner.versions[var])) for var in written(statement.body)]
        claims = [
            (place, tla.both([_field(was, place), *[test for found, test in inner.asserts if found == name]]))
            for name, place in self._claims(statement).items()
        ]
        return [*own, *claims]

    def _take_over(self, statement: ir.Each, state: BranchPath, after: str) -> None:
        """Make the results of a loop the current values of the variables."""
        for var in written(statement.body):
            state.versions[var] = version = self.cheap(_field(after, self.variables[var]))
            if self.is_last(version.number):
                state.block.items.append(NextValue(self.after(var), version.text))
        for name, place in self._claims(statement).items():
            found = _field(after, place)
            path = tla.implies(tla.both(state.path), found) if state.path else found
            state.asserts = (*state.asserts, (name, path))


def _field(of: str, name: str) -> TlaTerm:
    return tla.field(tla.atom(of), name)


def written_out(write: Callable[[VersionCounts | None], tuple[TlaBlock, VersionCounts]]) -> TlaBlock:
    """The block of statements that are gone through twice."""
    _, counts = write(None)
    return write(counts)[0]
