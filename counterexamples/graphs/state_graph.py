"""The states and steps of a model as a graph, and how it is drawn: each state, or many of them as one.

Merged by chosen parts of the state, all states that agree on them are drawn as
one, and the steps between two of those as one for each action: the graph that
a class can look at.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from itertools import pairwise

from counterexamples.diff import places
from counterexamples.graphs.drawn_graph import Arc, DrawnGraph, Vertex, dot
from counterexamples.pictures.roles import NamedPart, roles
from counterexamples.trace import BadAssert, BadStep, Deadlocked, Erred, Example, Lasso, Stops, Trace
from spec.frozen import frozen
from spec.meaning.semantics import Machine, State, Step
from spec.model.ir import Model, Scope, Value
from spec.model.values import show

LONG = 60  # characters of a value that are drawn
MANY = 8  # lines of a state that are drawn, where no parts are chosen


@frozen
class Edge:
    """A step between two states, given by number; `broken` are the properties it violates."""

    start: int
    end: int
    step: Step
    broken: tuple[str, ...] = ()


@frozen
class StateGraph:
    """States and the steps between them, with the marked run if there is one.

    `wrong` is what is wrong in a state, `beyond` how many of its steps lead
    to states that are not in the graph.  The run goes through the states `path`
    by the edges `taken`.
    """

    model: Model
    scope: Scope
    states: tuple[State, ...]
    edges: tuple[Edge, ...]
    initial: frozenset[int]
    wrong: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    beyond: Mapping[int, int] = field(default_factory=dict)
    path: tuple[int, ...] = ()
    taken: tuple[int, ...] = ()


def path_dot(trace: Trace) -> str:
    """The states and steps of a trace alone, in DOT. Costs one look at every place of each state."""
    graph = of_trace(trace)
    since = {after: before for before, after in reversed([*pairwise(graph.path)])}
    return dot(drawn(graph, trace.headline(), since=since))


def of_trace(trace: Trace) -> StateGraph:
    """The graph of a trace's states and steps; a repeated state occurs once."""
    numbers: dict[State, int] = {}
    path = tuple(numbers.setdefault(state, len(numbers)) for state in trace.states)
    edges: dict[Edge, int] = {}
    taken = []
    for number, step in enumerate(trace.steps):
        is_bad = number == len(trace.steps) - 1 and isinstance(trace.ending, BadStep | BadAssert)
        broken = (f"{trace.property}",) if is_bad else ()
        taken.append(edges.setdefault(Edge(path[number], path[number + 1], step, broken), len(edges)))
    wrong = {path[-1]: (said,)} if (said := _wrong_at_the_end(trace)) else {}
    return StateGraph(
        trace.model,
        trace.scope,
        tuple(numbers),
        tuple(edges),
        frozenset({0} if trace.is_run else ()),
        wrong,
        path=path,
        taken=tuple(taken),
    )


def _wrong_at_the_end(trace: Trace) -> str:
    """The violation in the last state, in words; empty if a step or the whole run is wrong."""
    match trace.ending:
        case Example() | Stops() | BadStep() | BadAssert() | Lasso():
            return ""
        case Deadlocked():
            return "nothing can happen"
        case Erred(message=message):
            return message
        case _:
            return f"{trace.property} is false"


# --------------------------------------------------------------------- drawn whole


def drawn(
    graph: StateGraph,
    title: str,
    parts: Sequence[NamedPart] = (),
    notes: tuple[str, ...] = (),
    since: Mapping[int, int] | None = None,
) -> DrawnGraph:
    """The graph with a vertex for every state and an arc for every step, with texts.

    A state is labelled with the parts; without any, by how it differs from the state
    that `since` names for it, which is the first one where it names none.
    """
    machine, passes = Machine(graph.model, graph.scope), _passes(graph)
    kinds = {action.name: action.kind for action in graph.model.actions}
    on_path, hidden = frozenset(graph.path), _hidden(graph.model)
    vertices = tuple(
        Vertex(
            (
                *(
                    _state_lines(graph, parts, state)
                    if parts
                    else _differing(graph, state, (since or {}).get(number, 0), hidden)
                ),
                *(f"✗ {text}" for text in graph.wrong.get(number, ())),
            ),
            beyond=graph.beyond.get(number, 0),
            initial=int(number in graph.initial),
            bad=int(number in graph.wrong),
            on_path=number in on_path,
        )
        for number, state in enumerate(graph.states)
    )
    arcs = tuple(
        Arc(
            edge.start,
            edge.end,
            edge.step.action,
            _numbered(passes.get(number, ()), machine.name(edge.step)),
            kinds[edge.step.action],
            bad=int(bool(edge.broken)),
            on_path=number in passes,
        )
        for number, edge in enumerate(graph.edges)
    )
    return DrawnGraph(title, vertices, arcs, notes)


def _passes(graph: StateGraph) -> dict[int, tuple[int, ...]]:
    """For each edge on the run the numbers of its steps."""
    found: dict[int, tuple[int, ...]] = {}
    for number, edge in enumerate(graph.taken, 1):
        found[edge] = (*found.get(edge, ()), number)
    return found


