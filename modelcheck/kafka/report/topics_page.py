"""Every topic of a cluster as a page: a list to sort and filter, then the review of the first topic."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import modelcheck.kafka.report.today_text as today
from counterexamples.html.listing import ListCell, ListFilter, Listing, ListKind
from counterexamples.html.page import Card, PageTable, TableCell, page
from counterexamples.lines import Role, count
from modelcheck.kafka.questions.answers import Answer, all_met
from modelcheck.kafka.questions.cases import survived
from modelcheck.kafka.questions.review import Review
from modelcheck.kafka.report.fault_table import NAMES
from modelcheck.kafka.report.overview import FACTS, ILL, TopicRow, by_requirement, refused, title
from modelcheck.kafka.report.page import first_words, review_parts
from modelcheck.kafka.report.report import subject
from modelcheck.kafka.report.wording import MET, RESULTS, UNKNOWN, UNMET, cell, page_legend

USUAL = "most at risk first"
_STATES = 20  # in the table of partitions that are not well
_MANY = 1e9  # more than any number of faults, in the order of a column
_ANY = "any guarantee"


def overview_page(rows: Sequence[TopicRow], command: str) -> str:
    """The HTML page on every topic of a cluster; the worst topic's review is behind the list."""
    items, cards = review_parts(rows[0].review, command)
    words, role = first_words(rows[0].review)
    ill = tuple(_ill(rows))
    card = Card(
        "How many faults each topic survives",
        f"{rows[0].name}: {words}",
        role,
        listing=_listing(rows),
        tables=ill,
        remarks=(*_refused(rows), *_requirements(rows)),
        command=command,
    )
    cards[-1] = replace(cards[-1], title=subject(rows[0].review), command="")
    return page(items, title=title(rows), cards=[card, *cards], folded=True)


def _listing(rows: Sequence[TopicRow]) -> Listing:
    """The list of topics; the columns of today's state and of the policy are there if they say anything."""
    has_states = any(row.survived_today for row in rows)
    has_policy = any(row.review.required or row.review.exempted for row in rows)
    columns = [
        "topic",
        *FACTS,
        *NAMES,
        *(["today"] if has_states else []),
        *(["policy"] if has_policy else []),
    ]
    listed = tuple((row.name, _kind(row, has_states=has_states, has_policy=has_policy)) for row in rows)
    used = (cell(row.review.verdict(name)[0])[0] for row in rows for name in NAMES)
    return Listing(
        "Topics",
        tuple(columns),
        listed,
        USUAL,
        tuple(_filters({tag for _, kind in listed for tag in kind.tags}, rows[0].review.faults)),
        searched=tuple(range(len(FACTS) + len(NAMES), len(columns) - 1)),
        note="; ".join(("faults that are survived, of any mixture", *page_legend(used))),
    )


def _kind(row: TopicRow, *, has_states: bool, has_policy: bool) -> ListKind:
    """The cells of a topic, and what filters find it by."""
    review = row.review
    answers = [review.verdict(name)[0] for name in NAMES]
    cells = [ListCell(fact, order=_order(fact)) for fact in row.facts]
    cells += (ListCell(*cell(answer), order=min(survived(answer), _MANY)) for answer in answers)
    tags = [
        f"{name}:{tag}"
        for name, answer in zip(NAMES, answers, strict=True)
        for tag in _tags(answer, review.faults)
    ]
    tags += (f"{_ANY}:{tag}" for tag in dict.fromkeys(tag.partition(":")[2] for tag in tags))
    if has_states:
        role = Role.BAD if row.survived_today else Role.PLAIN
        grave = min(row.survived_today, default=_MANY)
        cells.append(ListCell(row.state_today or "not shown", role, min(grave, _MANY)))
        tags.append("ill" if row.survived_today else "well" if row.state_today else "not shown")
    if has_policy:
        cells.append(_policy(review))
        tags += _results(review)
    return ListKind(tuple(cells), tuple(tags))


def _order(fact: str) -> float:
    """What a setting is sorted by: numbers first, then words by their first letters."""
    if fact.isdecimal():
        return float(fact)
    return _MANY + int.from_bytes(fact.encode()[:3].ljust(3, b"\0"))


