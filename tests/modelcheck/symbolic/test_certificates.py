"""A certificate is checked again as a whole: one that was changed anywhere does not pass."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from modelcheck.api import check as run_check
from modelcheck.api import task_of
from modelcheck.asking.models import pick_check, pick_model
from modelcheck.cli import main
from modelcheck.contract.engine import Limits
from modelcheck.contract.exits import Exit
from modelcheck.contract.result import Outcome
from modelcheck.symbolic.unbounded.certificate import Unreadable, differences, read
from modelcheck.symbolic.unbounded.engine import asked_of
from spec.diagnostics import SpecError
from spec.load import load
from spec.model.ir import Check, Model

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
    assert "3 obligations of 1 claim, as the check c of counting asks for them" in said
    assert "3 of 3 proved by" in said
    assert "1 claim true in all 10 states" in said


# ------------------------------------------------------------------- changed certificates

LARGER = """protocol counting

nat N
config forgetful: bool = false

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

fault forget {
  require allowed: forgetful
  low := 0
}

invariant ordered: low <= high // as numbers

step steady:
  // of the higher one alone
  high >= old(high)

lemma counted: high >= 0

check c { scope N = 3  faults none  only ordered, steady }
check other { scope N = 3  faults any  only ordered, steady }
check forgets { scope N = 3  config forgetful = true  faults any  only ordered }
check reaches { scope N = 3  faults none  only ordered, moved }
reachable moved: low > 0
"""


@pytest.fixture(scope="module")
def larger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate of two claims and a lemma, beside its model; it is not to be changed."""
    folder = tmp_path_factory.mktemp("larger")
    model, found = folder / "counting.rsm", folder / "counting.json"
    model.write_text(LARGER)
    asked = ["check", str(model), "--check", "c", "--engine", "prove", "-q", "--certificate", str(found)]
    assert main(asked) == Exit.EXPECTED
    return found


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


def _empty(told: Json) -> None:
    told["claims"] = []
    told["obligations"] = []


def _no_claims(told: Json) -> None:
    told["claims"] = []


def _no_obligations(told: Json) -> None:
    told["obligations"] = []


def _twice(told: Json) -> None:
    told["obligations"].append(_first(told))


def _reordered(told: Json) -> None:
    told["obligations"].reverse()


def _claimed_twice(told: Json) -> None:
    told["claims"] *= 2


def _of_more(told: Json) -> None:
    told["of"] += ", and the model makes no error"


def _another_text(told: Json) -> None:
    told["claims"][0]["text"] = "invariant ordered: low < high"


def _another_kind(told: Json) -> None:
    told["claims"][0]["kind"] = "lemma"


