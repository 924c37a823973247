"""The verdict card: what was asked, what is the answer, how sure, and what to make of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from counterexamples.itf.write import digest
from counterexamples.lines import BETWEEN, Line, Piece, Role, count, line, packed, wrapped
from modelcheck.answers.interchange import partial_order_words, symmetry_words
from modelcheck.answers.matrix import proof_words, reach_words, switch_words
from modelcheck.contract.assessment import NOT_EXPECTED, assess, is_expected, surprises
from modelcheck.contract.expected import wished
from modelcheck.contract.result import End, Holds, Layer, Outcome, Result, Unknown, Violated
from modelcheck.contract.version import VERSION
from modelcheck.contract.wording import (
    budget_words,
    config_words,
    engine_words,
    memory_words,
    partial_words,
    scope_words,
    second_engine_words,
    seconds_words,
    spill_words,
    untested_words,
    verdict_words,
)
from spec.model.ir import Budget

MOST_LAYERS = 8  # of more, the first and the last are shown
LEAST_SHOWN = 1.0  # seconds to get ready, from which on they are shown
LABEL = 11  # columns of what a line of the card is about


def card(
    outcome: Outcome, *, width: int, strict: bool = False, remarks: Sequence[str] = ()
) -> Iterator[Line]:
    """The lines of a check's result card, with further `remarks`."""
    yield from _title(outcome, strict=strict)
    if outcome.check.says:
        yield from wrapped(line("  "), outcome.check.says, width, Role.DIM)
    yield from _partial(outcome, width)
    name_width = max((len(result.property) for result in outcome.findings.results), default=0)
    for result in outcome.findings.results:
        yield from _result(outcome, result, name_width, width)
    if outcome.findings.end is End.ERROR:
        where = "is below" if outcome.findings.error is not None else "could not be shown in time"
        yield from _mark("✗", Role.BAD, f"the model makes an error; the run to it {where}", width)
    reported = {result.property for result in surprises(outcome)}
    by_found: dict[str, list[str]] = {}
    for mismatch in outcome.mismatches:
        if not (mismatch.is_plain and mismatch.about in reported):  # else the property's own line has it
            by_found.setdefault(mismatch.found, []).append(wished(mismatch.wish))
    for found, expected in by_found.items():
        yield from _mark("✗", Role.BAD, f"expected: {', '.join(expected)}; found: {found}", width)
    yield from _facts(outcome, width)
    yield from _notes(outcome, width, strict=strict)
    for remark in remarks:
        yield from wrapped(line("    ", Piece(f"{'note':<{LABEL}}", Role.DIM)), remark, width)


def brief(outcome: Outcome, *, strict: bool = False) -> Line:
    """The card in one line, with the first thing that is not as expected."""
    title = next(_title(outcome, strict=strict))
    if assess(outcome, strict=strict).words != NOT_EXPECTED or not outcome.mismatches:
        return title
    first = outcome.mismatches[0]
    return (*title, Piece(f": {wished(first.wish)}; found: {first.found}"))


def _title(outcome: Outcome, *, strict: bool) -> Iterator[Line]:
    """The title line."""
    found = assess(outcome, strict=strict)
    name = f"{outcome.model.name} · {outcome.check.name}"
    yield line(Piece(name, Role.STRONG), Piece(": "), Piece(found.words, found.role))


def _partial(outcome: Outcome, width: int) -> Iterator[Line]:
    """The lines on an incomplete search."""
    if outcome.findings.end.partial:
        text = (
            f"PARTIAL: {partial_words(outcome.findings)}. What follows is about the part that was searched."
        )
        yield from wrapped(line("  "), text, width, Role.UNSURE)


def _result(outcome: Outcome, result: Result, name_width: int, width: int) -> Iterator[Line]:
    """The lines of a property: mark, name, verdict, and whether it is as expected."""
    match result.verdict:
        case Holds():
            mark, role = "✓", Role.GOOD
        case Violated():
            mark, role = "✗", Role.BAD
        case Unknown():
            mark, role = "?", Role.UNSURE
    label = line("  ", Piece(f"{mark} ", role), Piece(f"{result.property:<{name_width}}", Role.STRONG), "  ")
    text = verdict_words(outcome.model, result)
    expected = is_expected(outcome, result) and not _differs(outcome, result)
    *others, last = wrapped(label, text, width, Role.PLAIN if expected else role)
    yield from others
    yield (*last, Piece("  (as expected)", Role.DIM)) if expected else last


def _differs(outcome: Outcome, result: Result) -> bool:
    """Whether the verdict is as expected except for details."""
    return any(mismatch.about == result.property for mismatch in outcome.mismatches)


def _mark(mark: str, role: Role, text: str, width: int) -> Iterator[Line]:
    """A text after a mark."""
    yield from wrapped(line("  ", Piece(f"{mark} ", role)), text, width, role)


# ----------------------------------------------------------------------- facts


