"""A review as a page: the answers, the table, and the runs that break something, step by step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import modelcheck.kafka.report.also_text as also
import modelcheck.kafka.report.cases_text as cases
import modelcheck.kafka.report.controllers_text as controllers
import modelcheck.kafka.report.outages_text as outages
import modelcheck.kafka.report.today_text as today
from counterexamples.html.page import Card, PageItem, PageTable, TableCell, Verdict, page
from counterexamples.lines import Line, Role, count, wrapped
from counterexamples.trace import Trace
from modelcheck.answers.html_report import item
from modelcheck.kafka.questions.answers import Answer, find_answer
from modelcheck.kafka.questions.question import ANY, GUARANTEES
from modelcheck.kafka.questions.remedies import waits_for
from modelcheck.kafka.questions.review import Review
from modelcheck.kafka.questions.today.findings import StateFindings
from modelcheck.kafka.report.fault_table import NAMES, OfCell
from modelcheck.kafka.report.report import (
    AFTER,
    SHOWN,
    TABLE,
    followers,
    limits,
    remedies_lead,
    remedy_words,
    says,
    stopping,
    subject,
    why,
)
from modelcheck.kafka.report.settings_used import given, ungiven, warnings
from modelcheck.kafka.report.wording import RESULTS, cell, mark, page_legend, sentence

WIDTH = 96
MOST_RUNS = 8  # each takes a second or two of explaining
BASIS = "What the answer rests on"
OF_RELEASE = "By default, and without effect"


def review_page(review: Review, command: str) -> str:
    """The HTML page of a review; it does not depend on the time the review took.

    It prints on two sheets: the verdicts, the table, the shortest loss, the table after a change, and what
    is assumed.
    """
    items, cards = review_parts(review, command)
    return page(items, title=subject(review), cards=cards, folded=True)


def review_parts(review: Review, command: str) -> tuple[list[PageItem], list[Card]]:
    """The runs of a review's page, and its cards: of the states that are not well, then of the settings.

    Of several states the first, which is the gravest, is printed, with its picture in place of that of the
    settings.
    """
    lost = _lost(review)
    shown = lost[:MOST_RUNS]
    places = {id(answer.loss): place for place, group in enumerate(shown) for answer in group}
    items = [_item(review, group[0], command) for group in shown]
    now = [run for _, run in _today_runs(review, command)]
    gravest = next(iter(review.states_today), None)
    has_picture = gravest is not None and today.first_loss_of(gravest) is not None
    pictured = tuple(each.title for each in items) if has_picture else ()
    cards = [
        *_today_cards(review, len(items), command),
        _card(review, places, _about(lost), command, pictured),
    ]
    return [*items, *now], cards


def _today_runs(review: Review, command: str) -> list[tuple[StateFindings, PageItem]]:
    """The first run from each state that is not well, as an item of the page."""
    found = []
    for each in review.states_today:
        answer = today.first_loss_of(each)
        if answer is not None:
            begins = f"{today.begins(answer)} {today.says(answer)}"
            title = f"today, {answer.guarantee.name}: {answer.guarantee.fails}"
            run = item(_loss(answer), title, begins, Role.BAD, command, f"at most {review.faults}")
            found.append((each, run))
    return found


def _today_cards(review: Review, behind: int, command: str) -> Iterator[Card]:
    """A summary card for each state that is not well; its run is behind `behind` others on the page."""
    if review.today is None:
        return
    number = behind
    for place, each in enumerate(review.today.states):
        answers = [answer for name in NAMES if (answer := each.answer(name)) is not None]
        first = today.first_loss_of(each)
        verdicts = tuple(
            Verdict(a.guarantee.name, today.says(a), mark(a)[1], number if a is first else None)
            for a in answers
        )
        picture = number if first is not None and place == 0 else None
        number += first is not None
        texts = (
            (today.FIRST, tuple(today.first_steps(each, WIDTH, titled=False))),
            ("What is assumed", tuple(today.assumptions(each, WIDTH))),
        )
        kept = [(name, today.better(each, name)) for name in NAMES]
        others = () if place else tuple(today.heading(each.state) for each in review.today.states[1:])
        if_kept = tuple(f"{name}: {today.says(other)}" for name, other in kept if other is not None)
        words, role = (today.says(answers[0]), mark(answers[0])[1]) if answers else ("", Role.UNSURE)
        yield Card(
            today.heading(each.state),
            words,
            role,
            about="guarantee",
            verdicts=verdicts,
            tables=(_table(today.TITLE, review.rows, each.answer, {}, ""),),
            picture=picture,
            remarks=tuple(
                (title, lines)
                for title, lines in ((today.IF_KEPT.capitalize(), if_kept), ("Not well either", others))
                if lines
            ),
            texts=texts,
            command=command,
            behind=frozenset([today.heading(each.state)] if place else []),
        )
    for state in review.today.unasked:
        yield Card(today.heading(state), today.no_room(state), Role.UNSURE, command=command)


def _about(lost: list[list[Answer]]) -> str:
    """How to get from the table to the runs, in a sentence."""
    if not lost:
        return ""
    more = f"; {MOST_RUNS} of {len(lost)} runs are on this page" if len(lost) > MOST_RUNS else ""
    return f"what is underlined leads to a run that breaks it{more}"


def _lost(review: Review) -> list[list[Answer]]:
    """The answers with a loss, grouped by run, the first loss first."""
    lost = [answer for answer in review.answers if answer.loss is not None]
    order = {guarantee.name: place for place, guarantee in enumerate(GUARANTEES)}
    lost.sort(key=lambda a: (a is not review.loss, a.kind != ANY, order[a.guarantee.name]))
    runs: dict[tuple[object, ...], list[Answer]] = {}
    for answer in lost:
        if answer.loss is not None:
            runs.setdefault((answer.loss.model.name, answer.loss.steps), []).append(answer)
    return list(runs.values())


def _item(review: Review, answer: Answer, command: str) -> PageItem:
    """The page's item for a run."""
    guarantee, trace = answer.guarantee, _loss(answer)
    under = "" if answer.kind == ANY else f", by {answer.kind} alone"
    title = f"{guarantee.name}: {guarantee.fails}{under}"
    return item(trace, title, sentence(answer), Role.BAD, command, f"at most {review.faults}")


