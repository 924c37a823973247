"""What a review asks: each guarantee, under each kind of fault, and under all kinds together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations_with_replacement
from typing import NoReturn

import spec.model.ir as ir
from counterexamples.trace import Trace
from modelcheck.contract.engine import Family
from modelcheck.kafka.questions.partition import UNASKED, PartitionModel
from spec.diagnostics import Diagnostic, SpecError, suggest
from spec.frozen import frozen
from spec.source import Source, Span

# NOTE(two records): with one record a log that is cut and written again is as long as before, so no review
# asked with one finds a consumer that was given the record of a deposed leader; with two it does.
# `python -m tests.scopes` asks with a third.
RECORDS = 2


@frozen
class Guarantee:
    """A promise to users: its name on the command line, and the properties that state it.

    `holds` goes before "any 2 faults"; `fails` is what happens instead, and
    `they_fail` the same where the sentence has begun with `holds`; `adjective` goes behind "more".
    `unattended` asks it of the variant without repairs, in which no record is written.
    """

    name: str
    holds: str
    fails: str
    they_fail: str
    properties: tuple[str, ...]
    unattended: bool = False
    adjective: str = ""

    @property
    def records(self) -> int:
        """The number of records that the producer sends: see NOTE(two records)."""
        return 0 if self.unattended else RECORDS


GUARANTEES = (
    Guarantee(
        "durable",
        "acknowledged records survive",
        "acknowledged records can be lost",
        "they can be lost",
        ("acknowledged_survive", "acknowledged_kept"),
        adjective="durable",
    ),
    Guarantee(
        "committed",
        "records that every in-sync replica had survive",
        "records that every in-sync replica had can be lost",
        "they can be lost",
        ("committed_on_leader", "committed_kept"),
        adjective="true to what is committed",
    ),
    Guarantee(
        "read",
        "consumers are given only committed records under",
        "consumers can be given records that are not committed",
        "they can be given others",
        ("consumers_see_committed",),
        adjective="true to consumers",
    ),
    Guarantee(
        "writable",
        "writes continue without intervention under",
        "writes can stop until somebody repairs something",
        "they can stop until somebody repairs something",
        ("writable",),
        unattended=True,
        adjective="available",
    ),
    Guarantee(
        "consistent",
        "replicas agree on what is below their high watermarks under",
        "replicas can differ below their high watermarks",
        "they can differ",
        ("no_divergence",),
        adjective="consistent",
    ),
)


@frozen
class FaultKind:
    """A kind of fault: its name, the model's fault, a sentence, and a short form.

    Faults of one `cause` often come together: a network that parts takes links and sessions.
    """

    name: str
    fault: str
    title: str
    short: str
    cause: str


KINDS = (  # the mildest first
    FaultKind("request", "lose_request", "a request of the producer is lost", "a lost request", "network"),
    FaultKind("isolation", "isolate", "a broker is cut off from the others", "isolation", "network"),
    FaultKind("session", "session_loss", "a broker runs on without its session", "session loss", "network"),
    FaultKind("cutoff", "cut_off", "a broker loses all its connections", "a cut-off", "network"),
    FaultKind("bounce", "bounce", "a restart too quick to be noticed", "a quick restart", "process"),
    FaultKind("crash", "crash", "a broker crashes; its log is safe", "crash", "process"),
    FaultKind("power", "power_loss", "power fails; the unflushed is lost", "power loss", "machine"),
    FaultKind("disk", "disk_loss", "a broker loses its disk", "disk loss", "machine"),
)
_HARM = {"power": 1, "disk": 2}  # to what is stored
# What an engineer thinks of first: a crash is common, a broker that runs on without its session is rare.
_EXPECTED = ("request", "crash", "isolation", "session", "cutoff", "bounce", "power", "disk")
ANY = "any"
MOVE = "move"  # no fault, but it changes the leader as some faults do
MOST_FAULTS = 5  # more takes too long


def harm(faults: Iterable[str]) -> int:
    """The harm of the worst of these faults to stored data: of two runs the milder is shown."""
    return max((_HARM.get(kind_of(fault).name, 0) for fault in faults), default=0)


def has_moves(loss: Trace) -> bool:
    """Whether a run transfers leadership."""
    return any(step.action == "move" for step in loss.steps)


def milder_kinds(partition: PartitionModel) -> tuple[tuple[FaultKind, ...], ...]:
    """Growing sets of the possible kinds of faults, the least harmful first."""
    kinds = fault_kinds(partition)
    levels = sorted({harm([kind.fault]) for kind in kinds})
    return tuple(tuple(kind for kind in kinds if harm([kind.fault]) <= level) for level in levels)


def surprise(faults: Mapping[str, int]) -> tuple[int, ...]:
    """A sort key for sets of faults: the less an engineer expects them, the later.

    What has one cause comes first, then the faults that are thought of first.
    """
    kinds = [kind_of(fault) for fault, many in faults.items() for _ in range(many)]
    order = {name: place for place, name in enumerate(_EXPECTED)}
    places = sorted((order.get(kind.name, len(order)) for kind in kinds), reverse=True)
    return len({kind.cause for kind in kinds}), *places


@frozen
class Question:
    """One search: the guarantees it decides together, and the faults it allows.

    `kind` is the row of the answer: a kind of fault, `any` for a mixture, or `move`
    for moves of the leadership without any fault.
    """

    guarantees: tuple[Guarantee, ...]
    kind: str
    budget: ir.Budget
    moves: int = 0

    @property
    def faults(self) -> int:
        """The greatest number of faults in a run."""
        return sum(self.budget.counted.values()) if self.budget.total is None else self.budget.total

    def __str__(self) -> str:
        names = ", ".join(guarantee.name for guarantee in self.guarantees)
        return f"{names} under {self.kind}"


def kind_of(fault: str) -> FaultKind:
    """The kind of a fault of the model; for another model's fault a new kind."""
    own = FaultKind(fault, fault, fault, fault, fault)
    return next((kind for kind in KINDS if kind.fault == fault), own)


