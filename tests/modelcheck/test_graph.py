"""The graph of a check: as many states and steps as engines count, merged exactly, and around a run."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import networkx as nx
import pytest

from counterexamples.graphs.drawn_graph import DrawnGraph
from counterexamples.graphs.state_graph import StateGraph, drawn, merged
from counterexamples.itf.write import write
from counterexamples.pictures.roles import NamedPart, parts_of
from counterexamples.trace import Trace
from modelcheck.api import check, traces
from modelcheck.asking.models import pick_check, pick_parts
from modelcheck.cli import main
from modelcheck.contract.engine import Limits, Task
from modelcheck.contract.exits import Exit
from modelcheck.contract.families import looked_at
from modelcheck.contract.report import Silent
from modelcheck.contract.result import End, Findings
from modelcheck.engines.registry import engine
from modelcheck.search.explore import BeyondBudget, TooManyStates, around, whole
from spec.diagnostics import SpecError
from spec.load import load, loads
from spec.meaning.semantics import Machine, Taken
from spec.model.ir import Budget, Check, Kind, Model
from spec.model.values import ModelError
from tests.counterexamples.runs import toy
from tests.model_texts import model_text

ROOT = Path(__file__).parent.parent.parent
PROTOCOLS = ROOT / "spec" / "protocols"
TINY = "tests/modelcheck/tiny.rsm"
TWO = "spec/protocols/two_phase_commit.rsm"
MODELS = 60  # random ones
FEW = 400  # states


def asked(path: Path, name: str) -> tuple[Model, Check]:
    found = ((model, each) for model in load(path) for each in model.checks if each.name == name)
    return next(found)


def task(model: Model, question: Check, budget: Budget | None = None) -> Task:
    budget = budget or question.budget
    return Task(model, question.scope, budget, looked_at(model, question), check=question.name)


def counted(question: Task, name: str) -> Findings:
    only = Task(question.model, question.scope, question.budget, (), Limits(), stop_early=False)
    return engine(name).run(only, Silent())


def a_run(model: Model, question: Check) -> Trace:
    return next(iter(traces(check(model, question).findings)))


@cache
def random_tasks() -> Mapping[int, Task]:
    """Checks of random models that have few states and can start, by their seeds."""
    found = {}
    for seed in range(MODELS):
        (model,) = loads(model_text(Random(seed).randrange))  # noqa: S311 - no secret
        question = task(model, model.checks[0])
        try:
            whole(question, FEW)
        except (ModelError, TooManyStates):
            continue
        found[seed] = question
    return found


def test_there_are_enough_random_models() -> None:
    assert len(random_tasks()) >= MODELS // 3


# ------------------------------------------------------------------- what is counted


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("spec/protocols/two_phase_commit.rsm", "two_managers"),
        ("spec/protocols/two_phase_commit.rsm", "three_managers"),
        ("spec/protocols/two_phase_commit.rsm", "blocking"),
        ("spec/protocols/kafka.rsm", "acks_one"),
        (TINY, "as_expected"),
        (TINY, "surprise"),
    ],
)
def test_there_are_as_many_states_and_steps_as_the_engine_counts(path: str, name: str) -> None:
    question = task(*asked(ROOT / path, name))
    graph, stats = whole(question, 20_000), counted(question, "explicit").stats

    assert (len(graph.states), len(graph.edges)) == (stats.states, stats.transitions)
    assert graph.beyond == {}


@pytest.mark.parametrize(
    "budget", [Budget(None, {"crash": 1}), Budget(1), Budget(0), Budget(3, {"crash": 2})]
)
def test_budgets_are_counted_as_the_engine_counts_them(budget: Budget) -> None:
    question = task(*asked(ROOT / TINY, "surprise"), budget)
    graph, stats = whole(question, 20_000), counted(question, "reference").stats

    assert (len(graph.states), len(graph.edges)) == (stats.states, stats.transitions)


def test_random_models_have_as_many_states_and_steps_as_the_reference_counts() -> None:
    for seed, question in random_tasks().items():
        found = counted(question, "reference")
        graph = whole(question, FEW)
        if found.end is End.COMPLETE:
            assert (seed, len(graph.states), len(graph.edges)) == (
                seed,
                found.stats.states,
                found.stats.transitions,
            )


def test_what_is_marked_as_wrong_is_what_the_engine_finds() -> None:
    for seed, question in random_tasks().items():
        for prop in question.properties:
            found = counted_with(question, prop.name)
            if found.end is End.COMPLETE:
                graph = whole(only(question, prop.name), FEW)
                is_broken = bool(graph.wrong) or any(edge.broken for edge in graph.edges)

                assert (seed, prop.name, is_broken) == (seed, prop.name, is_violated(found))


def only(question: Task, name: str) -> Task:
    props = tuple(p for p in question.properties if p.name == name)
    return Task(question.model, question.scope, question.budget, props)


def counted_with(question: Task, name: str) -> Findings:
    return engine("reference").run(replace(only(question, name), stop_early=False), Silent())


def is_violated(found: Findings) -> bool:
    (result,) = found.results
    return bool(result.by_faults) and not all(result.by_faults) and result.kind.value not in NOT_OF_A_PLACE


NOT_OF_A_PLACE = {"reachable", "recoverable", "leadsto", "always eventually"}


# --------------------------------------------------------------------------- merged


def projected(graph: StateGraph, parts: list[NamedPart]) -> list[tuple[object, ...]]:
    """For each state what the parts are in it, found in another way than the code does."""
    machine = Machine(graph.model, graph.scope)
    sizes = {sort: len(names) for sort, names in graph.scope.sorts.items()}
    found = []
    for state in graph.states:
        assert machine.decode(machine.encode(state)) == state
        key: list[object] = []
        for part in parts:
            value = state[part.variable]
            values = [value] if part.owner is None else [value[at] for at in range(sizes[part.owner])]
            for index in part.path:
                values = [each[index] for each in values]
            key.append(tuple(values))
        found.append(tuple(key))
    return found


def test_the_edges_of_a_quotient_are_the_images_of_the_steps() -> None:
    for seed, question in random_tasks().items():
        graph = whole(question, FEW)
        dice = Random(seed)  # noqa: S311 - no secret
        everything = [*parts_of(graph.model)]
        parts = [part for part in everything if dice.random() < 0.3]
        keys = projected(graph, parts)
        numbers = {key: at for at, key in enumerate(dict.fromkeys(keys))}
        images = [(numbers[keys[e.start]], numbers[keys[e.end]], e.step.action) for e in graph.edges]
        found = merged(graph, "", parts)

        assert len(found.vertices) == len(numbers)
        assert [v.states for v in found.vertices] == [keys.count(key) for key in numbers]
        assert {(a.start, a.end, a.action): a.steps for a in found.arcs} == {
            image: images.count(image) for image in images if image[0] != image[1]
        }
        assert [v.within for v in found.vertices] == [
            sum(start == end == at for start, end, _ in images) for at in range(len(numbers))
        ]
        assert len(found.arcs) == len({(a.start, a.end, a.action) for a in found.arcs})


def test_merged_by_nothing_is_one_state() -> None:
    graph = whole(task(*asked(ROOT / TWO, "two_managers")), FEW)
    found = merged(graph, "", [])

    assert [(v.states, v.within, v.initial) for v in found.vertices] == [(56, 153, 1)]
    assert found.arcs == ()


def test_merged_by_everything_is_the_graph_itself() -> None:
    graph = whole(task(*asked(ROOT / TWO, "two_managers")), FEW)
    found = merged(graph, "", [*parts_of(graph.model)])
    loops = sum(edge.start == edge.end for edge in graph.edges)

    assert len(found.vertices) == len(graph.states)
    assert sum(arc.steps for arc in found.arcs) == len(graph.edges) - loops


def test_a_merged_run_keeps_its_order() -> None:
    model, question = asked(ROOT / TINY, "as_expected")
    trace = a_run(model, question)
    graph = whole(task(model, question), FEW, trace)
    found = merged(graph, "", pick_parts(model, "--merge", ["leader"]))
    taken = sorted((arc.label, found.vertices[arc.end].lines[:1]) for arc in found.arcs if arc.on_path)

    assert taken == [
        ("1. elect ×10", ("leader = a",)),
        ("3. crash ×28", ("leader = none",)),
        ("4. elect ×10", ("leader = b",)),
    ]
    assert sum(vertex.on_path for vertex in found.vertices) == 3


# -------------------------------------------------------------------- around a run


def test_a_run_is_within_what_is_around_it() -> None:
    model, question = asked(PROTOCOLS / "kafka.rsm", "last_replica")
    trace = a_run(model, question)
    graph = around(task(model, question), trace, 0, FEW)

    assert [graph.states[number] for number in graph.path] == [*trace.states]
    assert [graph.edges[number].step for number in graph.taken] == [*trace.steps]
    assert set(graph.path) == set(range(len(graph.states)))
    assert graph.path[-1] in graph.wrong


def test_every_step_from_a_state_is_drawn_or_counted() -> None:
    model, question = asked(PROTOCOLS / "kafka.rsm", "last_replica")
    trace = a_run(model, question)
    graph = around(task(model, question, Budget(None)), trace, 2, 2_000)
    machine = Machine(model, question.scope)
    steps = [sum(isinstance(each, Taken) for each in machine.steps(state)) for state in graph.states]
    drawn_ = [sum(edge.start == number for edge in graph.edges) for number in range(len(graph.states))]

    assert [n + graph.beyond.get(at, 0) for at, n in enumerate(drawn_)] == steps


def test_far_enough_around_a_run_is_everything() -> None:
    model, question = asked(ROOT / TINY, "as_expected")
    trace = a_run(model, question)
    near, far = (around(task(model, question), trace, d, FEW) for d in (1, 99))
    everything = whole(task(model, question), FEW, trace)

    assert len(near.states) < len(far.states)
    assert set(far.states) == set(everything.states)
    assert named(far) == named(everything)
    assert far.beyond == {}


def named(graph: StateGraph) -> set[tuple[object, ...]]:
    return {(graph.states[e.start], e.step, graph.states[e.end]) for e in graph.edges}


def test_a_run_with_more_faults_than_allowed_is_refused() -> None:
    model, question = asked(ROOT / TINY, "as_expected")
    trace = a_run(model, question)
    fault = [model.action(step.action).kind for step in trace.steps].index(Kind.FAULT) + 1

    with pytest.raises(BeyondBudget) as of_part:
        around(task(model, question, Budget(0)), trace, 1, FEW)
    with pytest.raises(BeyondBudget) as of_whole:
        whole(task(model, question, Budget(0)), FEW, trace)
    assert (of_part.value.step, of_whole.value.step) == (fault, fault)


def test_too_many_states_are_refused() -> None:
    model, question = asked(ROOT / TINY, "as_expected")
    trace = a_run(model, question)
    everything = len(whole(task(model, question), FEW).states)

    assert len(whole(task(model, question), everything).states) == everything
    with pytest.raises(TooManyStates):
        whole(task(model, question), everything - 1)
    with pytest.raises(TooManyStates):
        around(task(model, question), trace, 9, len(trace.states) + 1)


# ---------------------------------------------------------------- parts by their names


@pytest.mark.parametrize(
    ("protocol", "name", "parts"),
    [
        ("kafka", "isr", ["isr"]),
        ("kafka", "epoch", ["epoch"]),
        ("kafka", "Broker.epoch", ["Broker.epoch"]),
        ("kafka", "log", ["Broker.log"]),
        ("kafka", "membership", ["isr"]),
        ("kafka", "high_watermark", ["Broker.hw"]),
        ("kafka_log", "quorum.leader", ["quorum.leader"]),
        ("kafka_log", "requests", ["requests"]),
        ("kafka_log", "membership", ["quorum.isr"]),
    ],
)
def test_a_part_is_found_by_name_or_role(protocol: str, name: str, parts: list[str]) -> None:
    model = load(PROTOCOLS / f"{protocol}.rsm")[0]

    assert [each.spelt(model) for each in pick_parts(model, "--merge", [name])] == parts


@pytest.mark.parametrize(
    ("name", "help_"),
    [
        ("epoch", "write one of quorum.epoch, Replica.epoch"),
        ("quorum.leadr", "did you mean"),
        ("x", "it has"),
    ],
)
def test_a_name_of_no_part_or_of_several_is_told(name: str, help_: str) -> None:
    model = load(PROTOCOLS / "kafka_log.rsm")[0]

    with pytest.raises(SpecError) as found:
        pick_parts(model, "--merge", [name])
    assert found.value.diagnostics[0].code == "R0902"
    assert help_ in str(found.value)


# --------------------------------------------------------------------- the command

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(ROOT)

    def graph(*args: str) -> tuple[int, str, str]:
        code = main(["trace", "graph", *args])
        told = capsys.readouterr()
        return code, told.out, told.err

    return graph


def test_a_graph_is_written_in_the_format_that_the_file_is_called(run: Run, tmp_path: Path) -> None:
    for name in ("a.json", "a.graphml", "a.dot"):
        assert run(TWO, "--check", "two_managers", "--out", str(tmp_path / name))[0] == Exit.EXPECTED
    as_json: Any = nx.node_link_graph(json.loads((tmp_path / "a.json").read_text("utf-8")), edges="edges")
    as_graphml = nx.read_graphml(tmp_path / "a.graphml", force_multigraph=True)

    assert (len(as_json), as_json.number_of_edges()) == (56, 153)
    assert dict(as_json.nodes(data=True)) == dict(as_graphml.nodes(data=True))
    assert [*as_json.edges(data=True)] == [*as_graphml.edges(data=True)]
    assert (tmp_path / "a.dot").read_text("utf-8").startswith("digraph")


def test_the_same_command_writes_the_same_bytes(run: Run) -> None:
    for format_ in ("dot", "graphml", "json"):
        first, second = (run(TWO, "--check", "two_managers", "--as", format_) for _ in range(2))
        assert first == second


def test_a_graph_in_dot(run: Run, golden: Callable[[str, str], None]) -> None:
    code, out, err = run(TINY, "--check", "as_expected", "--property", "safe", "--merge", "leader,isr,up")

    assert code == Exit.EXPECTED
    golden("graphs/tiny_merged.dot", out)
    golden("graphs/tiny_merged.txt", err)


def test_a_part_of_a_graph_in_dot(run: Run, golden: Callable[[str, str], None]) -> None:
    out = run(TINY, "--check", "as_expected", "--property", "safe", "--distance", "1", "--fields", "log,hw")[
        1
    ]

    golden("graphs/tiny_around.dot", out)


@pytest.mark.parametrize("more", [(), ("--merge", "leader"), ("--property", "safe", "--distance", "2")])
def test_graphviz_reads_what_is_written(run: Run, more: tuple[str, ...]) -> None:
    program = shutil.which("dot")
    if program is None:
        pytest.skip("needs dot, of Graphviz")
    text = run(TINY, "--check", "as_expected", *more)[1]
    whole_: Any = json.loads(run(TINY, "--check", "as_expected", *more, "--as", "json")[1])
    read = subprocess.run(
        [program, "-Tdot_json"], input=text, capture_output=True, encoding="utf-8", check=True
    )
    found = json.loads(read.stdout)

    assert read.stderr == ""
    assert (len(found["objects"]), len(found["edges"])) == (len(whole_["nodes"]), len(whole_["edges"]))


def test_around_a_trace_from_a_file(run: Run, tmp_path: Path) -> None:
    model, question = asked(ROOT / TINY, "as_expected")
    file = tmp_path / "run.itf.json"
    file.write_text(write(a_run(model, question)), encoding="utf-8")
    by_trace = run(TINY, "--around", str(file))
    by_property = run(TINY, "--check", "as_expected", "--property", "safe", "--distance", "1")

    assert by_trace[0] == Exit.EXPECTED
    assert by_trace[1] == by_property[1]


def test_around_a_trace_of_another_model_is_refused(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "run.itf.json"
    file.write_text(write(a_run(*asked(ROOT / TINY, "as_expected"))), encoding="utf-8")
    code, out, err = run(TWO, "--around", str(file))

    assert (code, out) == (Exit.WRONG, "")
    assert "Traceback" not in err


def test_around_a_trace_with_too_many_faults_is_refused(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "run.itf.json"
    file.write_text(write(a_run(*asked(ROOT / TINY, "as_expected"))), encoding="utf-8")
    code, _, err = run(TINY, "--around", str(file), "--faults", "0")

    assert code == Exit.WRONG
    assert "too few faults" in err
    assert "--faults any" in err


def test_what_is_too_large_is_refused_with_its_size_and_a_way_out(run: Run) -> None:
    code, out, err = run(TWO, "--check", "three_managers", "--max-states", "100")

    assert (code, out) == (Exit.UNKNOWN, "")
    assert "there are 288 states in two_phase_commit · three_managers" in err
    assert "--max-states allows 100" in err
    assert "--scope" in err


def test_a_part_that_is_too_large_is_refused_too(run: Run) -> None:
    arguments = ("--check", "as_expected", "--property", "safe", "--distance", "9", "--max-states", "20")
    code, _, err = run(TINY, *arguments)

    assert code == Exit.UNKNOWN
    assert "more than 20 states around the run" in err
    assert "a smaller --distance" in err


def test_much_in_dot_is_written_with_a_hint(run: Run) -> None:
    code, _, err = run(TWO, "--check", "blocking")

    assert code == Exit.EXPECTED
    assert "576 states" in err
    assert "--merge" in err


def test_a_property_that_holds_has_no_run_to_stand_around(run: Run) -> None:
    arguments = (TINY, "--check", "as_expected", "--property", "low")

    assert run(*arguments)[0] == Exit.EXPECTED
    assert run(*arguments, "--distance", "1")[0] == Exit.WRONG


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((TINY,), "a graph is of one"),
        ((TINY, "--check", "nothing"), "R0902"),
        ((TINY, "--check", "as_expected", "--merge", "isrr"), "R0902"),
        ((TINY, "--check", "as_expected", "--property", "sfe"), "R0902"),
        ((TINY, "--check", "as_expected", "--distance", "1"), "--distance is from a run"),
        ((TINY, "--check", "as_expected", "--merge", "isr", "--fields", "isr"), "one of them"),
        ((TINY, "--check", "as_expected", "--max-states", "many"), "not a whole number"),
        ((TINY, "--check", "as_expected", "--out", "/nowhere/a.dot"), "R0904"),
        ((TINY, "--around", "nothing.json"), "R0904"),
        ((TINY, "--around", "nothing.json", "--property", "safe"), "not allowed with"),
        (("nothing.rsm",), "R0103"),
    ],
)
def test_what_cannot_be_drawn_is_told(run: Run, arguments: tuple[str, ...], says: str) -> None:
    code, out, err = run(*arguments)

    assert (code, out) == (Exit.WRONG, "")
    assert says in err


def test_a_model_that_cannot_start_is_told(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "p.rsm"
    file.write_text(
        "protocol p\nnat N\nstate { n: N = 0 }\ninit { n := 3 }\nassume small: 1 == 2\n"
        "check a { scope N = 1 }\n",
        encoding="utf-8",
    )
    assert "R0907" in run(str(file))[2]
    file.write_text(file.read_text("utf-8").replace("1 == 2", "1 == 1"), encoding="utf-8")
    code, _, err = run(str(file))

    assert code == Exit.WRONG
    assert "the model cannot start" in err


def test_an_error_of_the_model_is_marked_in_its_state() -> None:
    (model,) = loads(
        "protocol p\nnat N\nstate { n: N = 0  l: seq[N; N] = [] }\n"
        "action up { require n < 2  n := n + 1 }\naction bad { require n == 2  l := [l[0]] }\n"
        "check a { scope N = 3 }\n"
    )
    graph = whole(task(model, model.checks[0]), FEW)

    assert len(graph.states) == 3
    assert set(graph.wrong) == {2}


def test_ghosts_and_networks_can_be_merged() -> None:
    model = toy()
    question = task(model, pick_check(model, model.checks[0].name))
    graph = whole(question, 20_000)
    found = merged(graph, "", pick_parts(model, "--merge", ["net"]))

    assert 1 < len(found.vertices) < len(graph.states)


def test_chosen_fields_are_told_of_each_state() -> None:
    model, question = asked(ROOT / TWO, "two_managers")
    graph = whole(task(model, question), FEW)
    made: DrawnGraph = drawn(graph, "", pick_parts(model, "--fields", ["outcome", "stage"]))

    assert made.vertices[0].lines == ("outcome = undecided", "stage: manager1 working, manager2 working")


# ---------------------------------------------------------------------- the document


def test_the_example_in_the_document_is_what_comes_out(
    run: Run, in_document: Callable[[Path, str, str], None]
) -> None:
    page = ROOT / "docs/how-to/look-at-a-run.md"
    text = page.read_text(encoding="utf-8")
    section = text.partition("## The graph of the states\n")[2].partition("\n## ")[0]
    found = re.search(r"```sh\nmodelcheck (?:trace )?graph (.*?)\n```.*?```dot\n(.*?)```", section, re.DOTALL)

    assert found is not None
    code, out, _ = run(*found[1].split())
    in_document(page, found[2], out)
    assert code == Exit.EXPECTED
