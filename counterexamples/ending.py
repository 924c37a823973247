"""The last lines of a trace's story: what is wrong, in the words and the text of the model."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import assert_never

from counterexamples.lines import Line, Piece, Role, line, one_line, wrapped
from counterexamples.trace import (
    BadAssert,
    BadState,
    BadStep,
    Deadlocked,
    Erred,
    Example,
    Lasso,
    Stops,
    Trace,
    Trapped,
)
from spec.meaning.blame import Failure, failing, failing_assert, failing_step
from spec.meaning.evaluate import FrameLayout
from spec.meaning.semantics import Machine, State, sentence
from spec.model.ir import Property, PropertyKind
from spec.model.values import ModelError, show
from spec.source import Span

BAD = Piece("✗ ", Role.BAD)
GOOD = Piece("✓ ", Role.GOOD)


def ending(machine: Machine, trace: Trace, width: int) -> Iterator[Line]:
    """The lines about the end of a trace: the violation, and the smallest false part of the property."""
    prop = None if trace.property is None else trace.model.property(trace.property)
    match trace.ending:
        case BadState():
            yield from _verdict(machine, trace, prop, "is false in this state", width)
        case BadStep():
            yield from _verdict(machine, trace, prop, "is false of this last step", width)
        case BadAssert():
            yield from _verdict(machine, trace, prop, "is asserted by this last step, and false", width)
        case Erred() as erred:
            yield from _error(machine, trace, erred, width)
        case Deadlocked():
            yield from _verdict(machine, trace, prop, "is violated: no step is possible from here", width)
        case Lasso(loop):
            yield from _verdict(machine, trace, prop, f"is violated: {_for_ever(trace, prop, loop)}", width)
        case Trapped():
            yield from _verdict(machine, trace, prop, "cannot be reached from here any more", width)
        case Example():
            yield line(GOOD, Piece(f"{trace.property} is true in this state", Role.GOOD))
        case Stops():
            yield line(Piece("the run stops here; nothing is claimed about it", Role.DIM))
        case _:
            assert_never(trace.ending)


def _for_ever(trace: Trace, prop: Property | None, loop: int) -> str:
    """Why a run without an end is a violation, in words."""
    is_of_stability = prop is not None and prop.kind is PropertyKind.EVENTUALLY_ALWAYS
    false, again = ("it is false here, and ", ", and it is false each time") if is_of_stability else ("", "")
    if loop == len(trace.steps):
        return f"{false}the run may stay here for ever"
    return f"{false}this is the state after step {loop} again, so the run can repeat forever{again}"


def _verdict(machine: Machine, trace: Trace, prop: Property | None, what: str, width: int) -> Iterator[Line]:
    """The lines about a violation, with the failing parts."""
    yield from wrapped(line(BAD), f"{trace.property} {what}", width, Role.BAD)
    if prop is None:
        return
    if said := property_says(machine, prop, trace.states[-1]):
        yield from wrapped(line("  "), said, width)
    yield from _blame(trace, failures(trace), width)


def failures(trace: Trace) -> tuple[Failure, ...]:
    """The smallest parts of the property that are false at the end; none for other endings."""
    if trace.property is None:
        return ()
    prop = trace.model.property(trace.property)
    match trace.ending:
        case Lasso() if prop.kind is not PropertyKind.EVENTUALLY_ALWAYS:
            return ()  # its goal is missing in all states of the loop, and no part of it in the last alone
        case BadState() | Deadlocked() | Lasso():
            return failing(trace.model, trace.scope, prop, trace.states[-1])
        case BadStep():
            *_, before, after = trace.states
            return failing_step(trace.model, trace.scope, prop, before, trace.steps[-1], after)
        case BadAssert():
            return failing_assert(trace.model, trace.scope, prop.name, trace.states[-2], trace.steps[-1])
        case _:
            return ()


def _blame(trace: Trace, failures: tuple[Failure, ...], width: int) -> Iterator[Line]:
    """The lines about the failing parts: members, text and values."""
    for (names, wanted), group in groupby(failures, key=lambda failure: (failure.names, failure.wanted)):
        parts = list(group)
        are = ("false" if wanted else "true") if len(parts) > 1 else ("False" if wanted else "True")
        all_ = "All of these are " if len(parts) > 1 else ""
        bound = ", ".join(f"{each.name} = {show(each.type, each.value, trace.scope)}" for each in names)
        for_ = (" for ", Piece(bound, Role.PLACE)) if bound else ()
        yield line("  ", all_ + are, *for_, ":" if wanted else ", and should not be:")
        for failure in parts:
            yield from _part(trace, failure, width)


def _part(trace: Trace, failure: Failure, width: int) -> Iterator[Line]:
    """The lines about a failing part: its place, and the values in it."""
    source, scope = trace.model.source, trace.scope
    place = Piece(f"   {source.at_place(failure.span.start)}", Role.DIM)
    whole = one_line(source.at(failure.span))
    *others, last = wrapped(line("    "), whole, width, Role.STRONG)
    yield from others
    yield (*last, place)
    operands = {one_line(source.at(each.span)): each for each in failure.operands}
    longest = min(max(map(len, operands), default=0), width // 2)
    for text, operand in operands.items():
        value = show(operand.type, operand.value, scope)
        if text not in {whole, value}:
            label = line("      ", Piece(f"{text:<{longest}}", Role.PLACE), Piece(" = ", Role.DIM))
            yield from wrapped(label, value, width)


def property_says(machine: Machine, prop: Property, state: State) -> str:
    """A property's sentence with values from a state; empty if it has none."""
    layout = FrameLayout(machine.scope, len(state))
    try:
        return sentence(prop.says or (), layout, [*state, *[None] * prop.slots])
    except ModelError:
        return ""


def _error(machine: Machine, trace: Trace, erred: Erred, width: int) -> Iterator[Line]:
    """The lines about an error of the model: its place in the text, and the step."""
    doing = f"taking {machine.name(erred.step)}" if erred.step else "evaluating a guard or a property"
    yield from wrapped(line(BAD), f"{erred.message} [{erred.code}], while {doing}", width, Role.BAD)
    yield from quoted(trace, erred.span)


def quoted(trace: Trace, span: Span, indent: int = 4) -> Iterator[Line]:
    """The lines of the model's text at a span, after its place."""
    source = trace.model.source
    yield line("  ", Piece(source.at_place(span.start), Role.DIM))
    rows = source.at(span).expandtabs(2).split("\n")
    margin = min((len(row) - len(row.lstrip()) for row in rows[1:] if row.strip()), default=0)
    for row in (rows[0], *(row[margin:] for row in rows[1:])):
        yield line(" " * indent, Piece(row.rstrip(), Role.STRONG))
