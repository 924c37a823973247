"""Every topic of a cluster in one table, the one that survives least on top."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import modelcheck.kafka.report.today_text as today
from counterexamples.lines import Line, Piece, Role, count, line, wrapped
from counterexamples.trace import Trace
from modelcheck.kafka.questions.also.findings import SubjectCase
from modelcheck.kafka.questions.answers import Answer
from modelcheck.kafka.questions.cases import AnsweredCase, PossibleCase, strength, survived
from modelcheck.kafka.questions.outages.findings import Outage
from modelcheck.kafka.questions.partition import with_spares
from modelcheck.kafka.questions.question import GUARANTEES
from modelcheck.kafka.questions.review import Review
from modelcheck.kafka.questions.today.degraded import with_true_names
from modelcheck.kafka.questions.today.findings import StateFindings, Today
from modelcheck.kafka.report.cases_text import release
from modelcheck.kafka.report.fault_table import NAMES, cells, heads
from modelcheck.kafka.report.json_report import FORMAT, as_json
from modelcheck.kafka.report.report import lines
from modelcheck.kafka.report.wording import MET, RESULTS, UNKNOWN, UNMET, cell, legend
from modelcheck.kafka.settings.resolution.partition_states import PartitionState
from spec.frozen import frozen


@frozen
class TopicRow:
    """A topic with its review."""

    topic: str
    review: Review

    @property
    def name(self) -> str:
        """The topic's name, or a phrase for topics without settings of their own."""
        return self.topic or "any other"

    @property
    def refused(self) -> str:
        """Why the model has no answer for the topic, with the code of the error; empty if it has one."""
        found = self.review.settings.refused
        return "" if found is None else f"{found.message} ({found.code})"

    @property
    def survived(self) -> tuple[float, ...]:
        """The faults that each guarantee survives, the most important guarantee first."""
        return tuple(survived(self.review.verdict(guarantee.name)[0]) for guarantee in GUARANTEES)

    @property
    def survived_today(self) -> tuple[float, ...]:
        """The same from the gravest state that its partitions are in; empty if every partition is well."""
        return min((strength(each.answers) for each in self.review.states_today), default=())

    @property
    def state_today(self) -> str:
        """The state of its partitions in a few words, `in sync` if all are; empty if no file shows it."""
        topic, found = self.review.settings.topic, self.review.today
        if found is not None:
            return "; ".join(map(today.shortest, (*(each.state for each in found.states), *found.unasked)))
        shown = topic is not None and any(each.has_state for each in topic.partitions) and not self.refused
        return "in sync" if shown else ""

    @property
    def facts(self) -> tuple[str, ...]:
        """The settings that distinguish topics, in the order of `FACTS`."""
        made = self.review.settings.switches
        unclean = "yes" if made.unclean_election.value else "no"
        numbers = (made.replication_factor.value, made.min_insync_replicas.value)
        return (*map(str, numbers), made.acks.value, unclean)


_LISTED = 20  # topics that do not meet a requirement
ILL = "Not well today, and how many further faults are survived"
FACTS = ("replicas", "min ISR", "acks", "unclean")


def worst_first(rows: Iterable[TopicRow]) -> tuple[TopicRow, ...]:
    """The rows sorted by the faults survived today, then in sync, fewest first, then by name.

    Those of refused topics are the last, as they say nothing.
    """
    return tuple(
        sorted(
            rows,
            key=lambda row: (
                bool(row.refused),
                row.survived_today or row.survived,
                row.survived,
                row.topic,
            ),
        )
    )


def for_topic(review: Review, cases: Sequence[PossibleCase]) -> Review:
    """The review of one topic, transferred to another with the same questions and its broker names."""
    subject = cases[review.reviewed].partition
    down = None if review.outage is None else _outage(review.outage, subject.names)
    also = tuple(
        replace(each, cases=tuple(_case(c, subject.names) for c in each.cases)) for each in review.also
    )
    possible = tuple(
        AnsweredCase(case.settings, _answers(found.answers, case.partition.names))
        for case, found in zip(cases, review.cases, strict=True)
    )
    return replace(
        review,
        settings=cases[review.reviewed].settings[0],
        partition=subject,
        answers=_answers(review.answers, subject.names),
        outage=down,
        also=also,
        cases=possible,
        today=None if review.today is None else _today(review.today, cases[0].settings[0].states),
    )