def _tags(answer: Answer | None, faults: int) -> Iterator[str]:
    """What is true of a guarantee: the numbers of faults that break it, that it is kept, or not known."""
    broken = None if answer is None else answer.lost_with
    if broken is not None:
        yield from (f"broken {number}" for number in range(broken, faults + 1))
    elif answer is not None and not answer.complete:
        yield "not known"
    else:
        yield "kept"


def _filters(tags: set[str], faults: int) -> Iterator[ListFilter]:
    """The choices that leave some of the rows, of those that have these tags."""
    words = {
        f"broken {number}": f"broken by at most {count(number, 'fault')}" for number in range(1, faults + 1)
    }
    words = {"broken 0": "broken without a fault"} | words | {"not known": "not known", "kept": "kept"}
    options = (
        (name, tuple((f"{name}:{tag}", text) for tag, text in words.items() if f"{name}:{tag}" in tags))
        for name in (_ANY, *NAMES)
    )
    yield ListFilter("guarantee", "Guarantee", tuple(each for each in options if each[1]))
    states = {"ill": "not well", "well": "in sync", "not shown": "not shown"}
    policies = {each: each for each in (UNMET, UNKNOWN, MET, "exempted", "nothing required")}
    for name, choices in (("today", states), ("policy", policies)):
        own = tuple((tag, text) for tag, text in choices.items() if tag in tags)
        if own:
            yield ListFilter(name, name.capitalize(), (("", own),))


def _results(review: Review) -> Iterator[str]:
    """What came of the policy: the gravest result, and whether there are exceptions."""
    if review.required:
        yield RESULTS[all_met(map(review.met, review.required))][0]
    elif not review.exempted:
        yield "nothing required"
    if review.exempted:
        yield "exempted"


def _policy(review: Review) -> ListCell:
    """The policy's result for a topic: what is not met first, and what it is exempted from."""
    met = [(str(required), review.met(required)) for required in review.required]
    parts = []
    for words, wanted in ((UNMET, False), (UNKNOWN, None)):
        if names := [name for name, is_met in met if is_met is wanted]:
            parts.append(f"{words}: {', '.join(names)}")
    if met and not parts:
        parts.append(MET)
    if exempted := [each.partition(" (")[0] for each in review.exempted]:
        parts.append(f"exempted: {', '.join(exempted)}")
    results = [is_met for _, is_met in met]
    if False in results:
        return ListCell("; ".join(parts), Role.BAD, -float(results.count(False)))
    if None in results:
        return ListCell("; ".join(parts), Role.UNSURE, 1.0)
    return ListCell("; ".join(parts), Role.GOOD if met else Role.PLAIN, 2.0 if review.exempted else 3.0)


def _refused(rows: Sequence[TopicRow]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The topics without an answer, by the reason."""
    if texts := tuple(f"{names}: {reason}" for reason, names in refused(rows).items()):
        yield "Not answered", texts


def _requirements(rows: Sequence[TopicRow]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What is required, by what, and of which topics it is met; then the exceptions."""
    every = by_requirement(rows)
    texts = (
        f"{each.text}: {each.result} by {count(len(each.topics), 'topic')}"
        + (f": {each.shown}" if each.result != MET else "")
        for each in every
        if each.result
    )
    exempted = (f"{each.text}: {each.shown}" for each in every if not each.result)
    for heading, found in (("What is required", tuple(texts)), ("Exceptions", tuple(exempted))):
        if found:
            yield heading, found


def _ill(rows: Iterable[TopicRow]) -> Iterator[PageTable]:
    """The table of the partitions that are not well, with the further faults that they survive."""
    found = [each for row in rows for each in row.review.states_today]
    if not found:
        return
    listed = tuple(
        (today.short(each.state), tuple(TableCell(*cell(each.answer(name))) for name in NAMES))
        for each in found[:_STATES]
    )
    more = f"The first {_STATES} of {len(found)} states." if len(found) > _STATES else ""
    yield PageTable(ILL, NAMES, listed, more)
