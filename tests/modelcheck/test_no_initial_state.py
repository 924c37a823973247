"""A model without an initial state has no runs, and everything would hold of it: it is an error."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import modelcheck.cli as cli
from modelcheck.api import check
from modelcheck.contract.exits import Exit
from modelcheck.contract.proof import START, ObligationStatus
from modelcheck.contract.result import Holds, Outcome, Unknown
from modelcheck.engines.registry import engine as engine_of
from spec.load import loads
from spec.meaning.semantics import Machine
from spec.model.values import ModelError

MODEL = """\
protocol nowhere

sort   Node
union  Message { Vote(of: Node)  Ping }

state {
  v: 0..2 = 0
  some: set[Node] = {}
  sent: set[Message] = {Ping}
  most: 0..2 = 1
}

init { INIT }

fault fail { require more: v < 2  v := v + 1 }

invariant never: v == 7

check it { scope Node = 2  faults any  rates fail = 1/d }
"""
EMPTY = "choose n in some  v := 1"
CONDITION = "choose n in 0..2 where n > 2  v := n"
CASE = "choose m: Vote in sent  v := 1"
BRANCH = "if most == 1 { choose n in some  v := 1 } else { choose k in 0..1  v := k }"
LOOP = "for i in 0..most { choose n in 0..2 where n == 2 * i + 1  v := n }"
LATER = "choose k in 0..1  choose n in 0..2 where n + k > 3  v := n"


def model(init: str) -> str:
    return MODEL.replace("INIT", init)


def outcome(text: str, engine: str, **options: Any) -> Outcome:  # noqa: ANN401 - an engine's own
    (found,) = loads(text)
    return check(found, found.checks[0], engine=engine_of(engine, **options))


@pytest.mark.parametrize(
    ("init", "place", "why"),
    [
        (EMPTY, "some", "`choose n` has no choice because the set is empty"),
        (CONDITION, "n > 2", "`choose n` has no choice because no member satisfies the condition"),
        (CASE, "sent", "`choose m` has no choice because the set has no member of that case"),
        (BRANCH, "some", "`choose n` has no choice because the set is empty"),
        (LOOP, "n == 2 * i + 1", "`choose n` has no choice because no member satisfies the condition"),
        (LATER, "n + k > 3", "`choose n` has no choice because no member satisfies the condition"),
    ],
)
def test_the_error_is_at_the_choice_that_leaves_no_start(init: str, place: str, why: str) -> None:
    (found,) = loads(model(init))
    with pytest.raises(ModelError) as error:
        Machine(found, found.checks[0].scope).initial()

    span = error.value.span
    assert (error.value.code, error.value.message) == ("R0608", why)
    assert found.source.text[span.start : span.end] == place


def test_a_start_by_one_branch_is_enough() -> None:
    (found,) = loads(model("choose k in 0..1  if k == 0 { choose n in some }  v := k"))

    assert len(Machine(found, found.checks[0].scope).initial()) == 1


@pytest.mark.parametrize(
    ("engine", "options"),
    [
        ("reference", {}),
        ("explicit", {}),
        ("spark", {"shards": 3, "driver_states": None}),
        ("bmc", {}),
        ("induction", {}),
        ("ic3", {}),
    ],
)
def test_no_engine_answers_of_a_model_without_a_start(engine: str, options: Mapping[str, Any]) -> None:
    with pytest.raises(ModelError) as error:
        outcome(model(EMPTY), engine, **options)

    assert error.value.code == "R0608"


# ------------------------------------------------------------------------ proofs


def proved(init: str) -> Outcome:
    return outcome(model(init).replace("v == 7", "v <= 2"), "prove", seconds=3.0)


@pytest.mark.parametrize(
    "init",
    [
        "choose n: Node  some := {n}",
        "choose q in subsets(Node) where 2 * size(q) > size(Node)  some := q",
        "choose q in subsets(Node) where size(q) == 0  some := q",
        "if most == 1 { choose k in 0..1  v := k } else { choose n in some  v := 1 }",
    ],
)
def test_a_start_is_proved_where_there_is_one_in_every_scope(init: str) -> None:
    found = proved(init)

    assert isinstance(found.verdict("never"), Holds)
    assert found.findings.proof is not None
    assert START in {cell.claim for cell in found.findings.proof.cells}


@pytest.mark.parametrize(
    "init",
    [EMPTY, "choose n: Node  choose m in Node - {n}"],
)
def test_nothing_is_proved_of_a_model_without_a_start_in_some_scope(init: str) -> None:
    found = proved(init)

    assert isinstance(found.verdict("never"), Unknown)
    assert found.findings.proof is not None
    (cell,) = found.findings.proof.dropped
    assert (cell.claim, cell.kept) == (START, ObligationStatus.FAILED)
    assert cell.why.startswith("with Node = 1, ")


def test_a_start_without_choices_is_no_obligation() -> None:
    found = proved("v := 1")

    assert found.findings.proof is not None
    assert START not in {cell.claim for cell in found.findings.proof.cells}


def test_a_certificate_without_the_obligation_of_a_start_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, certificate = tmp_path / "m.rsm", tmp_path / "c.json"
    path.write_text(model("choose n: Node  some := {n}").replace("v == 7", "v <= 2"))
    prove = ["check", str(path), "--engine", "prove", "-q", "--certificate", str(certificate)]
    assert cli.main(prove) == Exit.EXPECTED
    assert cli.main(["certify", str(certificate)]) == Exit.EXPECTED
    data = json.loads(certificate.read_text())
    data["obligations"] = [each for each in data["obligations"] if each["claim"] != START]
    certificate.write_text(json.dumps(data))

    assert cli.main(["certify", str(certificate)]) == Exit.VIOLATED
    assert f"missing: {START}" in "".join(capsys.readouterr())


# ---------------------------------------------------------------------- commands


@pytest.mark.parametrize(
    "command",
    [
        ["check"],
        ["check", "--json"],
        ["check", "--estimate"],
        ["check", "--simulate", "5"],
        ["check", "--symmetry"],
        ["check", "--strict", "-q"],
        ["necessity"],
        ["sweep", "--vary", "Node=1,2"],
        ["kafka", "frontier", "--over", "Node=1,2"],
        ["rates"],
        ["trace", "graph"],
        ["trace", "play", "--html", "page.html"],
        ["export", "--to", "tla"],
        ["export", "--to", "promela"],
        ["export", "--to", "murphi"],
    ],
    ids=" ".join,
)
def test_a_command_refuses_a_model_without_a_start(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m.rsm").write_text(model(EMPTY))

    assert cli.main([*command, "m.rsm"]) == Exit.WRONG
    told = " ".join("".join(capsys.readouterr()).split())
    assert "the model cannot start: `choose n` has no choice because" in told


def test_the_message_points_at_the_choice(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    golden: Callable[[str, str], None],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("nowhere.rsm").write_text(model(EMPTY))
    cli.main(["check", "nowhere.rsm"])

    golden("cards/no_initial_state.txt", capsys.readouterr().err)
