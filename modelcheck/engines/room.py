"""Nats without a bound: a search has room for some values in use at once, and is repeated with more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from modelcheck.contract.engine import CannotResume, Task
from modelcheck.contract.report import Stopped
from modelcheck.contract.result import End, Findings, Holds, Result, Unknown, Verdict, Violated
from spec.meaning.semantics import Machine
from spec.model.bounds import of_runs, with_room
from spec.model.ir import Model, Scope
from spec.model.values import ModelError
from spec.model.values_in_use import keeping, values_in_state

ROOMS = (7, 15, 31, 62)  # values in use at once, 0 apart; at most the bits of a word
MOST_ROOM = ROOMS[-1]


def with_first_room(model: Model, scope: Scope) -> Scope:
    """The scope with which a search begins: it has room for the values of every initial state, if any has."""
    if not scope.unbounded:
        return scope
    needed = _needed_at_start(model, scope)
    first = next((room for room in ROOMS if room >= needed), MOST_ROOM)
    return with_room(scope, dict.fromkeys(sorted(scope.unbounded), first))


def _needed_at_start(model: Model, scope: Scope) -> int:
    """The most values above 0 that an initial state has in use of one nat without a bound."""
    types = [variable.type for variable in model.variables]
    try:
        starts = Machine(model, of_runs(scope)).initial()
    except ModelError:  # which the search reports
        return 0
    listings = [values_in_state(types, nat) for nat in scope.unbounded]
    return max(len({*in_use(state)} - {0}) for in_use in listings for state in starts)


def with_enough_room(task: Task, search: Callable[[Task], Findings]) -> Findings:
    """The findings of a search that has room for all values in use at once, of each nat without a bound.

    It begins with the room that the task has, and is repeated with twice as much where a step was cut
    for lack of it, so the cost is that of the last search and about as much again.  Where
    MOST_ROOM is too little, nothing holds: the reason names the variables that keep every value.
    Raises Stopped where it is too little for an initial state.
    """
    is_full = any(task.scope.nats[nat] == MOST_ROOM for nat in task.scope.unbounded)
    if is_full and _needed_at_start(task.model, task.scope) > MOST_ROOM:
        raise Stopped(End.ROOM)
    rooms = _rooms(task)
    found = _resumed(rooms, search) if task.keep is not None and task.keep.resume else search(next(rooms))
    while not found.end.partial and _lacks_room(task, found) and (more := next(rooms, None)) is not None:
        found = search(_anew(more))
    return _explained(task, found)


def _resumed(rooms: Iterator[Task], search: Callable[[Task], Findings]) -> Findings:
    """The findings of the search in a checkpoint, found by trying to resume it with each room for values."""
    refused: CannotResume | None = None
    for each in rooms:
        try:
            return search(each)
        except CannotResume as error:
            refused = refused or error
    assert refused is not None
    raise refused


def _anew(task: Task) -> Task:
    """The task without the wish to resume what was saved."""
    return task if task.keep is None else replace(task, keep=replace(task.keep, resume=False))


def _rooms(task: Task) -> Iterator[Task]:
    """The task as it is, and then with more and more room where a nat has no bound."""
    yield task
    nats = sorted(task.scope.unbounded)
    for room in ROOMS:
        if any(task.scope.nats[nat] < room for nat in nats):
            yield replace(task, scope=with_room(task.scope, dict.fromkeys(nats, room)))


def _lacks_room(task: Task, findings: Findings) -> bool:
    """Whether a step was cut because there was no room for a value that it makes."""
    return any(findings.stats.cut.get(nat) for nat in task.scope.unbounded)


def _explained(task: Task, findings: Findings) -> Findings:
    """Findings in which nothing holds that was only searched as far as there was room."""
    lacking = _lacks_room(task, findings)
    if not (lacking or (task.scope.unbounded and findings.end in {End.STATES, End.SECONDS, End.MEMORY})):
        return findings
    end = findings.end if findings.end.partial else End.ROOM
    why = f"{end.value}{_kept(task)}"
    results = tuple(replace(each, verdict=_so_far(each, why, lacking=lacking)) for each in findings.results)
    return replace(findings, end=end, results=results)


def _so_far(result: Result, why: str, *, lacking: bool) -> Verdict:
    match result.verdict:
        case Unknown(extent=extent):
            return Unknown(why, None if lacking else extent)
        case Violated(trace=trace) as violated if trace is not None:
            return replace(violated, fewest=violated.fewest and not lacking)
        case Holds(example=example) as holds if example is not None or not lacking:
            return holds
        case Violated() as violated if not lacking:
            return violated
        case _:
            return Unknown(why)


def _kept(task: Task) -> str:
    """Which variables keep values of nats without a bound in use, if any do."""
    found = [
        f"; {', '.join(names)} may keep every {nat} there was, so give {nat} a number"
        for nat in sorted(task.scope.unbounded)
        if (names := [f"`{name}`" for name in keeping(task.model, nat)])
    ]
    return "".join(found)
