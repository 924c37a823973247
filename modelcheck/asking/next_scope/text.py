"""What checks answer at larger scopes, in words and as plain values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from counterexamples.lines import Line, Piece, Role, count, line, wrapped
from modelcheck.answers.outcome_json import trace_json
from modelcheck.asking.next_scope.answers import ChangedAnswer, LargerAnswer
from modelcheck.asking.next_scope.search import NextScopeRow
from modelcheck.contract.assessment import MARKS
from modelcheck.contract.exits import Exit

Json = dict[str, object]
Sentence = tuple[str, str, Role]  # its label and its text
WORDS = {
    Exit.EXPECTED: "with the same answers at the next scope",
    Exit.VIOLATED: "with other answers",
    Exit.UNKNOWN: "not finished",
    Exit.WRONG: "that cannot start",
}
AS_IT_IS = "violated or not as expected at its own scope"


def exit_of(row: NextScopeRow, *, strict: bool = False) -> Exit:
    """The exit code for one check: VIOLATED where a larger bound changes an answer, UNKNOWN where one may.

    With `strict` an `exactly` in a scope that changes nothing is VIOLATED too.
    """
    if row.exit is not Exit.EXPECTED:
        return row.exit
    if row.changed or (strict and row.idle):
        return Exit.VIOLATED
    return Exit.UNKNOWN if row.why or row.unfinished else Exit.EXPECTED


def lines_of(
    row: NextScopeRow, width: int, *, strict: bool = False, everything: bool = False
) -> Iterator[Line]:
    """The lines on a check and its larger scopes; with `everything` also how each is known."""
    mark, role = MARKS.get(exit_of(row, strict=strict), MARKS[Exit.UNKNOWN])
    title = f"{row.model.name} · {row.check.name}"
    yield from wrapped(line(Piece(f"{mark} ", role), Piece(title, Role.STRONG)), f": {_verdict(row)}", width)
    for label, words, how in [*_findings(row, strict=strict), *(_details(row) if everything else ())]:
        yield from wrapped(line("    ", Piece(f"{label:<11}", Role.DIM)), words, width, how)


def _verdict(row: NextScopeRow) -> str:
    """The result for a check in a sentence."""
    if row.why:
        return f"not asked at a larger scope: {row.why}"
    larger = _at_larger(row)
    return larger if row.exit is Exit.EXPECTED else f"{row.own}; {larger}"


def _at_larger(row: NextScopeRow) -> str:
    """The result at larger scopes in words."""
    if row.changed:
        return "other answers with larger bounds"
    if row.unfinished:
        return "not finished with every larger bound"
    free = [each for each in row.answers if not row.is_declared(each) and not each.problem]
    if len(free) > 1:
        which = "each other bound" if row.check.exact else "each bound"
        return f"the same with {which} one larger, alone and together"
    return f"the same with {_with(row, free[0])}" if free else "no bound can be larger"


def _findings(row: NextScopeRow, *, strict: bool) -> Iterator[Sentence]:
    """The sentences on larger scopes: changes first."""
    for answer in row.changed:
        yield "changes", f"with {_with(row, answer)}, {_changes(answer)}", Role.BAD
    open_: dict[str, list[str]] = defaultdict(list)
    for answer in row.unfinished:
        open_[answer.unfinished].append(_with(row, answer))
    for why, names in open_.items():
        yield "unfinished", f"{'; '.join(names)}: {why}", Role.UNSURE
    for answer in row.answers:
        if row.is_declared(answer) and answer.changes:
            yield (
                "exact",
                f"{_exactly(row, answer)}; with {_with(row, answer)}, {_changes(answer)}",
                Role.PLAIN,
            )
    for name in row.idle:
        own = row.check.scope.size(name)
        words = f"{name} = exactly {own}, though with {name} = {own + 1} nothing changes"
        yield "exact", words, Role.BAD if strict else Role.PLAIN
    if row.changed or row.unfinished:
        kept = [_with(row, each) for each in row.confirmed if not row.is_declared(each)]
        if kept:
            yield "the same", "; ".join(kept), Role.PLAIN


def _details(row: NextScopeRow) -> Iterator[Sentence]:
    """The sentences on how each larger scope is known."""
    for answer in row.answers:
        if answer.problem:
            yield "none", f"{_with(row, answer)}: {answer.problem}", Role.DIM
        elif answer.is_same:
            shown = [f"{each.property} {each.now}, here it {each.was}" for each in answer.lengths]
            how = answer.because or f"{count(answer.states, 'state')} searched"
            yield "known", "; ".join([f"{_with(row, answer)}: {how}", *shown]), Role.DIM


def _with(row: NextScopeRow, answer: LargerAnswer) -> str:
    """The larger bounds as a check would write them, or that all are larger."""
    every = [each.names for each in row.answers if len(each.names) > 1 and not row.is_declared(each)]
    if answer.names in every:
        return "all together" if not row.check.exact else "all others together"
    return ", ".join(f"{name} = {row.check.scope.size(name) + 1}" for name in answer.names)


def _changes(answer: LargerAnswer) -> str:
    """The changed verdicts in words."""
    return ", ".join(f"{each.property} {each.now}; here it {each.was}".strip() for each in answer.changes)


def _exactly(row: NextScopeRow, answer: LargerAnswer) -> str:
    """The larger bounds that the check declares exact, as it writes them."""
    names = (name for name in answer.names if name in row.check.exact)
    return ", ".join(f"{name} = exactly {row.check.scope.size(name)}" for name in names)


def _result(row: NextScopeRow, *, strict: bool) -> str:
    """The words for checks with such a result."""
    is_own = row.exit is Exit.VIOLATED and not row.changed
    return AS_IT_IS if is_own else WORDS[exit_of(row, strict=strict)]


def summary(rows: Sequence[NextScopeRow], wanted: int, width: int, *, strict: bool = False) -> Iterator[Line]:
    """The number of checks by result, in sentences."""
    found = [_result(row, strict=strict) for row in rows]
    parts = [f"{found.count(words)} {words}" for words in (*WORDS.values(), AS_IT_IS) if words in found]
    asked = count(wanted, "check")
    if len(rows) < wanted:
        asked = f"PARTIAL: {len(rows)} of {asked}"
    yield ()
    yield line(f"{asked}: {', '.join(parts)}" if parts else asked)
    for name, own in [(name, row.check) for row in rows for each in row.changed for name in each.names][:1]:
        hint = f"if a check asks about this number alone, write `{name} = exactly {own.scope.size(name)}`"
        yield from wrapped((), hint, width, Role.DIM)


# ------------------------------------------------------------------------ for programs


def as_json(rows: Sequence[NextScopeRow], wanted: int, *, strict: bool = False) -> Json:
    """The rows as JSON data."""
    return {"checks": [_row(row, strict=strict) for row in rows], "unanswered": wanted - len(rows)}


def _row(row: NextScopeRow, *, strict: bool) -> Json:
    """A row as JSON data."""
    return {
        "model": row.model.name,
        "check": row.check.name,
        "exit": int(exit_of(row, strict=strict)),
        "states": row.states,
        "not_asked": row.why or None,
        "exact": list(row.check.exact),
        "larger": [_answer(row, each) for each in row.answers],
    }


def _answer(row: NextScopeRow, answer: LargerAnswer) -> Json:
    """A larger scope as JSON data."""
    if answer.problem:
        verdict = "none"
    elif answer.changes:
        verdict = "changed"
    else:
        verdict = "unfinished" if answer.unfinished else "same"
    return {
        "scope": {name: row.check.scope.size(name) + 1 for name in answer.names},
        "answer": verdict,
        "declared": row.is_declared(answer),
        "because": answer.because or answer.problem or answer.unfinished or None,
        "states": answer.states,
        "changes": [
            _change(each) | {"trace": None if each.run is None else trace_json(each.run)}
            for each in answer.changes
        ],
        "lengths": [_change(each) for each in answer.lengths],
    }


def _change(change: ChangedAnswer) -> Json:
    """A change as JSON data."""
    return {"property": change.property or None, "was": change.was, "now": change.now}
