"""Every topic of a cluster as CSV (RFC 4180), a row for each: settings, answers, and requirements."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from io import StringIO
from typing import TypeVar

from counterexamples.lines import clean
from modelcheck.kafka.questions.answers import Answer, all_met
from modelcheck.kafka.questions.cases import survived
from modelcheck.kafka.questions.question import Requirement
from modelcheck.kafka.questions.review import Review
from modelcheck.kafka.report.fault_table import NAMES
from modelcheck.kafka.report.overview import TopicRow
from modelcheck.kafka.report.wording import RESULTS, sentence
from modelcheck.kafka.settings.provenance import Stated
from modelcheck.kafka.settings.resolution.settings import Settings

T = TypeVar("T")

_SETTINGS = {  # the switches of the model that topics and clusters differ in, by their columns
    "replicas": "replication_factor",
    "min_insync_replicas": "min_insync_replicas",
    "acks": "acks",
    "unclean_election": "unclean_election",
    "controller": "controller",
    "flush": "flush",
    "storage": "storage",
    "eligible_leader_replicas": "eligible_leader_replicas",
}
SETTINGS = tuple(
    name for setting in ("kafka", "brokers", *_SETTINGS) for name in (setting, f"{setting}_from")
)
ANSWERS = ("faults_tried", *NAMES, "worst_loss")
TODAY = tuple(f"today_{name}" for name in NAMES)
COLUMNS = (
    "topic",
    *SETTINGS,
    *ANSWERS,
    "today",
    *TODAY,
    "policy",
    "required",
    "not_met",
    "exempted",
    "complete",
)
_FORMULA = ("=", "+", "-", "@")


def as_csv(rows: Iterable[TopicRow]) -> str:
    """The topics as CSV with the columns `COLUMNS`, in the order of the rows.

    A text that a spreadsheet would take for a formula has an apostrophe in front.
    """
    text = StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow(map(_plain, _values(row)))
    return text.getvalue()


def _plain(value: str | int) -> str | int:
    """A value without control characters, and no formula."""
    if isinstance(value, int):
        return value
    text = clean(value)
    return f"'{text}" if text.lstrip().startswith(_FORMULA) else text


def _values(row: TopicRow) -> Iterator[str | int]:
    """The values of a row, in the order of `COLUMNS`."""
    review = row.review
    yield row.topic
    yield from settings_values(review.settings)
    yield from answer_values(review)
    yield row.state_today
    yield from today_values(review)
    met = [(required, review.met(required)) for required in review.required]
    yield RESULTS[all_met(is_met for _, is_met in met)][0].lower() if met else ""
    yield _listed(review.required)
    yield _listed(required for required, is_met in met if is_met is not True)
    yield "; ".join(review.exempted)
    yield "yes" if review.complete else "no"


def settings_values(settings: Settings) -> Iterator[str | int]:
    """The settings of a topic and where they are from, in the order of `SETTINGS`."""
    yield from _stated(settings.version)
    yield from _stated(settings.brokers)
    for switch in _SETTINGS.values():
        yield from _stated(getattr(settings.switches, switch))


def answer_values(review: Review) -> Iterator[str | int]:
    """What breaks each guarantee, in the order of `ANSWERS`."""
    yield review.faults
    yield from (_fewest(review.verdict(name)[0]) for name in NAMES)
    yield _worst(review)


def today_values(review: Review) -> Iterator[str | int]:
    """What breaks each guarantee from the worst state that files show, in the order of `TODAY`."""
    yield from (_fewest_today(review, name) for name in NAMES)


def _stated(found: Stated[T]) -> Iterator[str | int]:
    """A setting's value, and where it is from."""
    plain = found.as_json()["value"]
    yield plain if type(plain) is int else str(plain).lower()
    is_plain = not found.assumed or "assumed" in found.reason
    yield found.reason if is_plain else f"assumed: {found.reason}"


def _fewest(answer: Answer | None) -> str | int:
    """The fewest faults that break a guarantee, or `kept`.

    Where the search was cut short, `<=N` if N break it and perhaps fewer do, `>N` if N do not, or `unknown`.
    """
    if answer is None:
        return ""
    if answer.lost_with is not None:
        return answer.lost_with if answer.is_exact else f"<={answer.lost_with}"
    if answer.complete or answer.survived is None:
        return "kept"
    return f">{answer.survived}" if answer.survived >= 0 else "unknown"


def _fewest_today(review: Review, guarantee: str) -> str | int:
    """The fewest further faults that break a guarantee from the worst state that files show.

    Empty if every partition that they show is well.
    """
    answers = [each.answer(guarantee) for each in review.states_today]
    return _fewest(min(answers, key=survived, default=None))


def _worst(review: Review) -> str:
    """The loss by the fewest faults in a sentence; empty if there is none."""
    loss = review.loss
    return "" if loss is None else f"{loss.guarantee.name}: {sentence(loss)}"


def _listed(requirements: Iterable[Requirement]) -> str:
    """Requirements with the rules that ask for them."""
    return "; ".join(f"{each} ({each.by})" if each.by else str(each) for each in requirements)