def _answers(found: Iterable[Answer], names: tuple[str, ...]) -> tuple[Answer, ...]:
    """Answers with other broker names."""
    return tuple(
        answer if answer.loss is None else replace(answer, loss=_renamed(answer.loss, names))
        for answer in found
    )


def _today(found: Today, states: Sequence[PartitionState]) -> Today:
    """The findings about states of the same shapes, of other brokers."""
    by_shape = {state.shape: state for state in states}
    asked = tuple(_of_state(each, by_shape[each.state.shape]) for each in found.states)
    return Today(asked, tuple(by_shape[state.shape] for state in found.unasked))


def _of_state(found: StateFindings, state: PartitionState) -> StateFindings:
    """The findings about a state, of another with the same shape."""

    def renamed(answers: Sequence[Answer]) -> tuple[Answer, ...]:
        """The answers with the other state's brokers."""
        return tuple(
            a if a.loss is None else replace(a, loss=with_true_names(a.loss, state)) for a in answers
        )

    alike = dict(zip(_by_role(found.state), _by_role(state), strict=True))
    ways = tuple(
        replace(way, brokers=tuple(alike[n] for n in way.brokers), answers=renamed(way.answers))
        for way in found.ways
    )
    return replace(found, state=state, answers=renamed(found.answers), kept=renamed(found.kept), ways=ways)


def _by_role(state: PartitionState) -> tuple[int, ...]:
    """The replicas of a state in the order of their roles."""
    return (*state.isr, *state.elr, *state.outside)


def _case(case: SubjectCase, replicas: tuple[str, ...]) -> SubjectCase:
    """A case with other broker names."""
    if case.loss is None:
        return case
    sorts = case.loss.scope.sorts
    brokers = next((sort for sort in ("Broker", "Replica") if sort in sorts), None)
    if brokers is None:
        return case  # no broker is in it
    return replace(case, loss=_renamed(case.loss, with_spares(replicas, len(sorts[brokers])), brokers))


def _outage(found: Outage, names: tuple[str, ...]) -> Outage:
    """An outage with other broker names."""
    services = tuple(
        each
        if each.stop is None
        else replace(each, stop=replace(each.stop, run=_renamed(each.stop.run, names)))
        for each in found.services
    )
    return replace(found, names=names, services=services)


def _renamed(trace: Trace, names: tuple[str, ...], brokers: str = "Broker") -> Trace:
    """A run with other broker names."""
    return replace(trace, scope=replace(trace.scope, sorts={**trace.scope.sorts, brokers: names}))


# ------------------------------------------------------------------ for people


def table(rows: Sequence[TopicRow], width: int) -> Iterator[Line]:
    """The table of topics, then the report on the first, which survives least."""
    first = max(len("topic"), *(len(_name(row)) for row in rows))
    yield line(Piece(title(rows), Role.STRONG))
    yield ()
    yield line(" " * (first + 4), *(Piece(f"{head}  ", Role.STRONG) for head in FACTS), *heads())
    for row in rows:
        facts = (f"{fact:<{len(head) + 2}}" for fact, head in zip(row.facts, FACTS, strict=True))
        answers = (row.review.verdict(name)[0] for name in NAMES)
        yield line(f"  {_name(row):<{first}}  ", *facts, *cells(answers))
    used = (cell(row.review.verdict(name)[0])[0] for row in rows for name in NAMES)
    notes = ["faults that are survived, of any mixture", *legend(used)]
    yield from wrapped(line("  "), "; ".join(notes), width, Role.DIM)
    for reason, names in refused(rows).items():
        yield from wrapped(line("  not answered "), f"{names}: {reason}", width, Role.UNSURE)
    yield ()
    yield from _table_today(rows)


