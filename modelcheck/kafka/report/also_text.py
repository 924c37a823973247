"""What was asked on request, in sentences with their runs and in plain values, and what was not asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from counterexamples.lines import Line, Piece, Role, count, line, wrapped
from modelcheck.kafka.questions.also.findings import ALL, SUBJECTS, SubjectCase, SubjectFindings
from modelcheck.kafka.report.run_text import sentences_json, story
from modelcheck.kafka.report.wording import faults_of

OPTION = "--also"
NAMED = 2  # subjects in the line that shows how to ask: for more it is `all`, to keep it one line
TITLE = "Asked as well"
_BREAKS = {
    "durable": "acknowledged records can be lost",
    "writable": "writes can stop until somebody repairs something",
    "ends": "the move cannot end until somebody repairs something",
    "led": "no replica may lead until somebody repairs something",
    "whole": "a transaction can end otherwise than the producer asked for or was answered",
    "closed": "a transaction can stay open, for whose end readers of committed records wait",
    "goes_on": "the producer can be refused for good",
    "reads_on": "a consumer can be stuck until a follower is repaired",
    "committed": "a consumer can be given records that are not committed",
}
# Faults that the model of one partition does not have.
_FAULTS = {
    "part": "a broken link",
    "deafen": "a deaf broker",
    "hide": "a hidden broker",
    "blackout": "a power failure",
    "wreck": "a lost rack",
    "cut_rack": "a cut-off rack",
    "fail_directory": "a failed directory",
    "write_fails": "a failed write",
    "hold_up_end": "a late request to commit or abort",
    "hold_up_record": "a late record",
    "stop": "a follower that stops",
}
_HOLDS = {
    "durable": "acknowledged records survive",
    "writable": "writes continue",
    "ends": "the move can end",
    "led": "a replica leads",
    "whole": "transactions end as the producer asked for and was answered",
    "closed": "no transaction stays open",
    "goes_on": "the producer can continue",
    "reads_on": "consumers keep reading",
    "committed": "consumers are given committed records alone",
}


def says(case: SubjectCase) -> str:
    """The answer in one sentence: "clients do not reach a broker: with 1 fault writes can stop: …"."""
    loss = case.loss
    if loss is None and case.survived >= 0:
        short = "" if case.complete else "; more is not known, the search was cut short"
        least = f"with up to {count(case.survived, 'fault')}" if case.survived else "without faults"
        return f"{case.asks}: {_HOLDS[case.what]} {least}{short}"
    if loss is None:
        return f"{case.asks}: not known, the search was cut short"
    least = "" if case.survived == loss.faults - 1 else " (whether with fewer, is not known)"
    least += ", as without that" if case.without is not None and case.without <= loss.faults else ""
    if loss.faults == 0:
        return f"{case.asks}: {_BREAKS[case.what]} without any fault{least}"
    broken = f"with {count(loss.faults, 'fault')} {_BREAKS[case.what]}"
    return f"{case.asks}: {broken}: {faults_of(loss, _FAULTS)}{least}"


def mark(case: SubjectCase) -> tuple[str, Role]:
    """The mark of an answer: ✓ nothing tried breaks it, ✗ something does, ? unknown."""
    if case.loss is not None:
        return "✗", Role.BAD
    return ("✓", Role.GOOD) if case.complete else ("?", Role.UNSURE)


def lines(found: Sequence[SubjectFindings], width: int) -> Iterator[Line]:
    """The report on the subjects: the cases of each, then the runs that break some."""
    for asked in found:
        yield line(Piece(_title(asked), Role.STRONG))
        first = max((len(case.what) for case in asked.cases), default=0)
        for case in asked.cases:
            sign, role = mark(case)
            label = line("  ", Piece(f"{sign} ", role), Piece(f"{case.what:<{first}}  ", Role.STRONG))
            yield from wrapped(label, says(case), width)
        for taken in asked.assumed:
            yield from wrapped(line("    "), f"Assumed: {taken}.", width, Role.DIM)
        for note in asked.notes:
            yield from wrapped(line("    "), f"Not asked: {note}.", width, Role.DIM)
        yield ()
        for case in asked.cases:
            if case.loss is not None:
                title = f"How: {case.asks}"
                yield from story(title, [case.loss], width, least=case.survived == case.loss.faults - 1)
                yield ()


def _title(asked: SubjectFindings) -> str:
    """The heading of a subject."""
    return f"{asked.subject.title[0].upper()}{asked.subject.title[1:]} ({asked.subject.file})"


def not_asked(found: Sequence[SubjectFindings], width: int, *, verbose: bool) -> Iterator[Line]:
    """What was not asked about this configuration, and how to ask; `verbose` lists all."""
    asked = [each.subject for each in found]
    left = [subject for subject in SUBJECTS if subject not in asked]
    if verbose:
        yield line(Piece("Not asked", Role.STRONG))
        for subject in left:
            text = f"bears on {' and '.join(subject.touches)}; {subject.file}; {OPTION} {subject.name}"
            yield from wrapped(line(f"  {subject.title}  "), text, max(width, 60), Role.DIM)
        yield ()
    elif left:
        what = ", ".join(subject.short for subject in left)
        names = ALL if len(left) > NAMED else ",".join(subject.name for subject in left)
        option = f"{OPTION} {names}"
        yield from wrapped((), f"Not asked: {what} ({option})", width, Role.DIM)


def as_json(found: Sequence[SubjectFindings]) -> list[dict[str, object]]:
    """The findings as JSON data."""
    return [
        {
            "subject": asked.subject.name,
            "file": asked.subject.file,
            "cases": [_case(case) for case in asked.cases],
            "assumed": list(asked.assumed),
            "notes": list(asked.notes),
        }
        for asked in found
    ]


def _case(case: SubjectCase) -> dict[str, object]:
    """One case as JSON data."""
    return {
        "about": case.what,
        "says": says(case),
        "tried": case.tried,
        "survives": case.survived if case.survived >= 0 else None,
        "lost_with": None if case.loss is None else case.loss.faults,
        "complete": case.complete,
        "lost_without": case.without,
        "run": sentences_json(case.loss),
    }
