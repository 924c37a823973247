"""What a page asks, the kernel as WebAssembly or a table of states: in Node, against engine and language."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from counterexamples.itf.encode import encoder
from modelcheck.answers.played import playable, playable_beforehand
from modelcheck.answers.precomputed import plain
from modelcheck.api import check
from modelcheck.asking.overrides import Overrides, apply
from modelcheck.commands.serve.lsp.running import in_background
from modelcheck.contract.result import Violated
from modelcheck.explicit.codegen.states.layout import PackedLayout, layout
from modelcheck.explicit.wasm.asked import OF_A_STATE
from spec.load import load, loads
from spec.meaning.semantics import CutOff, Machine, State, Taken
from spec.model.ir import Check, Kind, Model, PropertyKind
from spec.model.kinds import OF_RUNS
from spec.model.values import show
from tests.model_texts import model_text
from tests.modelcheck.explicit.far_states import far

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
PROTOCOLS = ROOT / "spec" / "protocols"
SCRIPTS = [
    ROOT / "counterexamples" / "play" / name for name in ("values.js", "table.js", "engine.js", "search.js")
]
AGREED = (
    "choice_in_rounds",
    "set_in_a_network",
    "bags_in_small_tables",
    "wide_members",
    "messages_of_one_union",
)
MODELS: list[tuple[str, str | None, tuple[str, ...]]] = [
    ("spec/protocols/kafka.rsm", "jepsen", ()),
    ("spec/protocols/kisr.rsm", "any_crashes", ("Replica=2", "Offset=2")),
    ("spec/protocols/two_phase_commit.rsm", "blocking", ()),
    *((f"tests/modelcheck/agreement/{name}.rsm", None, ()) for name in AGREED),
]
if os.environ.get(
    "MODELCHECK_EVERY_PAGE"
):  # of each file of the library the smallest check, which takes minutes
    MODELS = [
        (f"spec/protocols/{path.name}", next(iter(in_background(load(path), "smallest"))), ())
        for path in sorted(PROTOCOLS.glob("*.rsm"))
        if any(model.checks for model in load(path))
    ]
Json = Any
SAMPLE = 60  # states of which everything is compared


BROKEN_BY_A_STEP = """
protocol leaps
state { n: 0..9 = 0 }
action walk { require few: n < 2
  n := n + 1 }
action leap { require far: n == 2
  n := n + 5 }
