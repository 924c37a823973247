"""A review as a report for pipelines: requirements as cases, losses at the lines of settings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import modelcheck.kafka.report.today_text as today
from counterexamples.lines import plain
from counterexamples.text import WIDTH
from modelcheck.answers.pipelines.report import (
    CaseReport,
    CaseStatus,
    FilePlace,
    Finding,
    FindingRule,
    Report,
    RunStage,
    Severity,
    joined,
    of_diagnostic,
)
from modelcheck.kafka.questions.answers import Answer
from modelcheck.kafka.questions.changes import REPLICAS, circumstances, in_words
from modelcheck.kafka.questions.comparison import CellChange, TopicChange
from modelcheck.kafka.questions.question import GUARANTEES, Guarantee
from modelcheck.kafka.questions.remedies import Remedy
from modelcheck.kafka.questions.review import Review
from modelcheck.kafka.report.comparison_text import setting_words
from modelcheck.kafka.report.fault_table import NAMES
from modelcheck.kafka.report.overview import TopicRow
from modelcheck.kafka.report.report import limits, says, subject
from modelcheck.kafka.report.run_text import outcome, sentences, story
from modelcheck.kafka.report.wording import cell as text_of_cell
from modelcheck.kafka.report.wording import sentence
from modelcheck.kafka.settings.keys.catalogue import FACTOR
from modelcheck.kafka.settings.keys.releases import entry
from modelcheck.kafka.settings.provenance import Remark
from spec.model.ir import Kind
from spec.source import Source

OUTSIDE = FindingRule("review/outside", "A setting that matters and is outside the model")
UNKNOWN = FindingRule("review/unknown-setting", "A setting that Kafka does not have")
TODAY = FindingRule("review/today", "A partition that is not well, and what it can lose from there")
TELLING = ("acks", "min.insync.replicas", "unclean.leader.election.enable", FACTOR)  # without a remedy
CAME = {True: CaseStatus.PASSED, False: CaseStatus.FAILED, None: CaseStatus.ERROR}


def of_reviews(rows: Sequence[TopicRow], files: Sequence[str]) -> Report:
    """The reviews as a report for CI: cases for guarantees and requirements, findings for losses.

    A loss is an error where a requirement forbids it, and else a warning.  A guarantee that was
    decided passes, whatever it survives: what is to be survived is for requirements.
    """
    return joined(_report(row, files) for row in rows)


def of_changes(changes: Sequence[TopicChange], rows: Sequence[TopicRow], files: Sequence[str]) -> Report:
    """What a change makes worse as a report for CI, and whether requirements are met after it.

    A case for each guarantee of each topic fails where it is worse; its finding is at the line of the
    setting that made it so.
    """
    names = {row.topic: row for row in rows}
    return joined(
        _report_of_change(each, names[each.topic], files) for each in changes if each.after is not None
    )


def _report_of_change(change: TopicChange, row: TopicRow, files: Sequence[str]) -> Report:
    """The report of one topic's change."""
    worse = {each.guarantee: each for each in reversed(change.worse)}
    found = [_worse(each, change, row, files) for each in worse.values()]
    suite = f"change of {row.topic or 'a topic'}"
    cases = []
    for guarantee in GUARANTEES:
        cell = worse.get(guarantee)
        came = CaseStatus.PASSED if cell is None else CaseStatus.FAILED
        message = "" if cell is None else _became(cell)
        text = "" if cell is None or cell.after is None else _story(cell.after)
        cases.append(CaseReport(suite, guarantee.name, came, 0.0, message, text, message))
    return Report((*cases, *_required_cases(row)), tuple(found), tuple(map(_rule, GUARANTEES)))


def _worse(cell: CellChange, change: TopicChange, row: TopicRow, files: Sequence[str]) -> Finding:
    """The finding that a guarantee is worse, at the setting that made it so."""
    causes = change.causes.get(cell.guarantee.name, ())
    origins = [
        each.after.origin for each in causes if each.after is not None and each.after.origin is not None
    ]
    topic = row.review.settings.topic
    if origins:
        place = FilePlace(origins[0].source, origins[0].span)
    elif topic is not None and any(each.key == FACTOR for each in causes):
        place = FilePlace(topic.source, topic.span)
    else:
        place = FilePlace(Source(files[0], ""))
    did = [f"{each.key}: {setting_words(each)}" for each in causes]
    message = "; ".join((_became(cell), *did))
    stages = () if cell.after is None else _stages(cell.after, place)
    return Finding(_rule(cell.guarantee), Severity.ERROR, message, place, row.topic, run=stages)