CHANGES: dict[Callable[[Json], None], str] = {
    _trivial: "not what the model asks: ordered after up",
    _weaker: "not what the model asks: ordered after up",
    _fewer: "missing: ordered after up",
    _more: "not asked by the model: ordered after never",
    _other_actions: "it is not about the steps that this check allows",
    _unknown_claim: "missing: the claim ordered, which the check asks about",
    _empty: "missing: the claim ordered, which the check asks about",
    _no_claims: "missing: the claim ordered, which the check asks about",
    _no_obligations: "missing: ordered at the start",
    _twice: "twice: ordered at the start",
    _reordered: "the obligations are not in the order of the claims and the actions",
    _claimed_twice: "twice: the claim ordered",
    _of_more: "its entry `of` is not what is proved",
    _another_text: "not what the model claims: ordered",
    _another_kind: "not what the model claims: ordered",
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_certificate_that_was_tampered_with_fails(
    change: Callable[[Json], None], certificate: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed(certificate, change)

    assert main(["certify", str(certificate)]) == Exit.VIOLATED
    told = capsys.readouterr()
    assert "✗" in told.out
    assert CHANGES[change] in told.err


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
    ("check", "missing"),
    [
        ("other", "it is not about the steps that this check allows"),
        ("forgets", "not asked by the check, nor a lemma of the model: the claim steady"),
        ("reaches", "not asked by the check, nor a lemma of the model: the claim steady"),
    ],
)
def test_a_certificate_of_another_check_fails(
    check: str, missing: str, larger: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "counting.json"
    copy.write_text(larger.read_text().replace('"check": "c"', f'"check": "{check}"'))

    assert main(["certify", str(copy), str(larger.with_suffix(".rsm"))]) == Exit.VIOLATED
    assert missing in capsys.readouterr().err


def test_a_lemma_that_was_taken_out_is_taken_out_of_every_assumption(
    larger: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def without_lemma(told: Json) -> None:
        told["claims"] = [each for each in told["claims"] if each["name"] != "counted"]
        told["obligations"] = [each for each in told["obligations"] if each["claim"] != "counted"]

    copy = tmp_path / "counting.json"
    copy.write_text(larger.read_text())
    changed(copy, without_lemma)

    assert main(["certify", str(copy), str(larger.with_suffix(".rsm"))]) == Exit.VIOLATED
    assert "not what the model asks: ordered after up" in capsys.readouterr().err


def test_a_comment_or_a_line_break_in_a_claim_changes_nothing(larger: Path, tmp_path: Path) -> None:
    model = tmp_path / "counting.rsm"
    model.write_text(
        LARGER.replace("// of the higher one alone", "//").replace("ordered: low <=", "ordered:\n  low<=")
    )

    assert main(["certify", str(larger), str(model)]) == Exit.EXPECTED


def test_a_sentence_that_a_claim_has_is_part_of_its_text(larger: Path, tmp_path: Path) -> None:
    model = tmp_path / "counting.rsm"
    model.write_text(LARGER.replace("lemma counted:", 'lemma counted says "it // counts":'))

    assert main(["certify", str(larger), str(model)]) == Exit.VIOLATED


def altered(told: object) -> Iterator[object]:
    """A value with any one part of it left out, repeated, swapped with the next or changed."""
    match told:
        case dict():
            for key, value in told.items():
                yield {k: v for k, v in told.items() if k != key}
                yield told | {f"{key}s": value}
                yield from (told | {key: each} for each in altered(value))
        case list():
            yield []
            for at, value in enumerate(told):
                yield told[:at] + told[at + 1 :]
                yield [*told[:at], value, *told[at:]]
                yield told[:at] + told[at : at + 2][::-1] + told[at + 2 :]
                yield from ([*told[:at], each, *told[at + 1 :]] for each in altered(value))
        case str() if told.count("\n") > 1:
            lines = told.splitlines(keepends=True)
            for at, line in enumerate(lines):
                yield "".join([*lines[:at], *lines[at + 1 :]])
                yield "".join([*lines[:at], "(assert false)\n", line, *lines[at + 1 :]])
        case str():
            yield from (None, "", [told], f"{told}s", told.upper(), "high", "counted", "other", "up")
        case _:
            yield from (None, "", 0, not told)


def proved_of(text: str, model: Path) -> set[str] | None:
    """What a certificate is a proof of, once its obligations are; None where it is refused."""
    try:
        certificate = read(text)
        found = pick_model(load(str(model)), certificate.model)
        task = task_of(found, pick_check(found, certificate.check))
    except (Unreadable, SpecError):
        return None
    if [*differences(certificate, task)]:
        return None
    claims = [found.property(each.name) for each in certificate.claims]
    asked = asked_of(task)
    texts = [(each, asked.formula(each, claims).text()) for each in asked.questions(claims)]
    assert [(each.question, each.smt) for each in certificate.obligations] == texts
    return {claim.name for claim in claims}


def test_no_part_of_a_certificate_can_be_changed_so_that_less_is_proved(larger: Path) -> None:
    told, model = json.loads(larger.read_text()), larger.with_suffix(".rsm")
    texts = [json.dumps(each) for each in altered(told) if each != told]
    found = [(json.loads(text), proved_of(text, model)) for text in texts]
    accepted = [each for each, proved in found if proved is not None]
    which = {key for each in accepted for key in told if each[key] != told[key]}

    assert len(found) > 400
    assert all(proved is None or proved >= {"ordered", "steady"} for _, proved in found)
    assert which == {"file", "text", "solver", "obligations"}  # of obligations whether they are `named`


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"claims": [', '"claims": [],\n "claims": [', "`claims` is twice in one object"),
        ('"named": false', '"named": 0', "`named` of an obligation is not of its kind"),
        ('"action": "up"', '"action": ["up"]', "`action` of an obligation is not of its kind"),
        ('"check": "c"', '"check": "c", "only": []', "it has an entry `only`, which means nothing"),
        ('"file": "', '"file": "../', "`file` is not the name of a file in the same folder"),
        ('"file": "counting.rsm"', '"file": "-"', "`file` is not the name of a file in the same folder"),
        ('"up"', "null", "an action is no text"),
    ],
)
def test_what_is_not_written_so_is_no_certificate(
    old: str, new: str, said: str, larger: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy, text = tmp_path / "counting.json", larger.read_text()
    assert old in text
    copy.write_text(text.replace(old, new, 1))

    assert main(["certify", str(copy)]) == Exit.WRONG
    assert said in capsys.readouterr().err


def test_a_model_with_what_no_solver_can_be_told_is_refused_by_name(
    certificate: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (certificate.parent / "counting.rsm").write_text(
        MODEL.replace("high := high + 1", "for n in 0..2 { high := high + n }")
    )

    assert main(["certify", str(certificate)]) == Exit.VIOLATED
    assert "a loop that changes more than its member's own entries" in capsys.readouterr().err


def test_a_check_that_asks_about_nothing_has_no_proof(
    certificate: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (certificate.parent / "counting.rsm").write_text(MODEL.replace("invariant ordered: low <= high", ""))
    changed(certificate, _empty)

    assert main(["certify", str(certificate)]) == Exit.VIOLATED
    assert "the check asks about nothing" in capsys.readouterr().err


# ------------------------------------------------------------- what the search of the scope says


def test_a_search_that_sees_too_little_is_no_violation(
    certificate: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut_short(model: Model, check: Check, **_: object) -> Outcome:
        return run_check(model, check, engine="explicit", limits=Limits(states=3))

    monkeypatch.setattr("modelcheck.commands.certify.run_check", cut_short)

    assert main(["certify", str(certificate)]) == Exit.UNKNOWN
    said = capsys.readouterr().out
    assert "? 1 claim true in 4 states of the scope of c; the limit of states is reached" in said


def test_an_error_of_the_model_in_the_scope_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, found = tmp_path / "counting.rsm", tmp_path / "counting.json"
    late = MODEL.replace(
        "high: N = 0", "high: 0..120 = 0"
    )  # beyond the states in which the prover looks for one
    model.write_text(late.replace("scope N = 3", "scope N = 200"))
    assert main(["check", str(model), "--engine", "prove", "-q", "--certificate", str(found)]) == 0

    assert main(["certify", str(found)]) == Exit.VIOLATED
    assert "✗ the model makes an error in the scope of c" in capsys.readouterr().out


def test_a_scope_that_breaks_an_assumption_is_a_mistake_in_the_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, found = tmp_path / "counting.rsm", tmp_path / "counting.json"
    text = MODEL.replace("nat N", "nat N\nconfig most: 1..9 = 2\nassume few: most < 5")
    model.write_text(text)
    assert main(["check", str(model), "--engine", "prove", "-q", "--certificate", str(found)]) == 0
    model.write_text(text.replace("scope N = 3", "scope N = 3\n  config most = 7"))

    assert main(["certify", str(found)]) == Exit.WRONG
    assert "the assumption `few` does not hold" in capsys.readouterr().err


# ------------------------------------------------------------------- what is no certificate


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


def test_nothing_is_written_where_nothing_is_claimed(tmp_path: Path) -> None:
    model, found = tmp_path / "counting.rsm", tmp_path / "counting.json"
    model.write_text(MODEL.replace("invariant ordered: low <= high", ""))

    main(["check", str(model), "--engine", "prove", "-q", "--certificate", str(found)])

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
