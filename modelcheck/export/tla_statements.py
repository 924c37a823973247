"""Statements in TLA+, where nothing is assigned: each change of a variable makes a new version of it.

NOTE(versions): later statements see what earlier ones changed, so a version
that is read again needs a name: the last one is `x'` itself, the others are
defined by LET; one that is not read is written where it is used.  How often a
version is read is known only at the end, hence statements are gone through
twice: first to count, then to write.

A branch without a choice in it makes `IF … THEN … ELSE …` of every variable it
changes; with one, the rest of the step is written for each side.  A `for` whose
rounds each write a place of their own makes a function; any other one becomes
a recursive operator over the sequence of the members, in canonical order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import modelcheck.export.tla_terms as tla
import spec.ir as ir
import spec.types as t
from modelcheck.export.known import Reach
from modelcheck.export.rounds import asserted, chooses, is_parallel, written
from modelcheck.export.tla_blocks import Block, Change, Choice, Condition, Definition, End, Split, as_set
from modelcheck.export.tla_expressions import Env, Expressions, splits
from modelcheck.export.tla_fits import LONG, Fits, Stored, on_condition, stop
from modelcheck.export.tla_names import field_name, local
from modelcheck.export.tla_terms import Term
from spec.pretty import LINE, Doc, Group, Nest, cat, joined
from spec.values import members

Ask = Callable[[Stored], Sequence[Term]]  # conditions of a store, which may name what is stored


@dataclass(slots=True)
class Counts:
    """How often each version was read, or only carried on; how often it was the last; all names given."""

    reads: Counter[int] = field(default_factory=Counter)
    carried: Counter[int] = field(default_factory=Counter)
    last: Counter[int] = field(default_factory=Counter)
    ends: int = 0
    names: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Version:
    """A variable at some point of a step: how to read it, and its text where that is written instead.

    `updates` are those of a text that is `[root EXCEPT updates]`.
    """

    number: int
    name: Term
    text: Term
    root: Term | None = None
    updates: tuple[Doc, ...] = ()


@dataclass(slots=True)
class Branch:
    """Where one branch of a step stands; `path` are the tests that led here."""

    versions: list[Version]
    env: Env
    block: Block
    path: tuple[Term, ...] = ()
    asserts: tuple[tuple[str, Term], ...] = ()


class Flow:
    """One pass over the statements of a step; with the counts of the pass before, the one that counts."""

    def __init__(
        self,
        expressions: Expressions,
        before: Counts | None,
        looked_at: frozenset[str],
        counters: Sequence[str] = (),
        *,
        is_start: bool = False,
    ) -> None:
        self.counts = Counts()
        self._before = before
        self._e = expressions
        self._fits = Fits(expressions)
        self._variables = expressions.values.words.variables
        self._looked_at = looked_at  # the asserts that matter
        self._counters = tuple(counters)
        self._is_start = is_start
        self._used = set(expressions.values.taken)
        self._number = 0
        self._round: Callable[[Branch], End] | None = None  # what ends a round of the loop we are in

    # ------------------------------------------------------------------ whole steps

    def step(self, action: ir.Action, env: Env) -> Block:
        """The block of an action."""
        self._used |= env.taken
        state = Branch([self._base(name, index) for index, name in enumerate(self._variables)], env, Block())
        block = state.block
        for part in action.head:
            if isinstance(part, ir.Bound):
                self._bind(part, state)
            else:
                block.items += [Condition(guard) for guard in self.guards(part.test, self._env(state))]
        self._go(action.body, state)
        return block

    def start(self, variables: Sequence[ir.Variable], body: Sequence[ir.Stmt], env: Env) -> Block:
        """The block of the initial states."""
        state = Branch([self._base(name, index) for index, name in enumerate(self._variables)], env, Block())
        block = state.block
        for index, variable in enumerate(variables):
            fit = ir.Fit(variable.init, type=variable.type, span=variable.init.span)
            here = self._env(state)
            self._demand(state, self._fits.conditions(fit, here))
            self._set(state, index, self._e.term(variable.init, here))
        self._go(tuple(body), state)
        return block

    def guards(self, test: ir.Expr, env: Env) -> Iterator[Term]:
        """The parts of a guard, each so that TLC makes one step of it."""
        for part in test.parts if isinstance(test, ir.And) else (test,):
            term = self._e.term(part, env)
            yield tla.call(self._e.values.library.use("Holds"), term) if splits(part) else term

    # ------------------------------------------------------------------ names and versions

    def _name(self, wanted: str) -> str:
        made = local(wanted, frozenset(self._used))
        self._used.add(made)
        self.counts.names.add(made)
        return made

    def _base(self, name: str, index: int) -> Version:
        """A variable before the step."""
        return Version(-1 - index, tla.atom(name), tla.atom(name))

    def _cheap(self, text: Term) -> Version:
        """A version that is always written as its text."""
        self._number += 1
        return Version(self._number, text, text)

    def _read(self, version: Version) -> Term:
        self.counts.reads[version.number] += 1
        return version.name

    def _carry(self, version: Version) -> Term:
        """What a version is, to be carried on as it is."""
        self.counts.carried[version.number] += 1
        return version.text if self._is_inline(version.number) else version.name

    def _is_inline(self, number: int) -> bool:
        before = self._before
        return before is not None and before.reads[number] == 0 and before.carried[number] <= 1

    def _is_last(self, number: int) -> bool:
        """Whether a version is what the variable is after the step, whichever way that goes."""
        before = self._before
        return self._round is None and before is not None and before.last[number] == before.ends

    def _env(self, state: Branch) -> Env:
        """The scope of an expression here: it reads the versions of this moment."""
        versions = tuple(state.versions)
        names = set() if self._before is None else self._before.names
        taken = frozenset(state.env.taken | self._used | names)
        return replace(state.env, read=lambda index: self._read(versions[index]), taken=taken)

    def _set(
        self,
        state: Branch,
        var: int,
        text: Term,
        ask: Ask | None = None,
        root: Term | None = None,
        updates: tuple[Doc, ...] = (),
    ) -> None:
        """The variable has a new version from here on, if the conditions hold."""
        self._number += 1
        number, name = self._number, self._variables[var]
        item: Change | Definition | None = None
        if self._is_last(number):
            own = tla.atom(name if self._is_start else f"{name}'")
            item = Change(str(own), text)
        elif self._is_inline(number):
            own = text
        else:
            own = tla.atom(self._name(name))
            item = Definition(tla.definition(str(own), (), text))
        version = Version(number, own, text, root, updates)
        conditions = [] if ask is None else ask(lambda: self._read(version))
        items = [*map(self._condition, [(state, each) for each in conditions])]
        own_items = [] if item is None else [item]
        speaks = self.counts.reads[number] > 0
        state.block.items += [*own_items, *items] if speaks else [*items, *own_items]
        state.versions[var] = version

    def _demand(self, state: Branch, conditions: Sequence[Term]) -> None:
        """Conditions of the step, asked here."""
        state.block.items += [self._condition((state, each)) for each in conditions]

    def _condition(self, asked: tuple[Branch, Term]) -> Condition:
        """A condition of the step; in a branch, only of steps that come this way."""
        state, condition = asked
        test = on_condition(tla.both(state.path), [condition], [])[0] if state.path else condition
        if self._is_start and test.op != "Assert":
            test = stop(test, "an initial state beyond the scope")
        return Condition(test)

    # ------------------------------------------------------------------ in order, through choices

    def _go(self, todo: tuple[ir.Stmt, ...], state: Branch) -> None:
        """Statements up to the end."""
        for place, statement in enumerate(todo):
            if chooses(statement):
                self._choosing(statement, todo[place + 1 :], state)
                return
            self._plain(statement, state)
        state.block.items.append(self._end(state) if self._round is None else self._round(state))

    def _choosing(self, statement: ir.Stmt, rest: tuple[ir.Stmt, ...], state: Branch) -> None:
        match statement:
            case ir.Choose():
                self._choose(statement, rest, state)
            case ir.Branch(test=test, then=then, other=other):
                term = self._e.term(test, self._env(state))
                sides = [replace(state, versions=list(state.versions), block=Block()) for _ in range(2)]
                for branch, side in zip((then, other), sides, strict=True):
                    block = side.block
                    self._go((*branch, *rest), side)
                    side.block = block
                state.block.items.append(Split(term, sides[0].block, sides[1].block))
            case ir.Each():
                self._each_chooses(statement, rest, state)
            case _:
                raise TypeError(f"{statement} has no choice in it")

    def _choose(self, statement: ir.Choose, rest: tuple[ir.Stmt, ...], state: Branch) -> None:
        walk = self._e.walk(
            statement.slot, statement.name, statement.domain, statement.case, self._env(state)
        )
        name, domain, test, inner = walk
        self._used.add(name)
        self.counts.names.add(name)
        tests = [] if test is None else [test]
        tests += [] if statement.where is None else [self._e.term(statement.where, inner)]
        block = Block()
        state.block.items.append(Choice(name, domain, tla.both(tests) if tests else None, block))
        env = replace(state.env, names=inner.names, known=inner.known)
        self._go(rest, replace(state, versions=list(state.versions), env=env, block=block))

    def _end(self, state: Branch) -> End:
        """The end of a step."""
        self.counts.ends += 1
        unchanged = []
        for index, version in enumerate(state.versions):
            name = self._variables[index]
            if version.number < 0:
                unchanged.append(name)
                continue
            self.counts.last[version.number] += 1
            if not self._is_last(version.number):  # it is on this side of a split only
                state.block.items.append(Change(name if self._is_start else f"{name}'", self._carry(version)))
        told = [
            tla.call("Assert", test, tla.atom(f'"the assertion {name} is false"'))
            for name, test in state.asserts
        ]
        return End(tuple(told), (*unchanged, *self._counters))

    # ------------------------------------------------------------------ statements without choice

    def _plain(self, statement: ir.Stmt, state: Branch) -> None:
        match statement:
            case ir.Assign():
                self._assign(statement, state)
            case ir.Bound():
                self._bind(statement, state)
            case ir.Branch():
                self._branch(statement, state)
            case ir.Each():
                values = self._e.values
                at_once = is_parallel(statement, self._e.knowledge, values.scope, state.env.known)
                (self._all_at_once if at_once else self._one_by_one)(statement, state)
            case ir.Assert(name=name, test=test):
                if name in self._looked_at:
                    found = self._e.term(test, self._env(state))
                    path = tla.implies(tla.both(state.path), found) if state.path else found
                    state.asserts = (*state.asserts, (name, path))
            case ir.Choose():
                raise TypeError("a choice has its own way")

    def _bind(self, statement: ir.Bound, state: Branch) -> None:
        env = self._env(state)
        value = self._e.term(statement.value, env)
        known = self._e.knowledge.of(statement.value, env.known)
        if not value.is_atom:
            name = self._name(statement.name.rpartition(".")[2])
            state.block.items.append(Definition(tla.definition(name, (), value)))
            value = tla.atom(name)
        state.env = state.env.bound(statement.slot, value, known)

    def _assign(self, statement: ir.Assign, state: Branch) -> None:
        env, var, value = self._env(state), statement.var, statement.value
        if not statement.path:
            self._set(
                state, var, self._e.term(value, env), lambda stored: self._fits.conditions(value, env, stored)
            )
            return
        steps, here = self._place(statement, state, env)
        new = self._e.term(value, replace(env, here=here))
        update = cat("!", *[doc for doc, _ in steps], " = ", Nest(2, new.doc))
        before = state.versions[var]
        carried = self._carry(before)
        chained = before.root is not None and self._is_inline(before.number)
        root = before.root if chained and before.root is not None else carried
        updates = (*before.updates, update) if chained else (update,)
        listed = joined((",", LINE), updates)
        text = Term(Group(cat("[", tla.within(root, tla.APPLIED), " EXCEPT ", Nest(2, listed), "]")))

        def ask(stored: Stored) -> Sequence[Term]:
            def placed() -> Term:
                whole = stored()
                return Term(cat(tla.within(whole, tla.APPLIED), *[doc for doc, _ in steps]), tla.APPLIED)

            return self._fits.conditions(value, env, placed)

        self._set(state, var, text, ask, root, updates)

    def _place(
        self, statement: ir.Assign, state: Branch, env: Env
    ) -> tuple[list[tuple[Doc, t.Type]], ir.Expr]:
        """The steps of a path as TLA+ has them, and the expression that reads the place."""
        variable, span = self._e.knowledge.model.variables[statement.var], statement.span
        here: ir.Expr = ir.Var(statement.var, type=variable.type, span=span)
        steps: list[tuple[Doc, t.Type]] = []
        for step in statement.path:
            match step, here.type:
                case ir.Key(key), t.Map(of, value):
                    term = self._e.term(key, env)
                    self._demand(state, self._is_key(key, term, of, env))
                    steps.append((cat("[", term.doc, "]"), value))
                    here = ir.Apply(ir.Op.LOOKUP, (here, key), type=value, span=span)
                case ir.At(index), t.Record(_, fields):
                    steps.append((cat(f".{field_name(fields[index].name)}"), fields[index].type))
                    here = ir.Part(here, index, type=fields[index].type, span=span)
                case ir.At(index), t.Tuple(items):
                    steps.append((cat(f"[{index + 1}]"), items[index]))
                    here = ir.Part(here, index, type=items[index], span=span)
                case _:
                    raise TypeError(f"{here.type} has no place {step}")
        return steps, here

    def _is_key(self, key: ir.Expr, term: Term, of: t.Type, env: Env) -> list[Term]:
        """EXCEPT passes over keys that are not there, and the model makes an error of them."""
        if not t.is_number(of):
            return []
        keys = members(of, self._e.values.scope)
        if self._e.knowledge.reach(key, env.known).within(Reach(keys[0], keys[-1])):
            return []
        test = tla.infix(r"\in", tla.RELATION, term, self._e.values.all_of(of))
        return [stop(test, "outside the keys of the map", "R0602")]

    def _branch(self, statement: ir.Branch, state: Branch) -> None:
        test = self._e.term(statement.test, self._env(state))
        if len(str(test)) > LONG:  # it is asked for every variable
            name = self._name("when")
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
                self._set(state, var, tla.choice(test, self._carry(then), self._carry(other)))

    # ------------------------------------------------------------------ loops

    def _all_at_once(self, statement: ir.Each, state: Branch) -> None:
        """A function for each variable: new where the loop goes, as it was elsewhere."""
        walk = self._e.walk(
            statement.slot, statement.name, statement.domain, statement.case, self._env(state)
        )
        name, domain, test, inner = walk
        kept = domain if test is None else tla.those(name, domain, test)
        rounds = []
        for each in statement.body:
            assert isinstance(each, ir.Assign), "all of a parallel loop are"
            found = self._fits.conditions(each.value, inner)
            rounds.append((each.var, self._e.term(each.value, inner)))
            self._demand(state, [tla.quantified(r"\A", name, kept, tla.both(found))] if found else [])
        for var, value in rounds:
            of = self._e.knowledge.model.variables[var].type
            assert isinstance(of, t.Map), "its place has a key"
            keys = self._e.values.all_of(of.key)
            new = value
            if str(keys) != str(kept):
                was = tla.applied(self._read(state.versions[var]), tla.atom(name))
                new = tla.choice(tla.infix(r"\in", tla.RELATION, tla.atom(name), kept), value, was)
            self._set(state, var, tla.a_function(name, keys, new))

    def _one_by_one(self, statement: ir.Each, state: Branch) -> None:
        """A recursive operator over the members that are left and what has become of the variables."""
        loop, todo, was, after = (self._name(n) for n in (f"for_{statement.name}", "todo", "was", "after"))
        outer, self._round = self._round, lambda _: End()
        inner = self._inside(statement, state, was)
        for each in statement.body:
            self._plain(each, inner)
        self._round = outer
        items = inner.block.items
        tests = [item.test for item in items if isinstance(item, Condition)]
        texts = [item.text for item in items if isinstance(item, Definition)]
        ok = [] if not tests else [("ok", tla.both([_field(was, "ok"), *tests]))]
        ends = tla.a_record([*ok, *self._ends(statement, inner, was)])
        again = tla.call(loop, tla.call("Tail", tla.atom(todo)), ends)
        body = tla.let_term([*self._head(statement, inner, todo), *texts], again)
        over = tla.equal(tla.atom(todo), tla.a_tuple(()))
        if tests:
            over = tla.either([over, tla.negated(_field(was, "ok"))])
        self._define_loop(state, loop, (todo, was), tla.choice(over, tla.atom(was), body))
        begin = tla.a_record([*[(name, tla.TRUE) for name, _ in ok], *self._begin(statement, state)])
        done = tla.call(loop, self._e.in_order(statement.domain, statement.case, self._env(state)), begin)
        state.block.items.append(Definition(tla.definition(after, (), done)))
        self._demand(state, [_field(after, "ok")] if tests else [])
        self._take_over(statement, state, after)

    def _each_chooses(self, statement: ir.Each, rest: tuple[ir.Stmt, ...], state: Branch) -> None:
        """The same over the set of all that may have become of them."""
        names = (f"for_{statement.name}", "todo", "was", "ways", "after")
        loop, todo, was, ways, after = map(self._name, names)
        inner = self._inside(statement, state, was)
        outer = self._round
        self._round = lambda end: End(values=dict(self._ends(statement, end, was)))
        block = inner.block
        self._go(statement.body, inner)
        self._round = outer
        one = tla.let_term(self._head(statement, inner, todo), as_set(block))
        all_ = Term(cat("UNION ", tla.each(was, tla.atom(ways), one).doc), tla.SETS)
        again = tla.call(loop, tla.call("Tail", tla.atom(todo)), all_)
        over = tla.equal(tla.atom(todo), tla.a_tuple(()))
        self._define_loop(state, loop, (todo, ways), tla.choice(over, tla.atom(ways), again))
        begin = tla.a_set([tla.a_record(self._begin(statement, state))])
        done = tla.call(loop, self._e.in_order(statement.domain, statement.case, self._env(state)), begin)
        then = Block()
        state.block.items.append(Choice(after, done, None, then))
        branch = replace(state, versions=list(state.versions), block=then)
        self._take_over(statement, branch, after)
        self._go(rest, branch)

    def _inside(self, statement: ir.Each, state: Branch, was: str) -> Branch:
        """A round of a loop, which reads what the rounds before it wrote."""
        versions = list(state.versions)
        for var in written(statement.body):
            versions[var] = self._cheap(_field(was, self._variables[var]))
        name = self._name(statement.name)
        known = self._e.knowledge.member(statement.domain, statement.case, state.env.known)
        return Branch(versions, state.env.bound(statement.slot, tla.atom(name), known), Block())

    def _head(self, statement: ir.Each, inner: Branch, todo: str) -> list[Doc]:
        name = str(inner.env.names[statement.slot])
        return [tla.definition(name, (), tla.call("Head", tla.atom(todo)))]

    def _define_loop(self, state: Branch, loop: str, params: Sequence[str], body: Term) -> None:
        head = f"RECURSIVE {loop}({', '.join('_' for _ in params)})"
        state.block.items.append(Definition(cat(head, LINE, tla.definition(loop, params, body))))

    def _claims(self, statement: ir.Each) -> Mapping[str, str]:
        """The asserts in a loop that matter, each with its field."""
        return {name: f"{name}_ok" for name in asserted(statement.body) if name in self._looked_at}

    def _begin(self, statement: ir.Each, state: Branch) -> list[tuple[str, Term]]:
        """What a loop starts with."""
        own = [(self._variables[var], self._carry(state.versions[var])) for var in written(statement.body)]
        return [*own, *[(name, tla.TRUE) for name in self._claims(statement).values()]]

    def _ends(self, statement: ir.Each, inner: Branch, was: str) -> list[tuple[str, Term]]:
        """What a round ends with."""
        own = [(self._variables[var], self._carry(inner.versions[var])) for var in written(statement.body)]
        claims = [
            (place, tla.both([_field(was, place), *[test for found, test in inner.asserts if found == name]]))
            for name, place in self._claims(statement).items()
        ]
        return [*own, *claims]

    def _take_over(self, statement: ir.Each, state: Branch, after: str) -> None:
        """What a loop has come to is what the variables are now."""
        for var in written(statement.body):
            self._number += 1
            text = _field(after, self._variables[var])
            if self._is_last(self._number):
                name = self._variables[var] if self._is_start else f"{self._variables[var]}'"
                state.block.items.append(Change(name, text))
            state.versions[var] = Version(self._number, text, text)
        for name, place in self._claims(statement).items():
            found = _field(after, place)
            path = tla.implies(tla.both(state.path), found) if state.path else found
            state.asserts = (*state.asserts, (name, path))


def _field(of: str, name: str) -> Term:
    return tla.field(tla.atom(of), name)


def written_out(write: Callable[[Counts | None], tuple[Block, Counts]]) -> Block:
    """The block of statements that are gone through twice."""
    _, counts = write(None)
    return write(counts)[0]
