"""Runs that wait for ever: whether a fair one has a `p` that no `q` follows, and with how many faults."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

import networkx as nx

from tests.by_the_manual.values import Value

Cost = tuple[int, int]  # faults, then steps
Key = tuple[Value, ...]  # a state, and how many faults of each numbered kind were used


@dataclass(frozen=True)
class Edge:
    """A step that was taken, or a fault beyond the budget to a state."""

    action: str
    fault: bool
    to: Key


@dataclass
class Graph:
    """Every state that was found, by its cheapest run, its steps, and what is cut there but for faults."""

    costs: dict[Key, Cost] = field(default_factory=dict)
    edges: dict[Key, list[Edge]] = field(default_factory=dict)
    cut: dict[Key, list[str]] = field(default_factory=dict)

    def free(self, keys: set[Key]) -> Iterator[tuple[Key, Edge]]:
        """The actions and repairs that lead from one of these states to another, or to the same."""
        for key in keys:
            for edge in self.edges[key]:
                if not edge.fault and edge.to in keys:
                    yield key, edge

    def leading_to(self, goals: set[Key], among: set[Key]) -> set[Key]:
        """The states from which actions and repairs can lead to one of the goals, those included."""
        back: dict[Key, list[Key]] = {}
        for key, edge in self.free(among):
            back.setdefault(edge.to, []).append(key)
        found, todo = set(goals), list(goals)
        while todo:
            for key in back.get(todo.pop(), []):
                if key not in found:
                    found.add(key)
                    todo.append(key)
        return found


def fewest_faults(graph: Graph, true: list[set[Key]], fair: dict[str, str], most: int | None) -> int | None:
    """The fewest faults of a fair run with a state of the first set that none of the second follows.

    None where there is no such run.  What a run waits for depends on all of its states, so it may have more
    faults than the cheapest run to each of them.
    """
    before, after = true
    waiting = graph.costs.keys() - after
    lost = graph.leading_to({key for core in _fair_cores(graph, waiting, fair) for key in core}, waiting)
    todo = deque((0, key, key in before - after) for key, cost in graph.costs.items() if cost == (0, 0))
    seen: set[tuple[Key, bool]] = set()
    while todo:
        faults, key, waits = todo.popleft()
        if (key, waits) in seen:
            continue
        seen.add((key, waits))
        if waits and key in lost:
            return faults
        for edge in graph.edges[key]:
            next_one = (faults + edge.fault, edge.to, edge.to not in after and (waits or edge.to in before))
            if not edge.fault:
                todo.appendleft(next_one)
            elif most is None or faults < most:
                todo.append(next_one)
    return None


def fewest_faults_before_unrest(graph: Graph, true: set[Key], fair: dict[str, str]) -> int | None:
    """The fewest faults of a fair run that leaves the set again and again; None where there is none."""
    again = {key for core in _fair_cores(graph, set(graph.costs), fair) for key in core} - true
    return min((graph.costs[key][0] for key in again), default=None)


def _fair_cores(graph: Graph, keys: set[Key], fair: dict[str, str]) -> Iterator[set[Key]]:
    """Sets of states in which a fair run can stay for ever: it goes round, or stops."""
    inside: nx.DiGraph[Key] = nx.DiGraph()
    inside.add_nodes_from(keys)
    inside.add_edges_from((key, edge.to) for key, edge in graph.free(keys))
    for core in nx.strongly_connected_components(inside):
        taken = {edge.action for key, edge in graph.free(core) if edge.to != key}
        possible = {k: {e.action for e in graph.edges[k] if e.to != k} | set(graph.cut[k]) for k in core}
        missed = [action for action in fair if action not in taken]
        if any(fair[each] == "weak" and all(each in some for some in possible.values()) for each in missed):
            continue  # and so in each part of it
        never = {action for action in missed if fair[action] == "strong"}
        left = {key for key in core if never.isdisjoint(possible[key])}
        if left == core:
            yield core
        elif left:
            yield from _fair_cores(graph, left, fair)
