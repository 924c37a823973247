"""The reviews of topics: each distinct question is asked once, for all topics that share it."""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterator, Sequence

from modelcheck.answers.timings import Timings
from modelcheck.asking.crew import Crew
from modelcheck.kafka.questions.also.findings import RACKS, Subject, SubjectFindings
from modelcheck.kafka.questions.answers import Answer, ask_all, first_loss
from modelcheck.kafka.questions.cases import (
    PossibleCase,
    answered,
    cases,
    mixed_answers,
    same_question,
    strength,
)
from modelcheck.kafka.questions.changes import circumstances
from modelcheck.kafka.questions.outages.combined import with_controllers
from modelcheck.kafka.questions.outages.controllers import quorum
from modelcheck.kafka.questions.outages.search import coming, outage
from modelcheck.kafka.questions.partition import PartitionModel
from modelcheck.kafka.questions.question import Requirement, groups
from modelcheck.kafka.questions.remedies import coming_trials, remedies
from modelcheck.kafka.questions.review import Review
from modelcheck.kafka.questions.search import Asking, Effort, Unwatched, Watch
from modelcheck.kafka.questions.today.findings import Today
from modelcheck.kafka.questions.today.search import today, worst_today
from modelcheck.kafka.report.overview import TopicRow, for_topic, worst_first
from modelcheck.kafka.settings.keys.releases import kafka as models_of_kafka
from modelcheck.kafka.settings.keys.versions import Version
from modelcheck.kafka.settings.provenance import ResolutionDiagnostics
from modelcheck.kafka.settings.readings import Reading
from modelcheck.kafka.settings.resolution.cluster import stated_version, topics_in
from modelcheck.kafka.settings.resolution.internal_topics import internal_topics
from modelcheck.kafka.settings.resolution.of_topic import ReadingsOfTopics
from modelcheck.kafka.settings.resolution.possible import resolve_possible
from modelcheck.kafka.settings.resolution.settings import Settings
from spec.diagnostics import SpecError

NO_TOPIC = (None,)  # of a cluster whose files name none: the settings of any
Wanted = tuple[tuple[Requirement, ...], tuple[Subject, ...]]  # what is required, and further subjects


def settings_of_topics(
    readings: Sequence[Reading], kafka: str | None, client: str | None, brokers: int | None
) -> list[tuple[Settings, ...]]:
    """The settings of each topic in files, of internal ones too, in all cases that they leave possible.

    A topic that the model cannot describe is refused alone. Raises SpecError if every one is.
    """
    of_topics = ReadingsOfTopics(readings)
    found = [
        resolve_possible(
            of_topics.of(name), kafka=kafka, topic=name, client=client, brokers=brokers, among_others=True
        )
        for name in topics_to_review(readings, kafka)
    ]
    refused = [one.refused for one, *_ in found if one.refused is not None]
    if len(refused) == len(found):
        raise SpecError(list(dict.fromkeys(refused)))
    return found


def topics_to_review(readings: Sequence[Reading], kafka: str | None) -> tuple[str | None, ...]:
    """The topics in files, `NO_TOPIC` if they name none, and internal ones that they do not name."""
    release = stated_version(readings, kafka, ResolutionDiagnostics()).value
    theirs = [topic.name for topic in topics_in(readings)]
    named = set(theirs)
    own = [name for name in internal_topics(readings, release) if name not in named]
    return (*(theirs or NO_TOPIC), *own)


def topic_reviews(
    settings: Sequence[tuple[Settings, ...]],
    faults: int,
    wanted: Wanted,
    effort: Effort,
    watch: Watch,
    timings: Timings,
    crew: Crew | None = None,
) -> tuple[TopicRow, ...]:
    """A row for each topic, worst first; each has its own limit of states, all share the time.

    Without a crew one review is after the other, each on all cores.
    """
    until = None if effort.seconds is None else time.time() + effort.seconds
    with timings.phase("read"):
        possible = list(map(cases, settings))
        keys = [topic_question(each, wanted) for each in possible]
    asked = dict(zip(keys, possible, strict=True))
    work = TopicReviews(tuple(asked.values()), faults, wanted, effort, until)
    if crew is None:
        found = list(work.in_turn(watch, timings))
    else:
        known = dict(crew.done(work, len(asked), list(models_of_kafka().values())))
        found = [known.get(n) or work.failed(n, crew.ended) for n in range(len(asked))]
    by_key = dict(zip(asked, found, strict=True))
    rows = []
    for each, key in zip(possible, keys, strict=True):
        topic = each[0].settings[0].topic
        rows.append(TopicRow(topic.name if topic else "", for_topic(by_key[key], each)))
    return worst_first(rows)