def _loss(answer: Answer) -> Trace:
    """The run of an answer that has one."""
    if answer.loss is None:
        raise ValueError("the answer has no loss")
    return answer.loss


def _card(
    review: Review, places: Mapping[int, int], runs: str, command: str, pictured: tuple[str, ...]
) -> Card:
    """The summary card of the review; the pictures in `pictured` are not printed."""
    settings = review.settings
    words, role = first_words(review)
    asked = "What can be lost, and how many things must go wrong first"
    texts = (
        ("How it stops while brokers are down", _stops(review)),
        (controllers.TITLE, _controllers(review)),
        (also.TITLE, list(also.lines(review.also, WIDTH))),
        (BASIS, [*given(review, WIDTH), *limits(review, WIDTH, measured=False)]),
        ("Warnings", list(warnings(settings))),
        (OF_RELEASE, list(ungiven(review, WIDTH, verbose=False))),
    )
    outage = tuple(_outages(review))
    return Card(
        asked if review.today is None else f"{today.HEALTHY}: {asked[0].lower()}{asked[1:]}",
        words,
        role,
        about="guarantee",
        verdicts=tuple(_verdicts(review, places)),
        tables=(*_cases(review), _table(TABLE, review.rows, review.answer, places, runs)),
        picture=None if review.loss is None else places.get(id(review.loss.loss)),
        further=(*_after(review), *outage),
        remarks=tuple(_required(review)),
        texts=tuple((heading, tuple(lines)) for heading, lines in texts if lines),
        command=command,
        behind=frozenset((*(heading for heading, _ in texts if heading != BASIS), outages.TITLE, *pictured)),
    )


def first_words(review: Review) -> tuple[str, Role]:
    """The result for the most important guarantee, in words."""
    first, _ = review.verdict(GUARANTEES[0].name)
    words = says(review, GUARANTEES[0])
    return ("nothing was asked", Role.UNSURE) if first is None else (words, mark(first)[1])


