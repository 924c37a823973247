"""A certificate is checked again as a whole: one that was changed anywhere does not pass."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from modelcheck.cli import main
from modelcheck.contract.exits import Exit

PROOFS = [
    pytest.param(path, id=path.stem) for path in sorted(Path(__file__).parent.glob("certificates/*.json"))
]
PROTOCOLS = Path(__file__).parents[3] / "spec" / "protocols"
MODEL = """protocol counting

nat N

state {
  low: N = 0
  high: N = 0
}

action up {
  high := high + 1
}

action follow {
  require behind: low < high
  low := low + 1
}

invariant ordered: low <= high

check c {
  scope N = 3
}
"""
Json = dict[str, Any]


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A fresh certificate, beside its model."""
    model, found = tmp_path / "counting.rsm", tmp_path / "counting.json"
    model.write_text(MODEL)
    assert (
        main(["check", str(model), "--engine", "prove", "-q", "--certificate", str(found)]) == Exit.EXPECTED
    )
    return found


def changed(path: Path, change: Callable[[Json], None]) -> None:
    told = json.loads(path.read_text())
    change(told)
    path.write_text(json.dumps(told))


def test_a_certificate_is_checked_by_a_fresh_solver_and_by_the_explicit_engine(
    certificate: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()

    assert main(["certify", str(certificate)]) == Exit.EXPECTED
    said = capsys.readouterr().out
    assert "3 obligations as counting asks for them" in said
    assert "3 of 3 proved by" in said
    assert "1 claim true in all 10 states" in said


def _first(told: Json) -> Json:
    return dict(told["obligations"][0])


def _trivial(told: Json) -> None:
    told["obligations"][1]["smt"] = "(assert false)\n(check-sat)\n"


def _weaker(told: Json) -> None:
    smt = told["obligations"][1]["smt"]
    told["obligations"][1]["smt"] = smt.replace("(check-sat)", "(assert false)\n(check-sat)")


def _fewer(told: Json) -> None:
    del told["obligations"][1]


def _more(told: Json) -> None:
    told["obligations"].append(_first(told) | {"action": "never"})


def _other_actions(told: Json) -> None:
    told["actions"] = ["up"]
    told["obligations"] = [each for each in told["obligations"] if each["action"] != "follow"]


def _unknown_claim(told: Json) -> None:
    told["claims"][0]["name"] = "sorted"


@pytest.mark.parametrize("change", [_trivial, _weaker, _fewer, _more, _other_actions, _unknown_claim])
def test_a_certificate_that_was_tampered_with_fails(
    change: Callable[[Json], None], certificate: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed(certificate, change)

    assert main(["certify", str(certificate)]) == Exit.VIOLATED
    assert "✗" in capsys.readouterr().out


def test_a_certificate_of_another_model_fails(certificate: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (certificate.parent / "counting.rsm").write_text(MODEL.replace("low < high", "low <= high"))

    assert main(["certify", str(certificate)]) == Exit.VIOLATED
    assert "It was written for another text of counting." in capsys.readouterr().err


def test_a_certificate_outlives_a_comment_and_says_that_the_text_is_another(
    certificate: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (certificate.parent / "counting.rsm").write_text(f"// counts\n{MODEL}")

    assert main(["certify", str(certificate)]) == Exit.EXPECTED
    assert "It was written for another text of counting, which asks the same." in capsys.readouterr().err


@pytest.mark.parametrize(
    "text", ["", "{}", '{"format": "other"}', "[1]", '{"format": "modelcheck certificate 1"}']
)
def test_what_is_no_certificate_is_a_mistake_in_the_input(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "no.json"
    path.write_text(text)

    assert main(["certify", str(path)]) == Exit.WRONG
    assert "R0911" in capsys.readouterr().err


def test_nothing_is_written_where_not_all_is_proved(tmp_path: Path) -> None:
    model, found = tmp_path / "counting.rsm", tmp_path / "counting.json"
    model.write_text(MODEL.replace("low < high", "low <= high"))

    assert main(["check", str(model), "--engine", "prove", "-q", "--certificate", str(found)]) == Exit.UNKNOWN
    assert not found.exists()


@pytest.mark.parametrize("path", PROOFS)
def test_the_shipped_certificates_still_stand(path: Path) -> None:
    protocol = PROTOCOLS / f"{path.stem}.rsm"

    assert main(["certify", str(path), str(protocol)]) == Exit.EXPECTED


@pytest.mark.parametrize("text", ["[" * 1_000_000, "9" * 5000], ids=["nested", "long"])
def test_what_no_parser_can_read_is_no_certificate(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, found = tmp_path / "counting.rsm", tmp_path / "counting.json"
    model.write_text(MODEL)
    found.write_text(text)

    assert main(["certify", str(found), str(model)]) == Exit.WRONG
    assert "nested too deep" in capsys.readouterr().err