step slow: n <= old(n) + 1
deadlock free
check all { expect slow violated in 3 steps, deadlock_free violated in 3 steps }
"""


@cache
def question(file: str, name: str | None, scope: tuple[str, ...]) -> tuple[Model, Check]:
    model, own = next((m, c) for m in load(ROOT / file) for c in m.checks if name in {None, c.name})
    return model, apply(model, own, Overrides(scope))


class Asked(NamedTuple):
    """A question that is the same only as itself: to compare models takes long."""

    model: Model
    check: Check

    def __hash__(self) -> int:
        return hash((id(self.model), self.check.name))


@cache
def playable_once(asked: Asked) -> tuple[bytes, Json]:
    return playable(*asked)


@pytest.fixture(scope="module")
def node() -> str:
    found = shutil.which("node")
    if found is None:
        pytest.skip("Node is not installed")
    return found


def answers(node: str, folder: Path, model: Model, asked: Check, **ask: Json) -> Json:
    return asked_of_node(node, folder, *playable_once(Asked(model, asked)), **ask)


def asked_of_node(node: str, folder: Path, code: bytes, told: Json, **ask: Json) -> Json:
    (folder / "code.wasm").write_bytes(code)
    (folder / "scripts.js").write_text("\n".join(path.read_text(encoding="utf-8") for path in SCRIPTS))
    (folder / "data.json").write_text(json.dumps({"description": told, "ask": ask}))
    files = [str(folder / name) for name in ("scripts.js", "code.wasm", "data.json")]
    run = subprocess.run([node, str(HERE / "play.js"), *files], capture_output=True, text=True, check=False)
    assert run.stderr == ""
    return json.loads(run.stdout)


@pytest.mark.parametrize(("file", "name", "scope"), MODELS)
def test_a_page_finds_as_many_states_in_every_layer(
    file: str, name: str | None, scope: tuple[str, ...], node: str, tmp_path: Path
) -> None:
    model, own = question(file, name, scope)
    asked = replace(own, only=(), expect=())

    stats = check(model, asked).findings.stats
    found = answers(node, tmp_path, model, own, levels=True, faults=asked.budget.total)

    layers: dict[int, int] = {}
    for faults, _, new in found["levels"]:
        layers[faults] = layers.get(faults, 0) + new
    assert layers == {layer.faults: layer.new for layer in stats.layers if layer.new}
    assert found["states"] == stats.states
    assert len({depth for _, depth, _ in found["levels"]}) == stats.levels


@pytest.mark.parametrize(("file", "name", "scope"), MODELS)
def test_a_page_tells_of_a_state_what_the_language_means(
    file: str, name: str | None, scope: tuple[str, ...], node: str, tmp_path: Path
) -> None:
    model, asked = question(file, name, scope)
    machine = Machine(model, asked.scope)
    counted = dict(asked.budget.counted)
    laid = layout(model, asked.scope, counted)
    sample = some_states(machine)

    ask = [[f"{word:x}" for word in laid.pack(state)] for state in sample]
    told = answers(node, tmp_path, model, asked, states=ask)["about"]

    for state, found in zip(sample, told, strict=True):
        assert what(found, packed(laid)) == meant(machine, asked, state)


@pytest.mark.parametrize("seed", [2, 10, 12])
def test_a_page_tells_of_random_models_what_the_language_means(seed: int, node: str, tmp_path: Path) -> None:
    (model,) = loads(model_text(Random(seed).randrange))  # noqa: S311 - no secret
    asked = model.checks[0]
    machine = Machine(model, asked.scope)
    laid, sample = layout(model, asked.scope, dict(asked.budget.counted)), some_states(machine)

    ask = [[f"{word:x}" for word in laid.pack(state)] for state in sample]
    told = answers(node, tmp_path, model, asked, states=ask)["about"]

    assert [what(found, packed(laid)) for found in told] == [meant(machine, asked, state) for state in sample]


@pytest.mark.parametrize(
    ("unless", "dead"), [("", True), (" unless n == 2", False), (" unless n == 1", True)]
)
def test_a_page_knows_where_a_run_may_end(unless: str, node: str, tmp_path: Path, *, dead: bool) -> None:
    (model,) = loads(f"""protocol short
        state {{ n: 0..2 = 0 }}
        action up {{ require n < 2; n := n + 1 }}
        deadlock free{unless}
        check all {{ }}
    """)
    asked = model.checks[0]
    ask = [[f"{word:x}" for word in layout(model, asked.scope, {}).pack((n,))] for n in range(3)]

    told = answers(node, tmp_path, model, asked, states=ask, wanted=["deadlock_free"])

    assert [found["dead"] for found in told["about"]] == [False, False, dead]
    assert (told["found"]["found"] is not None) == dead


def some_states(machine: Machine) -> list[State]:
    """The first states of a search that takes faults as it takes all else."""
    found = dict.fromkeys(machine.initial())
    waiting = [*found]
    while waiting and len(found) < SAMPLE:
        state = waiting.pop(0)
        for each in machine.steps(state):
            if isinstance(each, Taken) and each.state not in found:
                found[each.state] = None
                waiting.append(each.state)
    return [*found][:SAMPLE]


def packed(laid: PackedLayout) -> Callable[[Json], Json]:
    """How the words of a state are read: what its variables are."""
    return lambda words: plain(laid.unpack(tuple(int(word, 16) for word in words))[1])


def what(found: Json, read: Callable[[Json], Json]) -> Json:
    """What the page told, in an order of its own."""
    steps, cuts, refused = [], [], set()
    for outcome, name, says, why, words, broken in found["records"]:
        match outcome:
            case "taken":
                steps.append((name, says, repr(read(words)), sorted(broken)))
            case "cut":
                cuts.append((name, why))
            case "refused":
                refused.add((name.partition("(")[0], why))
            case _:
                raise AssertionError(outcome)
    return sorted(steps), sorted(cuts), refused, found["shown"], found["itf"], found["truth"], found["dead"]


def meant(machine: Machine, asked: Check, state: State) -> Json:
    """The same by the meaning of the language."""
    model, scope = machine.model, machine.scope
    allowed = [a.name for a in model.actions if a.kind is not Kind.FAULT or asked.budget.allows(a.name)]
    refused: set[tuple[str, int]] = set()
    steps, cuts = [], []
    of_steps = [p for p in model.properties if p.kind is PropertyKind.STEP]
    for each in machine.steps(state, refused, allowed):
        if isinstance(each, CutOff):
            cuts.append((machine.name(each.step), each.limit))
            continue
        says = machine.says(model.action(each.step.action), each.step, state)
        broken = [p.name for p in of_steps if not machine.step_holds(p, state, each.step, each.state)]
        after = repr(plain(each.state))
        steps.append((machine.name(each.step), says, after, sorted([*broken, *each.broken])))
    shown = [show(v.type, value, scope) for v, value in zip(model.variables, state, strict=True)]
    itf = [encoder(v.type, scope)(value) for v, value in zip(model.variables, state, strict=True)]
    truth = {p.name: machine.holds(p, state) for p in model.properties if p.kind in OF_A_STATE}
    free = next((p for p in model.properties if p.kind is PropertyKind.DEADLOCK_FREE), None)
    return (
        sorted(steps),
        sorted(cuts),
        refused,
        shown,
        itf,
        truth,
        None if free is None else not machine.holds(free, state),
    )


def test_whether_an_action_fails_is_the_lowest_bit_of_what_is_returned(node: str, tmp_path: Path) -> None:
    model, asked = question("spec/protocols/kafka_follower_reads.rsm", "kafka14372", ())
    machine = Machine(model, asked.scope)
    start, *_ = machine.initial()

    ask = [[f"{word:x}" for word in layout(model, asked.scope, dict(asked.budget.counted)).pack(start)]]
    (told,) = answers(node, tmp_path, model, asked, states=ask)["about"]

    assert "fetch" in {name.partition("(")[0] for _, name, *_ in told["records"]}


def test_the_shortest_way_to_a_loss_is_that_of_the_engine(node: str, tmp_path: Path) -> None:
    model, asked = question("spec/protocols/kafka.rsm", "jepsen", ())
    verdict = check(model, asked).verdict("acknowledged_survive")
    assert isinstance(verdict, Violated)
    assert verdict.trace is not None

    answer = answers(node, tmp_path, model, asked, wanted=["acknowledged_survive"])["found"]

    assert len(answer["found"]["path"]) == len(verdict.trace.steps)
    assert answer["faults"] == verdict.trace.faults


def test_a_step_that_breaks_a_property_is_found_as_soon(node: str, tmp_path: Path) -> None:
    model = loads(BROKEN_BY_A_STEP)[0]
    asked = model.checks[0]
    verdict = check(model, asked).verdict("slow")
    assert isinstance(verdict, Violated)
    assert verdict.trace is not None

    answer = answers(node, tmp_path, model, asked, wanted=["slow"])["found"]

    assert answer["found"] == {"path": [0, 0], "property": "slow", "breaks": True}
    assert len(verdict.trace.steps) == 3  # of which the last is the one that breaks it


def test_a_property_of_steps_that_makes_an_error_is_told_instead_of_the_step(
    node: str, tmp_path: Path
) -> None:
    model, asked = whole("""protocol errs
        state { n: 0..3 = 0 }
        action go(k: 0..1) { require n < 3  n := n + 1 }
        fault slip { n := 3 }
        step slow: n + (10 / (n - 3)) < 99
        check all { faults any }
    """)
    laid = layout(model, asked.scope, dict(asked.budget.counted))
    ask = [[f"{word:x}" for word in laid.pack((n,))] for n in (0, 2)]

    first, last = answers(node, tmp_path, model, asked, states=ask)["about"]

    assert [(each[0], each[1].partition("(")[0]) for each in first["records"]] == [
        ("taken", "go"), ("taken", "go"), ("error", "slip"),
    ]  # fmt: skip
    assert {(each[0], each[1].partition("(")[0]) for each in last["records"]} == {
        ("error", "go"), ("error", "slip"),
    }  # fmt: skip


DEARER_AT_ONCE = """
protocol dearer
state { n: 0..9 = 0 }
action walk { require n < 3
  n := n + 1 }