def fault_kinds(partition: PartitionModel) -> tuple[FaultKind, ...]:
    """The kinds of faults that can happen under a configuration, the mildest first."""
    gone = set()
    if partition.config["acks"] != "zero":
        gone.add("request")  # the producer notices, and sends it again
    if partition.config["restarts_noticed"]:
        gone.add("bounce")
    if partition.replicas == 1:
        gone |= {"isolation", "cutoff"}  # there is no other broker to be cut off from
    if partition.ephemeral:
        gone |= {"crash", "bounce", "power"}  # a replaced pod starts with an empty disk
    return tuple(kind for kind in KINDS if kind.name not in gone)


def groups() -> tuple[tuple[Guarantee, ...], ...]:
    """The groups of guarantees that one search decides together, the most important first."""
    found: dict[bool, list[Guarantee]] = {}
    for guarantee in GUARANTEES:
        found.setdefault(guarantee.unattended, []).append(guarantee)
    return tuple(map(tuple, found.values()))


def group_of(guarantee: Guarantee) -> tuple[Guarantee, ...]:
    """The group of a guarantee."""
    return next(group for group in groups() if guarantee in group)


def under_any(partition: PartitionModel, group: tuple[Guarantee, ...], faults: int) -> Question:
    """The question whether `faults` faults of any kinds break some of the guarantees."""
    return under_these(partition, group, fault_kinds(partition) if faults else (), faults)


def under_these(
    partition: PartitionModel, group: tuple[Guarantee, ...], kinds: Sequence[FaultKind], faults: int
) -> Question:
    """The question whether `faults` faults of these kinds break some of the guarantees."""
    return Question(group, ANY, _together(kinds, faults), partition.moves_among_faults)


def under_kind(group: tuple[Guarantee, ...], kind: FaultKind, faults: int) -> Question:
    """The question whether `faults` faults of one kind break some of the guarantees."""
    return Question(group, kind.name, _together((kind,), faults))


def under_moves(partition: PartitionModel, group: tuple[Guarantee, ...]) -> Question:
    """The question whether leadership transfers alone break some of the guarantees."""
    return Question(group, MOVE, ir.Budget(0), partition.moves)


def mixtures(partition: PartitionModel, faults: int) -> Iterator[Mapping[str, int]]:
    """Every mixture of exactly `faults` faults, by kind, the most expected first."""
    kinds = (kind.fault for kind in fault_kinds(partition))
    yield from sorted(map(Counter, combinations_with_replacement(kinds, faults)), key=surprise)


def of_mixture(group: tuple[Guarantee, ...], most: Mapping[str, int], moves: int = 0) -> Question:
    """The question whether these numbers of faults and transfers break some of the guarantees."""
    return Question(group, ANY, ir.Budget(None, dict(most)) if most else ir.Budget(0), moves)


