"""Exports to Promela and Murphi: SPIN and rumur find as many states, and the same claims broken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from modelcheck.api import check
from modelcheck.contract.inexpressible import Inexpressible
from modelcheck.contract.result import End, Violated
from modelcheck.export.exported import Exported
from modelcheck.export.targets import target
from spec.load import load, loads
from spec.model.ir import Check, Model
from spec.model.values import ModelError
from tests.model_texts import model_text
from tests.oracles import needs_rumur, needs_spin, rumur, spin

PROTOCOLS = Path(__file__).parents[2] / "spec" / "protocols"
COUNTED = "kisr.xs two_phase_commit.blocking quorum.n3_w2_r2 kafka_log.kip101_two".split()
BROKEN = "quorum.n3_w2_r1 kisr.high_watermark_truncation_without_a_crash".split()


def question(name: str) -> tuple[Model, Check]:
    file, _, wanted = name.partition(".")
    found = [(m, c) for m in load(PROTOCOLS / f"{file}.rsm") for c in m.checks if c.name == wanted]
    return found[0]


def written(to: str, model: Model, asked: Check, folder: Path) -> Exported:
    made = target(to)(model, asked)
    for name, text in made.files.items():
        (folder / name).write_text(text, encoding="ascii")
    return made


def states(model: Model, asked: Check) -> int:
    return check(model, asked).findings.stats.states


@pytest.mark.oracle
@needs_spin
@pytest.mark.parametrize("name", COUNTED)
def test_spin_counts_as_many_states(name: str, tmp_path: Path) -> None:
    model, asked = question(name)
    made = written("promela", model, asked, tmp_path)

    assert spin(tmp_path, made.command) == (states(model, asked), 0)


@pytest.mark.oracle
@needs_rumur
@pytest.mark.parametrize("name", [*COUNTED, "kafka.two_in_sync"])
def test_rumur_counts_as_many_states(name: str, tmp_path: Path) -> None:
    model, asked = question(name)
    made = written("murphi", model, asked, tmp_path)
    expected = states(model, asked)

    assert rumur(tmp_path, made.command, states=expected) == (expected, 0)


@pytest.mark.oracle
@needs_spin
@needs_rumur
@pytest.mark.parametrize("name", BROKEN)
def test_both_find_what_is_broken(name: str, tmp_path: Path) -> None:
    model, asked = question(name)

    findings = check(model, asked).findings
    murphi = written("murphi", model, asked, tmp_path).command

    assert any(isinstance(r.verdict, Violated) for r in findings.results)
    assert spin(tmp_path, written("promela", model, asked, tmp_path).command)[1] == 1
    assert rumur(tmp_path, murphi, states=findings.stats.states)[1] == 1


def test_quorums_in_promela_and_murphi(golden: Callable[[str, str], None]) -> None:
    model, asked = question("quorum.n3_w2_r2")

    golden("export/quorum.pml", target("promela")(model, asked).files["quorum.pml"])
    golden("export/quorum.m", target("murphi")(model, asked).files["quorum.m"])


@pytest.mark.oracle
@needs_rumur
@pytest.mark.usefixtures("quickly_compiled")
def test_rumur_agrees_on_random_models(tmp_path: Path) -> None:
    compared = 0
    for seed in range(160):
        (model,) = loads(model_text(Random(seed).randrange))  # noqa: S311 - no secret
        asked = replace(model.checks[0], only=())
        folder = tmp_path / str(seed)
        folder.mkdir()
        try:
            made = written("murphi", model, asked, folder)
            if asked.budget.total is not None:  # part of the state in Murphi
                continue
            found = check(model, asked).findings
        except (Inexpressible, ModelError):  # negative numbers, a start that is an error
            continue
        compared += 1
        counted, errors = rumur(folder, made.command, states=found.stats.states)
        assert errors == (found.end is End.ERROR), seed
        assert errors or counted == found.stats.states, seed
    assert compared > 20


@pytest.mark.oracle
@needs_rumur
@pytest.mark.parametrize("guard", ["0 - x > 0 - 1", "300 * x < 300", "70000 + x < 70001"])
def test_rumur_has_room_for_what_is_computed_on_the_way(guard: str, tmp_path: Path) -> None:
    (model,) = loads(f"""
        protocol on_the_way
        state {{ x: 0..1 = 0 }}
        action up {{ require room: {guard}
          x := x + 1 }}
        check it {{ }}
    """)

    assert rumur(tmp_path, written("murphi", model, model.checks[0], tmp_path).command, states=2) == (2, 0)


@pytest.mark.parametrize("to", ["promela", "murphi"])
def test_what_is_too_large_is_refused_by_name(to: str) -> None:
    with pytest.raises(Inexpressible, match=r"a bag.* of 360 possible members"):
        target(to)(*question("raft.replication_losses"))


def test_spin_is_not_asked_of_the_first_state() -> None:
    (model,) = loads("""
        protocol first
        state { x: 1..2 = 1 }
        action go(v: 1..2) { x := v }
        invariant two: x == 2
        check it { }
    """)

    assert any(
        "the first state breaks two" in note for note in target("promela")(model, model.checks[0]).notes
    )


def test_where_a_start_is_chosen_is_what_promela_cannot_say() -> None:
    (model,) = loads("""
        protocol chosen
        sort Node
        state { x: 1..2 = 1, lead: Node? = none }
        init { choose n: Node  lead := n }
        action go(v: 1..2) { x := v }
        check it { scope Node = 2 }
    """)
    with pytest.raises(Inexpressible) as refused:
        target("promela")(model, model.checks[0])
    (what,) = refused.value.args

    assert what.what == "a model of 2 initial states"
    assert model.source.at(what.span) == "choose n: Node"