def _became(cell: CellChange) -> str:
    """What became worse: "durable (any): 1 → 0: with 1 fault acknowledged records can be lost: crash"."""
    (old, _), (new, _) = text_of_cell(cell.before), text_of_cell(cell.after)
    return f"{cell.guarantee.name} ({cell.kind}): {old} → {new}: {_says(cell.after)}"


def _report(row: TopicRow, files: Sequence[str]) -> Report:
    """The report of one topic."""
    settings = row.review.settings
    remarks = [
        *(of_diagnostic(each, Severity.WARNING) for each in settings.warnings),
        *(
            _remark(rule, each)
            for rule, found in ((OUTSIDE, settings.outside), (UNKNOWN, settings.unknown))
            for each in found
        ),
    ]
    rules = tuple(map(_rule, GUARANTEES))
    found = (*_findings_today(row), *_findings(row, files), *remarks)
    return Report((*_cases_today(row), *_cases(row)), found, rules)


def _remark(rule: FindingRule, remark: Remark) -> Finding:
    """A warning about a setting as a finding."""
    given = remark.given
    return Finding(rule, Severity.NOTE, f"{given.key}: {remark.why}", FilePlace(given.source, given.span))


def _rule(guarantee: Guarantee) -> FindingRule:
    """The rule that a violated guarantee belongs to."""
    what = guarantee.holds.removesuffix(" under")
    return FindingRule(f"review/{guarantee.name}", f"{what}, whatever goes wrong")


def _cases(row: TopicRow) -> Iterator[CaseReport]:
    """A case for each guarantee and requirement of a topic."""
    review = row.review
    suite = f"review {row.topic}".rstrip()
    scope = plain([*limits(review, WIDTH, measured=False)])
    seconds = review.seconds  # of all together: searches share what they find
    for guarantee in GUARANTEES:
        answer, _ = review.verdict(guarantee.name)
        if answer is None:
            continue
        came = CaseStatus.PASSED if answer.complete or answer.lost_with is not None else CaseStatus.ERROR
        message = "" if came is CaseStatus.PASSED else says(review, guarantee)
        text = f"{subject(review)}\n{says(review, guarantee)}\n{scope}"
        yield CaseReport(suite, guarantee.name, came, seconds, message, _story(answer), text)
        seconds = 0.0
    yield from _required_cases(row)
    if not review.complete:
        why = review.ended or "a search was cut short"
        yield CaseReport(suite, "searched to the end", CaseStatus.ERROR, 0.0, why, why, scope)


def _required_cases(row: TopicRow) -> Iterator[CaseReport]:
    """A case for each requirement of a topic."""
    review = row.review
    suite = f"review {row.topic}".rstrip()
    scope = plain([*limits(review, WIDTH, measured=False)])
    for required in review.required:
        answer = review.required_answer(required)
        came = CAME[review.met(required)]
        message = "" if came is CaseStatus.PASSED else f"required {required}: {_says(answer)}"
        text = "" if answer is None else _story(answer)
        yield CaseReport(
            suite, f"required {required}", came, 0.0, message, text, f"{subject(review)}\n{scope}"
        )


def _cases_today(row: TopicRow) -> Iterator[CaseReport]:
    """A case for each guarantee from each state; one that fails is broken without another fault."""
    suite = f"review {row.topic} today".replace("  ", " ")
    for found in row.review.states_today:
        heading = today.heading(found.state)
        for guarantee in GUARANTEES:
            answer = found.answer(guarantee.name)
            if answer is None:
                continue
            is_broken = answer in row.review.broken_today(found)
            came = CaseStatus.FAILED if is_broken else CaseStatus.PASSED
            came = came if answer.complete or answer.lost_with is not None else CaseStatus.ERROR
            message = "" if came is CaseStatus.PASSED else today.says(answer)
            text = f"{heading}\n{today.says(answer)}\n{today.advice(found)}"
            name = f"{guarantee.name} of partition {found.state.partition.number}"
            yield CaseReport(suite, name, came, 0.0, message, _story(answer), text)


