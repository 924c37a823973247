"""What a check found: verdicts with their extent, counts, and what was not as expected."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from counterexamples.trace import Trace
from modelcheck.contract.proof import Proof
from spec.frozen import frozen
from spec.model.ir import Check, Expect, ExpectVerdict, Model, PropertyKind, Scope
from spec.source import Source, Span


@frozen
class Extent:
    """What a verdict covers: the scope, and the number of faults; None is any number.

    `scope` of None: every scope, whatever the number of members and the bounds; with `but_for_errors` those
    where the model makes no error, which it may.
    `kinds`, when not None, are the only faults that were allowed and the most
    of each; then `faults` counts them together.
    """

    scope: Scope | None
    faults: int | None
    kinds: Mapping[str, int | None] | None = None
    but_for_errors: bool = False


@frozen
class Unshown:
    """The reason why an existing run is not shown; it has at least `least` faults."""

    why: str
    least: int = 0

    def __str__(self) -> str:
        return f"no run is shown: {self.why}"


@frozen
class Holds:
    """The verdict that a property is true in all of the extent.

    `beyond` counts the states from which the only way to what a `recoverable`
    asks for leaves the scope, and those where a run would miss the goal of a
    property of fair runs if a fair step beyond the scope were not
    possible; with `renamed` it counts states that differ by a renaming of members of those
    sorts as one; `example` is the shortest run to a `reachable`, or `unshown` is
    why there is none.  `vacuous` is a `leadsto` where no run ever begins to wait.
    """

    extent: Extent
    beyond: int = 0
    example: Trace | None = None
    unshown: Unshown | None = None
    vacuous: bool = False
    renamed: tuple[str, ...] = ()


@frozen
class Violated:
    """The verdict that a property is false, shown by `trace`; if `fewest`, by the cheapest run.

    Without a trace is a `reachable` that the whole extent does not have; and what is known to be
    false although the search for a run that shows it was cut short: then there is `unshown`.
    """

    extent: Extent
    trace: Trace | None
    fewest: bool = True
    unshown: Unshown | None = None


@frozen
class Unknown:
    """The verdict that a property is undecided, and why; `extent` was searched without a violation."""

    reason: str
    extent: Extent | None = None


Verdict = Holds | Violated | Unknown


def run_of(verdict: Verdict) -> Trace | None:
    """The run that a verdict shows, if any."""
    match verdict:
        case Holds(example=trace) | Violated(trace=trace):
            return trace
        case Unknown():
            return None


@frozen
class Result:
    """The verdict on a property; `by_faults` is whether it holds with at most 0, 1, 2, … faults."""

    property: str
    kind: PropertyKind
    verdict: Verdict
    by_faults: tuple[bool, ...] = ()


@frozen
class Layer:
    """The states reached with exactly `faults` faults at least, and the counters up to them."""

    faults: int
    new: int
    states: int
    transitions: int
    levels: int
    cut: int


@frozen
class UntestedPart:
    """A part of a property that may hold vacuously, by its place in the text.

    It is a quantifier whose set has no member in any state that the property asks it of; or a
    condition (of `implies`) that is true in none.
    """

    property: str
    span: Span
    is_quantifier: bool


@frozen
class Stats:
    """The counters of a search.

    `states` are distinct; `transitions` are the steps enabled in them, summed;
    `levels` counts the initial one; `cut` counts steps beyond the scope by the
    limit they would exceed.  `refused` guards (action, guard) were false at some time.  `unused` actions were
    never taken, `unrefused` guards were never false, and no state put `untested` parts of properties
    to the test, where that was asked: all three only where the search is complete.
    `ready` is how long the engine took before it could search, which `seconds` leaves out.
    """

    states: int
    transitions: int
    levels: int
    layers: tuple[Layer, ...]
    taken: Mapping[str, int]
    cut: Mapping[str, int]
    unused: tuple[str, ...]
    unrefused: tuple[tuple[str, str], ...]
    seconds: float
    memory: int
    ready: float = 0.0
    untested: tuple[UntestedPart, ...] = ()
    refused: frozenset[tuple[str, str]] = frozenset()


class End(Enum):
    """The reasons why a search ended."""

    COMPLETE = "the whole extent was searched"
    DECIDED = "every property is decided"
    ERROR = "the model makes an error"
    INTERRUPTED = "interrupted"
    STATES = "the limit of states is reached"
    SECONDS = "the limit of time is reached"
    MEMORY = "the limit of memory is reached"
    DISK = "no more can be written to disk"
    SAMPLED = "random runs see a part only"
    DEPTH = "only runs up to the limit of steps were searched"
    ROOM = "more values of a nat without a bound are in use at once than there is room for"

    @property
    def partial(self) -> bool:
        """Whether a longer search could have found more."""
        return self not in {End.COMPLETE, End.DECIDED, End.ERROR}


@frozen
class Sample:
    """A simulation: the number of finished runs, their greatest length, and the seed.

    `run` is the last one, where none shows anything.
    """

    runs: int
    depth: int
    seed: int
    run: Trace | None = None


@frozen
class SecondEngineReport:
    """What a second engine did during the search.

    It answered `answered`, and found runs as good as the first one's for `agreed`;
    of everything else no run of up to `depth` steps decides anything.  `problem` is
    why it ended without an answer, if it did.
    """

    engine: str
    answered: tuple[str, ...]
    agreed: tuple[str, ...]
    depth: int
    problem: str = ""


@frozen
class Spill:
    """What became of a search that memory ended after some `states`.

    It began again with its states on disk, in `folder`, or ended there because of `problem`.
    """

    states: int
    folder: str | None = None
    problem: str | None = None


@frozen
class Findings:
    """The result of an engine; `error` is the run to an error of the model, if any.

    With `symmetry`, states that differ by a renaming of members of those sorts
    were counted as one.  With `partial_order`, steps were left for later where others commute with
    them: runs may have more steps than the shortest, and fewer states were counted.  With
    `sample`, only random runs were looked at, and
    their states are counted as often as they were met.  With `depth`, a solver
    looked at the runs of up to `depth` steps, and no states were counted.  With
    `proof`, no runs were looked at: it is what was proved of every scope.
    `beside` is what another engine did at the same time.  `spill` is what was done when memory ended.
    """

    engine: str
    end: End
    results: tuple[Result, ...]
    stats: Stats
    error: Trace | None = None
    symmetry: tuple[str, ...] = ()
    sample: Sample | None = None
    depth: int | None = None
    proof: Proof | None = None
    beside: SecondEngineReport | None = None
    partial_order: bool = False
    spill: Spill | None = None


@frozen
class Mismatch:
    """An expectation that is not met, and the actual result in words.

    A check expects of each property that nothing violates it, unless it declares otherwise.
    `is_known` is false where the search did not come far enough to tell.
    """

    wish: Expect
    found: str
    is_known: bool = True

    @property
    def about(self) -> str | None:
        """The property of the expectation; None for a count."""
        return self.wish.property if isinstance(self.wish, ExpectVerdict) else None

    @property
    def is_plain(self) -> bool:
        """Whether the expectation is only that a property holds within the check's budget."""
        return isinstance(self.wish, ExpectVerdict) and self.wish.holds and not self.wish.any_faults