def topic_question(possible: Sequence[PossibleCase], wanted: Wanted) -> tuple[object, ...]:
    """A key that is equal for topics whose reviews have the same answers."""
    first = possible[0].settings[0]
    placed = first.together.value if RACKS in wanted[1] else None
    shapes = tuple(state.shape for state in first.states)
    return (
        placed,
        shapes,
        first.refused,
        *((_releases(case), same_question(case.settings[0], case.partition)) for case in possible),
    )


class TopicReviews:
    """Reviews topics by index, each by its cases that are possible; `until` is when all are to end."""

    kinds: Sequence[Hashable] = ()  # every review searches several models

    def __init__(
        self,
        asked: Sequence[Sequence[PossibleCase]],
        faults: int,
        wanted: Wanted,
        effort: Effort,
        until: float | None = None,
    ) -> None:
        self._asked, self._faults, self._wanted = tuple(asked), faults, wanted
        self._effort, self._until = effort, until

    def in_turn(self, watch: Watch, timings: Timings) -> Iterator[Review]:
        """All reviews, one after the other; the first that is ended early ends those after it.

        One that is refused ends none.
        """
        ended = ""
        for number in range(len(self._asked)):
            found = self._review(number, self._spend(None), watch, timings, ended)
            if found.settings.refused is None:
                ended = found.ended
            yield found

    def __call__(self, number: int) -> Review:
        """The review of an index, on one core."""
        return self._review(number, self._spend(1), Unwatched(), Timings(), "")

    def failed(self, number: int, problem: str) -> Review:
        """A review with unknown answers, with the problem as the reason."""
        return self._review(number, self._spend(1), Unwatched(), Timings(), problem)

    def _review(self, number: int, spend: Effort, watch: Watch, timings: Timings, ended: str) -> Review:
        """The review of an index; of a topic that is refused it asks nothing."""
        possible = self._asked[number]
        refused = possible[0].settings[0].refused
        asking = Asking(spend, watch, timings, ended or (refused.message if refused else ""))
        return _review(possible, self._faults, self._wanted, asking)

    def _spend(self, threads: int | None) -> Effort:
        """What one review may spend."""
        left = None if self._until is None else max(0.0, self._until - time.time())
        return Effort(self._effort.states, left, threads=threads)


def _releases(case: PossibleCase) -> tuple[Version, ...]:
    """The releases of a case, which remedies depend on."""
    return tuple(each.version.value for each in case.settings)


def _review(
    possible: Sequence[PossibleCase],
    faults: int,
    wanted: Wanted,
    asking: Asking,
) -> Review:
    """The review of one topic in the worst case that is possible, with requirements and further subjects."""
    required, subjects = wanted
    began = time.monotonic()
    with asking:
        by_case = tuple(mixed_answers(asking, possible, faults))
        worst = min(range(len(possible)), key=lambda place: strength(by_case[place]))
        settings, subject = possible[worst].settings[0], possible[worst].partition
        mixed = tuple(tuple(a for a in by_case[worst] if a.guarantee in group) for group in groups())
        likely = first_loss(by_case[worst])
        trials = () if likely is None else coming_trials(subject, likely)
        asking.foresee([*trials, *(coming(subject, settings.voters) if faults else ())])
        answers = ask_all(asking, subject, faults, mixed)
        found = remedies(asking, subject, circumstances(settings), answers, faults)
        answers = with_controllers(asking, subject, settings.voters, answers) if faults else answers
        down = outage(asking, subject, answers, settings.voters) if faults else None
        controllers = quorum(asking, settings.voters, down) if faults else None
        more = _also(asking, subject, subjects, settings, faults, answers) if subjects and faults else ()
        beside = [
            answered(asking, case, own, required if case is not possible[worst] else (), faults)
            for case, own in zip(possible, by_case, strict=True)
        ]
    now = _today(possible, faults, asking)
    took = time.monotonic() - began
    return Review(
        settings,
        subject,
        faults,
        answers,
        found,
        required,
        asking.ended,
        asking.states,
        asking.known,
        took,
        down,
        controllers,
        more,
        tuple(beside),
        worst,
        now,
    )


def _today(possible: Sequence[PossibleCase], faults: int, asking: Asking) -> Today | None:
    """The findings about the states that files show, in the worst of the cases that are possible.

    Each state in each case may take as much as the settings.
    """
    states = possible[0].settings[0].states
    if not states:
        return None
    with asking.again(len(states) * len(possible)) as more:
        found = [today(more, case.partition, states, faults) for case in possible]
    asking.add(more)
    return worst_today(found)


def _also(
    asking: Asking,
    subject: PartitionModel,
    subjects: Sequence[Subject],
    settings: Settings,
    faults: int,
    answers: Sequence[Answer],
) -> tuple[SubjectFindings, ...]:
    """The findings about further subjects."""
    from modelcheck.kafka.questions.also.search import also  # noqa: PLC0415 - only where it is asked for

    return also(asking, subject, subjects, settings, faults, answers)
