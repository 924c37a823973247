"""What has to be proved of a model for every scope: each obligation as a text in SMT-LIB 2.

A claim holds in every state of every run when it is true at the start and every
step leads from states where all claims are true to states where it is.  The
claims are proved together, each from all of them.  Where the start has choices,
it has to be proved too that they can be made: else the claims may hold of nothing.

NOTE(scopes): A scope is part of the formulas, as symbols: how many members a
sort has, how far a nat goes (`|most Epoch|`), and so what a proof shows it
shows of every scope.  That a variable keeps to its type within the scope is
assumed before and after a step, since what does not is cut or an error of the
model.  A bound on how many messages are under way is left out: without it there
are more steps, and what is proved of these holds for fewer.  Switches are as the
check sets them, numbers among them any from their least on, where there are several.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import field

import spec.model.ir as ir
import spec.model.types as t
from modelcheck.contract.proof import START
from modelcheck.symbolic.unbounded.expressions import CORE, Placed, SmtEnv, SmtExpressions
from modelcheck.symbolic.unbounded.shapes import Nowhere, Pointwise, SmtShape, SmtShapes, members, symbol
from modelcheck.symbolic.unbounded.sorts import Flat, Types, sort_named
from modelcheck.symbolic.unbounded.statements import PossibleChoices, Statements
from modelcheck.symbolic.unbounded.terms import (
    BOOL,
    INT,
    TRUE,
    SmtTerm,
    apply,
    at_most,
    conjunction,
    disjunction,
    equality,
    ground,
    is_of_arrays,
    negation,
    number,
    opened,
    split,
    symbols,
    value_of,
)
from modelcheck.symbolic.unbounded.theory import Small, Theory, sizes_of
from spec.frozen import frozen
from spec.model.kinds import INVARIANTS
from spec.model.walk import chooses

BEFORE = "before"
LOGIC = {"and", "or", "not", "=>", "=", "ite", "forall", "exists", "true", "false", "!"}
NUMBERS = {"+", "-", "*", "<=", "<", "div", "mod"}


@frozen
class Obligation:
    """A proof obligation: a claim is true at the start, or after a step of an action.

    That there is a start is one too, under the name START.
    """

    claim: str
    action: str | None  # None: at the start

    def __str__(self) -> str:
        if self.claim == START:
            return START
        return f"{self.claim} {'at the start' if self.action is None else f'after {self.action}'}"


@frozen
class Formula:
    """A sequent in first-order logic: named assumptions and a goal, with the datatypes they use."""

    sorts: tuple[str, ...]
    datatypes: tuple[str, ...]
    assumed: tuple[tuple[str, SmtTerm], ...]
    goal: SmtTerm
    makers: frozenset[str]

    def text(
        self, *, after: Sequence[str] = (), about: Sequence[SmtTerm] = (), labels: Collection[str] = ()
    ) -> str:
        """The SMT-LIB 2 text of the assumptions and the negated goal, unsatisfiable if the goal follows.

        `after` is asked after it, `about` some terms.  Assumptions whose names are in `labels` are labelled,
        each with a number behind it, and the solver is asked which of them it used.
        """
        terms = [*(term for _, term in self.assumed), negation(self.goal), *about]
        lines = ["(set-logic ALL)", *self.sorts, *self.datatypes, *self._declared(terms)]
        if labels:
            lines.insert(0, "(set-option :produce-unsat-cores true)")
            after = (*after, "(get-unsat-core)")
        for place, (name, term) in enumerate(self.assumed):
            labelled = f"(! {term} :named |{name} #{place}|)" if name in labels else term
            lines += [f"; {name}", f"(assert {labelled})"]
        lines += ["; and yet not", f"(assert {negation(self.goal)})", "(check-sat)", *after]
        return "\n".join(lines) + "\n"

    def _declared(self, terms: Sequence[SmtTerm]) -> Iterator[str]:
        """The declarations of the symbols that the terms use."""
        seen: set[str] = set()
        for term in terms:
            for name in term.free_names:
                if name.op not in seen:
                    seen.add(name.op)
                    yield f"(declare-const {name.op} {name.sort})"
            for part in symbols(term):
                if self._is_own(part) and part.op not in seen:
                    seen.add(part.op)
                    yield f"(declare-fun {part.op} ({' '.join(arg.sort for arg in part.args)}) {part.sort})"

    def _is_own(self, part: SmtTerm) -> bool:
        """Whether a symbol needs a declaration: it is neither SMT-LIB's nor a datatype's."""
        if part.is_bound or part.is_made or part.op in LOGIC | NUMBERS or part.op.isdigit():
            return False
        return not (part.op in self.makers or part.op.startswith("(_ is") or is_of_arrays(part))

    @property
    def is_effectively_propositional(self) -> bool:
        """Whether it is in the decidable fragment EPR: no numbers, no arrays, no cycle of sorts."""
        edges: set[tuple[str, str]] = set()
        for _, term in (*self.assumed, ("goal", negation(self.goal))):
            if any(part.sort == INT or is_of_arrays(part) for part in symbols(term)):
                return False
            edges |= {
                (arg.sort, p.sort)
                for p in symbols(term)
                if p.op[0] == "|"
                for arg in p.args
                if p.sort != "Bool"
            }
            edges |= set(_alternations(term, positive=True, outer=()))
        return not _has_cycle(edges)


def _alternations(term: SmtTerm, *, positive: bool, outer: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """The edges between sorts that Skolem functions for nested quantifiers would make."""
    match term.op:
        case "forall" | "exists":
            sorts = tuple(sort for _, sort in term.binds)
            if (term.op == "forall") == positive:
                outer = (*outer, *sorts)
            else:
                yield from ((a, b) for a in outer for b in sorts)
            yield from _alternations(term.args[0], positive=positive, outer=outer)
        case "not":
            yield from _alternations(term.args[0], positive=not positive, outer=outer)
        case "=>":
            yield from _alternations(term.args[0], positive=not positive, outer=outer)
            yield from _alternations(term.args[1], positive=positive, outer=outer)
        case "=" | "ite":
            for arg in term.args:
                for sign in (True, False):
                    yield from _alternations(arg, positive=sign, outer=outer)
        case _:
            for arg in term.args:
                yield from _alternations(arg, positive=positive, outer=outer)


def _has_cycle(edges: set[tuple[str, str]]) -> bool:
    """Whether a graph has a cycle."""
    left = set(edges)
    while left:
        ends = {a for a, _ in left}
        kept = {(a, b) for a, b in left if b in ends}
        if kept == left:
            return True
        left = kept
    return False


@frozen
class ProofTask:
    """What is to be proved of a model: with which switches, of which claims, by which steps.

    Formulas are of the model's `core`.
    """

    model: ir.Model
    config: tuple[tuple[str, ir.Value], ...]
    actions: tuple[ir.Action, ...]
    core: ir.Model = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "core", CORE.model(self.model))

    def questions(self, claims: Sequence[ir.Property]) -> tuple[Obligation, ...]:
        """Every obligation of the claims; also that there is an initial state, if that has choices."""
        found = [Obligation(START, None)] if any(map(chooses, self.core.init)) else []
        for claim in claims:
            if claim.kind in INVARIANTS:
                found.append(Obligation(claim.name, None))
            found += [Obligation(claim.name, action.name) for action in self.actions]
        return tuple(found)

    def formula(
        self,
        question: Obligation,
        claims: Sequence[ir.Property],
        *,
        small: Small | None = None,
        named: bool = False,
    ) -> Formula:
        """The formula of an obligation, with all claims assumed. Raises Inexpressible.

        `small` bounds the sorts and nats, for a counterexample of that size; without it they are unbounded.
        With `named` it has axioms on the sizes of more sets: some proofs are found with them, some without.
        """
        return FormulaWriter(self, small, named=named).formula(question, claims)


class FormulaWriter:
    """Writes the formula of one obligation.

    Afterwards `before` and `after` are the states around the step, `config` the configuration.
    """

    def __init__(self, asked: ProofTask, small: Small | None, *, named: bool) -> None:
        self.named = named
        self.asked = asked
        self.model = asked.core
        self.types = Types(asked.model)
        self.shapes = SmtShapes(self.types)
        self.theory = Theory(self.shapes, small)
        self.small = small
        self._assumed: list[tuple[str, SmtTerm]] = []
        self.before: tuple[SmtShape, ...] = ()
        self.after: tuple[SmtShape, ...] = ()
        self.config = self._config()
        self.expressions = SmtExpressions(self.shapes, self.theory, self.config)

    def formula(self, question: Obligation, claims: Sequence[ir.Property]) -> Formula:
        """The formula of an obligation, with all claims assumed. Raises Inexpressible."""
        self._assume_scope()
        claims = [self.model.property(each.name) for each in claims]
        goal = self._goal(question, claims)
        assumed, goal = opened(goal, self.shapes.one)
        self._assumed += [("and given that", term) for term in assumed]
        for axiom in self.theory.axioms(self._about(goal) if self.named else ()):
            self._assumed.append(("sizes and chosen values", axiom))
        return Formula(
            tuple(self._sorts()),
            self.types.declarations(),
            tuple((name, term) for name, term in self._assumed if term != TRUE),
            goal,
            self.types.selectors(),
        )

    def _goal(self, question: Obligation, claims: Sequence[ir.Property]) -> SmtTerm:
        """The goal of an obligation."""
        if question.claim == START:
            return self._has_start()
        claim = self.model.property(question.claim)
        return self._start(claim) if question.action is None else self._step(question.action, claim, claims)

    def _about(self, goal: SmtTerm) -> list[SmtTerm]:
        """The ground terms in a formula, except constants, the shortest first."""
        said = [*(term for _, term in self._assumed), goal]
        found = dict.fromkeys(part for term in said for part in ground(term))
        values = (part for part in found if part.sort != BOOL and value_of(part) is None and not part.is_made)
        return sorted(values, key=lambda part: len(str(part)))

    # ------------------------------------------------------------------- the scope

    def _sorts(self) -> Iterator[str]:
        """The declarations of the model's sorts; in a small scope with their members."""
        for sort in self.model.sorts:
            if self.small is None:
                yield f"(declare-sort {sort_named(sort.name)} 0)"
            else:
                members = " ".join(f"(|{name}|)" for name in self.small.members(sort.name))
                yield f"(declare-datatypes (({sort_named(sort.name)} 0)) (({members})))"

    def _config(self) -> dict[str, SmtShape]:
        """The shapes of the configuration: as set, and of several numbers any from the least on."""
        given, found = dict(self.asked.config), dict[str, SmtShape]()
        for entry in self.model.configs:
            if isinstance(entry.type, t.Range) and entry.type.lo < entry.type.hi:
                any_ = apply(f"|config {entry.name}|", (), INT)
                found[entry.name] = Flat(any_, entry.type)
                self._assumed.append((f"the least {entry.name}", at_most(number(entry.type.lo), any_)))
                if self.small is not None:
                    self._assumed.append((f"the most {entry.name}", at_most(any_, number(entry.type.hi))))
            else:
                found[entry.name] = self.shapes.constant(entry.type, given[entry.name])
        return found

    def _assume_scope(self) -> None:
        """Assume the facts about the scope, and the model's assumptions."""
        for term in sizes_of(self.model.sorts, self.model.nats, self.small):
            self._assumed.append(("the scope", term))
        for assume in self.model.assumes:
            says = self.expressions.truth(assume.test, SmtEnv((), {}))
            self._assumed.append((f"assumption {assume.name}", says))

    def _assume_typed(self, when: str, state: Sequence[SmtShape], but: Sequence[SmtShape] = ()) -> None:
        """Assume that the variables have values of their types, except those unchanged from `but`."""
        for variable, value in zip(self.model.variables, state, strict=True):
            if all(value is not same for same in but):
                with Placed(variable.span):
                    within = self.shapes.within(value)
                self._assumed.append((f"{variable.name} is within the scope {when}", within))

    # -------------------------------------------------------------------- the start

    def _start(self, claim: ir.Property) -> SmtTerm:
        """The goal that a claim is true in every initial state."""
        statements = Statements(self.expressions, self.model.variables)
        env = statements.run(self.model.init, self._first_values())
        self._assumed += [("the choices of the start", term) for term in statements.assumed]
        self._assume_typed("at the start", env.state)
        return self._says(claim, SmtEnv(env.state, {}))

    def _has_start(self) -> SmtTerm:
        """The goal that an initial state exists; choices of subsets are tried whole and empty."""
        ways = []
        for whole in (True, False):
            statements = PossibleChoices(self.expressions, self.model.variables, whole=whole)
            statements.run(self.model.init, self._first_values())
            ways.append(statements.are_possible)
            if not statements.chose_subset:
                break
        return disjunction(ways)

    def _first_values(self) -> SmtEnv:
        """The state before the `init` block."""
        state: list[SmtShape] = [Nowhere(variable.type) for variable in self.model.variables]
        for index, variable in enumerate(self.model.variables):
            value = self.expressions.of(variable.init, SmtEnv(tuple(state), {}))
            with Placed(variable.span):
                state[index] = self.shapes.fitted(value, variable.type)
        return SmtEnv(tuple(state), {})

    # --------------------------------------------------------------------- a step

    def _step(self, name: str, claim: ir.Property, claims: Sequence[ir.Property]) -> SmtTerm:
        """The goal that a claim is true after any step of an action from a state where all claims are."""
        action = self.model.action(name)
        before = tuple(map(self._any, self.model.variables))
        self.before = before
        self._assume_typed(BEFORE, before)
        for each in claims:
            if each.kind in INVARIANTS:
                says = self._says(each, SmtEnv(before, {}))
                self._assumed += [(f"{each.name} {BEFORE}", part) for part in split(says)]
        statements = Statements(self.expressions, self.model.variables)
        env, args = self._assume_enabled(action, SmtEnv(before, {}), statements)
        env = statements.run(action.body, env)
        self._assumed += [(f"a choice of {name}", term) for term in statements.assumed]
        self.after = env.state
        self._assume_typed("after", env.state, before)
        if claim.kind is ir.PropertyKind.ASSERT:
            return conjunction([each.says for each in statements.asserted if each.name == claim.name])
        return self._says(claim, SmtEnv(env.state, {}, before, (name, args)))

    def _any(self, variable: ir.Variable) -> SmtShape:
        """The shape of an unknown value of a variable."""
        name = symbol(variable.name)
        with Placed(variable.span):
            most = None if self.small is None else self.small.messages
            if most is not None and isinstance(variable.type, t.Set) and variable.network is not None:
                return self._few(name, variable.type, most)
            return self.shapes.unknown(variable.type, name)

    def _few(self, name: str, of: t.Set, most: int) -> Pointwise:
        """The shape of an unknown set of at most `most` members."""
        sort = self.types.sort(of.of)
        places = [(apply(f"|{name} {n}|", (), sort), apply(f"|{name} {n}?|", (), BOOL)) for n in range(most)]

        def has(value: SmtTerm) -> SmtTerm:
            return disjunction([conjunction([there, equality(value, at)]) for at, there in places])

        return members(has, of)

    def _assume_enabled(
        self, action: ir.Action, env: SmtEnv, statements: Statements
    ) -> tuple[SmtEnv, tuple[SmtShape, ...]]:
        """Bind unknown parameters and assume the guards; returns the context and the arguments."""
        args: list[SmtShape] = []
        for param in action.params:
            with Placed(param.span):
                inside, value = statements.choose(param.name, param.domain, param.case, env)
            self._assumed.append((f"{param.name} of {action.name}", inside))
            args.append(value)
            env = env.bind(param.slot, value)
        for part in action.head:
            if isinstance(part, ir.Bound):
                env = env.bind(part.slot, self.expressions.of(part.value, env))
            else:
                says = self.expressions.truth(part.test, env)
                self._assumed.append((f"guard {part.name or ''} of {action.name}", says))
        return env, tuple(args)

    def _says(self, claim: ir.Property, env: SmtEnv) -> SmtTerm:
        """The formula of a claim."""
        assert claim.expr is not None
        return self.expressions.truth(claim.expr, env)
