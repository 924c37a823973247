"""A graph of states as it is drawn: texts and marks, written as DOT, GraphML or JSON.

Whatever a text holds, it stays a text: each format escapes it in its own way.
The same graph gives the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from counterexamples.lines import clean, count
from spec.frozen import frozen
from spec.model.ir import Kind


@frozen
class Vertex:
    """A node of a drawn graph: one state or several; `lines` describe it.

    `within` counts the steps that lead from it to itself and are not drawn,
    `beyond` those that lead to states that are not.  `initial` and `bad` count
    the states that a run may start in, and those in which something is wrong.
    """

    lines: tuple[str, ...]
    states: int = 1
    within: int = 0
    beyond: int = 0
    initial: int = 0
    bad: int = 0
    on_path: bool = False


@frozen
class Arc:
    """An edge of a drawn graph: steps of one action between two vertices, given by index."""

    start: int
    end: int
    action: str
    label: str
    kind: Kind
    steps: int = 1
    bad: int = 0
    on_path: bool = False


@frozen
class DrawnGraph:
    """A graph to write in any format; `notes` follow the title."""

    title: str
    vertices: tuple[Vertex, ...]
    arcs: tuple[Arc, ...]
    notes: tuple[str, ...] = ()


NO_CHARACTERS = str.maketrans({"\ufffe": "\ufffd", "\uffff": "\ufffd"})  # which XML does not allow


def _name(number: int) -> str:
    """The id of a vertex in DOT."""
    return f"s{number}"


# ------------------------------------------------------------------------- DOT

# Line styles distinguish what is printed in black; colours only repeat it.
ARCS: Mapping[Kind, str] = {
    Kind.ACTION: "",
    Kind.FAULT: 'color="#b00020", fontcolor="#b00020", style="dashed"',
    Kind.REPAIR: 'color="#00695c", fontcolor="#00695c", style="dotted"',
}
WORDS: Mapping[Kind, str] = {Kind.FAULT: "dashed: a fault", Kind.REPAIR: "dotted: a repair"}
SIGNS: Mapping[Kind, str] = {Kind.ACTION: "", Kind.FAULT: "⚡ ", Kind.REPAIR: "✚ "}


def dot(graph: DrawnGraph) -> str:
    """The graph in Graphviz's DOT language, with a legend."""
    return "".join(f"{each}\n" for each in _dot(graph))


def _dot(graph: DrawnGraph) -> Iterator[str]:
    """The lines of the DOT text."""
    yield f"digraph {_quoted(graph.title)} {{"
    yield f"  graph [label={_rows((graph.title, *_legend(graph), *graph.notes))}];"
    yield '  graph [labelloc="t", labeljust="l", fontname="sans-serif"];'
    yield '  node [shape="box", style="rounded", fontname="monospace", fontsize="10"];'
    yield '  edge [fontname="sans-serif", fontsize="10"];'
    for number, vertex in enumerate(graph.vertices):
        yield f"  {_name(number)} [{', '.join(_box(vertex))}];"
    for arc in graph.arcs:
        yield f"  {_name(arc.start)} -> {_name(arc.end)} [{', '.join(_line(arc))}];"
    yield "}"


def _box(vertex: Vertex) -> Iterator[str]:
    """The DOT lines of a vertex."""
    yield f"label={_rows(vertex_lines(vertex))}"
    styles = ["rounded"]
    if vertex.bad:
        yield 'peripheries="2", color="#b00020"'
    if vertex.on_path:
        yield 'penwidth="2.5"'
    if vertex.initial:
        styles.append("filled")
        yield 'fillcolor="#e0e0e0"'
    if vertex.beyond:
        styles.append("dashed")
    if len(styles) > 1:
        yield f'style="{",".join(styles)}"'


def _line(arc: Arc) -> Iterator[str]:
    """The DOT lines of an arc."""
    text = SIGNS[arc.kind] + arc.label + ("\n✗" if arc.bad else "")
    yield f"label={_quoted(f' {text} ')}"  # room between the text and the line
    if ARCS[arc.kind]:
        yield ARCS[arc.kind]
    if arc.on_path:
        yield 'penwidth="2.5", weight="50"'  # heavy, so that the run goes straight down


