"""Which parts of a model no check uses: actions, guards, switches and state variables.

An action may never happen, a guard never refuse, a switch never vary, a variable never be read.
One check of several does not have to use every part: a part is unused if none of those asked uses it.
Only a complete search shows that a part is not used; any search shows that it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from modelcheck.contract.result import Holds, Outcome, Result, UntestedPart, UnusedKind, UnusedPart
from spec.model.ir import Action
from spec.model.unread import unread
from spec.source import Source, Span

SEVERAL = 2  # checks of which some set a switch in another way
DECLARED = re.compile(r"//\s*unused:\s*\S")  # in a comment, with the reason behind it


def never_used(outcomes: Sequence[Outcome]) -> tuple[UnusedPart, ...]:
    """The parts of a file that no check uses, in textual order, except those declared unused.

    That is of the file that each check is in, and not of those that this extends.  Switches
    are included where there are several checks.  Costs a look at each action and guard.
    """
    files = {outcome.model.source.name: outcome.model.source for outcome in outcomes}
    found: list[UnusedPart] = []
    for name in files:
        own = [outcome for outcome in outcomes if outcome.model.source.name == name]
        found += [*_actions(own), *_guards(own), *_configs(own), *_variables(own)]
    return tuple(
        sorted((each for each in found if not _is_excused(each)), key=lambda e: (e.source.name, e.span.start))
    )


def never_read(outcomes: Sequence[Outcome]) -> tuple[UnusedPart, ...]:
    """The state variables that `never_used` lists, which a card does not have."""
    return tuple(part for part in never_used(outcomes) if part.kind is UnusedKind.VARIABLE)


def untested(outcome: Outcome) -> tuple[UntestedPart, ...]:
    """The parts of properties that a check never exercises, except those declared so."""
    source, own = outcome.model.source, _spans_of(outcome)
    return tuple(
        part
        for part in outcome.findings.stats.untested
        if not is_declared(source, part.span, outcome.model.property(part.property).span, *own)
    )


def vacuous(outcome: Outcome) -> tuple[Result, ...]:
    """The properties that hold vacuously, except those declared so."""
    source, own = outcome.model.source, _spans_of(outcome)
    return tuple(
        result
        for result in outcome.findings.results
        if isinstance(result.verdict, Holds)
        and result.verdict.vacuous
        and not is_declared(source, outcome.model.property(result.property).span, *own)
    )


def not_tested(outcome: Outcome) -> tuple[str, ...]:
    """The names of properties that hold vacuously, in whole or in part."""
    names = [result.property for result in vacuous(outcome)]
    names += [part.property for part in untested(outcome)]
    return tuple(dict.fromkeys(names))


def is_declared(source: Source, *spans: Span) -> bool:
    """Whether a comment `// unused: REASON` is on the line where one of these begins, or alone above it."""
    return any(DECLARED.search(line) is not None for span in spans for line in _lines(source, span))


def _lines(source: Source, span: Span) -> Iterator[str]:
    """The lines where a declaration `// unused` for a span may be."""
    number, _ = source.position(span.start)
    yield source.line(number)
    if number > 1 and source.line(number - 1).lstrip().startswith("//"):
        yield source.line(number - 1)


def _spans_of(outcome: Outcome) -> tuple[Span, ...]:
    """The place of the check; none if the command line made it."""
    return (outcome.check.span,) if outcome.check.span.end else ()


# ------------------------------------------------------------------------- parts


def _is_excused(part: UnusedPart) -> bool:
    """Whether a part is declared unused, or is in an imported file."""
    name, _, _ = part.source.place(part.span.start)
    return name != part.source.name or is_declared(part.source, part.span)


def _actions(outcomes: Sequence[Outcome]) -> Iterator[UnusedPart]:
    """The actions that are never taken."""
    taken: dict[Span, bool] = {}
    idle: dict[Span, Action] = {}
    for outcome in outcomes:
        stats = outcome.findings.stats
        for action in outcome.model.actions:
            taken[action.span] = taken.get(action.span, False) or stats.taken.get(action.name, 0) > 0
            if action.name in stats.unused:
                idle[action.span] = action
    for span, action in idle.items():
        if not taken[span]:
            yield UnusedPart(UnusedKind.ACTION, action.name, outcomes[0].model.source, span, action.is_fair)


def _guards(outcomes: Sequence[Outcome]) -> Iterator[UnusedPart]:
    """The guards that are never false."""
    refused: set[Span] = set()
    idle: dict[Span, str] = {}
    for outcome in outcomes:
        stats = outcome.findings.stats
        for action in outcome.model.actions:
            for guard in action.guards:
                name = outcome.model.guard_name(guard)
                if (action.name, name) in stats.refused:
                    refused.add(guard.span)
                elif (action.name, name) in stats.unrefused:
                    idle[guard.span] = f"{action.name}.{name}"
    for span, name in idle.items():
        if span not in refused:
            yield UnusedPart(UnusedKind.GUARD, name, outcomes[0].model.source, span)


def _configs(outcomes: Sequence[Outcome]) -> Iterator[UnusedPart]:
    """The configuration entries to which all checks give the same value, if there are several checks."""
    if len({outcome.check.name for outcome in outcomes}) < SEVERAL:
        return
    values: dict[Span, set[object]] = {}
    names: dict[Span, str] = {}
    for outcome in outcomes:
        for entry in outcome.model.configs:
            names[entry.span] = entry.name
            values.setdefault(entry.span, set()).add(outcome.check.scope.config[entry.name])
    for span, found in values.items():
        if len(found) == 1:
            yield UnusedPart(UnusedKind.CONFIG, names[span], outcomes[0].model.source, span)


def _variables(outcomes: Sequence[Outcome]) -> Iterator[UnusedPart]:
    """The state variables that nothing reads, in the protocol and each variant that was asked."""
    idle: dict[Span, str] = {}
    read: set[Span] = set()
    for model in {id(outcome.model): outcome.model for outcome in outcomes}.values():
        without = {variable.span: variable.name for variable in unread(model)}
        idle |= without
        read |= {variable.span for variable in model.variables} - without.keys()
    for span, name in idle.items():
        if span not in read:
            yield UnusedPart(UnusedKind.VARIABLE, name, outcomes[0].model.source, span)


# ------------------------------------------------------------------------- words


def unused_words(parts: Iterable[UnusedPart]) -> Iterator[str]:
    """Sentences on unused parts, one for each kind, with line numbers."""
    by_kind: dict[UnusedKind, list[UnusedPart]] = {}
    for part in parts:
        by_kind.setdefault(part.kind, []).append(part)
    for kind, some in by_kind.items():
        yield f"{kind.value}: {', '.join(map(_named, some))}"


def _named(part: UnusedPart) -> str:
    """A part with its line."""
    _, line, _ = part.source.place(part.span.start)
    fair = " (fair)" if part.is_fair else ""
    return f"{part.name}{fair} (line {line})"
