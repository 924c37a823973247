"""Which parts of a protocol its checks need: every mutant, asked of every check that holds.

First each check is answered unchanged.  What it finds to hold is then asked of each
mutant, the check with the fewest states first, until one is violated or makes an error.
A check is passed over where its own search shows that the mutant has the same runs in it:
the guard was never false, or no step was ever taken, nor cut by the scope, that would change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from time import monotonic
from typing import NoReturn, TypeVar

from counterexamples.certify import certify
from counterexamples.trace import Trace
from modelcheck.asking.crew import shared_out
from modelcheck.asking.models import pick_checks
from modelcheck.asking.necessity.answers import (
    OF_SAFETY,
    MutantAnswer,
    Mutants,
    MutationQuestion,
    Unmutated,
    UnmutatedAnswer,
)
from modelcheck.asking.necessity.parts import PartKind, ProtocolPart, forgetful, sites
from modelcheck.asking.necessity.switched import NOTHING, moved, set_to, switched, without
from modelcheck.contract.engine import Limits
from modelcheck.contract.families import families, looked_at
from modelcheck.contract.report import AnswersDone, Reporter, Silent
from modelcheck.processes.workers import Workers
from spec.diagnostics import Diagnostic, SpecError
from spec.frozen import frozen
from spec.model.ir import Check, Expr, Fit, Model
from spec.model.totality import names_scope
from spec.model.walk import expressions, walk, walk_statements
from spec.source import Span

LIMITS = Limits(states=2_000_000)  # of each search
T = TypeVar("T")


@frozen
class CheckStanding:
    """A check of a model with its result on the unchanged protocol."""

    model: Model
    check: Check
    stands: UnmutatedAnswer


@frozen
class NecessityRow:
    """A part, and the check that needs it with the run on the mutant that the part prevents; or none.

    `held` are the checks that hold without it, `same` those in which the mutant has the
    same runs, and `unknown` those without an answer, each with the reason.  `cut` are limits
    of the scope at which only the mutant is cut.  `by_enabled` are properties that ask a guard all
    the same, by `enabled`, of checks that hold without it: what repeats the guard behind that cannot need it.
    """

    part: ProtocolPart
    model: Model
    needed_by: CheckStanding | None
    run: Trace | None
    held: tuple[CheckStanding, ...]
    same: tuple[CheckStanding, ...]
    unknown: tuple[tuple[CheckStanding, str], ...]
    cut: tuple[str, ...]
    by_enabled: tuple[str, ...] = ()

    @property
    def line(self) -> int:
        """The line number of the part."""
        return self.model.source.place(self.part.span.start)[1]

    @property
    def needed(self) -> bool | None:
        """Whether a check needs the part; None if unknown."""
        return True if self.run is not None else None if self.unknown else False


def necessity(
    models: tuple[Model, ...],
    names: Sequence[str] = (),
    *,
    kinds: Sequence[PartKind] = tuple(PartKind),
    limits: Limits = LIMITS,
    reporter: Reporter | None = None,
) -> tuple[NecessityRow, ...]:
    """The result for each part of the models of a file, in textual order.

    Asks the checks of those names, all without any; costs a search for each part and check
    that could decide it, within `limits` each, on all cores.  Parts are missing where it was
    interrupted.  Every run has been replayed on the mutant.  Raises SpecError for a name that the
    file does not have, and where there is nothing to ask.
    """
    asking = NecessitySearch(models, names, kinds)
    asked = dict(asking.checks(limits, reporter))
    if len(asked) < asking.count:
        return ()
    rows = dict(asking.rows(tuple(asked[number] for number in sorted(asked)), limits, reporter))
    return tuple(rows[number] for number in sorted(rows))


class NecessitySearch:
    """Mutation testing of a file's models: first call `checks`, then `rows`; see `necessity`."""

    def __init__(
        self,
        models: tuple[Model, ...],
        names: Sequence[str] = (),
        kinds: Sequence[PartKind] = tuple(PartKind),
    ) -> None:
        self._checks = pick_checks(models, list(names))
        if not self._checks:
            _refuse(models[0], "has no check, so no part can be tested", "write one: `check NAME`")
        of_name = dict(zip((model.name for model in models), forgetful(models), strict=True))
        asked = {model.name: model for model in models if any(model is own for own, _ in self._checks)}
        self._forgets = {name: of_name[name] for name in asked}
        self._sites = {name: sites(model, of_name[name]) for name, model in asked.items()}
        found = {part for at in self._sites.values() for part in at if part.kind in kinds}
        self.parts = tuple(sorted(found, key=lambda part: (part.span.start, part.kind.name)))
        if not self.parts:
            _refuse(models[0], "has no part that could be left out", "guards are such parts")
        numbers = {part: number for number, part in enumerate(self.parts, 1)}
        self._switched = {name: switched(m, self._forgets[name], numbers) for name, m in asked.items()}
        self._questions = self._of_checks()
        self.count = len(self._checks)
        self.source = models[0].source

    def _of_checks(self) -> list[MutationQuestion]:
        """Each check as a question about the model with its switch off."""
        asked = []
        for model, check in self._checks:
            safety = (prop.name for prop in looked_at(model, check) if prop.kind in OF_SAFETY)
            asked.append((model, replace(check, only=tuple(safety))))
        switches = [(self._switched[model.name], set_to(check, NOTHING)) for model, check in asked]
        others = [(model, set_to(check, NOTHING + 1)) for model, check in switches]
        shared = families([*switches, *others])
        return [
            MutationQuestion(model, check, check.only or (), family)
            for (model, check), family in zip(switches, shared, strict=False)
        ]

    def checks(self, limits: Limits, reporter: Reporter | None = None) -> Iterator[tuple[int, CheckStanding]]:
        """The index and result of each check on the unchanged model, as they are ready."""
        work = Unmutated(self._questions, shared_out(limits, self.count))
        for number, found in self._done(work, self.count, "check", lambda each: each.states, reporter):
            yield number, CheckStanding(*self._checks[number], found)

    def rows(
        self, asked: Sequence[CheckStanding], limits: Limits, reporter: Reporter | None = None
    ) -> Iterator[tuple[int, NecessityRow]]:
        """The index and row of each part, as they are ready.

        `asked` are all checks in their order, unchanged.
        """
        able = [number for number, each in enumerate(asked) if not each.stands.why]
        if not able and not any(each.stands.unknown for each in asked):
            _refuse(
                asked[0].model,
                "has no check that holds",
                "; ".join(dict.fromkeys(a.stands.why for a in asked)),
            )
        able.sort(key=lambda number: (asked[number].stands.states, number))
        properties = [asked[number].stands.properties for number in range(self.count)]
        questions = [
            replace(question, properties=holding)
            for question, holding in zip(self._questions, properties, strict=True)
        ]
        orders = [[n for n in able if self._may_tell(part, asked[n])] for part in self.parts]
        work = Mutants(questions, orders, shared_out(limits, len(orders)))
        seen = self._done(work, len(orders), "part", lambda each: sum(r.states for r in each), reporter)
        for number, replies in seen:
            has = [asked[n] for n in able if self.parts[number] in self._sites[asked[n].model.name]]
            same = [each for each in has if all(each is not asked[n] for n in orders[number])]
            yield number, self._row(self.parts[number], asked, same, replies)

    def _may_tell(self, part: ProtocolPart, asked: CheckStanding) -> bool:
        """Whether the mutant can behave differently in a check, by what its search has seen."""
        actions = self._sites[asked.model.name].get(part)
        if actions is None:
            return False
        budget, stands = asked.check.budget, asked.stands
        idle = set(asked.model.faults) - budget.allowed(asked.model)
        if part.kind is PartKind.GUARD:
            return not all(a in idle or _is_unrefused(part, asked.model, a, stands) for a in actions)
        if part.kind in {
            PartKind.DURABLE,
            PartKind.RESET,
        }:  # a quorum may be what keeps an action from happening
            idle |= {name for name in stands.unused if not (stands.cut and _is_of_scope(asked.model, name))}
        return not actions <= idle

    def _row(
        self,
        part: ProtocolPart,
        asked: Sequence[CheckStanding],
        same: Sequence[CheckStanding],
        replies: Sequence[MutantAnswer],
    ) -> NecessityRow:
        """The row of a part: with the first check that needs it, or those that hold without it."""
        home = next(each.model for each in asked if part in self._sites[each.model.name])
        held = tuple(asked[r.place] for r in replies if r.run is None and not r.problem)
        lacking = ((each, each.stands.unknown) for each in asked if part in self._sites[each.model.name])
        unknown = (
            *((asked[r.place], r.problem) for r in replies if r.problem),
            *((each, reason) for each, reason in lacking if reason),
        )
        cut = tuple(sorted({limit for r in replies for limit in r.cut - asked[r.place].stands.cut}))
        for reply in replies:
            if reply.run is not None:
                by = asked[reply.place]
                mutant = without(by.model, self._forgets[by.model.name], part)
                run = certify(moved(reply.run, mutant)).trace
                return NecessityRow(part, by.model, by, run, held, tuple(same), unknown, cut)
        return NecessityRow(part, home, None, None, held, tuple(same), unknown, cut, _by_enabled(part, held))

    def _done(
        self,
        work: Callable[[int], T],
        count: int,
        what: str,
        states_of: Callable[[T], int],
        reporter: Reporter | None,
    ) -> Iterator[tuple[int, T]]:
        """The results of jobs as they are ready, reported as progress."""
        began, done, states = monotonic(), 0, 0

        def tell() -> None:
            (reporter or Silent()).tell(AnswersDone(what, done, count, states, monotonic() - began))

        with Workers(work, list(self._switched.values())) as workers:
            for number, result in workers.each(count, tell):
                done, states = done + 1, states + states_of(result)
                tell()
                yield number, result