def _legend(graph: DrawnGraph) -> Iterator[str]:
    """The DOT lines of the legend, with the marks that occur."""
    marks = [
        (any(v.initial for v in graph.vertices), "grey: a start"),
        (any(v.bad for v in graph.vertices), "double outline: something is wrong"),
        (any(v.on_path for v in graph.vertices), "thick: the run"),
        (any(v.beyond for v in graph.vertices), "dashed outline: more steps lead on"),
        *((any(a.kind is kind for a in graph.arcs), word) for kind, word in WORDS.items()),
    ]
    if marked := " · ".join(word for holds, word in marks if holds):
        yield marked


def vertex_lines(vertex: Vertex) -> tuple[str, ...]:
    """The lines of a vertex: its description, then its counts."""
    counts = [count(vertex.states, "state")] if vertex.states > 1 else []
    counts += [f"↻ {count(vertex.within, 'step')} within"] if vertex.within else []
    counts += [f"… {count(vertex.beyond, 'step')} more"] if vertex.beyond else []
    return (*vertex.lines, *([" · ".join(counts)] if counts else []))


def _escaped(text: str) -> str:
    """The text escaped for Graphviz labels."""
    for plain, safe in (("&", "&amp;"), ("\\", "\\\\"), ('"', '\\"')):
        text = text.replace(plain, safe)
    return text


def _plain(text: str) -> str:
    """The text without characters that some format does not allow."""
    return "\n".join(clean(part) for part in text.split("\n")).translate(NO_CHARACTERS)


def _quoted(text: str) -> str:
    """The text as a quoted DOT string."""
    return '"' + "\\n".join(map(_escaped, _plain(text).split("\n"))) + '"'


def _rows(lines: tuple[str, ...]) -> str:
    """The lines as a left-aligned DOT label."""
    return '"' + "".join(f"{_escaped(each)}\\l" for text in lines for each in _plain(text).split("\n")) + '"'


# ------------------------------------------------------------ for other programs


def as_json(graph: DrawnGraph) -> str:
    """The graph as the node-link JSON that networkx reads (`node_link_graph`) and d3 draws."""
    whole = {
        "format": "modelcheck graph 1",
        "directed": True,
        "multigraph": True,
        "graph": _about(graph),
        "nodes": [{"id": _name(i), **_of_vertex(v)} for i, v in enumerate(graph.vertices)],
        "edges": [
            {"source": _name(a.start), "target": _name(a.end), "key": f"e{i}", **_of_arc(a)}
            for i, a in enumerate(graph.arcs)
        ],
    }
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def as_networkx(graph: DrawnGraph) -> Any:  # noqa: ANN401 - a library that is loaded only here
    """The graph as a `networkx.MultiDiGraph`, with the texts and counts as attributes."""
    from networkx import MultiDiGraph  # noqa: PLC0415 - loaded only by those who want it

    made: Any = MultiDiGraph(**_about(graph))
    for number, vertex in enumerate(graph.vertices):
        made.add_node(_name(number), **_of_vertex(vertex))
    for number, arc in enumerate(graph.arcs):
        made.add_edge(_name(arc.start), _name(arc.end), key=f"e{number}", **_of_arc(arc))
    return made


def graphml(graph: DrawnGraph) -> str:
    """The graph as GraphML, for Gephi, yEd and networkx."""
    from networkx import generate_graphml  # noqa: PLC0415 - loaded only by those who want it

    head = '<?xml version="1.0" encoding="utf-8"?>\n'
    return head + "".join(f"{each}\n" for each in generate_graphml(as_networkx(graph)))


def _about(graph: DrawnGraph) -> dict[str, Any]:
    """The attributes of the graph."""
    return {"title": _plain(graph.title), "notes": _plain(" ".join(graph.notes))}


def _of_vertex(vertex: Vertex) -> dict[str, Any]:
    """The attributes of a vertex."""
    return {
        "label": "\n".join(_plain(text) for text in vertex.lines),
        "states": vertex.states,
        "within": vertex.within,
        "beyond": vertex.beyond,
        "initial": vertex.initial,
        "bad": vertex.bad,
        "path": vertex.on_path,
    }


def _of_arc(arc: Arc) -> dict[str, Any]:
    """The attributes of an arc."""
    return {
        "label": _plain(arc.label),
        "action": _plain(arc.action),
        "kind": arc.kind.value,
        "steps": arc.steps,
        "bad": arc.bad,
        "path": arc.on_path,
    }


FORMATS: Mapping[str, Callable[[DrawnGraph], str]] = {"dot": dot, "graphml": graphml, "json": as_json}
