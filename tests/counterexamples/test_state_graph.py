"""A trace as a graph, and graphs as DOT, GraphML and JSON: whatever stands in a text stays a text."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import hypothesis.strategies as st
import networkx as nx
import pytest
from hypothesis import given, settings

from counterexamples.graphs.drawn_graph import (
    Arc,
    DrawnGraph,
    Vertex,
    as_json,
    as_networkx,
    dot,
    graphml,
    vertex_lines,
)
from counterexamples.graphs.state_graph import drawn, merged, of_trace, path_dot
from counterexamples.lines import clean
from counterexamples.pictures.roles import parts_of
from counterexamples.trace import BadStep, Example, Lasso, Stops, Trace
from spec.load import loads
from spec.meaning.semantics import Step
from spec.model.ir import Kind
from tests.counterexamples.runs import divergence, walk

NASTY = (
    'a "quoted" \\ text',
    "two\nlines",
    "<b>&amp; &lt;i</b>",
    "\\N \\l \\G",
    "\x00\x1b[31m\u202e",
    "]]>",
    "s0 -> s1; }",
    "\\",
    "\ufffe\uffff",
)
TEXTS = st.one_of(st.sampled_from(NASTY), st.text(st.characters(exclude_categories=["Cs"]), max_size=12))
COUNTS = st.integers(0, 3)


@st.composite
def graphs(draw: st.DrawFn) -> DrawnGraph:
    vertices = draw(
        st.lists(
            st.builds(
                Vertex,
                st.lists(TEXTS, max_size=3).map(tuple),
                st.integers(1, 4),
                COUNTS,
                COUNTS,
                COUNTS,
                COUNTS,
                st.booleans(),
            ),
            min_size=1,
            max_size=5,
        )
    )
    ends = st.integers(0, len(vertices) - 1)
    arcs = st.builds(
        Arc, ends, ends, TEXTS, TEXTS, st.sampled_from(Kind), st.integers(1, 9), COUNTS, st.booleans()
    )
    notes = st.lists(TEXTS, max_size=2).map(tuple)
    return DrawnGraph(draw(TEXTS), tuple(vertices), tuple(draw(st.lists(arcs, max_size=8))), draw(notes))


def parsed(text: str) -> dict[str, Any]:
    """What Graphviz reads in a DOT text."""
    program = shutil.which("dot")
    if program is None:
        pytest.skip("needs dot, of Graphviz")
    run = subprocess.run(
        [program, "-Tdot_json"], input=text, capture_output=True, encoding="utf-8", check=True
    )

    assert run.stderr == ""
    found: dict[str, Any] = json.loads(run.stdout)
    return found


def one(*lines: str) -> DrawnGraph:
    return DrawnGraph("one", (Vertex(lines),), ())


# ------------------------------------------------------------------------- formats


@settings(max_examples=150)
@given(graphs())
def test_networkx_reads_the_same_graph_in_graphml(graph: DrawnGraph) -> None:
    read, meant = nx.parse_graphml(graphml(graph), force_multigraph=True), as_networkx(graph)

    assert dict(read.nodes(data=True)) == dict(meant.nodes(data=True))
    assert [(a, b, data) for a, b, data in read.edges(data=True)] == [*meant.edges(data=True)]


@settings(max_examples=150)
@given(graphs())
def test_networkx_reads_the_same_graph_in_json(graph: DrawnGraph) -> None:
    read: Any = nx.node_link_graph(json.loads(as_json(graph)), edges="edges")
    meant = as_networkx(graph)

    assert (read.graph, dict(read.nodes(data=True))) == (meant.graph, dict(meant.nodes(data=True)))
    assert [*read.edges(keys=True, data=True)] == [*meant.edges(keys=True, data=True)]


@settings(max_examples=25)
@given(graphs())
def test_graphviz_reads_the_same_graph_in_dot(graph: DrawnGraph) -> None:
    read = parsed(dot(graph))
    labels = [each["label"] for each in read.get("objects", ())]
    lines = [[part for line in vertex_lines(each) for part in drawable(line)] for each in graph.vertices]

    assert [unescaped(label) for label in labels] == ["".join(f"{each}\n" for each in some) for some in lines]
    # Graphviz counts them in an order of its own
    assert sorted((each["tail"], each["head"]) for each in read.get("edges", ())) == sorted(
        (arc.start, arc.end) for arc in graph.arcs
    )


def drawable(line: str) -> list[str]:
    return [clean(part).replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd") for part in line.split("\n")]


def unescaped(label: str) -> str:
    """The text that Graphviz draws of a label whose lines start at the left."""
    made, at = [], 0
    while at < len(label):
        if label[at] == "\\":
            made.append("\n" if label[at + 1] == "l" else label[at + 1])
            at += 1
        else:
            made.append(label[at])
        at += 1
    return "".join(made).replace("&amp;", "&")


@pytest.mark.parametrize("text", NASTY)
def test_what_stands_in_a_text_does_not_end_it(text: str) -> None:
    lines = dot(one(text)).splitlines()

    assert [line.split(" [")[0] for line in lines[3:]] == ["  node", "  edge", "  s0", "}"]
    assert "\x1b" not in dot(one(text)) + graphml(one(text)) + as_json(one(text))


def test_kinds_of_steps_are_told_apart_without_colour() -> None:
    arcs = tuple(Arc(0, 0, kind.value, kind.value, kind) for kind in Kind)
    text = dot(DrawnGraph("kinds", (Vertex(("x",)),), arcs))
    lines = [line for line in text.splitlines() if "->" in line]

    assert ["dashed" in line for line in lines] == [kind is Kind.FAULT for kind in Kind]
    assert ["dotted" in line for line in lines] == [kind is Kind.REPAIR for kind in Kind]


# -------------------------------------------------------------------------- traces


def test_a_trace_in_dot(golden: Callable[[str, str], None]) -> None:
    golden("graphs/divergence.dot", path_dot(divergence()))


def test_graphviz_reads_a_trace() -> None:
    trace = divergence()
    read = parsed(path_dot(trace))

    assert (len(read["objects"]), len(read["edges"])) == (len(trace.states), len(trace.steps))


def test_a_state_that_a_run_comes_back_to_is_drawn_once() -> None:
    trace = circle()
    graph = of_trace(trace)

    assert graph.path == (0, 1, 0, 1, 0)
    assert (len(graph.states), len(graph.edges), graph.taken) == (2, 2, (0, 1, 0, 1))
    assert graph.wrong == {}


def circle() -> Trace:
    """Elections, each undone by hand: the machine has no step that does."""
    trace = divergence()
    (start, after, *_), (step, other, *_) = trace.states, trace.steps
    states, steps = (start, after, start, after, start), (step, other, step, other)
    return replace(trace, states=states, steps=steps, ending=Lasso(0))


def test_what_a_model_hides_is_told_only_where_nothing_else_differs() -> None:
    (model,) = loads(
        "protocol p\nnat N\nstate { seen: N = 0  sent: N = 0 }\ndisplay { hidden: sent }\n"
        "action send { sent := sent + 1 }\naction see { seen := sent }\ncheck two { scope N = 1 }\n"
    )
    states, steps = ((0, 0), (0, 1), (1, 1)), (Step("send", ()), Step("see", ()))
    graph = of_trace(Trace(model, model.checks[0].scope, states, steps, Stops()))

    assert [vertex.lines for vertex in drawn(graph, "").vertices] == [
        ("the start",),
        ("sent = 1",),
        ("seen = 1",),
    ]


def test_the_step_that_is_wrong_is_marked() -> None:
    graph = of_trace(replace(divergence(), ending=BadStep()))

    assert [bool(edge.broken) for edge in graph.edges] == [False] * 6 + [True]
    assert graph.wrong == {}


def test_the_end_of_an_example_is_not_wrong() -> None:
    assert of_trace(replace(divergence(), ending=Example())).wrong == {}


def test_a_trace_of_no_steps_is_one_state() -> None:
    graph = of_trace(walk())

    assert (len(graph.states), graph.edges, graph.path) == (1, (), (0,))


def test_merged_states_tell_how_many_they_are() -> None:
    trace = divergence()
    leader = next(part for part in parts_of(trace.model) if part.spelt(trace.model) == "leader")
    found = merged(of_trace(trace), "merged", [leader])

    assert [vertex.lines[0] for vertex in found.vertices] == ["leader = none", "leader = a", "leader = b"]
    assert [vertex.states for vertex in found.vertices] == [1, 4, 3]
    assert [vertex.within for vertex in found.vertices] == [0, 3, 2]
    assert [(arc.start, arc.end, arc.label) for arc in found.arcs] == [(0, 1, "1. elect"), (1, 2, "5. elect")]


def test_the_same_trace_gives_the_same_bytes() -> None:
    assert path_dot(divergence()) == path_dot(divergence())
