"""Statements in TLA+, where nothing is assigned: each change of a variable makes a new version of it.

See NOTE(versions) in `versions.py`.  A branch without a choice in it makes
`IF … THEN … ELSE …` of every variable it changes; with one, the rest of the
step is written for each side.  A `for` whose rounds each write a place of their
own makes a function; any other one becomes a recursive operator over the
sequence of the members, in canonical order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

import modelcheck.export.tla.terms as tla
import spec.model.ir as ir
import spec.model.types as t
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
from modelcheck.export.tla.fits import LONG, Stored, every, stop
from modelcheck.export.tla.names import legal, local
from modelcheck.export.tla.terms import TlaTerm
from modelcheck.export.tla.versions import BranchPath, VersionCounts, Versions
from spec.formatting.documents import LINE, Doc, Group, Nest, cat, joined
from spec.model.op import Op
from spec.model.values import members
from spec.model.walk import chooses

NOTHING = ("done", tla.TRUE)  # where a loop with a choice in it changes nothing


class Flow(Versions):
    """Writes a step's statements in two passes: the first counts uses, the second writes."""

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
        state = self.before(env)
        for part in action.head:
            if isinstance(part, ir.Bound):
                self._bind(part, state)
            else:
                state.block += [Condition(guard) for guard in self.guards(part.test, self.env_of(state))]
        self._go(action.body, state)
        return state.block

    def start(self, variables: Sequence[ir.Variable], body: Sequence[ir.Stmt], env: TlaEnv) -> TlaBlock:
        """The block of the initial states."""
        state = self.before(env)
        for index, variable in enumerate(variables):
            fit = ir.Fit(variable.init, type=variable.type, span=variable.init.span)
            here = self.env_of(state)
            self.demand(state, self.fits.conditions(fit, here))
            self.put(state, index, self.expressions.term(variable.init, here))
        self._go(tuple(body), state)
        return state.block

    def guards(self, test: ir.Expr, env: TlaEnv) -> Iterator[TlaTerm]:
        """The conjuncts of a guard, each of which TLC does not split."""
        for part in test.parts if isinstance(test, ir.And) else (test,):
            term = self.expressions.term(part, env)
            yield (self.expressions.values.use("Holds", term) if is_split_by_tlc(part) else term)

    # ------------------------------------------------------------------ in order, through choices

    def _go(self, todo: tuple[ir.Stmt, ...], state: BranchPath) -> None:
        """Write statements up to the end."""
        for place, statement in enumerate(todo):
            if chooses(statement):
                self._choosing(statement, todo[place + 1 :], state)
                return
            self._plain(statement, state)
        state.block.append(self._end(state) if self.round is None else self.round(state))

    def _choosing(self, statement: ir.Stmt, rest: tuple[ir.Stmt, ...], state: BranchPath) -> None:
        """Write a statement with a choice, and the rest for each way."""
        match statement:
            case ir.Choose():
                self._choose(statement, rest, state)
            case ir.Branch(test=test, then=then, other=other):
                term = self.expressions.term(test, self.env_of(state))
                sides = [state.fork([]) for _ in range(2)]
                for branch, side in zip((then, other), sides, strict=True):
                    self._go((*branch, *rest), side)
                state.block.append(Split(term, sides[0].block, sides[1].block))
            case ir.Each():
                self._each_chooses(statement, rest, state)
            case _:
                raise TypeError(f"{statement} has no choice in it")

    def _choose(self, statement: ir.Choose, rest: tuple[ir.Stmt, ...], state: BranchPath) -> None:
        """Write a `choose`."""
        name = self.name_for(statement.name)
        found = self.expressions.bind(statement, self.env_of(state), name)
        then = state.fork([])
        state.block.append(MemberChoice(name, found.kept, then.block))
        then.env = replace(state.env, names=found.env.names, known=found.env.known)
        self._go(rest, then)

    def _end(self, state: BranchPath) -> StepEnd:
        """Write the end of a step."""
        self.counts.ends += 1
        unchanged = []
        for index, version in enumerate(state.versions):
            if version.number < 0:
                unchanged.append(self.variables[index])
                continue
            self.counts.last[version.number] += 1
            if not self.is_last(version.number):  # it is on this side of a split only
                state.block.append(NextValue(self.after(index), self.carry(version)))
        ends = [
            tla.call("Assert", test, tla.text(f"the assertion {name} is false"))
            for name, test in state.asserts
        ]
        return StepEnd(tuple(ends), (*unchanged, *self._counters))

    # ------------------------------------------------------------------ statements without choice

    def _plain(self, statement: ir.Stmt, state: BranchPath) -> None:
        """Write a statement without a choice."""
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
                    self._claim(state, name, self.expressions.term(test, self.env_of(state)))
            case ir.Choose():
                raise TypeError("a choice has its own way")

    def _claim(self, state: BranchPath, name: str, test: TlaTerm) -> None:
        """Record the condition of an `assert`."""
        path = tla.implies(tla.both(state.path), test) if state.path else test
        state.asserts = (*state.asserts, (name, path))

    def _bind(self, statement: ir.Bound, state: BranchPath) -> None:
        """Write a `let`."""
        definitions, state.env = self.expressions.named(
            statement, self.env_of(state), lambda name: self.name_for(name.rpartition(".")[2])
        )
        state.block += map(Definition, definitions)

    def _assign(self, statement: ir.Assign, state: BranchPath) -> None:
        """Write an assignment."""
        env, var, value = self.env_of(state), statement.var, statement.value
        if not statement.path:
            text = self.expressions.term(value, env)
            self.put(state, var, text, lambda stored: self.fits.conditions(value, env, stored))
            return
        steps, here = self._place(statement, state, env)
        new = self.expressions.term(value, replace(env, here=here))
        update = cat("!", *steps, " = ", Nest(2, new.doc))
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
                return TlaTerm(cat(tla.within(whole, tla.APPLIED), *steps), tla.APPLIED)

            return self.fits.conditions(value, env, placed)

        self.put(state, var, text, ask, root, updates)

    def _place(self, statement: ir.Assign, state: BranchPath, env: TlaEnv) -> tuple[list[Doc], ir.Expr]:
        """The EXCEPT path of an assignment, and the expression that reads the target."""
        variable, span = self.expressions.knowledge.model.variables[statement.var], statement.span
        here: ir.Expr = ir.Var(statement.var, type=variable.type, span=span)
        steps: list[Doc] = []
        for step in statement.path:
            match step, here.type:
                case ir.Key(key), t.Map(of, value):
                    term = self.expressions.term(key, env)
                    self.demand(state, self._is_key(key, term, of, env))
                    steps.append(cat("[", tla.unbound(term), "]"))
                    here = ir.Apply(Op.LOOKUP, (here, key), type=value, span=span)
                case ir.At(index), of:
                    steps.append(self.expressions.values.part(tla.atom(""), of, index).doc)
                    here = ir.Part(here, index, type=t.parts(of)[index], span=span)
                case _:
                    raise TypeError(f"{here.type} has no place {step}")
        return steps, here

    def _is_key(self, key: ir.Expr, term: TlaTerm, of: t.Type, env: TlaEnv) -> list[TlaTerm]:
        """The test that a key exists: EXCEPT ignores other keys, where the model has an error."""
        if not t.is_number(of):
            return []
        keys = members(of, self.expressions.values.scope)
        if self.expressions.knowledge.reach(key, env.known).within(Reach(keys[0], keys[-1])):
            return []
        test = tla.infix(r"\in", term, self.expressions.values.all_of(of))
        return [stop(test, "outside the keys of the map", "R0602")]

    def _branch(self, statement: ir.Branch, state: BranchPath) -> None:
        """Write an `if`."""
        test = self.expressions.term(statement.test, self.env_of(state))
        if len(str(test)) > LONG:  # it is asked for every variable
            name = self.name_for("when")
            state.block.append(Definition(tla.definition(name, (), test)))
            test = tla.atom(name)
        sides = []
        for branch, way in ((statement.then, test), (statement.other, tla.negated(test))):
            side = replace(state.fork(state.block), path=(*state.path, way))
            for each in branch:
                self._plain(each, side)
            state.asserts = side.asserts
            sides.append(side.versions)
        for var, (then, other) in enumerate(zip(*sides, strict=True)):
            if then is not other:
                self.put(state, var, tla.choice(test, self.carry(then), self.carry(other)))

    # ------------------------------------------------------------------ loops

    def _all_at_once(self, statement: ir.Each, state: BranchPath) -> None:
        """Write a `for` with independent rounds as one function for each variable."""
        env = self.env_of(state)
        name = local(statement.name, env.taken)
        found = self.expressions.bind(statement, env.among(name), name)
        kept, rounds = found.kept, []
        for each in statement.body:
            assert isinstance(each, ir.Assign), "all of a parallel loop are"
            asked = self.fits.conditions(each.value, found.env)
            rounds.append((each.var, self.expressions.term(each.value, found.env)))
            self.demand(state, every(name, kept, asked))
        for var, value in rounds:
            of = self.expressions.knowledge.model.variables[var].type
            assert isinstance(of, t.Map), "its place has a key"
            keys = self.expressions.values.all_of(of.key)
            new = value
            if str(keys) != str(kept):
                was = tla.applied(self.read(state.versions[var]), tla.atom(name))
                new = tla.choice(tla.infix(r"\in", tla.atom(name), kept), value, was)
            self.put(state, var, tla.a_function(name, keys, new))

    def _one_by_one(self, statement: ir.Each, state: BranchPath) -> None:
        """Write a `for` as a recursive operator over the members left and the current values."""
        names = (f"for_{legal(statement.name)}", "todo", "was", "after")
        loop, todo, was, after = map(self.name_for, names)
        inner = self._inside(statement, state, was)
        with self._rounds(lambda _: StepEnd()):
            for each in statement.body:
                self._plain(each, inner)
        tests = [item.test for item in inner.block if isinstance(item, Condition)]
        texts = [item.text for item in inner.block if isinstance(item, Definition)]
        ok = [("ok", tla.both([_field(was, "ok"), *tests]))] if tests else []
        ends = [*ok, *self._held(statement, inner, was)]
        if not ends:
            return  # nothing comes of it
        again = tla.call(loop, tla.call("Tail", tla.atom(todo)), tla.a_record(ends))
        body = tla.let_term([self._head(statement, inner, todo), *texts], again)
        is_over = [tla.negated(_field(was, name)) for name, _ in ok]
        begin = tla.a_record([*[(name, tla.TRUE) for name, _ in ok], *self._held(statement, state)])
        self._define_loop(state, loop, (todo, was), is_over, body)
        done = tla.call(loop, self.expressions.in_order(statement, self.env_of(state)), begin)
        state.block.append(Definition(tla.definition(after, (), done)))
        self.demand(state, [_field(after, name) for name, _ in ok])
        self._take_over(statement, state, after)

    def _each_chooses(self, statement: ir.Each, rest: tuple[ir.Stmt, ...], state: BranchPath) -> None:
        """Write a `for` with choices as a recursive operator over the set of possible values."""
        names = (f"for_{legal(statement.name)}", "todo", "was", "ways", "after")
        loop, todo, was, ways, after = map(self.name_for, names)
        inner = self._inside(statement, state, was)
        with self._rounds(lambda end: StepEnd(values=dict(self._held(statement, end, was) or [NOTHING]))):
            self._go(statement.body, inner)
        one = tla.let_term([self._head(statement, inner, todo)], as_set(inner.block))
        all_ = tla.union_of(was, tla.atom(ways), one)
        again = tla.call(loop, tla.call("Tail", tla.atom(todo)), all_)
        begin = tla.a_set([tla.a_record(self._held(statement, state) or [NOTHING])])
        self._define_loop(state, loop, (todo, ways), [], again)
        done = tla.call(loop, self.expressions.in_order(statement, self.env_of(state)), begin)
        branch = state.fork([])
        state.block.append(MemberChoice(after, done, branch.block))
        self._take_over(statement, branch, after)
        self._go(rest, branch)

    @contextmanager
    def _rounds(self, end: Callable[[BranchPath], StepEnd]) -> Iterator[None]:
        """A context in which `end` writes the end of a loop's round."""
        outer, self.round = self.round, end
        yield
        self.round = outer

    def _inside(self, statement: ir.Each, state: BranchPath, was: str) -> BranchPath:
        """The position in a round of a loop, which reads the values of the rounds before."""
        versions = list(state.versions)
        for var in written(statement.body):
            versions[var] = self.cheap(_field(was, self.variables[var]))
        name = self.name_for(statement.name)
        known = self.expressions.knowledge.member(statement.domain, statement.case, state.env.known)
        return BranchPath(versions, state.env.bound(statement.slot, tla.atom(name), known), [])

    def _head(self, statement: ir.Each, inner: BranchPath, todo: str) -> Doc:
        """The binding of a round's member."""
        name = str(inner.env.names[statement.slot])
        return tla.definition(name, (), tla.call("Head", tla.atom(todo)))

    def _define_loop(
        self, state: BranchPath, loop: str, params: tuple[str, str], is_over: list[TlaTerm], body: TlaTerm
    ) -> None:
        """Add the definition of a loop's operator."""
        todo, held = map(tla.atom, params)
        over = tla.either([tla.equal(todo, tla.a_tuple(())), *is_over])
        definition = tla.definition(loop, params, tla.choice(over, held, body))
        state.block.append(Definition(cat(f"RECURSIVE {loop}(_, _)", LINE, definition)))

    def _claims(self, statement: ir.Each) -> Mapping[str, str]:
        """The asserts in a loop that properties need, each with its record field."""
        return {name: f"{name}_ok" for name in asserted(statement.body) if name in self._looked_at}

    def _held(self, statement: ir.Each, state: BranchPath, was: str = "") -> list[tuple[str, TlaTerm]]:
        """The values passed from round to round: at the start, or from one that got them as `was`."""
        own = [(self.variables[var], self.carry(state.versions[var])) for var in written(statement.body)]
        for name, place in self._claims(statement).items():
            tests = [test for found, test in state.asserts if found == name]
            own.append((place, tla.both([_field(was, place), *tests]) if was else tla.TRUE))
        return own

    def _take_over(self, statement: ir.Each, state: BranchPath, after: str) -> None:
        """Make the results of a loop the current values."""
        for var in written(statement.body):
            state.versions[var] = version = self.cheap(_field(after, self.variables[var]))
            if self.is_last(version.number):
                state.block.append(NextValue(self.after(var), version.text))
        for name, place in self._claims(statement).items():
            self._claim(state, name, _field(after, place))


def _field(of: str, name: str) -> TlaTerm:
    """A field of a record variable."""
    return tla.field(tla.atom(of), name)


def written_out(flow: Callable[[VersionCounts | None], Flow], block: Callable[[Flow], TlaBlock]) -> TlaBlock:
    """The block of statements, written after two passes."""
    first = flow(None)
    block(first)
    return block(flow(first.counts))
