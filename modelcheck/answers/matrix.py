"""What a prover did, in words: for which scopes, how much of it is proved, and where it is stuck."""

from __future__ import annotations

from collections.abc import Iterator

import spec.model.types as t
from counterexamples.lines import Line, Piece, Role, count, line, wrapped
from counterexamples.text import bounds, story
from counterexamples.trace import Trace
from modelcheck.contract.proof import ObligationCell, ObligationStatus, Proof
from modelcheck.contract.result import Outcome
from modelcheck.contract.wording import seconds_words, setting_words, switches_set
from spec.meaning.semantics import Machine
from spec.model.ir import Model
from spec.model.values import ModelError

MARKS = {ObligationStatus.PROVED: "✓", ObligationStatus.FAILED: "✗", ObligationStatus.UNKNOWN: "?"}
MOST_SHOWN = 3  # steps that break a claim
FALSE_AT_THE_START = "it is false there, in the scope of the check too, so nothing can be proved with it"


def reach_words(model: Model) -> list[str]:
    """The scopes that a proof covers, as far as assumptions restrict them."""
    sorts = [f"any number of {sort.name}" for sort in model.sorts]
    nats = [f"{nat.name} without bound" for nat in model.nats]
    numbers = [f"any {entry.name} that the model allows" for entry in model.configs if _is_number(entry.type)]
    assumed = [f"where {each.name} is true" for each in model.assumes]
    return [*sorts, *nats, *numbers, *assumed]


def switch_words(outcome: Outcome) -> list[str]:
    """The switches (other than numbers) that a proof is for."""
    numbers = {entry.name for entry in outcome.model.configs if _is_number(entry.type)}
    switches = switches_set(outcome.model, outcome.check)
    return setting_words(each for each in switches if each[0] not in numbers)


def _is_number(of: t.Type) -> bool:
    """Whether a type is of several numbers, of which a proof is about each."""
    return isinstance(of, t.Range) and of.lo < of.hi


def proof_words(proof: Proof) -> list[str]:
    """How much is proved, in words, and whether the obligations are decidable."""
    if proof.found is not None:
        needed = count(len(proof.found), "lemma") if proof.found else "no lemma"
        return [f"an inductive invariant, with {needed}", "checked again", proof.solver]
    cells = [*proof.cells, *proof.dropped]
    proved = sum(cell.kept is ObligationStatus.PROVED for cell in cells)
    sure = sum(cell.decidable for cell in proof.cells)
    words = [f"{proved} of {count(len(cells), 'obligation')} proved", proof.solver]
    if proof.steps > 1:
        words.append(f"by induction over {proof.steps} steps")
    if proof.cells and not proof.within_scope:
        outside = "all" if not sure else f"{len(proof.cells) - sure}"
        words.append(f"{outside} outside the decidable fragment" if sure < len(proof.cells) else "decidable")
    return words


def matrix(outcome: Outcome, width: int) -> Iterator[Line]:
    """The table of claims and actions, with a mark for each obligation."""
    proof = outcome.findings.proof
    if proof is None:
        return
    yield from (line(lemma) for lemma in proof.found or ())
    cells = [*proof.cells, *proof.dropped]
    if not cells:
        return
    claims = [*dict.fromkeys(cell.claim for cell in cells)]
    actions = [*dict.fromkeys(cell.action for cell in cells if cell.action is not None)]
    longest = max(map(len, claims), default=0)
    found = {(cell.claim, cell.action): cell for cell in cells}
    yield line(Piece("proved for each claim at the start ✓, then after each of:", Role.DIM))
    yield from wrapped(line("  "), ", ".join(actions), width, Role.DIM)
    for claim in claims:
        row = [found.get((claim, action)) for action in (None, *actions)]
        marks = "".join(" " if cell is None else MARKS[cell.kept] for cell in row)
        spent = sum(cell.seconds for cell in row if cell is not None)
        yield line(
            "  ",
            Piece(f"{claim:<{longest}}  ", Role.STRONG),
            marks,
            Piece(f"  {seconds_words(spent)}", Role.DIM),
        )


def obstacles(outcome: Outcome, width: int) -> Iterator[Line]:
    """The lines on unproved obligations, with small steps that violate them."""
    proof = outcome.findings.proof
    stuck = (
        [] if proof is None else [cell for cell in proof.dropped if cell.kept is not ObligationStatus.PROVED]
    )
    for cell in stuck:
        if cell.shown is None:
            why = FALSE_AT_THE_START if _starts_false(outcome, cell) else cell.why
            yield from wrapped(line(Piece("? ", Role.UNSURE)), f"{cell.claim} {cell.place}: {why}", width)
    shown = shown_steps(outcome)
    for cell, steps in shown[:MOST_SHOWN]:
        yield ()
        yield from _obstacle(cell, steps, width)
    if more := len(shown[MOST_SHOWN:]):
        yield ()
        yield from wrapped((), f"… and {more} more of these, which --draw and --html show", width)


def _starts_false(outcome: Outcome, cell: ObligationCell) -> bool:
    """Whether the claim is false in an initial state of the check's scope."""
    prop = next((prop for prop in outcome.model.properties if prop.name == cell.claim), None)
    if cell.action is not None or prop is None:
        return False
    machine = Machine(outcome.model, outcome.check.scope)
    try:
        return not all(machine.holds(prop, state) for state in machine.initial())
    except ModelError:
        return False


def shown_steps(outcome: Outcome) -> list[tuple[ObligationCell, Trace]]:
    """The unproved obligations with their steps."""
    dropped = () if outcome.findings.proof is None else outcome.findings.proof.dropped
    return [(cell, cell.shown) for cell in dropped if cell.shown is not None]


def _obstacle(cell: ObligationCell, steps: Trace, width: int) -> Iterator[Line]:
    """The lines about one unproved obligation."""
    before = len(steps.steps)
    where = "the state" if before == 1 else f"the first {before} states"
    said = (
        f"{cell.claim} is not inductive: all claims are true in {where} below, but it is false"
        f" {cell.place}. It is not known whether any run reaches that state, so this is not a"
        " counterexample. If none does, a lemma that excludes the state will help."
    )
    lines = [*story(steps, width=width, bounds_shown=True)]
    title = lines.index(())
    yield from lines[:title]
    yield from wrapped(line(Piece("✗ ", Role.UNSURE)), said, width)
    yield from bounds(steps, width)
    yield from lines[title:]
