"""Whether every state can still get to where a property holds: AG EF, over actions and repairs alone."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator

from modelcheck.search.interpreted import Edges, InterpretedSearch
from spec.frozen import frozen
from spec.model.ir import Property

PollLimits = Callable[[], None]  # asked once for each state: it looks at the limits now and then


@frozen
class Trap:
    """The first state, by fewest faults and then steps, from which no goal state can be reached."""

    number: int


@frozen
class Open:
    """The result that every state can reach a goal; from `beyond` states perhaps only out of the scope."""

    beyond: int


def trap(prop: Property, search: InterpretedSearch) -> Trap | Open:
    """The first trapped state, if any. Costs one visit of every state and two of every edge.

    A state from which a step beyond the scope can be reached is not called
    trapped: what is there was not explored.  Raises Stopped when a limit of the search is reached.
    """
    space, edges, poll_limits = search.space, search.edges, search.poll_limits
    if edges is None:
        raise TypeError("ways back are asked of a search that has no edges")
    back = _backwards(edges, len(space), poll_limits)
    fine = bytearray(len(space))
    _extend(fine, _wanted(prop, search), back, poll_limits)
    inside = sum(fine)
    _extend(fine, (number for number in range(len(space)) if edges.cut[number]), back, poll_limits)
    caught = fine.find(0)
    return Trap(caught) if caught >= 0 else Open(len(space) - inside)


def _wanted(prop: Property, search: InterpretedSearch) -> Iterator[int]:
    """The states in which the property is true."""
    for number in range(len(search.space)):
        search.poll_limits()
        if search.machine.holds(prop, search.space.node(number)[1]):
            yield number


@frozen
class _Back:
    """The reversed edges: the sources of each target are adjacent."""

    starts: array[int]
    sources: array[int]


def _backwards(edges: Edges, count: int, poll_limits: PollLimits) -> _Back:
    """The reversed edges, by a counting sort by target."""
    starts = array("q", bytes(8 * (count + 1)))
    for target in edges.targets:
        starts[target + 1] += 1
    for number in range(count):
        starts[number + 1] += starts[number]
    free = array("q", starts)
    sources = array("q", bytes(8 * len(edges.targets)))
    for number in range(count):
        poll_limits()
        end = edges.starts[number + 1] if number + 1 < count else len(edges.targets)
        for at in range(edges.starts[number], end):
            target = edges.targets[at]
            sources[free[target]] = number
            free[target] += 1
    return _Back(starts, sources)


def _extend(reached: bytearray, more: Iterable[int], back: _Back, poll_limits: PollLimits) -> None:
    """Mark the states and all their predecessors in `reached`."""
    stack = [number for number in more if not reached[number]]
    for number in stack:
        reached[number] = 1
    while stack:
        poll_limits()
        number = stack.pop()
        for source in back.sources[back.starts[number] : back.starts[number + 1]]:
            if not reached[source]:
                reached[source] = 1
                stack.append(source)