def _by_enabled(part: ProtocolPart, held: Sequence[CheckStanding]) -> tuple[str, ...]:
    """The properties that contain a guard's condition, which only `enabled` puts there."""
    if part.kind is not PartKind.GUARD:
        return ()
    names = ((each.model, name) for each in held for name in each.stands.properties)
    asking = (name for model, name in names if _contains(part.span, model.property(name).expr))
    return tuple(dict.fromkeys(asking))


def _contains(guard: Span, expr: Expr | None) -> bool:
    """Whether an expression contains a guard."""
    return expr is not None and any(
        guard.start <= each.span.start and each.span.end <= guard.end for each in walk(expr)
    )


def _is_unrefused(part: ProtocolPart, model: Model, action: str, stands: UnmutatedAnswer) -> bool:
    """Whether a guard is never false in a check, and no other guard has its name."""
    guards = model.action(action).guards
    names = [model.guard_name(guard) for guard in guards]
    own = next(name for name, guard in zip(names, guards, strict=True) if guard.span == part.span)
    return (action, own) in stands.unrefused and names.count(own) == 1


def _is_of_scope(model: Model, name: str) -> bool:
    """Whether a limit of the scope may cut steps of an action."""
    every = (part for each in walk_statements(model.action(name).body) for part in expressions(each))
    return any(isinstance(each, Fit) and names_scope(each.type) for part in every for each in walk(part))


def _refuse(model: Model, what: str, help_: str) -> NoReturn:
    """Raise SpecError."""
    raise SpecError([Diagnostic("R0914", model.source, None, f"{model.name} {what}", help=help_)])
