"""An error in the condition of a property of runs is one of the model, and every engine shows its run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import modelcheck.cli as cli
from counterexamples.trace import Erred
from modelcheck.answers.endless import forever
from modelcheck.api import check
from modelcheck.contract.exits import Exit
from modelcheck.contract.result import End, Findings, Unknown
from modelcheck.engines.registry import engine as engine_of
from spec.load import loads
from tests.agreement import cost

MODEL = """\
protocol shelf

sort  Hand
state { books: seq[0..2; 3] = [0], ready: bool = false }

process Hand { volatile free: bool = true }

fair action get_ready { require new: not ready  ready := true }
fair action put { require fits: size(books) < 3  books.append(1) }
fault take(h: Hand) {
  require some: ready and size(books) > 0 and h.free
  books  := books[1..]
  h.free := false
}

PROPERTY

check it { scope Hand = 2  faults <= 2 }
"""
PROPERTIES = {
    "recoverable": "recoverable named: books[0] >= 0",
    "left of leadsto": "leadsto named: books[0] == 2 ~> ready",
    "left of leadsto, though its right is true": "leadsto named: books[0] >= 0 ~> true",
    "right of leadsto": "leadsto named: false ~> books[0] == 1",
    "always eventually": "always eventually named: last(books) <= 1",
}
WAYS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "reference": ("reference", {}),
    "explicit": ("explicit", {"threads": 1}),
    "explicit, two threads": ("explicit", {"threads": 2}),
    "explicit, no ways": ("explicit", {"ways": False}),
}


def found(text: str, engine: str, options: Mapping[str, Any]) -> Findings:
    (model,) = loads(text)
    made = engine_of(engine, **({"shards": 3, "driver_states": None} if engine == "spark" else {}))
    return check(model, model.checks[0], engine=made, **options).findings


def told(findings: Findings) -> object:
    error = findings.error
    assert error is not None
    assert isinstance(error.ending, Erred)
    return findings.end, cost(error), error.property, error.ending.code


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", PROPERTIES)
def test_an_error_in_a_condition_ends_the_search_with_its_run(name: str, way: str) -> None:
    findings = found(MODEL.replace("PROPERTY", PROPERTIES[name]), *WAYS[way])

    assert told(findings) == (End.ERROR, (1, 2), "named", "R0604" if "last" in PROPERTIES[name] else "R0602")
    assert isinstance(findings.results[0].verdict, Unknown)


@pytest.mark.parametrize(
    ("engine", "options"),
    [
        ("reference", {"symmetry": True}),
        ("explicit", {"symmetry": True}),
        ("spark", {"threads": 1}),
        ("spark", {"threads": 1, "symmetry": True}),
    ],
)
def test_recoverable_makes_its_error_in_every_search(engine: str, options: Mapping[str, Any]) -> None:
    findings = found(MODEL.replace("PROPERTY", PROPERTIES["recoverable"]), engine, options)

    assert told(findings) == (End.ERROR, (1, 2), "named", "R0602")


@pytest.mark.parametrize("engine", ["reference", "explicit"])
def test_a_violation_that_costs_less_than_the_error_stays(engine: str) -> None:
    properties = f"{PROPERTIES['recoverable']}\ninvariant unready: not ready"
    findings = found(MODEL.replace("PROPERTY", properties), engine, {})

    assert told(findings) == (End.ERROR, (1, 2), "named", "R0602")
    trace = check_of(findings, "unready")
    assert (trace.faults, len(trace.steps)) == (0, 1)


def check_of(findings: Findings, name: str) -> Any:  # noqa: ANN401 - the run of a violation
    (verdict,) = (each.verdict for each in findings.results if each.property == name)
    return verdict.trace  # type: ignore[union-attr]


@pytest.mark.parametrize("engine", ["reference", "explicit"])
def test_a_condition_that_guards_itself_makes_no_error(engine: str) -> None:
    text = MODEL.replace("PROPERTY", "recoverable named: size(books) > 0 and books[0] >= 0")

    assert found(text, engine, {}).error is None


def test_a_page_says_that_the_model_makes_an_error() -> None:
    (model,) = loads(MODEL.replace("PROPERTY", PROPERTIES["always eventually"]))

    assert "makes an error" in forever(model, model.checks[0])["named"]["verdict"]


def test_the_exit_code_is_that_of_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "shelf.rsm"
    path.write_text(MODEL.replace("PROPERTY", PROPERTIES["recoverable"]))

    assert cli.main(["check", str(path)]) == Exit.VIOLATED
    shown = capsys.readouterr().out
    assert "the model makes an error (R0602) in 2 steps, with 1 fault" in shown