def _table_today(rows: Sequence[TopicRow]) -> Iterator[Line]:
    """The table of the partitions that are not well, with the further faults that they survive."""
    found = [each for row in rows for each in row.review.states_today]
    if not found:
        return
    headings = [today.short(each.state) for each in found]
    first = max(len("today"), *map(len, headings))
    yield line(Piece(ILL, Role.STRONG))
    yield line(" " * (first + 4), *heads())
    for label, each in zip(headings, found, strict=True):
        yield line(f"  {label:<{first}}  ", *cells(map(each.answer, NAMES)))
    yield ()


def unmet(rows: Sequence[TopicRow], width: int) -> Iterator[Line]:
    """The requirements that topics do not meet, and the exceptions; the topics of the same ones together."""
    roles = dict(RESULTS.values())
    found = [each for each in by_requirement(rows) if each.result != MET]
    for each in found:
        role = roles.get(each.result, Role.DIM)
        by = (Piece(each.result, role), " by ") if each.result else ()
        head = line(f"  {each.kind} ", Piece(each.text, Role.STRONG), ": ", *by)
        yield from wrapped(head, each.shown, width)
    if found:
        yield ()


@frozen
class TopicsOfRequirement:
    """A requirement with its reason, the topics, and whether they meet it; empty if they are exempted."""

    kind: str
    text: str
    result: str
    topics: tuple[str, ...]

    @property
    def shown(self) -> str:
        """The first topics, and how many more there are."""
        return _listed(self.topics)


def by_requirement(rows: Sequence[TopicRow]) -> tuple[TopicsOfRequirement, ...]:
    """The requirements of all topics by what came of them, those that are not met first."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for row in rows:
        for required in row.review.required:
            by = f" ({required.by})" if required.by else ""
            key = ("required", f"{required}{by}", RESULTS[row.review.met(required)][0])
            found.setdefault(key, []).append(_name(row))
        for exempted in row.review.exempted:
            found.setdefault(("exempted", exempted, ""), []).append(_name(row))
    order = (UNMET, UNKNOWN, "", MET)
    every = (TopicsOfRequirement(*key, tuple(names)) for key, names in found.items())
    return tuple(sorted(every, key=lambda each: order.index(each.result)))


def refused(rows: Iterable[TopicRow]) -> dict[str, str]:
    """The reasons why topics have no answer, each with the topics."""
    found: dict[str, list[str]] = {}
    for row in rows:
        if row.refused:
            found.setdefault(row.refused, []).append(_name(row))
    return {reason: _listed(names) for reason, names in found.items()}


def _listed(names: Sequence[str]) -> str:
    """The first topics, and how many more there are."""
    more = len(names) - _LISTED
    return ", ".join(names[:_LISTED]) + (f" and {more} more" if more > 0 else "")


def title(rows: Sequence[TopicRow]) -> str:
    """The heading: "Kafka 3.7: 12 topics of 3 brokers, those that survive least first"."""
    settings = rows[0].review.settings
    brokers = count(settings.brokers.value, "broker")
    number = count(len(rows), "topic")
    return f"{release(rows[0].review)}: {number} of {brokers}, those that survive least first"


def overview(rows: Sequence[TopicRow], width: int, *, verbose: bool = False) -> Iterator[Line]:
    """The table, and the whole report on its first topic."""
    yield from table(rows, width)
    yield from unmet(rows, width)
    yield from lines(rows[0].review, width, verbose=verbose)


def _name(row: TopicRow) -> str:
    """The topic's name, cut short."""
    return row.name if len(row.name) <= 40 else row.name[:39] + "…"


# ------------------------------------------------------------------ for programs


def overview_json(rows: Sequence[TopicRow]) -> dict[str, object]:
    """Each topic's review as JSON data, in the order of the table."""
    return {
        "format": FORMAT,
        "complete": all(row.review.complete for row in rows),
        "topics": [{"name": row.topic, "review": as_json(row.review)} for row in rows],
    }