action leap { require n == 3
  n := n + 5 }
fault slip { require n < 9
  n := 9 }
step slow: n <= old(n) + 1
check all { faults any }
"""


def searches(node: str, folder: Path, model: Model, **ask: Json) -> Iterator[Json]:
    """What pages find, one with a kernel and one with a table."""
    asked = model.checks[0]
    yield answers(node, folder, model, asked, **ask)["found"]
    code, told, made = playable_beforehand(model, asked, 100)
    assert made.used["whole"]
    yield asked_of_node(node, folder, code, told, **ask)["found"]


def test_a_page_counts_the_fault_that_breaks_a_property(node: str, tmp_path: Path) -> None:
    verdict = check(*whole(DEARER_AT_ONCE)).verdict("slow")
    assert isinstance(verdict, Violated)
    assert verdict.trace is not None
    assert (verdict.trace.faults, len(verdict.trace.steps)) == (0, 4)

    for answer in searches(node, tmp_path, whole(DEARER_AT_ONCE)[0], wanted=["slow"]):
        assert answer["found"] == {"path": [0, 0, 0], "property": "slow", "breaks": True}
        assert answer["faults"] == 0

    (model, _) = whole(DEARER_AT_ONCE.replace("n == 3", "n == 9"))
    for answer in searches(node, tmp_path, model, wanted=["slow"]):
        assert answer["found"] == {"path": [], "property": "slow", "breaks": True}
        assert answer["faults"] == 1


def test_a_page_finds_a_way_that_takes_many_bytes(node: str, tmp_path: Path) -> None:
    answer = answers(node, tmp_path, *far(300, 190), wanted=["still"])["found"]

    assert answer["found"] == {"path": [190, 0], "property": "still"}


def test_a_page_takes_no_fault_beyond_the_budget_for_an_error(node: str, tmp_path: Path) -> None:
    (model, asked) = whole("""protocol beyond
        state { n: 0..1 = 0  s: set[bool] = {} }
        fault first { require n == 0  n := 1 }
        fault second { require n == 1  let x = the(s)  n := 0 }
        invariant low: n <= 1
        check all { faults <= 1 }
    """)
    assert check(model, asked).findings.error is None

    for answer in searches(node, tmp_path, model, wanted=["low"], faults=1):
        assert answer["found"] is None


def whole(text: str) -> tuple[Model, Check]:
    (model,) = loads(text)
    return model, model.checks[0]


# ------------------------------------------------------------- states that were computed beforehand


@pytest.mark.parametrize(("file", "name", "scope"), MODELS)
def test_a_table_tells_of_a_state_what_the_language_means(
    file: str, name: str | None, scope: tuple[str, ...], node: str, tmp_path: Path
) -> None:
    model, asked = question(file, name, scope)
    machine, sample = Machine(model, asked.scope), some_states(Machine(model, asked.scope))
    code, told, made = playable_beforehand(model, asked, 400)
    table = json.loads(made.table)
    numbers = {json.dumps(state): number for number, state in reversed([*enumerate(table["states"])])}
    found_there = {json.dumps(plain(state)): state for state in sample}
    known = {
        numbers[text]: state
        for text, state in found_there.items()
        if text in numbers
        and table["records"][numbers[text]] is not None
        and not any(table["spent"][numbers[text]])
    }

    ask = [[f"{number:x}"] for number in known]
    found = asked_of_node(node, tmp_path, code, told, states=ask)["about"]

    def read(words: list[str]) -> Json:
        return table["states"][int(words[0], 16)]

    assert len(known) > 1
    assert [what(each, read) for each in found] == [meant(machine, asked, each) for each in known.values()]


@pytest.mark.parametrize(
    ("file", "name"),
    [("kafka.rsm", "jepsen"), ("two_phase_commit.rsm", "blocking"), ("quorum.rsm", "n3_w2_r1")],
)
def test_a_table_that_is_whole_has_the_states_of_the_check_and_finds_its_ways(
    file: str, name: str, node: str, tmp_path: Path
) -> None:
    model, own = question(f"spec/protocols/{file}", name, ())
    every = replace(own, only=None, expect=())
    outcome = check(model, every)
    code, told, made = playable_beforehand(model, own, 5_000)

    assert made.used["whole"]
    if own.budget.total is None:
        assert made.count == outcome.findings.stats.states
    for verdict in (outcome.verdict(prop.name) for prop in model.properties if prop.kind not in OF_RUNS):
        if not isinstance(verdict, Violated) or verdict.trace is None:
            continue
        prop = verdict.trace.property
        ask = {"wanted": [prop], "faults": own.budget.total}
        answer = asked_of_node(node, tmp_path, code, told, **ask)["found"]
        length = len(answer["found"]["path"]) + answer["found"].get("breaks", False)
        assert (prop, length, answer["faults"]) == (prop, len(verdict.trace.steps), verdict.trace.faults)


def test_a_table_finds_a_step_that_breaks_a_property_and_a_deadlock(node: str, tmp_path: Path) -> None:
    model = loads(BROKEN_BY_A_STEP)[0]
    code, told, made = playable_beforehand(model, model.checks[0], 100)
    assert made.used["whole"]

    broken = asked_of_node(node, tmp_path, code, told, wanted=["slow"])["found"]
    dead = asked_of_node(node, tmp_path, code, told, wanted=["deadlock_free"])["found"]

    assert broken["found"] == {"path": [0, 0], "property": "slow", "breaks": True}
    assert dead["found"] == {"path": [0, 0, 0], "property": "deadlock_free"}


def test_a_table_that_is_not_whole_says_so(node: str, tmp_path: Path) -> None:
    model, asked = question("spec/protocols/kafka.rsm", "jepsen", ())
    code, told, made = playable_beforehand(model, asked, 20)

    answer = asked_of_node(node, tmp_path, code, told, wanted=["acknowledged_survive"])["found"]

    assert not made.used["whole"]
    assert answer["found"] is None
    assert answer["isPartial"]


def test_a_search_without_memory_says_so(node: str, tmp_path: Path) -> None:
    model, asked = question("spec/protocols/kafka.rsm", "jepsen", ())

    answer = answers(node, tmp_path, model, asked, levels=True, pages=0)

    assert answer == {"problem": "memory"}
