"""A review for programs; `schema.json` next to this file describes it."""

from __future__ import annotations

from collections.abc import Sequence

import modelcheck.kafka.report.also_text as also
import modelcheck.kafka.report.controllers_text as controllers
import modelcheck.kafka.report.outages_text as outages
import modelcheck.kafka.report.today_text as today
from modelcheck.kafka.questions.answers import Answer
from modelcheck.kafka.questions.cases import AnsweredCase
from modelcheck.kafka.questions.changes import circumstances, in_words
from modelcheck.kafka.questions.question import GUARANTEES
from modelcheck.kafka.questions.remedies import Remedy, Search
from modelcheck.kafka.questions.review import Review
from modelcheck.kafka.report.cases_text import same_answers
from modelcheck.kafka.report.report import says
from modelcheck.kafka.report.run_text import outcome, sentences_json
from modelcheck.kafka.report.wording import answer_json
from modelcheck.kafka.settings.resolution.settings import Settings

FORMAT = 1  # goes up when a key changes its meaning or goes away


def as_json(review: Review) -> dict[str, object]:
    """The review as JSON data, in the form of the schema."""
    return {
        "format": FORMAT,
        "settings": review.settings.as_json(),
        "model": {
            "replicas": review.partition.replicas,
            "config": dict(review.partition.config),
            "approximations": list(review.partition.approximations),
        },
        "faults_tried": review.faults,
        "fault_kinds": review.rows,
        "today": today.as_json(review.today, tuple(review.rows)),
        "guarantees": {
            guarantee.name: {
                "says": says(review, guarantee) or None,
                "by_kind": {kind: answer_json(review.answer(guarantee.name, kind)) for kind in review.rows},
            }
            for guarantee in GUARANTEES
        },
        "possible": [_case(row.case, row.settings) for row in same_answers(review)],
        "availability": None if review.outage is None else outages.as_json(review.outage),
        "controllers": None if review.quorum is None else controllers.as_json(review.quorum, review.outage),
        "also": also.as_json(review.also),
        "first_loss": _loss(review.loss),
        "remedies": _search(review.remedies, review),
        "required": [
            {"requirement": str(each), "met": review.met(each), **({"by": each.by} if each.by else {})}
            for each in review.required
        ],
        "exempted": list(review.exempted),
        "complete": review.complete,
        "ended": review.ended or None,
        "seconds": round(review.seconds, 3),
    }


def _case(case: AnsweredCase, settings: Sequence[Settings]) -> dict[str, object]:
    """A case that the files leave possible as JSON data, with its answers."""
    return {
        "in": [
            {
                "kafka": str(each.version.value),
                "controller": str(each.switches.controller.value),
                "eligible_leader_replicas": each.switches.eligible_leader_replicas.value,
            }
            for each in sorted(settings, key=lambda one: one.version.value)
        ],
        "guarantees": {each.name: answer_json(case.answer(each.name)) for each in GUARANTEES},
    }


def _loss(answer: Answer | None) -> dict[str, object] | None:
    """The run of an answer as JSON data."""
    if answer is None or answer.loss is None:
        return None
    trace = answer.loss
    return {
        "guarantee": answer.guarantee.name,
        "property": trace.property,
        "faults": dict(trace.fault_counts()),
        "steps": sentences_json(trace),
        "outcome": outcome(trace),
    }


def _search(search: Search | None, review: Review) -> dict[str, object] | None:
    """The search for remedies as JSON data."""
    if search is None:
        return None
    return {
        "found": [_remedy(each, review) for each in search.found],
        "only_the_run": search.only_the_run,
        "checked": search.tried,
        "candidates": search.candidates,
    }


def _remedy(remedy: Remedy, review: Review) -> dict[str, object]:
    """One remedy as JSON data."""
    changes = [in_words(change, circumstances(review.settings)) for change in remedy.changes]
    return {
        "changes": [
            {"setting": each.what, "needs": each.needs or None, "upgrade": each.upgrade} for each in changes
        ],
        "writes_go_on": remedy.goes_on,
        "after": {answer.guarantee.name: answer_json(answer) for answer in remedy.after} or None,
        "waits_for": dict(zip(("least", "most"), remedy.waits_for, strict=True)),
    }
