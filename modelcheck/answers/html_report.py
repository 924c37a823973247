"""What checks found, and single runs, as pages: see `counterexamples.html.page`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from counterexamples.html.page import Card, PageItem, Verdict, page
from counterexamples.lines import Role, count
from counterexamples.pictures.selection import ALL, Selection
from counterexamples.trace import Erred, Example, Stops, Trace
from modelcheck.answers.card import facts
from modelcheck.answers.matrix import shown_steps
from modelcheck.contract.assessment import assess, is_expected
from modelcheck.contract.engine import Limits
from modelcheck.contract.exits import Exit
from modelcheck.contract.expected import wished
from modelcheck.contract.result import End, Holds, Outcome, Result, Unknown, Violated
from modelcheck.contract.wording import (
    budget_words,
    partial_words,
    untested_words,
    verdict_words,
    way_words,
)
from modelcheck.diagnosis.distinct.text import cost_words, extent_words
from modelcheck.diagnosis.explain import explain

LOOKED_AT = Limits(states=5_000)  # for an explanation; no seconds, so that a page is the same every time

AS_EXPECTED = "the check comes out as its author expects"  # of a run that is bad, too


def trace_page(trace: Trace, *, command: str = "", selection: Selection = ALL) -> str:
    """The HTML page about one run, with what a selection shows of it."""
    about = f"{trace.model.name} · {trace.check}" if trace.check else trace.model.name
    claims = trace.property and not isinstance(trace.ending, Stops)
    title = f"{about}: {trace.property}" if claims else about
    role = Role.UNSURE if isinstance(trace.ending, Stops) else _role(trace)
    shown = replace(item(trace, title, trace.headline(), role, command), selection=selection)
    return page([shown], title=title)


def outcomes_page(outcomes: Sequence[Outcome], commands: Sequence[str], *, strict: bool = False) -> str:
    """The HTML page about checks: cards and runs; `commands` repeat each."""
    items: list[PageItem] = []
    cards = []
    for outcome, command in zip(outcomes, commands, strict=True):
        places: dict[str, int] = {}
        for name, shown in (*_shown(outcome, command), *_obstacles(outcome, command)):
            places.setdefault(name, len(items))
            items.append(shown)
        cards.append(_card(outcome, places, command, strict=strict))
    return page(items, title=_title(outcomes, strict=strict), cards=cards)


def item(trace: Trace, title: str, verdict: str, role: Role, command: str, budget: str = "") -> PageItem:
    """A run as a page item with its explanation, which costs up to a few thousand states."""
    return PageItem(title, verdict, role, trace, explain(trace, LOOKED_AT), command, budget)


def _title(outcomes: Sequence[Outcome], *, strict: bool) -> str:
    """The page's title."""
    if len(outcomes) == 1:
        return f"{outcomes[0].model.name} · {outcomes[0].check.name}"
    codes = [assess(outcome, strict=strict).exit for outcome in outcomes]
    words = {Exit.EXPECTED: "as expected", Exit.VIOLATED: "not as expected", Exit.UNKNOWN: "unknown"}
    parts = [f"{codes.count(code)} {texts}" for code, texts in words.items() if code in codes]
    return ": ".join(filter(None, (count(len(outcomes), "check"), ", ".join(parts))))


def _role(trace: Trace) -> Role:
    """The colour of a run."""
    return Role.GOOD if isinstance(trace.ending, Example) else Role.BAD


def _shown(outcome: Outcome, command: str) -> Iterator[tuple[str, PageItem]]:
    """Every run that an outcome shows, by property; an error of the model has no name."""
    about, budget = f"{outcome.model.name} · {outcome.check.name}", budget_words(outcome.check.budget)
    error = outcome.findings.error
    if error is not None:
        message = error.ending.message if isinstance(error.ending, Erred) else error.headline()
        yield "", item(error, f"{about}: the model makes an error", message, Role.BAD, command, budget)
    for result in outcome.findings.results:
        ways = outcome.ways(result.property)
        match result.verdict:
            case Violated() if ways is not None:
                for number, run in enumerate(ways.runs, 1):
                    title = f"{about}: {way_words(ways, number)}"
                    words = f"violated with {cost_words(run)}"
                    yield result.property, item(run, title, words, _role(run), command, budget)
            case Violated(trace=trace) | Holds(example=trace) if trace is not None:
                words = verdict_words(outcome.model, result)
                yield (
                    result.property,
                    item(trace, f"{about}: {result.property}", words, _role(trace), command, budget),
                )
            case _:
                pass


# ------------------------------------------------------------------------- the card


def _card(outcome: Outcome, places: Mapping[str, int], command: str, *, strict: bool) -> Card:
    """The card of an outcome."""
    found = assess(outcome, strict=strict)
    return Card(
        f"{outcome.model.name} · {outcome.check.name}",
        AS_EXPECTED if found.exit is Exit.EXPECTED and outcome.check.expect else found.words,
        found.role,
        outcome.check.says or "",
        verdicts=tuple(_verdicts(outcome, places)),
        facts=tuple((label, tuple(items)) for label, items in facts(outcome, measured=False) if items),
        remarks=tuple(_remarks(outcome)),
        command=command,
    )


def _verdicts(outcome: Outcome, places: Mapping[str, int]) -> Iterator[Verdict]:
    """The verdicts on a card."""
    for result in outcome.findings.results:
        words = verdict_words(outcome.model, result)
        if is_expected(outcome, result):
            words = f"{words} (as expected)"
        yield Verdict(result.property, words, _standing_of(result), places.get(result.property))
    if outcome.findings.end is End.ERROR:
        yield Verdict("the model", "makes an error", Role.BAD, places.get(""))


def _obstacles(outcome: Outcome, command: str) -> Iterator[tuple[str, PageItem]]:
    """The steps that prevent a proof, by claim; they may be unreachable."""
    about = f"{outcome.model.name} · {outcome.check.name}"
    for cell, steps in shown_steps(outcome):
        title = f"{about}: {cell.claim} {cell.place}, not a run"
        yield cell.claim, item(steps, title, steps.headline(), Role.UNSURE, command)


def _standing_of(result: Result) -> Role:
    """The colour of a result."""
    match result.verdict:
        case Holds():
            return Role.GOOD
        case Violated():
            return Role.BAD
        case Unknown():
            return Role.UNSURE


def _remarks(outcome: Outcome) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Remarks on incomplete searches, unmet expectations, and unused parts."""
    found = outcome.findings
    if found.end.partial:
        yield "Partial", (f"{partial_words(found)}. The results apply only to the part that was searched.",)
    if outcome.mismatches:
        texts = (f"expected: {wished(each.wish)}; found: {each.found}" for each in outcome.mismatches)
        yield "Not as the check expects", tuple(texts)
    for ways in outcome.distinct:
        yield f"{count(len(ways.runs), 'way')} to violate {ways.property}", tuple(extent_words(ways))
    if found.stats.untested:
        yield (
            "Not put to the test",
            tuple(untested_words(outcome.model, found.stats.untested)),
        )
    if found.stats.unused:
        yield "Never happened", (", ".join(found.stats.unused),)
    if found.stats.unrefused:
        texts = (f"{guard} of {action}" for action, guard in found.stats.unrefused)
        yield "Never refused a step", (", ".join(texts),)