def _together(kinds: Sequence[FaultKind], faults: int) -> ir.Budget:
    """A budget for all faults together, which needs no counter in the states."""
    return ir.Budget(faults, {kind.fault: None for kind in kinds}) if kinds else ir.Budget(0)


def family_of(partition: PartitionModel, group: tuple[Guarantee, ...], budget: ir.Budget) -> Family:
    """The family of questions about a group that share a kernel, whatever faults they allow.

    Each kind of fault may be bounded, by one at most or by as many as this budget has.
    """
    most = max((1, *budget.counted.values()))
    return varying_family(partition, group, {kind.fault: most for kind in KINDS})


def varying_family(
    partition: PartitionModel, group: tuple[Guarantee, ...], counted: Mapping[str, int]
) -> Family:
    """The family of questions with limits on some kinds and a variable configuration."""
    configs = frozenset(entry.name for entry in partition.model.configs) - UNASKED.keys()
    faults = frozenset(kind.fault for kind in KINDS)
    return Family(_properties(partition, group), faults, configs, counted)


def _properties(partition: PartitionModel, group: tuple[Guarantee, ...]) -> tuple[ir.Property, ...]:
    """The properties of a group of guarantees."""
    names = {name for guarantee in group for name in guarantee.properties}
    model = model_of(partition, group)
    return tuple(prop for prop in model.properties if prop.name in names)


def model_of(partition: PartitionModel, group: tuple[Guarantee, ...]) -> ir.Model:
    """The model in which a group of guarantees is checked."""
    return partition.unattended if group[0].unattended else partition.model


def as_check(partition: PartitionModel, question: Question) -> tuple[ir.Model, ir.Check]:
    """The model and the check that put a question."""
    scope = partition.scope(question.guarantees[0].records, question.moves)
    only = tuple(name for guarantee in question.guarantees for name in guarantee.properties)
    model = model_of(partition, question.guarantees)
    return model, ir.Check(str(question), scope, question.budget, only, (), None, span=Span(0, 0))


@frozen
class Posed:
    """A question as a check of a model, with the family whose kernel it shares.

    `growing` are bounds of the scope that are as large as the faults of the question need, and no larger.
    """

    question: Question
    model: ir.Model
    check: ir.Check
    family: Family | None
    growing: frozenset[str] = frozenset()


def posed(partition: PartitionModel, question: Question, family: Family) -> Posed:
    """A question of a review as a search; a fault that loses a request takes a record."""
    growing = {"Record"} if "lose_request" in (question.budget.kinds or {}) else set()
    return Posed(question, *as_check(partition, question), family, frozenset(growing))


@frozen
class Requirement:
    """A requirement of the user: a guarantee must survive a number of faults of a kind.

    `by` is what requires it, where that is not the command line.
    """

    guarantee: Guarantee
    faults: int
    kind: str
    by: str = ""

    def __str__(self) -> str:
        suffix = "" if self.kind == ANY else f":{self.kind}"
        return f"{self.guarantee.name}:{self.faults}{suffix}"


def requirement(text: str) -> Requirement:
    """The requirement in `durable:1` or `durable:2:crash`. Raises SpecError."""
    parts = text.split(":")
    names = {guarantee.name: guarantee for guarantee in GUARANTEES}
    if parts[0] not in names:
        help_ = suggest(parts[0], names) or f"the guarantees are {', '.join(names)}"
        _refuse(text, f"there is no guarantee `{parts[0]}`", help_)
    if len(parts) not in {2, 3} or parts[1] not in map(str, range(MOST_FAULTS + 1)):
        message = f"a requirement is a number of faults, 0 to {MOST_FAULTS}, must be survived"
        _refuse(text, message, f"write `{parts[0]}:1`")
    kinds = [*(known.name for known in KINDS), ANY]
    kind = parts[2] if len(parts) == 3 else ANY
    if kind not in kinds:
        _refuse(
            text,
            f"there is no kind of fault `{kind}`",
            suggest(kind, kinds) or f"the kinds are {', '.join(kinds)}",
        )
    return Requirement(names[parts[0]], int(parts[1]), kind)


def _refuse(text: str, message: str, help_: str) -> NoReturn:
    """Raise SpecError for the text of a requirement."""
    raise SpecError(
        [Diagnostic("R0732", Source("--require", text), Span(0, max(1, len(text))), message, help=help_)]
    )
