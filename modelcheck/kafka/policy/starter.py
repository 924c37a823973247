"""A policy to begin with: what most topics must survive, and dated exceptions for those that do not."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import date, timedelta

from modelcheck.kafka.questions.question import Requirement, requirement
from modelcheck.kafka.questions.review import Review

DAYS = 90  # until the exceptions of a new policy end
BASIS = {
    "durable:1": "one fault, whatever it is, loses no acknowledged record",
    "writable:1:crash": "one broker that crashes does not stop writes",
}


def starter(reviews: Iterable[tuple[str, Review]], today: date) -> str:
    """The text of a policy that every reviewed topic meets today; `reviews` are by the names of topics.

    It requires BASIS of all topics.  Topics that a fault breaks today, or that may not be known to
    survive it, are exceptions until DAYS from today.
    """
    return "\n".join(_lines(tuple(reviews), today)) + "\n"


def _lines(reviews: tuple[tuple[str, Review], ...], today: date) -> Iterator[str]:
    yield "# What the topics of this cluster must survive."
    yield "#   modelcheck kafka review --all-topics --policy THIS_FILE FILE..."
    yield "# exits with 1 where a topic does not.  All entries [[require]] for a topic count."
    yield "# A guarantee is NAME:FAULTS or NAME:FAULTS:KIND; `modelcheck kafka review --help` lists both."
    for text, why in BASIS.items():
        yield from ("", "[[require]]", 'topics = "*"')
        yield f"guarantees = [{json.dumps(text)}]"
        yield from ('owner = ""', f"why = {json.dumps(why)}")
    until = today + timedelta(days=DAYS)
    for text in BASIS:
        wanted = requirement(text)
        unmet = [(name, review) for name, review in reviews if review.met(wanted) is not True]
        if unmet:
            yield from _exception(wanted, unmet, until)


def _exception(wanted: Requirement, unmet: list[tuple[str, Review]], until: date) -> Iterator[str]:
    """An entry for the topics that do not meet a requirement today."""
    known = [review for _, review in unmet if review.met(wanted) is False]
    lost = wanted.guarantee.fails if known else "this was not found out within the limits"
    yield from ("", "[[except]]", "topics = [")
    yield from (f"  {json.dumps(name)}," for name, _ in sorted(unmet, key=lambda pair: pair[0]))
    yield from ("]", f"guarantees = [{json.dumps(str(wanted))}]", f"until = {until}")
    yield from ('owner = ""', f"why = {json.dumps(f'as it was found: {lost}')}")
