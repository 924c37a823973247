"""What an engine is: it takes a task and answers with findings."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Generic, Protocol, TypeVar

from modelcheck.contract.report import Reporter
from modelcheck.contract.result import Findings, UntestedPart
from spec.diagnostics import Diagnostic, SpecError
from spec.frozen import frozen
from spec.model.ir import Budget, Model, Property, PropertyKind, Scope
from spec.model.kinds import OF_FAIR_RUNS
from spec.source import Source

T = TypeVar("T")


@frozen
class Limits:
    """The limits of a search: states, seconds, bytes of memory and on disk; None is unlimited."""

    states: int | None = None
    seconds: float | None = None
    memory: int | None = None
    disk: int | None = None


@frozen
class Keep:
    """A folder in which checkpoints of a search are saved, at intervals and at its end.

    With `resume` the search continues from the checkpoint in the folder.  With `states`
    they are in the folder too, as sorted runs, and memory has the recent ones alone; a folder
    that has them already says so itself.
    """

    folder: Path
    seconds: float = 300
    resume: bool = False
    states: bool = False


@frozen
class Witness:
    """A condition, as a `reachable`: if a state satisfies it, a part of a property is exercised."""

    part: UntestedPart
    condition: Property


@frozen
class Family:
    """The questions about one model of one size that share a kernel: properties, faults, configuration.

    An engine may make one thing for all of them: `properties` and `faults` are those
    of any of them, `configs` the entries that they set differently, `counted` the kinds
    of faults that some of them bound by a number, and the greatest; `witnesses` those of
    all properties, where they are asked for.
    """

    properties: tuple[Property, ...]
    faults: frozenset[str]
    configs: frozenset[str]
    counted: Mapping[str, int]
    witnesses: tuple[Witness, ...] = ()


@frozen
class Task:
    """A question to an engine, with everything that affects the answer.

    `stop_early` allows to stop when every property is decided; without it the
    search continues, so that all counts are of the whole extent; with `at_first` it may
    stop as soon as one is, and the others stay unknown.  `symmetry` are the
    sorts up to whose renamings states count as one (see `modelcheck.search.symmetry`):
    verdicts, faults and steps are the same, counts are of orbits.  `threads` of
    None: one for each core; findings do not depend on it.  Without `ways` an engine
    does not have to remember how it came to each state, which saves memory: it searches
    again where there is a run to show.  `family` names other questions that may
    follow; findings do not depend on it.  `witnesses` are looked for in passing, by an
    engine that lists all states: they neither end nor prolong a search.  With `forgets`
    states of the last layer of faults may count as one that differ only in what no
    step can meet any more (NOTE(forgotten) in `modelcheck/search/forgotten.py`):
    verdicts, faults and steps are the same, counts are not, and nothing is
    concluded of more faults than the budget allows.  With `partial_order` some steps may be left
    for later (NOTE(persistent) in `modelcheck/search/persistent.py`): verdicts and faults are the same,
    steps and counts are not, and of more faults nothing is concluded either.  Where memory ends, a search
    that can begins again with its states on disk: in the folder of its checkpoints, or else in one of
    its own in `spill`, which is removed at the end; without `spill` it ends.
    """

    model: Model
    scope: Scope
    budget: Budget
    properties: tuple[Property, ...]
    limits: Limits = Limits()
    check: str | None = None
    stop_early: bool = True
    symmetry: tuple[str, ...] = ()
    threads: int | None = None
    keep: Keep | None = None
    ways: bool = True
    family: Family | None = None
    at_first: bool = False
    witnesses: tuple[Witness, ...] = ()
    forgets: bool = False
    partial_order: bool = False
    spill: Path | None = None

    @property
    def question(self) -> Task:
        """The task without limits, to compare tasks by what must be prepared for them."""
        return replace(self, limits=Limits())

    @property
    def faults(self) -> frozenset[str]:
        """The kinds of faults that the budget allows."""
        return frozenset(filter(self.budget.allows, self.model.faults))

    @property
    def counted(self) -> Mapping[str, int]:
        """The kinds of faults counted in states, with their limits."""
        return self.budget.counted if self.family is None else self.family.counted


@frozen
class Refusal:
    """Something an engine cannot do, and an engine that can, if any."""

    what: str
    instead: str | None = None


def not_of_representatives(task: Task) -> list[Refusal]:
    """The properties of fair runs, where a state represents others: NOTE(alike) in `search/symmetry.py`."""
    where = ["up to symmetry"] if task.symmetry else []
    where += [f"with `{name} = any`" for name in sorted(task.scope.unbounded)]
    return [
        Refusal(f"{prop.kind.value} {prop.name} {where[0]}")
        for prop in task.properties
        if where and prop.kind in OF_FAIR_RUNS
    ]


def not_without_bounds(task: Task) -> list[Refusal]:
    """The nats that have no bound, for an engine that needs one for each."""
    return [Refusal(f"`{name} = any`", "explicit") for name in sorted(task.scope.unbounded)]


def not_by_partial_order(task: Task) -> list[Refusal]:
    """That steps are to be left for later, for an engine that takes none."""
    what = "partial-order reduction; --no-partial-order asks without it"
    return [Refusal(what, "explicit")] if task.partial_order else []


UNCOUNTED = Refusal("symmetry, since nothing is counted; --no-symmetry asks without it")


def not_asked(task: Task, kinds: Collection[PropertyKind], symmetry: Refusal = UNCOUNTED) -> list[Refusal]:
    """The refusals of properties of these kinds, of reductions and of checkpoints."""
    refused = [Refusal(f"{p.kind.value} {p.name}", "explicit") for p in task.properties if p.kind in kinds]
    refused += not_by_partial_order(task)
    if task.symmetry:
        refused.append(symmetry)
    if task.keep is not None:
        refused.append(Refusal("checkpoints", "explicit"))
    return refused


class CannotResume(Exception):  # noqa: N818 - an answer to the user, not a bug
    """Raised if there is no search to resume."""


class CannotStart(SpecError):  # noqa: N818 - an answer to the user, not a bug
    """Raised if an engine lacks something it needs; the message names it, with advice."""

    def __init__(self, message: str) -> None:
        super().__init__([Diagnostic("R0912", Source("modelcheck", ""), None, message)])


class Prepared(Generic[T]):
    """A cache of what an engine prepared for the last task, shared by `refusals` and `run`."""

    def __init__(self) -> None:
        self._last: tuple[Task, T] | None = None

    def of(self, task: Task, make: Callable[[Task], T]) -> T:
        """What `make` prepares for a task, made anew if the question changed."""
        if self._last is None or self._last[0] != task.question:
            self._last = task.question, make(task)
        return self._last[1]


class Engine(Protocol):
    """The interface of engines: decides the properties of a task.

    An engine is deterministic for a given task (but for limits of time and
    memory), never prints, and answers Unknown rather than guess.  Every
    Violated carries a trace of the fewest faults and then the fewest steps, or
    the reason why the search for it was cut short.
    What it cannot do it refuses before it starts; it never ignores a property.
    """

    name: ClassVar[str]

    def refusals(self, task: Task) -> tuple[Refusal, ...]:
        """What the engine cannot do of a task; empty when it can do all of it. Costs no search."""
        ...

    def run(self, task: Task, reporter: Reporter) -> Findings:
        """The findings; partial if a limit or Ctrl-C ends the search."""
        ...
