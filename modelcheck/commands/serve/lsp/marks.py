"""The verdicts of checks, in the few words that an editor shows next to a text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import assert_never

import spec.model.ir as ir
import spec.syntax.tree as s
from modelcheck.commands.serve.lsp.running import CheckAnswer, Failed, State, Waits
from modelcheck.contract.exits import Exit
from modelcheck.contract.expected import plural, wished
from spec.elaboration.checks import expectation
from spec.frozen import frozen
from spec.source import Span

SIGNS = {Exit.EXPECTED: "✓", Exit.VIOLATED: "✗", Exit.UNKNOWN: "?", Exit.WRONG: "?", Exit.BUG: "?"}
LONGEST = 90  # characters of what is expected, in a line above a check
States = Mapping[str, State | None]


@frozen
class TextMark:
    """A mark at a place in the text, with its explanation; perhaps a warning."""

    span: Span
    sign: str
    says: str
    is_wrong: bool = False


def expects(check: s.CheckDecl) -> str:
    """A check's expectations in a few words."""
    parts = [wished(each) for each in _expectations(check).values()]
    text = "; ".join(parts) or "nothing"
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def verdict(state: State) -> str:
    """A check's result in a few words: verdict, states and seconds."""
    match state:
        case Waits():
            return "running …"
        case Failed(why):
            return f"? {why.splitlines()[0]}"
        case CheckAnswer(exit_, _, data):
            stats = data["stats"]
            seconds = stats["seconds"] + stats.get("ready", 0)
            texts = [
                f"{SIGNS[Exit(exit_)]} {data['summary']}",
                plural(stats["states"], "state"),
                f"{seconds:.1f} s",
            ]
            return " · ".join(texts)
        case _:
            assert_never(state)


def marks(tree: s.Protocol | s.GoesOn, states: States) -> Iterator[TextMark]:
    """A mark for each expectation of answered checks, and for each of their properties."""
    by_property: dict[str, list[tuple[str, str, str]]] = {}
    for item in tree.items:
        state = states.get(item.name.text) if isinstance(item, s.CheckDecl) else None
        if not isinstance(item, s.CheckDecl) or not isinstance(state, CheckAnswer):
            continue
        for span, wish in _expectations(item).items():
            yield _of_expectation(span, wish, state)
        for each in state.data["properties"]:
            mark = (_sign(each), item.name.text, each["words"])
            by_property.setdefault(each["name"], []).append(mark)
    for declared in _properties(tree):
        answers = by_property.get(declared.name.text)
        if answers:
            yield _of_property(declared.name.span, answers)


def _expectations(check: s.CheckDecl) -> dict[Span, ir.Expect]:
    """The expectations of a check by their spans."""
    clauses = (clause for clause in check.clauses if isinstance(clause, s.ExpectClause))
    return {item.span: expectation(item) for clause in clauses for item in clause.items}


def _of_expectation(span: Span, wish: ir.Expect, answer: CheckAnswer) -> TextMark:
    """The mark for an expectation."""
    mismatch = next((m for m in answer.data["mismatches"] if m["expected"] == wished(wish)), None)
    if mismatch is None:
        return TextMark(span, SIGNS[Exit.EXPECTED], "as expected")
    found = mismatch["found"]
    if not mismatch["known"]:
        return TextMark(span, SIGNS[Exit.UNKNOWN], found)
    says = f"expected: {wished(wish)}; found: {found}"
    return TextMark(span, SIGNS[Exit.VIOLATED], says, is_wrong=True)


def _sign(result: Mapping[str, str | bool | None]) -> str:
    """The sign whether a property is as expected, or without expectation not violated."""
    if result["verdict"] == "unknown":
        return SIGNS[Exit.UNKNOWN]
    is_right = result["verdict"] != "violated" if result["expected"] is None else result["expected"]
    return SIGNS[Exit.EXPECTED if is_right else Exit.VIOLATED]


def _of_property(span: Span, answers: list[tuple[str, str, str]]) -> TextMark:
    """The mark for a property with all its results, by the worst."""
    found = {sign for sign, _, _ in answers}
    by_weight = (SIGNS[Exit.VIOLATED], SIGNS[Exit.UNKNOWN], SIGNS[Exit.EXPECTED])
    worst = next(sign for sign in by_weight if sign in found)
    return TextMark(span, worst, "\n".join(f"{check}: {words}" for _, check, words in answers))


def _properties(tree: s.Protocol | s.GoesOn) -> Iterator[s.PropertyDecl]:
    """The declarations of properties."""
    for item in tree.items:
        match item:
            case s.PropertyDecl():
                yield item
            case s.VariantDecl(_, _, items):
                for inner in items:
                    each = inner.item if isinstance(inner, s.Replace) else inner
                    if isinstance(each, s.PropertyDecl):
                        yield each
            case _:
                pass
