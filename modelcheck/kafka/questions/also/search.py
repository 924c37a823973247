"""Asks models that extend that of one partition about a configuration, at the user's request.

No kernel is shared with the review, so nothing of it is asked without being named.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import spec.library as library
import spec.model.ir as ir
from modelcheck.contract.result import Verdict, Violated
from modelcheck.kafka.questions.also.findings import Subject, SubjectCase, SubjectFindings
from modelcheck.kafka.questions.also.inquiries import inquiries
from modelcheck.kafka.questions.also.inquiry import Inquiry
from modelcheck.kafka.questions.answers import Answer, left_open, shown_first
from modelcheck.kafka.questions.partition import PartitionModel, with_spares
from modelcheck.kafka.questions.question import Posed, Question
from modelcheck.kafka.questions.search import Asking
from modelcheck.kafka.settings.keys.releases import value_of
from modelcheck.kafka.settings.resolution.settings import Settings
from spec.load import loads
from spec.source import Span

MOST = 2  # faults: with three, a partition of three replicas that is moved has tens of millions of states
MOST_REPLICAS = 3  # the same of four


def also(
    asking: Asking,
    partition: PartitionModel,
    subjects: Sequence[Subject],
    settings: Settings,
    faults: int,
    answers: Sequence[Answer],
) -> tuple[SubjectFindings, ...]:
    """The findings about each subject with at most `faults` faults, and never more than `MOST`.

    `answers` are those of the review, which are for comparison.

    Costs seconds: a search for each case, of links of some hundred states, of a move of some million.
    """
    found = []
    for subject in subjects:
        if partition.replicas > MOST_REPLICAS and not subject.apart:
            found.append(SubjectFindings(subject, (), (f"it is asked of at most {MOST_REPLICAS} replicas",)))
            continue
        each = inquiries(subject, partition, settings)
        most = min(faults, MOST)
        tried = [(case, most if case.most is None else min(most, case.most)) for case in each.asked]
        cases = tuple(_answer(asking, partition, case, up_to, answers) for case, up_to in tried)
        found.append(SubjectFindings(subject, cases, each.notes, each.assumed))
    return tuple(found)


@cache
def _model(file: str, variant: str) -> ir.Model:
    """A variant of a shipped model."""
    (found,) = loads(library.text(file), f"{file}.rsm", only=(variant,))
    return found


def _answer(
    asking: Asking, partition: PartitionModel, case: Inquiry, most: int, answers: Sequence[Answer]
) -> SubjectCase:
    """The answer to a case; small searches use no compiled kernel."""
    model = _model(*case.model)
    has_records = case.what == "durable"
    records = 1 if has_records else 0
    given = {**partition.config, "moves": 0, **case.given}
    config = {
        entry.name: value_of(entry, given[entry.name]) if entry.name in given else entry.default
        for entry in model.configs
    }
    brokers = with_spares(partition.names, partition.replicas + case.spare)
    bounds = {"Record": records, "Offset": records, "Topic": 1, **case.bounds}
    unbounded = frozenset({"Epoch"} & {nat.name for nat in model.nats})
    nats = {nat.name: bounds[nat.name] for nat in model.nats if nat.name not in unbounded}
    networks = {each.name: bounds[each.name] for each in model.variables if each.network is not None}
    budget = ir.Budget(most, {kind: many for kind, many in case.faults.items() if kind in model.faults})
    scope = ir.Scope(case.members or {"Broker": brokers}, nats, networks, config, unbounded)
    name = f"{case.what}: {case.asks}"
    check = ir.Check(name, scope, budget, case.only, (), None, span=Span(0, 0))
    posed = Posed(Question((), name, budget), model, check, None)
    found = asking.found(posed, name, small=not has_records)
    verdicts = [] if found is None else [found.verdicts[each] for each in case.only]
    known = [_known(verdict, most) for verdict in verdicts] or [-1]
    runs = [verdict.trace for verdict in verdicts if isinstance(verdict, Violated) and verdict.trace]
    loss = min(runs, key=shown_first, default=None)
    return SubjectCase(case.what, case.asks, most, min(known), loss, _without(case, answers))


def _without(case: Inquiry, answers: Sequence[Answer]) -> int | None:
    """The fewest faults that break the same guarantee in the review itself; None if none do."""
    same = (each for each in answers if (each.guarantee.name, each.kind) == (case.what, case.beside))
    return next((each.lost_with for each in same), None)


def _known(verdict: Verdict, most: int) -> int:
    """The number of faults surely survived."""
    if (left := left_open(verdict)) is not None:
        return left[0]
    if isinstance(verdict, Violated):
        return -1 if verdict.trace is None else verdict.trace.faults - 1
    return most
