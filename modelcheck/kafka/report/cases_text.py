"""Where the answer depends on what no file says: the release, the controller, or ELR."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from counterexamples.lines import Line, Piece, Role, line, wrapped
from modelcheck.kafka.questions.cases import AnsweredCase, strength
from modelcheck.kafka.questions.review import Review
from modelcheck.kafka.report.fault_table import NAMES, cells, heads
from modelcheck.kafka.report.wording import cell, legend
from modelcheck.kafka.settings.resolution.possible import elr_is_open, in_words
from modelcheck.kafka.settings.resolution.settings import Settings
from spec.frozen import frozen


@frozen
class SameAnswers:
    """Cases with the same answers: the settings of each, and one of them with its answers."""

    settings: tuple[Settings, ...]
    case: AnsweredCase


def same_answers(review: Review) -> tuple[SameAnswers, ...]:
    """The cases that the files leave possible, those with the same answers together, the oldest first."""
    found: dict[tuple[float, ...], list[AnsweredCase]] = {}
    for each in review.cases:
        found.setdefault(strength(each.answers), []).append(each)
    rows = [
        SameAnswers(tuple(settings for each in same for settings in each.settings), same[0])
        for same in found.values()
    ]
    return tuple(sorted(rows, key=lambda row: min(each.version.value for each in row.settings)))


def possible(review: Review) -> tuple[Settings, ...]:
    """The settings in every case that the files leave possible."""
    return tuple(settings for each in review.cases for settings in each.settings)


def release(review: Review) -> str:
    """The release of a review in words: "Kafka 3.6", or all of those that it may be."""
    if not review.depends:
        return f"Kafka {review.settings.version.value}"
    every = possible(review)
    is_one = len({each.version.value for each in every}) == 1
    both = is_one and len({each.switches.controller.value for each in every}) > 1
    elr = is_one and elr_is_open(every, every[0].version.value)
    return in_words(every, every) + (
        ", with ZooKeeper or KRaft" if both else ", with or without ELR" if elr else ""
    )


def missing(review: Review) -> tuple[str, str]:
    """What no file says, and how to say it."""
    every = possible(review)
    if len({each.version.value for each in every}) > 1:
        return "the release", "--kafka VERSION"
    if elr_is_open(every, every[0].version.value):
        return "eligible leader replicas (ELR)", "what kafka-features describe prints"
    return "the controller", "process.roles or zookeeper.connect in a broker's file"


def lines(review: Review, width: int) -> Iterator[Line]:
    """The answers by release and controller, where they differ; else nothing."""
    if not review.depends:
        return
    what, how = missing(review)
    yield line(Piece(f"It depends on {what}, which no file says: give {how}", Role.STRONG))
    rows = [(label(row, review), row) for row in same_answers(review)]
    first = max(len(text) for text, _ in rows)
    yield line(" " * (first + 4), *heads())
    for text, row in rows:
        yield line(f"  {text:<{first}}  ", *cells(map(row.case.answer, NAMES)))
    used = (cell(row.case.answer(name))[0] for _, row in rows for name in NAMES)
    notes = ["faults that are survived, of any mixture", *legend(used)]
    if any("ELR" in text for text, _ in rows):
        notes.append("`ELR` eligible leader replicas, as in clusters that began with Kafka 4.1 or later")
    yield from wrapped(line("  "), "; ".join(notes), width, Role.DIM)
    yield from wrapped(line("  "), f"The rest is of {reviewed(review)}, the worst of these.", width)
    yield ()


def label(row: SameAnswers, review: Review) -> str:
    """The releases and controllers of a row."""
    return in_words(row.settings, possible(review))


def reviewed(review: Review) -> str:
    """The release and controller that a review is of."""
    return of_case(review.cases[review.reviewed].settings[:1], review)


def of_case(settings: Sequence[Settings], review: Review) -> str:
    """The release and controller of some settings, in words."""
    return in_words(settings, possible(review))
