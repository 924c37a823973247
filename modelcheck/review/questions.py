"""What a review asks: each guarantee, under each kind of fault, and under all kinds together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import NoReturn

import spec.ir as ir
from counterexamples.trace import Trace
from modelcheck.review.partition import Partition
from spec.diagnostics import Diagnostic, SpecError, suggest
from spec.source import Source, Span


@dataclass(frozen=True, slots=True)
class Guarantee:
    """Something a user may count on: its name on the command line, and the properties that say it.

    `holds` goes before "any 2 faults"; `fails` is what happens instead, and
    `they_fail` the same where the sentence has begun with `holds`.  `records` is
    how many records it takes to break it; `unattended` asks it of the variant
    in which nobody repairs anything.
    """

    name: str
    holds: str
    fails: str
    they_fail: str
    properties: tuple[str, ...]
    records: int
    unattended: bool = False


GUARANTEES = (
    Guarantee(
        "durable",
        "acknowledged records survive",
        "acknowledged records can be lost",
        "they can be lost",
        ("acknowledged_survive", "acknowledged_kept"),
        records=1,
    ),
    Guarantee(
        "committed",
        "records that every in-sync replica had survive",
        "records that every in-sync replica had can be lost",
        "they can be lost",
        ("committed_on_leader", "committed_kept"),
        records=1,
    ),
    Guarantee(
        "read",
        "consumers are given only committed records under",
        "consumers can be given records that are not committed",
        "they can be given others",
        ("consumers_see_committed",),
        records=1,
    ),
    Guarantee(
        "writable",
        "writes go on, without anybody's help, under",
        "writes can stop until somebody repairs something",
        "they can stop until somebody repairs something",
        ("writable",),
        records=0,
        unattended=True,
    ),
    Guarantee(
        "consistent",
        "replicas agree on what is below their high watermarks under",
        "replicas can differ below their high watermarks",
        "they can differ",
        ("no_divergence",),
        records=2,
    ),
)


@dataclass(frozen=True, slots=True)
class FaultKind:
    """A way things go wrong: its name, the model's fault that is it, a sentence, and a word or two."""

    name: str
    fault: str
    title: str
    short: str


# The mildest first: of two stories that are equally short, the one with the milder faults is told.
_KINDS = (
    FaultKind("request", "lose_request", "a request of the producer is lost", "a lost request"),
    FaultKind("isolation", "isolate", "a broker is cut off from the others", "isolation"),
    FaultKind(
        "session",
        "session_loss",
        "a broker runs on without its session",
        "session loss",
    ),
    FaultKind("bounce", "bounce", "a restart too quick to be noticed", "a quick restart"),
    FaultKind("crash", "crash", "a broker crashes; its log is safe", "crash"),
    FaultKind("power", "power_loss", "power fails; the unflushed is lost", "power loss"),
    FaultKind("disk", "disk_loss", "a broker loses its disk", "disk loss"),
)
ANY = "any"
MOST_FAULTS = 5  # more takes longer than anybody waits


def severity(trace: Trace) -> tuple[int, ...]:
    """How bad the faults of a run are, worst first: of two stories with as many faults the milder is told."""
    places = {kind.fault: place for place, kind in enumerate(_KINDS)}
    counts = trace.fault_counts()
    return tuple(sorted((places[fault] for fault in counts for _ in range(counts[fault])), reverse=True))


@dataclass(frozen=True, slots=True)
class Question:
    """One search: the guarantees it decides together, and how many of each of the model's faults at most.

    `kind` is the row of the answer: a kind of fault, or `any` for a mixture.
    """

    guarantees: tuple[Guarantee, ...]
    kind: str
    most: Mapping[str, int]

    @property
    def faults(self) -> int:
        """How many faults a run may have in all."""
        return sum(self.most.values())


def kind_of(fault: str) -> FaultKind:
    """The kind that a fault of the model is; asking for another is a mistake of ours."""
    return next(kind for kind in _KINDS if kind.fault == fault)


