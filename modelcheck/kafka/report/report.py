"""A review as a person reads it: the answer first, then what it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import modelcheck.kafka.report.also_text as also
import modelcheck.kafka.report.cases_text as cases
import modelcheck.kafka.report.controllers_text as controllers
import modelcheck.kafka.report.outages_text as outages
import modelcheck.kafka.report.today_text as today
from counterexamples.ending import ending
from counterexamples.lines import Line, Piece, Role, count, line, wrapped
from counterexamples.trace import Trace
from modelcheck.kafka.questions.answers import Answer
from modelcheck.kafka.questions.changes import circumstances, in_words
from modelcheck.kafka.questions.question import ANY, GUARANTEES, RECORDS, Guarantee, Requirement
from modelcheck.kafka.questions.remedies import Remedy, Search, waits_for
from modelcheck.kafka.questions.review import Review, broken
from modelcheck.kafka.report.fault_table import table
from modelcheck.kafka.report.run_text import story
from modelcheck.kafka.report.settings_used import basis, warnings
from modelcheck.kafka.report.wording import RESULTS, cell, mark, sentence
from spec.meaning.semantics import Machine

SHOWN = 5  # remedies in the report
AFTER = "What is survived after a change"
TABLE = "How many faults of each kind are survived"
_ON = {  # whether writes continue through the faults of the first loss
    True: "writes continue through these faults",
    False: "but these faults then stop writes until somebody repairs something",
    None: "whether writes continue was not found out in time",
}
_OF_RECORDS = ("durable", "committed")  # the guarantees that are broken by a loss


def lines(review: Review, width: int, *, verbose: bool = False) -> Iterator[Line]:
    """The whole report; `verbose` adds the reason of each setting, and the run in the model's terms."""
    yield from _answer(review, width)
    yield from _requirements(review, width)
    yield from cases.lines(review, width)
    yield from table(TABLE, review.rows, review.answer, width, indent="")
    if review.outage is not None:
        yield from outages.lines(review.outage, width, stopping(review))
    if review.quorum is not None:
        yield from controllers.lines(review.quorum, review.outage, width)
    for number, answers in enumerate(broken(review)):
        yield from _story(review, answers, width, verbose=verbose)
        if number == 0 and review.loss is not None:
            yield from remedies(review, width)
    yield from also.lines(review.also, width)
    yield from warnings(review.settings)
    yield from basis(review, width, verbose=verbose)
    yield from limits(review, width)


# ------------------------------------------------------------------ the answer


def _answer(review: Review, width: int) -> Iterator[Line]:
    """The heading, then a sentence for each guarantee, the most important first."""
    unsure = () if review.complete else (Piece(" · partly unknown, the review was cut short", Role.UNSURE),)
    yield line(Piece(subject(review), Role.STRONG), *unsure)
    yield ()
    if review.today is not None:
        yield from today.lines(review.today, review.rows, width)
        yield line(Piece(today.HEALTHY, Role.STRONG))
    first = max(len(guarantee.name) for guarantee in GUARANTEES)
    for guarantee in GUARANTEES:
        answer, _ = review.verdict(guarantee.name)
        if answer is None:
            continue
        sign, role = mark(answer)
        label = line("  ", Piece(f"{sign} ", role), Piece(f"{guarantee.name:<{first}}  ", Role.STRONG))
        yield from wrapped(
            label, says(review, guarantee), width, role if guarantee is GUARANTEES[0] else Role.PLAIN
        )
    yield ()


def says(review: Review, guarantee: Guarantee) -> str:
    """The verdict on a guarantee in a sentence, with the case that it is of if it is not the reviewed one."""
    answer, elsewhere = review.verdict(guarantee.name)
    if answer is None:
        return ""
    return sentence(answer) + (f" ({cases.of_case(elsewhere, review)})" if elsewhere else "")


def stopping(review: Review) -> Trace | None:
    """The run after which writes stop, if there is one."""
    answer = review.answer("writable")
    return None if answer is None else answer.loss


def subject(review: Review) -> str:
    """The heading of a review: "Kafka 0.8.1: one partition of a topic, 2 replicas of 2 brokers"."""
    settings = review.settings
    topic = f"topic {settings.topic.name}" if settings.topic else "a topic"
    replicas = count(review.partition.replicas, "replica")
    is_known = settings.brokers.value >= len(review.partition.names)
    of = f" of {count(settings.brokers.value, 'broker')}" if is_known else ""
    return f"{cases.release(review)}: one partition of {topic}, {replicas}{of}"


def _requirements(review: Review, width: int) -> Iterator[Line]:
    """The requirements, and whether each is met."""
    for required in review.required:
        text, role = RESULTS[review.met(required)]
        head = line("  required ", Piece(str(required), Role.STRONG), ": ", Piece(text, role))
        yield from wrapped(head, why(review, required), width)
    for exempted in review.exempted:
        yield from wrapped(line("  exempted "), exempted, width)
    if review.required or review.exempted:
        yield ()


def why(review: Review, required: Requirement) -> str:
    """The reason of an answer about a requirement, and of the requirement."""
    parts = []
    if review.required_answer(required) is None:
        parts.append(" (that cannot happen under this configuration)")
    elif review.today is not None and review.met(required) is False and review.met_in_sync(required):
        parts.append(" today; it is when all replicas are in sync")
    elif required.kind == ANY and review.met_in_sync(required) is False:
        breaking, kept = review.met_by_kinds(required)
        if breaking and kept:
            narrower = ", ".join(f"{required}:{kind}" for kind in kept)
            parts.append(f" because of {', '.join(breaking)}; met: {narrower}")
    if required.by:
        parts.append(f" · {required.by}")
    return "".join(parts)


# ------------------------------------------------------------------ the story