def facts(outcome: Outcome, *, measured: bool = True) -> Iterator[tuple[str, list[str]]]:
    """The scope of the verdicts, and how they were obtained, as labelled texts.

    Without what was `measured`, the seconds and bytes, the same search gives the same card.
    """
    model, check, stats = outcome.model, outcome.check, outcome.findings.stats
    proof = outcome.findings.proof
    everywhere = proof is not None and not proof.within_scope
    yield "within", reach_words(model) if everywhere else scope_words(check.scope)
    yield "config", switch_words(outcome) if everywhere else config_words(model, check)
    if model.faults:
        yield "faults", [_asked(outcome, check.budget)]
    searched = [count(stats.states, "state"), count(stats.transitions, "transition")]
    renamed = outcome.findings.symmetry
    alike = [f"up to renaming {' and '.join(renamed)}"] if renamed else []
    alike += ["by partial order"] if outcome.findings.partial_order else []
    sample = outcome.findings.sample
    if proof is not None:
        yield "proof", proof_words(proof)
    elif outcome.findings.depth is not None:
        yield "searched", [f"runs of up to {count(outcome.findings.depth, 'step')}", "by a solver"]
    elif sample is None:
        yield "searched", [*searched, count(stats.levels, "level"), *alike]
    else:
        walked = [count(sample.runs, "random run"), count(stats.transitions, "step")]
        yield "walked", [*walked, f"{stats.levels - 1:,} in the longest"]
    if len(stats.layers) > 1:
        yield "by faults", _layers(stats.layers)
    if outcome.findings.depth is None:
        yield "cut", [] if proof is not None else _cut(outcome)
    how = [engine_words(outcome.findings), "exact" if sample is None else "random"]
    if measured:
        how += [f"ready in {seconds_words(stats.ready)}"] if stats.ready >= LEAST_SHOWN else []
        how += [seconds_words(stats.seconds), memory_words(stats.memory)]
    yield "engine", [*how, f"modelcheck {VERSION}", f"text {digest(model.source)}"]
    if measured:
        yield "disk", spill_words(outcome.findings.spill)
        yield "second", [*second_engine_words(outcome.findings)]


def _facts(outcome: Outcome, width: int) -> Iterator[Line]:
    """The lines of the card on the scope of the verdicts and how they were obtained."""
    for label, items in facts(outcome):
        if items:
            start = line("    ", Piece(f"{label:<{LABEL}}", Role.DIM))
            yield from packed(start, [line(item) for item in items], width, BETWEEN)


def _asked(outcome: Outcome, budget: Budget) -> str:
    """The faults asked about, and whether more could change the verdicts, in words."""
    words, layers = budget_words(budget), outcome.findings.stats.layers
    verdicts = [result.verdict for result in outcome.findings.results]
    settled = any(isinstance(verdict, Holds) and verdict.extent.faults is None for verdict in verdicts)
    if settled and layers and budget.kinds is None:
        return f"{words}; more than {layers[-1].faults} reach nothing new"
    return words


def _layers(layers: tuple[Layer, ...]) -> list[str]:
    """The number of states with each number of faults, in words."""
    parts = [f"{'≤ ' if layer.faults else ''}{layer.faults}: {layer.states:,}" for layer in layers]
    half = MOST_LAYERS // 2
    return parts if len(parts) <= MOST_LAYERS else [*parts[:half], "…", *parts[-half:]]


def _cut(outcome: Outcome) -> list[str]:
    """The number of steps cut at each bound, or for lack of room where there is none, in words."""
    scope, cut = outcome.check.scope, outcome.findings.stats.cut
    parts = [
        f"{count(n, 'step')} at {name} = {scope.limit(name)}"
        if name not in scope.unbounded
        else f"{count(n, 'step')} for which there was no room for one more {name}"
        for name, n in cut.items()
        if n
    ]
    if parts:
        return parts
    return ["nothing: no step leaves the scope"] if not outcome.findings.end.partial else []


def _notes(outcome: Outcome, width: int, *, strict: bool) -> Iterator[Line]:
    """The lines on suspicious parts of the model: unused ones, and vacuous properties."""
    model, stats = outcome.model, outcome.findings.stats
    for words in symmetry_words(outcome):
        yield from wrapped(line("    ", Piece(f"{'symmetry':<{LABEL}}", Role.DIM)), words, width)
    for words in partial_order_words(outcome):
        yield from wrapped(line("    ", Piece(f"{'reduced':<{LABEL}}", Role.DIM)), words, width)
    role = Role.BAD if strict else Role.UNSURE
    start = line("    ", Piece(f"{'note':<{LABEL}}", role))
    for words in untested_words(model, stats.untested):
        yield from wrapped(start, words, width)
    if stats.unused:
        names = (name + " (fair)" * model.action(name).is_fair for name in stats.unused)
        yield from wrapped(start, f"never happened: {', '.join(names)}", width)
    if stats.unrefused:
        guards = ", ".join(f"{guard} of {action}" for action, guard in stats.unrefused)
        yield from wrapped(start, f"never refused a step: {guards}", width)
