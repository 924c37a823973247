"""The answer as JSON."""

from __future__ import annotations

from collections.abc import Sequence

from modelcheck.kafka.incident.explain_log.explanation import Story
from modelcheck.kafka.incident.explain_log.report import PartitionAnswer, cheapest, coverage_words, headline
from modelcheck.kafka.report.run_text import sentences

FORMAT = "modelcheck explain-log 1"


def as_json(answers: Sequence[PartitionAnswer], problems: Sequence[str]) -> dict[str, object]:
    """The whole report as JSON data."""
    return {"format": FORMAT, "partitions": [_answer(each) for each in answers], "problems": list(problems)}


def _answer(answer: PartitionAnswer) -> dict[str, object]:
    """The answer for one partition as JSON data."""
    found = answer.unexplained
    return {
        "topic": answer.place.topic,
        "partition": answer.place.partition,
        "answer": headline(answer),
        "explained": None if answer.story is None else _story(answer.story),
        "cheapest": list(cheapest(answer)),
        "likelier": None if answer.likelier is None else _story(answer.likelier),
        "unknown_from": None
        if answer.judged is None
        else min((found.since for found in answer.judged.untraced), default=None),
        "can_still_be_lost": None if answer.judged is None else answer.judged.at_stake,
        "unexplained": None
        if found is None
        else {"place": found.evidence.place, "says": found.evidence.says, "nearest": list(found.nearest)},
        "from_epoch": None if answer.begins is None else answer.begins.epoch,
        "stuck": None
        if answer.stuck is None
        else {
            "explained": answer.stuck.explained,
            "of": answer.stuck.of,
            "place": None if answer.stuck.evidence is None else answer.stuck.evidence.place,
            "says": None if answer.stuck.evidence is None else answer.stuck.evidence.says,
            "narrower": list(answer.stuck.narrower),
        },
        "refused_by": [
            {"change": each.what, "step": each.step, "guard": each.guard} for each in answer.refusals
        ],
        "coverage": {
            "matched": answer.coverage.matched,
            "ignored": answer.coverage.ignored,
            "unknown": answer.coverage.unknown,
            "damaged": answer.coverage.damaged,
        },
        "lines": {
            "files": answer.written.files,
            "matched": answer.written.lines.matched,
            "ignored": answer.written.lines.ignored,
            "unknown": answer.written.lines.unknown,
            "first_unknown": answer.written.first_unknown,
        },
        "basis": [*coverage_words(answer), *answer.notes, *answer.setting.assumed],
        "end": answer.result.end.value,
    }


def _story(story: Story) -> dict[str, object]:
    """An explained run as JSON data."""
    return {
        "faults": dict(story.trace.fault_counts()),
        "kills_allowed": [number + 1 for number in story.kills.allowed],
        "kills_likely": [number + 1 for number in story.kills.likely],
        "steps": [
            {
                "action": sentence.action,
                "name": sentence.name,
                "says": sentence.says,
                "fault": sentence.action in story.trace.model.faults,
                "evidence": [{"place": each.place, "says": each.says} for each in evidence],
            }
            for sentence, evidence in zip(sentences(story.trace), story.evidence, strict=True)
        ],
        "records": {
            str(record): {"start": interval.start, "end": interval.end}
            for record, interval in story.records.items()
        },
        "lost_already": sum(len(story.records[record]) for record in story.gone),
        "endangered": [
            {"start": story.records[record].start, "end": story.records[record].end}
            for record in story.endangered
        ],
        "lost": [
            {
                "property": loss.property,
                "step": loss.step,
                "holders": list(loss.holders),
                "offsets": [
                    {"start": story.records[record].start, "end": story.records[record].end}
                    for record in loss.records
                ],
            }
            for loss in story.losses
        ],
    }