def _verdicts(review: Review, places: Mapping[int, int]) -> Iterator[Verdict]:
    """The verdict on each guarantee; `places` has the number on the page of each loss, by its id."""
    for guarantee in GUARANTEES:
        answer, _ = review.verdict(guarantee.name)
        if answer is not None:
            words, role = says(review, guarantee), mark(answer)[1]
            yield Verdict(guarantee.name, words, role, places.get(id(answer.loss)))


def _cases(review: Review) -> Iterator[PageTable]:
    """The table of answers by release and controller, where they differ."""
    if review.depends:
        what, how = cases.missing(review)
        names = tuple(guarantee.name for guarantee in GUARANTEES)
        rows = tuple(
            (cases.label(row, review), tuple(TableCell(*cell(row.case.answer(name))) for name in names))
            for row in cases.same_answers(review)
        )
        note = (
            f"Faults that are survived, of any mixture. The rest is of {cases.reviewed(review)}, the worst."
        )
        yield PageTable(f"It depends on {what}, which no file says: give {how}", names, rows, note)


def _table(
    title: str, kinds: Mapping[str, str], answer: OfCell, places: Mapping[int, int], runs: str
) -> PageTable:
    """The table of guarantees and kinds of faults; `places` are the numbers of the runs on the page."""
    rows = []
    used: set[str] = set()
    for kind, words in kinds.items():
        answers = [answer(name, kind) for name in NAMES]
        texts = [cell(each) for each in answers]
        used |= {text for text, _ in texts}
        cells = tuple(
            TableCell(text, role, None if each is None else places.get(id(each.loss)))
            for each, (text, role) in zip(answers, texts, strict=True)
        )
        rows.append((f"{kind}: {words}", cells))
    return PageTable(title, NAMES, tuple(rows), "; ".join(page_legend(used)), runs)


def _after(review: Review) -> Iterator[PageTable]:
    """The table of the faults that are survived as it is, and after each change that prevents the loss."""
    search = review.remedies
    if search is None:
        return
    lead, *unsure = remedies_lead(search)
    own = tuple(TableCell(*cell(review.answer(name))) for name in NAMES)
    rows = [("as it is", (*own, TableCell(followers(waits_for(review.partition)))))]
    for remedy in search.found[:SHOWN]:
        answers = (find_answer(remedy.after, name) for name in NAMES)
        cells = (TableCell(*cell(answer)) if answer else TableCell("", Role.DIM) for answer in answers)
        rows.append((remedy_words(remedy, review), (*cells, TableCell(followers(remedy.waits_for)))))
    columns = (*NAMES, "an acknowledgement waits for")
    note = " ".join((f"{lead.rstrip(':.')}.", *unsure))
    yield PageTable(AFTER, columns, tuple(rows), note)


def _stops(review: Review) -> list[Line]:
    """The report on the run that stops a service."""
    return [] if review.outage is None else list(outages.run_to_stop(review.outage, WIDTH, stopping(review)))


def _controllers(review: Review) -> list[Line]:
    """The report on controllers, if files name them."""
    found = review.quorum
    return [] if found is None else list(wrapped((), controllers.says(found, review.outage), WIDTH))


def _outages(review: Review) -> Iterator[PageTable]:
    """The table of services while brokers are down, with its sentence."""
    found = review.outage
    if found is not None:
        rows = tuple(
            (label, tuple(TableCell(*written) for written in cells)) for label, cells in outages.rows(found)
        )
        names = tuple(each.name for each in found.services)
        about = outages.note(found).replace("`", "")
        yield PageTable(outages.TITLE, names, rows, f"{outages.says(found)} Of {about}.")


def _required(review: Review) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The summary of the requirements, with whether each is met and what asks for it, and the exceptions."""
    texts = [
        f"{required}: {RESULTS[review.met(required)][0]}{why(review, required)}"
        for required in review.required
    ]
    if texts or review.exempted:
        yield (
            count(len(texts), "requirement"),
            (*texts, *(f"exempted: {exempted}" for exempted in review.exempted)),
        )