def fault_kinds(partition: Partition) -> tuple[FaultKind, ...]:
    """The kinds of faults that can happen under a configuration, the mildest first."""
    gone = set()
    if partition.config["acks"] != "zero":
        gone.add("request")  # the producer notices, and sends it again
    if partition.config["controller"] == "kraft":
        gone.add("bounce")  # a restarted broker registers anew
    if partition.replicas == 1:
        gone.add("isolation")  # there is nobody to be cut off from
    if partition.ephemeral:
        gone |= {"crash", "bounce", "power"}  # a replaced pod starts with an empty disk
    return tuple(kind for kind in _KINDS if kind.name not in gone)


def questions(partition: Partition, faults: int) -> tuple[Question, ...]:
    """Every question, those that matter most first; together they cover each guarantee under each kind.

    A run with at most n faults has so many of one kind, or some mixture of n:
    asking for each mixture by itself covers `any`, and each is a small search.
    """
    groups: dict[tuple[bool, int], list[Guarantee]] = {}
    for guarantee in GUARANTEES:
        groups.setdefault((guarantee.unattended, guarantee.records), []).append(guarantee)
    mixtures = [Counter(mixture) for mixture in combinations_with_replacement(fault_kinds(partition), faults)]
    mixtures.sort(key=len)  # one kind before several
    return tuple(
        Question(tuple(group), _row(mixture), {kind.fault: count for kind, count in mixture.items()})
        for group in groups.values()
        for mixture in mixtures
    )


def _row(mixture: Counter[FaultKind]) -> str:
    return next(iter(mixture)).name if len(mixture) == 1 else ANY


def as_check(partition: Partition, question: Question) -> tuple[ir.Model, ir.Check]:
    """The model and the check that put a question."""
    first = question.guarantees[0]
    model = partition.unattended if first.unattended else partition.model
    scope = partition.scope(question.faults, first.records)
    only = tuple(name for guarantee in question.guarantees for name in guarantee.properties)
    names = "+".join(guarantee.name for guarantee in question.guarantees)
    name = f"{names} under {question.kind}"
    return model, ir.Check(name, scope, _budget(question.most), only, (), None, span=Span(0, 0))


def _budget(most: Mapping[str, int]) -> ir.Budget:
    """Of one kind, a bound on all together is enough: it costs no counter in the states."""
    if len(most) == 1:
        return ir.Budget(sum(most.values()), dict.fromkeys(most))
    return ir.Budget(None, most) if most else ir.Budget(0)


@dataclass(frozen=True, slots=True)
class Requirement:
    """What the user insists on: a guarantee must survive so many faults of a kind."""

    guarantee: Guarantee
    faults: int
    kind: str

    def __str__(self) -> str:
        suffix = "" if self.kind == ANY else f":{self.kind}"
        return f"{self.guarantee.name}:{self.faults}{suffix}"


def requirement(text: str) -> Requirement:
    """`durable:1` or `durable:2:crash`. Raises SpecError for anything else."""
    parts = text.split(":")
    names = {guarantee.name: guarantee for guarantee in GUARANTEES}
    if parts[0] not in names:
        help_ = suggest(parts[0], names) or f"the guarantees are {', '.join(names)}"
        _refuse(text, f"there is no guarantee `{parts[0]}`", help_)
    if len(parts) not in {2, 3} or parts[1] not in map(str, range(MOST_FAULTS + 1)):
        message = f"a requirement says how many faults, 0 to {MOST_FAULTS}, must be survived"
        _refuse(text, message, f"write `{parts[0]}:1`")
    kinds = [*(known.name for known in _KINDS), ANY]
    kind = parts[2] if len(parts) == 3 else ANY
    if kind not in kinds:
        _refuse(
            text,
            f"there is no kind of fault `{kind}`",
            suggest(kind, kinds) or f"the kinds are {', '.join(kinds)}",
        )
    return Requirement(names[parts[0]], int(parts[1]), kind)


def _refuse(text: str, message: str, help_: str) -> NoReturn:
    raise SpecError(
        [Diagnostic("R0732", Source("--require", text), Span(0, max(1, len(text))), message, help=help_)]
    )