def _story(review: Review, answers: Sequence[Answer], width: int, *, verbose: bool) -> Iterator[Line]:
    """The run of some answers under a heading."""
    traces = [answer.loss for answer in answers if answer.loss is not None]
    trace, guarantee = traces[0], answers[0].guarantee
    is_loss = answers[0] is review.loss and guarantee.name in _OF_RECORDS
    title = "The first loss" if is_loss else f"The run against `{guarantee.name}`"
    yield from story(title, traces, width, least=answers[0].is_exact)
    if verbose:
        found = ending(Machine(trace.model, trace.scope), trace, width - 6)
        yield from (line("      ", *each) for each in found)
    yield ()


def remedies(review: Review, width: int) -> Iterator[Line]:
    """The remedies of the first loss."""
    search = review.remedies
    if search is None:
        return
    lead, *unsure = remedies_lead(search)
    yield from wrapped((), lead, width, Role.STRONG if search.found else Role.UNSURE)
    for remedy in search.found[:SHOWN]:
        yield from _remedy(remedy, review, width)
    if len(search.found) > SHOWN:
        yield line(Piece(f"  and {len(search.found) - SHOWN} more, see --json", Role.DIM))
    for text in unsure:
        yield from wrapped((), f"  {text}", width, Role.UNSURE)
    yield ()


def remedies_lead(search: Search) -> Iterator[str]:
    """The sentence that introduces the remedies, and one about changes that were not checked to the end."""
    if search.found:
        yield _lead(search)
    else:
        yield f"None of the {search.tried} changes that were checked, alone or in pairs, prevents it."
    if not search.complete:
        missing = search.candidates - search.tried
        yield f"{count(missing, 'other change')} could not be checked to the end."


def _lead(search: Search) -> str:
    """The sentence that introduces the remedies."""
    if search.only_the_run:
        return (
            f"None of the {search.tried} changes that were checked lets it survive more faults; any one of "
            "these would have prevented this run, and as many other faults still break it:"
        )
    lead = "The smallest change with which it survives more faults, found by checking each"
    if search.changes == 1:
        return f"{lead}:" if len(search.found) == 1 else f"{lead}; any one of these:"
    return (
        f"{lead}; no single one does, these together do:"
        if len(search.found) == 1
        else (f"{lead}; no single one does, any of these pairs does:")
    )


def _remedy(remedy: Remedy, review: Review, width: int) -> Iterator[Line]:
    """One remedy in words, and what becomes of the table."""
    what, more = _parts(remedy, review)
    yield line("  • ", Piece(what, Role.GOOD))
    if more:
        yield from wrapped(line("      "), more, width, Role.DIM)
    if remedy.after:
        yield from wrapped(line("      "), _difference(remedy, review), width, Role.DIM)


def remedy_words(remedy: Remedy, review: Review) -> str:
    """One remedy in words: "acks=all (needs …; writes continue through these faults)"."""
    what, more = _parts(remedy, review)
    return f"{what} ({more})" if more else what


def _parts(remedy: Remedy, review: Review) -> tuple[str, str]:
    """What a remedy changes, and what it needs and brings."""
    changes = [in_words(change, circumstances(review.settings)) for change in remedy.changes]
    needs = " and ".join(dict.fromkeys(each.needs for each in changes if each.needs))
    after = "" if review.loss is None or not review.loss.lost_with else _ON[remedy.goes_on]
    more = "; ".join(filter(None, (f"needs {needs}" if needs else "", after)))
    return " and ".join(each.what for each in changes), more


def _difference(remedy: Remedy, review: Review) -> str:
    """What the table is with a remedy, where it differs, and how many followers are waited for."""
    parts = []
    for answer in remedy.after:
        before = cell(review.answer(answer.guarantee.name))[0]
        now = cell(answer)[0]
        if now != before:
            parts.append(f"{answer.guarantee.name} {before} → {now}")
    before_, after = followers(waits_for(review.partition)), followers(remedy.waits_for)
    if after != before_:
        parts.append(f"an acknowledgement waits for {after}, in place of {before_}")
    return "then " + "; ".join(parts) if parts else "the numbers of any mixture stay as they are"


def followers(waited: tuple[int, int]) -> str:
    """How many followers an acknowledgement waits for, in words."""
    least, most = waited
    if most == 0:
        return "no follower"
    if least == most:
        return count(most, "follower")
    return f"{least} to {count(most, 'follower')}" if least else f"up to {count(most, 'follower')}"


# ------------------------------------------------------------------ the end


def limits(review: Review, width: int, *, measured: bool = True) -> Iterator[Line]:
    """The scope of the answer and its limits; without times unless `measured`."""
    said = (
        f"Checked for one partition, up to {count(review.faults, 'fault')} and {count(RECORDS, 'record')}: "
        f"{review.states:,} states" + (_took(review) if measured else "") + "."
    )
    yield from wrapped((), said, width, Role.DIM)
    for note in review.partition.approximations:
        yield from wrapped((), f"Coarser than the configuration: {note}.", width, Role.UNSURE)
    if review.ended:
        yield from wrapped(
            (), f"Cut short: {review.ended}. This is what was found before.", width, Role.UNSURE
        )
    elif not review.complete:
        text = "Cut short: --max-states or --max-time gives more, from here on; --faults 1 asks for less."
        yield from wrapped((), text, width, Role.UNSURE)


def _took(review: Review) -> str:
    """The time and states that the review took, in words."""
    known = "" if not review.known else f", {_found_now(review)} found by an earlier run,"
    return f"{known} in {review.seconds:.0f} s"


def _found_now(review: Review) -> str:
    """How many of the states this run found itself, in words: "all", or a number "of them"."""
    return "all" if review.known == review.states else f"{review.known:,} of them"
