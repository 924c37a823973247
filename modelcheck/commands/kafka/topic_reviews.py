"""The reviews of topics: each distinct question is asked once, for all topics that share it."""

from __future__ import annotations

import time
from collections.abc import Sequence

from modelcheck.answers.timings import Timings
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
from modelcheck.kafka.questions.search import Asking, Effort, Watch
from modelcheck.kafka.questions.today.findings import Today
from modelcheck.kafka.questions.today.search import today, worst_today
from modelcheck.kafka.report.overview import TopicRow, for_topic, worst_first
from modelcheck.kafka.settings.keys.versions import Version
from modelcheck.kafka.settings.resolution.settings import Settings


def topic_reviews(
    settings: Sequence[tuple[Settings, ...]],
    faults: int,
    wanted: tuple[tuple[Requirement, ...], tuple[Subject, ...]],
    effort: Effort,
    watch: Watch,
    timings: Timings,
) -> tuple[TopicRow, ...]:
    """A row for each topic, worst first; each has its own limit of states, all share the time."""
    until = None if effort.seconds is None else time.monotonic() + effort.seconds
    found: dict[tuple[object, ...], Review] = {}
    rows = []
    ended = ""
    for each in settings:
        with timings.phase("read"):
            possible = cases(each)
        placed = each[0].together.value if RACKS in wanted[1] else None
        shapes = tuple(state.shape for state in each[0].states)
        question = (
            placed,
            shapes,
            *((_releases(case), same_question(case.settings[0], case.partition)) for case in possible),
        )
        if question not in found:
            left = None if until is None else max(0.0, until - time.monotonic())
            spend = Effort(effort.states, left)
            found[question] = _review(possible, faults, wanted, Asking(spend, watch, timings, ended))
            ended = found[question].ended
        topic = each[0].topic.name if each[0].topic else ""
        rows.append(TopicRow(topic, for_topic(found[question], possible)))
    return worst_first(rows)


def _releases(case: PossibleCase) -> tuple[Version, ...]:
    """The releases of a case, which remedies depend on."""
    return tuple(each.version.value for each in case.settings)


def _review(
    possible: Sequence[PossibleCase],
    faults: int,
    wanted: tuple[tuple[Requirement, ...], tuple[Subject, ...]],
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
