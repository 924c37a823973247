"""Asks models that go on from that of one partition about a configuration, where the user wants it.

NOTE(also): the switches of the configuration are those of `kafka.rsm`, which these models have too; what
they add is set here.  No kernel is shared with the review, so nothing of it is asked without being named.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

import spec.ir as ir
import spec.library as library
from modelcheck.contract.result import Verdict, Violated
from modelcheck.review.also.found import LINKS, REASSIGNMENT, SETTINGS, Asked, Case, Subject
from modelcheck.review.answers import Answer, left_open, shown_first
from modelcheck.review.asking import Asking
from modelcheck.review.partition import Partition, with_spares
from modelcheck.review.questions import ANY, Posed, Question, fault_kinds
from modelcheck.review.releases import Plain, value_of
from modelcheck.review.versions import Version, of
from spec.frozen import frozen
from spec.load import loads
from spec.source import Span

MOST = 2  # faults: with three, a partition of three replicas that is moved has tens of millions of states
MOST_REPLICAS = 3  # the same of four
WAITS_FOR_ALL = of(3, 8)  # the end of a move (KAFKA-15665)
_KEPT = ("acknowledged_survive", "acknowledged_kept")


@frozen
class _Inquiry:
    """One search: a case without its answer, the model and the properties, which faults and what is set."""

    what: str
    asks: str
    model: tuple[str, str]
    only: tuple[str, ...]
    faults: Mapping[str, int | None]
    given: Mapping[str, Plain]
    spare: int = 0  # brokers without a replica
    beside: str = ""  # the kind of faults of the review's answer to the same without it


def also(
    asking: Asking,
    partition: Partition,
    subjects: Sequence[Subject],
    release: Version,
    faults: int,
    answers: Sequence[Answer],
) -> tuple[Asked, ...]:
    """What is found of each subject with at most `faults` faults, and never more than `MOST`.

    `answers` are those of the review, which are for comparison.

    Costs seconds: a search for each case, of links of some hundred states, of a move of some million.
    """
    found = []
    for subject in subjects:
        cases, notes = _cases(subject, partition, release)
        if partition.replicas > MOST_REPLICAS:
            cases, notes = (), (f"it is asked of at most {MOST_REPLICAS} replicas",)
        most = min(faults, MOST)
        came = tuple(_answer(asking, partition, case, most, answers) for case in cases)
        found.append(Asked(subject, came, notes))
    return tuple(found)


def _cases(
    subject: Subject, partition: Partition, release: Version
) -> tuple[tuple[_Inquiry, ...], tuple[str, ...]]:
    """What to ask of a subject, and what of it is not asked."""
    if subject == LINKS:
        return _links(partition)
    if subject == REASSIGNMENT:
        return tuple(_reassignment(partition, release)), ()
    if subject == SETTINGS:
        return _settings(partition)
    return (), ("no configuration is asked about it",)


def _links(partition: Partition) -> tuple[tuple[_Inquiry, ...], tuple[str, ...]]:
    crash, kind = ("disk_loss", "disk") if partition.ephemeral else ("crash", "crash")
    kinds = {
        "part": "two brokers do not reach each other",
        "deafen": "a broker does not hear the controller",
        "hide": "clients do not reach a broker",
    }
    if partition.replicas == 1:
        del kinds["part"]
    alone = ("kafka_partial_partition", "left_alone")
    writes = ("acknowledges",)
    stops = [_Inquiry("writable", says, alone, writes, {link: None}, {}) for link, says in kinds.items()]
    both = {link: None for link in kinds if link != "hide"} | {crash: 1}
    stops.append(
        _Inquiry(
            "writable",
            "such links between servers break, and one broker fails",
            alone,
            writes,
            both,
            {},
            beside=kind,
        )
    )
    every = {**dict.fromkeys(kinds), crash: None}
    links = ("kafka_partial_partition", "partial")
    kept = _Inquiry("durable", "any such links break, and brokers fail", links, _KEPT, every, {}, beside=kind)
    if partition.config["acks"] != "all":
        return (kept,), ("whether writes go on is asked for acks=all alone",)
    return (*stops, kept), ()


def _reassignment(partition: Partition, release: Version) -> Iterator[_Inquiry]:
    given: dict[str, Plain] = {
        "factor": partition.replicas,
        "waits_for": "added" if release < WAITS_FOR_ALL else "all",
    }
    moved = ("kafka_reassignment", "reassigned")
    says = "the replicas are moved to other brokers, as many, or the move is cancelled"
    yield from _kept(partition, says, moved, given, spare=1)
    alone = ("kafka_reassignment", "left_alone")
    says = "brokers crash meanwhile, and not those that are added"
    yield _Inquiry("ends", says, alone, ("completes",), {"crash": None}, given, spare=1)


def _settings(partition: Partition) -> tuple[tuple[_Inquiry, ...], tuple[str, ...]]:
    before, is_unclean = int(partition.config["min_isr"]), bool(partition.config["unclean"])
    changed = ("kafka_changed_settings", "changed")
    found: list[_Inquiry] = []
    notes = []
    same: dict[str, Plain] = {
        "min_isr_before": before,
        "min_isr_after": before,
        "allows_unclean": is_unclean,
    }
    if before > 1 and partition.config["acks"] == "all":
        lowered = {**same, "min_isr_after": 1}
        says = f"min.insync.replicas is lowered from {before} to 1"
        found += _kept(partition, says, changed, lowered)
    else:
        notes.append("min.insync.replicas cannot be lowered to any effect")
    if not is_unclean and partition.replicas > 1:
        allowed = {**same, "allows_unclean": True}
        says = "unclean election is allowed, or done by hand"
        found += _kept(partition, says, changed, allowed)
    else:
        notes.append("unclean election is allowed already" if is_unclean else "there is nobody else to elect")
    return tuple(found), tuple(notes)


def _kept(
    partition: Partition, says: str, model: tuple[str, str], given: Mapping[str, Plain], spare: int = 0
) -> Iterator[_Inquiry]:
    """Whether records survive all that can fail, and crashes alone: what those take is seldom expected."""
    kinds = fault_kinds(partition)
    every: dict[str, int | None] = {kind.fault: None for kind in kinds}
    if "crash" in every:
        crashes = f"{says}; brokers crash"
        yield _Inquiry("durable", crashes, model, _KEPT, {"crash": None}, given, spare, beside="crash")
    yield _Inquiry("durable", f"{says}; any faults", model, _KEPT, every, given, spare, beside=ANY)


# ------------------------------------------------------------------ one search


@cache
def _model(file: str, variant: str) -> ir.Model:
    (found,) = loads(library.text(file), f"{file}.rsm", only=(variant,))
    return found


def _answer(
    asking: Asking, partition: Partition, case: _Inquiry, most: int, answers: Sequence[Answer]
) -> Case:
    """What comes out of a case; small searches are made without a kernel."""
    model = _model(*case.model)
    has_records = case.what == "durable"
    records = 1 if has_records else 0
    given = {**partition.config, "moves": 0, **case.given}
    config = {
        entry.name: value_of(entry, given[entry.name]) if entry.name in given else entry.default
        for entry in model.configs
    }
    brokers = with_spares(partition.names, partition.replicas + case.spare)
    nats = {"Record": records, "Offset": records, "Epoch": 2 + most + case.spare}
    budget = ir.Budget(most, {kind: many for kind, many in case.faults.items() if kind in model.faults})
    scope = ir.Scope({"Broker": brokers}, nats, {}, config)
    name = f"{case.what}: {case.asks}"
    check = ir.Check(name, scope, budget, case.only, (), None, span=Span(0, 0))
    posed = Posed(Question((), name, budget), model, check, None)
    found = asking.found(posed, name, small=not has_records)
    verdicts = [] if found is None else [found.verdicts[each] for each in case.only]
    known = [_known(verdict, most) for verdict in verdicts] or [-1]
    runs = [verdict.trace for verdict in verdicts if isinstance(verdict, Violated) and verdict.trace]
    loss = min(runs, key=shown_first, default=None)
    return Case(case.what, case.asks, most, min(known), loss, _without(case, answers))


def _without(case: _Inquiry, answers: Sequence[Answer]) -> int | None:
    """The fewest faults that break the same in the review itself."""
    same = (each for each in answers if (each.guarantee.name, each.kind) == (case.what, case.beside))
    return next((each.lost_with for each in same), None)


def _known(verdict: Verdict, most: int) -> int:
    """How many faults are survived for certain."""
    if (left := left_open(verdict)) is not None:
        return left[0]
    if isinstance(verdict, Violated):
        return -1 if verdict.trace is None else verdict.trace.faults - 1
    return most