def _numbered(passes: Sequence[int], text: str) -> str:
    """A text after the numbers of the steps that it is about."""
    return f"{', '.join(map(str, passes))}. {text}" if passes else text


def _hidden(model: Model) -> frozenset[str]:
    """The variables that the model excludes from pictures."""
    return frozenset(model.variables[number].name for number, part in roles(model).hidden if not part)


def _differing(graph: StateGraph, state: State, since: int, hidden: frozenset[str]) -> Iterator[str]:
    """The lines on how a state differs from another, as far as there is room."""
    base = graph.states[since]
    if state == base:
        yield "the start" if since in graph.initial else "some state"
        return
    both = zip(*(places(graph.model, graph.scope, each) for each in (base, state)), strict=True)
    other = [place for before, place in both if before.value != place.value]
    other = [place for place in other if place.variable.name not in hidden] or other
    for place in other[: MANY if len(other) > MANY + 1 else MANY + 1]:
        yield f"{place.path} = {_short(show(place.type, place.value, graph.scope))}"
    if len(other) > MANY + 1:
        yield f"and {len(other) - MANY} other changes"


def _state_lines(graph: StateGraph, parts: Sequence[NamedPart], state: State) -> Iterator[str]:
    """The parts of a state, one per line."""
    for part in parts:
        if part.owner is None:
            value = _short(show(part.type, part.of(state), graph.scope))
        else:
            each = enumerate(graph.scope.sorts[part.owner])
            shown = (f"{name} {show(part.type, part.of(state, at), graph.scope)}" for at, name in each)
            value = _short(", ".join(shown))
        yield f"{part.spelt(graph.model)} = {value}" if part.owner is None else f"{part.name}: {value}"


def _short(text: str) -> str:
    """A text cut short."""
    return text if len(text) <= LONG else f"{text[: LONG - 1]}…"


# -------------------------------------------------------------------------- merged


def merged(
    graph: StateGraph, title: str, parts: Sequence[NamedPart], notes: tuple[str, ...] = ()
) -> DrawnGraph:
    """The quotient graph: states that agree on the parts are one vertex, with one arc per action.

    There is a step between two of them exactly where one of the states of the
    first has a step to one of the second; steps within one are counted.
    """
    numbers: dict[tuple[Value, ...], int] = {}
    of = [numbers.setdefault(_values(graph, parts, state), len(numbers)) for state in graph.states]
    members: list[list[int]] = [[] for _ in numbers]
    for number, vertex in enumerate(of):
        members[vertex].append(number)
    between: dict[tuple[int, int, str], list[int]] = defaultdict(list)
    within = Counter[int]()
    for number, edge in enumerate(graph.edges):
        if of[edge.start] == of[edge.end]:
            within[of[edge.start]] += 1
        else:
            between[of[edge.start], of[edge.end], edge.step.action].append(number)
    vertices = tuple(_vertex(graph, parts, each, within[at]) for at, each in enumerate(members))
    return DrawnGraph(title, vertices, tuple(_arcs(graph, between)), notes)


def _values(graph: StateGraph, parts: Sequence[NamedPart], state: State) -> tuple[Value, ...]:
    """The values of the parts in a state; of a process field, that of each member."""
    return tuple(
        part.of(state)
        if part.owner is None
        else tuple(part.of(state, at) for at in range(len(graph.scope.sorts[part.owner])))
        for part in parts
    )


def _vertex(graph: StateGraph, parts: Sequence[NamedPart], members: list[int], within: int) -> Vertex:
    """The vertex for the states `members`."""
    wrong = Counter(text for number in members for text in graph.wrong.get(number, ()))
    size, on_path = len(members), frozenset(graph.path)
    return Vertex(
        (
            *_state_lines(graph, parts, graph.states[members[0]]),
            *(f"✗ {text}" + (f" in {n:,} of {size:,}" if n < size else "") for text, n in wrong.items()),
        ),
        states=size,
        within=within,
        beyond=sum(graph.beyond.get(number, 0) for number in members),
        initial=sum(number in graph.initial for number in members),
        bad=sum(number in graph.wrong for number in members),
        on_path=any(number in on_path for number in members),
    )


def _arcs(graph: StateGraph, between: Mapping[tuple[int, int, str], list[int]]) -> Iterator[Arc]:
    """The arcs between merged vertices."""
    kinds = {action.name: action.kind for action in graph.model.actions}
    passes = _passes(graph)
    for (start, end, action), edges in between.items():
        passed = sorted(number for edge in edges for number in passes.get(edge, ()))
        yield Arc(
            start,
            end,
            action,
            _numbered(passed, action if len(edges) == 1 else f"{action} ×{len(edges):,}"),
            kinds[action],
            steps=len(edges),
            bad=sum(bool(graph.edges[edge].broken) for edge in edges),
            on_path=bool(passed),
        )