MOST_WAYS = 10  # distinct ones to violate a property that are shown where no number is given


@frozen
class Distinct:
    """The distinct ways to violate a property, as runs in which every step is needed.

    `looked_at` runs to violations, with up to `most_faults` faults, were reduced to these, in a
    search of `states` states.  It came as far as runs with `faults` faults and `steps` steps;
    `unfinished` is why it went no further, and is empty where there was nothing further.
    """

    property: str
    runs: tuple[Trace, ...]
    looked_at: int
    most_faults: int
    states: int
    faults: int
    steps: int
    unfinished: str = ""


class UnusedKind(Enum):
    """The kind of an unused part."""

    ACTION = "never happens"
    GUARD = "never refuses"
    CONFIG = "never varies"
    VARIABLE = "never read"


@frozen
class UnusedPart:
    """A part of a model that no check uses; `name` is `write`, `write.leads`, `copies` or `Node.log`."""

    kind: UnusedKind
    name: str
    source: Source
    span: Span
    is_fair: bool = False


@frozen
class Outcome:
    """A check with its findings and unmet expectations.

    `distinct` are the distinct ways to violate properties, where they were asked for.
    `unused` are parts of the model that it does not use and should, as a check that is asked alone.
    """

    model: Model
    check: Check
    findings: Findings
    mismatches: tuple[Mismatch, ...]
    distinct: tuple[Distinct, ...] = ()
    unused: tuple[UnusedPart, ...] = ()

    def ways(self, name: str) -> Distinct | None:
        """The distinct ways to violate a property, if they were searched."""
        return next((each for each in self.distinct if each.property == name), None)

    @property
    def is_interrupted(self) -> bool:
        """Whether the user interrupted the search."""
        ends = [self.findings.end.value, *(each.unfinished for each in self.distinct)]
        return End.INTERRUPTED.value in ends

    def result(self, name: str) -> Result:
        """The result for a property. Raises KeyError if it was not checked."""
        for result in self.findings.results:
            if result.property == name:
                return result
        raise KeyError(name)

    def verdict(self, name: str) -> Verdict:
        """The verdict on a property. Raises KeyError if it was not checked."""
        return self.result(name).verdict

    def trace(self, name: str) -> Trace | None:
        """The run that decides a property, if any. Raises KeyError if it was not checked."""
        return run_of(self.verdict(name))

    def __repr__(self) -> str:
        """The outcome in one line."""
        violated = [each.property for each in self.findings.results if isinstance(each.verdict, Violated)]
        unknown = [each.property for each in self.findings.results if isinstance(each.verdict, Unknown)]
        found = [f"violated: {', '.join(violated)}"] if violated else []
        found += [f"no verdict on {', '.join(unknown)}"] if unknown else []
        return f"<Outcome {self.model.name} · {self.check.name}: {'; '.join(found) or 'holds'}>"