def _findings_today(row: TopicRow) -> Iterator[Finding]:
    """A finding at the line of each partition that is not well."""
    for found in row.review.states_today:
        state = found.state
        unmet = [str(each) for each in row.review.required if found.met(each) is False]
        is_worse = bool(row.review.broken_today(found))
        level = Severity.ERROR if is_worse or unmet else Severity.WARNING
        lost = [answer for name in NAMES if (answer := found.answer(name)) and answer.lost_with is not None]
        parts = [today.heading(state), *map(today.says, lost), *(f"required: {each}" for each in unmet)]
        place = FilePlace(state.source, state.partition.span)
        first = today.first_loss_of(found)
        stages = () if first is None else _stages(first, place)
        message = "; ".join((*parts, today.advice(found)))
        yield Finding(TODAY, level, message, place, row.topic, run=stages)


def _says(answer: Answer | None) -> str:
    """The answer in a sentence."""
    return "this cannot happen under this configuration" if answer is None else sentence(answer)


def _story(answer: Answer) -> str:
    """The run of an answer in sentences."""
    if answer.loss is None:
        return ""
    return plain([*story(sentence(answer), [answer.loss], WIDTH, least=answer.is_exact)])


def _findings(row: TopicRow, files: Sequence[str]) -> Iterator[Finding]:
    """A finding for each guarantee that is lost, or not known to survive what it must."""
    review = row.review
    for guarantee in GUARANTEES:
        answer, _ = review.verdict(guarantee.name)
        required = [each for each in review.required if each.guarantee == guarantee]
        met = [review.met(each) for each in required]
        if answer is None or (answer.lost_with is None and answer.complete and all(met)):
            continue
        level = Severity.ERROR if False in met else Severity.WARNING
        wanted = [str(each) for each, kept in zip(required, met, strict=True) if not kept]
        place, more = _place(review, answer, files), _remedies(review, answer)
        parts = [
            f"{subject(review)}: {says(review, guarantee)}",
            *(f"required: {each}" for each in wanted),
            *more,
        ]
        yield Finding(_rule(guarantee), level, "; ".join(parts), place, row.topic, run=_stages(answer, place))


def _remedies(review: Review, answer: Answer) -> list[str]:
    """The remedies of a loss in words, if they were searched for."""
    if answer is not review.loss or review.remedies is None or not review.remedies.found:
        return []
    about = circumstances(review.settings)
    texts = [
        " and ".join(in_words(change, about).what for change in remedy.changes)
        for remedy in review.remedies.found
    ]
    return [f"prevented by {' or '.join(texts)}"]


def _place(review: Review, answer: Answer, files: Sequence[str]) -> FilePlace:
    """The file and line of the setting that a remedy changes, else of one that matters, else a file."""
    remedies: Sequence[Remedy] = review.remedies.found if review.remedies is not None else ()
    switches = [change.switch for remedy in remedies for change in remedy.changes] if answer.loss else []
    keys = [FACTOR if switch == REPLICAS else entry(switch).key_name for switch in switches]
    topic = review.settings.topic
    origins = {found.key: found.origin for found in review.settings.used}
    for key in (*keys, *TELLING):
        if key == FACTOR and topic is not None and topic.replication_factor is not None:
            return FilePlace(topic.source, topic.span)
        origin = origins.get(key or "")
        if origin is not None:
            return FilePlace(origin.source, origin.span)
    return FilePlace(Source(files[0], ""))


def _stages(answer: Answer, place: FilePlace) -> tuple[RunStage, ...]:
    """The steps of the run of an answer, all located at the finding."""
    if answer.loss is None:
        return ()
    texts = [
        f"fault: {each.says}" if each.kind is Kind.FAULT else each.says for each in sentences(answer.loss)
    ]
    return tuple(RunStage(each, place) for each in (*texts, outcome(answer.loss)))
