"""Outcomes of checks as reports for pipelines."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from counterexamples.lines import plain
from counterexamples.text import WIDTH, story
from counterexamples.trace import Erred, Trace
from modelcheck.answers.card import brief, card
from modelcheck.answers.pipelines.report import (
    CaseReport,
    CaseStatus,
    FilePlace,
    Finding,
    FindingRule,
    Report,
    RunStage,
    Severity,
)
from modelcheck.contract.assessment import assess, is_expected, surprises
from modelcheck.contract.coverage import never_used, untested, unused_words, vacuous
from modelcheck.contract.exits import Exit
from modelcheck.contract.expected import wished
from modelcheck.contract.result import (
    End,
    Holds,
    Outcome,
    Result,
    Unknown,
    UnusedKind,
    UnusedPart,
    Violated,
)
from modelcheck.contract.wording import budget_words, config_words, scope_words, untested_words, verdict_words
from spec.codes import codes
from spec.frozen import frozen
from spec.meaning.semantics import Machine
from spec.model.ir import Check, Model
from spec.source import Span

CAME = {Exit.EXPECTED: CaseStatus.PASSED, Exit.VIOLATED: CaseStatus.FAILED, Exit.UNKNOWN: CaseStatus.ERROR}
MOST_STEPS = 200  # steps of a run
UNEXPECTED = FindingRule("expectation", "A check finds what it expects")
UNUSED = FindingRule("never-happens", "An action that no run takes may be wrong, or its scope too small")
UNTESTED = FindingRule("never-tested", "A part of a property that no state puts to the test holds of nothing")
UNVARIED = FindingRule("never-varied", "A switch that no check varies may be a constant, or miss a check")
UNREFUSED = FindingRule(
    "never-refuses", "A guard that refuses no step may be missing its case, or be superfluous"
)


@frozen
class Unasked:
    """A check that was not run, and why."""

    model: Model
    check: Check
    came: CaseStatus
    why: str


def of_outcomes(
    outcomes: Iterable[Outcome], unasked: Iterable[Unasked] = (), *, strict: bool = False
) -> Report:
    """The outcomes as a report for CI: cases for checks, rules for properties, findings.

    A violation that the check expects is none.  With `strict` it is an error that no check uses a part
    of the model, or that a claim holds of nothing.  Costs the stories of the runs; no search.
    """
    cases, findings, rules = list[CaseReport](), list[Finding](), list[FindingRule]()
    outcomes = list(outcomes)
    unused = never_used(outcomes) if strict else ()
    for outcome in outcomes:
        cases.append(_case(outcome, strict=strict))
        findings += _findings(outcome, strict=strict, unused=frozenset(each.span for each in unused))
        rules += [_rule(outcome.model, result.property) for result in outcome.findings.results]
    for each in unasked:
        cases.append(CaseReport(each.model.name, each.check.name, each.came, message=each.why, text=each.why))
        message = f"{each.model.name} · {each.check.name}: no verdict: {each.why}"
        place = FilePlace(each.model.source, _span(each.check))
        findings.append(Finding(UNEXPECTED, Severity.WARNING, message, place, each.check.name))
    if unused and len(outcomes) > 1:
        why = "; ".join(unused_words(unused))
        cases.append(CaseReport("all checks", "unused parts", CaseStatus.FAILED, message=why, text=why))
        configs = (each for each in unused if each.kind is UnusedKind.CONFIG)
        findings += (_config(each) for each in configs)
    return Report(tuple(cases), tuple(findings), tuple(rules))


def _config(part: UnusedPart) -> Finding:
    """The finding about an unset configuration value."""
    message = f"{part.name} has the same value in every check"
    return Finding(UNVARIED, Severity.ERROR, message, FilePlace(part.source, part.span), part.name)


def _case(outcome: Outcome, *, strict: bool) -> CaseReport:
    """The case of an outcome."""
    came, stats = CAME[assess(outcome, strict=strict).exit], outcome.findings.stats
    summary = plain(card(outcome, width=WIDTH, strict=strict))
    text = summary
    if came is CaseStatus.FAILED:
        text = "\n".join([summary, *(run_text(trace) for trace in _wrong(outcome))])
    message = plain([brief(outcome, strict=strict)]).strip()
    if came is CaseStatus.PASSED:
        message = text = ""
    seconds = stats.seconds + stats.ready
    return CaseReport(outcome.model.name, outcome.check.name, came, seconds, message, text, summary)


def _wrong(outcome: Outcome) -> Iterator[Trace]:
    """The runs to errors and to unexpected results."""
    verdicts = [result.verdict for result in surprises(outcome)]
    runs = [outcome.findings.error, *(each.trace for each in verdicts if isinstance(each, Violated))]
    yield from (run for run in runs if run is not None)


def run_text(trace: Trace) -> str:
    """The story of a run; of a long one only its end."""
    part = range(len(trace.steps) - MOST_STEPS + 1, len(trace.steps) + 1)
    return plain(story(trace, width=WIDTH, part=part if len(trace.steps) > MOST_STEPS else None))


def _findings(outcome: Outcome, *, strict: bool, unused: Collection[Span]) -> Iterator[Finding]:
    """The findings of an outcome."""
    model, check, stats = outcome.model, outcome.check, outcome.findings.stats
    asked = RunStage(f"the check {check.name}", FilePlace(model.source, _span(check)))
    if outcome.findings.error is not None:
        yield _error(outcome, outcome.findings.error)
    unmet = list(outcome.mismatches)
    for result in outcome.findings.results:
        own = [each for each in unmet if each.about == result.property]
        unmet = [each for each in unmet if each not in own]
        surprise = result in surprises(outcome) or is_expected(outcome, result) is False
        wrong = surprise or (own and not isinstance(result.verdict, Unknown))
        if not wrong and not isinstance(result.verdict, Unknown):
            continue
        words = f"{result.property}: {verdict_words(model, result)}{_scope(outcome)}"
        expected = "; ".join(f"expected: {wished(each.wish)}" for each in own if not each.is_plain)
        run = result.verdict.trace if wrong and isinstance(result.verdict, Violated) else None
        yield Finding(
            _rule(model, result.property),
            Severity.ERROR if wrong else Severity.WARNING,
            f"{words}; {expected}" if expected else words,
            _place(model, result, check),
            f"{check.name}.{result.property}",
            (asked,),
            () if run is None else _stages(run),
        )
    if not outcome.findings.end.partial:
        for each in unmet:
            words = wished(each.wish)
            message = f"{model.name} · {check.name}: expected: {words}; found: {each.found}"
            yield Finding(UNEXPECTED, Severity.ERROR, message, asked.place, f"{check.name}.{words}")
    bad = {each.property for each in vacuous(outcome)} if strict else set()
    for result in outcome.findings.results:
        if isinstance(result.verdict, Holds) and result.verdict.vacuous:
            message = f"{result.property}: {verdict_words(model, result)}{_scope(outcome)}"
            place, identity = _place(model, result, check), f"{check.name}.{result.property}"
            yield Finding(UNTESTED, _level(result.property in bad), message, place, identity, (asked,))
    errors = set(untested(outcome)) if strict else set()
    for part in stats.untested:
        (words,) = untested_words(model, [part])
        place, identity = FilePlace(model.source, part.span), f"{check.name}.{part.property}"
        message = f"{words}{_scope(outcome)}"
        yield Finding(UNTESTED, _level(part in errors), message, place, identity, (asked,))
    for name in stats.unused:
        message = f"{name} never happened{_scope(outcome)}"
        place = _action(model, name)
        yield Finding(UNUSED, _level(place.span in unused), message, place, f"{check.name}.{name}", (asked,))
    for name, guard in stats.unrefused:
        message = f"the guard {guard} of {name} never refused a step{_scope(outcome)}"
        place, identity = _guard(model, name, guard), f"{check.name}.{name}.{guard}"
        yield Finding(UNREFUSED, _level(place.span in unused), message, place, identity, (asked,))


def _level(is_error: bool) -> Severity:  # noqa: FBT001 - one of two
    """The severity."""
    return Severity.ERROR if is_error else Severity.NOTE


def _error(outcome: Outcome, run: Trace) -> Finding:
    """The finding about an error of the model, at the expression."""
    place, rule, message = FilePlace(run.model.source), UNEXPECTED, End.ERROR.value
    if isinstance(run.ending, Erred):
        entry = codes()[run.ending.code]
        rule, message = FindingRule(entry.code, entry.title, entry.text), run.ending.message
        place = FilePlace(run.model.source, run.ending.span)
    return Finding(
        rule, Severity.ERROR, f"{message}{_scope(outcome)}", place, outcome.check.name, run=_stages(run)
    )


def _scope(outcome: Outcome) -> str:
    """The scope of a verdict in brackets."""
    return f" ({scope_of(outcome)})"


def scope_of(outcome: Outcome) -> str:
    """The scope of a verdict: "check figure_8 of quorum: Node = 3, …, faults: none"."""
    model, check = outcome.model, outcome.check
    faults = [f"faults: {budget_words(check.budget)}"] if model.faults else []
    words = [*scope_words(check.scope), *config_words(model, check), *faults]
    return f"check {check.name} of {model.name}: {', '.join(words)}"


def _rule(model: Model, name: str) -> FindingRule:
    """The rule of a property."""
    found = next((each for each in model.properties if each.name == name), None)
    kind = "property" if found is None else found.kind.value
    says = "" if found is None or found.says is None else "".join(map(_plain, found.says))
    return FindingRule(f"{model.name}/{name}", f"{kind} {name} of {model.name}", says)


def _plain(part: object) -> str:
    """A part of a `says` sentence, with values left open."""
    return part if isinstance(part, str) else "…"


def _place(model: Model, result: Result, check: Check) -> FilePlace:
    """The place of a result: the property's, or the check's."""
    spans = [each.span for each in model.properties if each.name == result.property]
    return FilePlace(model.source, spans[0] if spans else _span(check))


def _span(check: Check) -> Span | None:
    """The place of the check; None if the command line made it."""
    return check.span if check.span.end else None


def _action(model: Model, name: str) -> FilePlace:
    """The place of an action."""
    return FilePlace(model.source, model.action(name).span)


def _guard(model: Model, name: str, guard: str) -> FilePlace:
    """The place of a guard."""
    action = model.action(name)
    spans = [each.span for each in action.guards if model.guard_name(each) == guard]
    return FilePlace(model.source, spans[0] if spans else action.span)


def _stages(run: Trace) -> tuple[RunStage, ...]:
    """The steps of a run, each at its action."""
    machine = Machine(run.model, run.scope)
    actions = {action.name: action for action in run.model.actions}
    return tuple(
        RunStage(
            machine.says(actions[step.action], step, before) or machine.name(step),
            FilePlace(run.model.source, actions[step.action].span),
        )
        for step, before in zip(run.steps[:MOST_STEPS], run.states, strict=False)
    )
