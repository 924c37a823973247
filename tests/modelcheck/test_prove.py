"""`modelcheck prove`: lemmas that are found, and what it answers where none are."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from random import Random

import pytest

from modelcheck.asking.lemmas.learning import covers
from modelcheck.asking.lemmas.proving import LemmaOptions, LemmaProof, ProofSearch
from modelcheck.asking.lemmas.search import SearchEnd
from modelcheck.cli import main
from modelcheck.contract.exits import Exit
from modelcheck.contract.result import Holds
from modelcheck.symbolic.process import programs
from spec.load import load, read

PROOFS = Path(__file__).parent.parent.parent / "examples" / "proofs"
OPTIONS = LemmaOptions(seconds=10.0, max_time=None, names=3, literals=4, threads=2)


def found(file: str, options: LemmaOptions = OPTIONS, tell: object = None) -> LemmaProof:
    """The result for the first check of a file."""
    path = str(PROOFS / f"{file}.rsm") if (PROOFS / f"{file}.rsm").exists() else file
    model = next(each for each in load(path) if each.checks)
    said = tell if callable(tell) else len
    search = ProofSearch(
        model, model.checks[0], read(path), program=programs()[0], options=options, tell=said
    )
    return search.found()


def is_proved(result: LemmaProof) -> bool:
    """Whether every claim holds in every scope, by the ordinary check of the text with the lemmas."""
    if result.proof is None or result.proof.findings.proof is None:
        return False
    return all(isinstance(each.verdict, Holds) for each in result.proof.findings.results)


@pytest.mark.parametrize("path", sorted(PROOFS.glob("*.rsm")), ids=lambda path: path.stem)
def test_examples_have_the_verdicts_that_they_expect(path: Path) -> None:
    assert main(["check", str(path), "-q"]) == Exit.EXPECTED


# ------------------------------------------------------------------------------- proofs


@pytest.mark.parametrize(
    "file",
    [
        *("sharded_store", "synchronous", "lock_server", "election", "two_phase_commit"),
        pytest.param("handover", marks=pytest.mark.nightly),
    ],
)
def test_a_protocol_is_proved_with_lemmas_that_are_found(file: str) -> None:
    result = found(file)

    assert is_proved(result)
    assert result.lemmas


def test_the_text_is_proved_by_the_ordinary_check_and_certified(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, certificate = tmp_path / "proved.rsm", tmp_path / "proved.json"
    source = str(PROOFS / "sharded_store.rsm")

    assert main(["prove", source, "--output", str(text), "--certificate", str(certificate)]) == Exit.EXPECTED
    assert "lemma move_and_owns" in capsys.readouterr().out
    again = ["check", str(text), "--engine", "prove", "--check", "three_nodes_any_n"]
    assert main(again) == Exit.EXPECTED
    assert main(["certify", str(certificate), str(text)]) == Exit.EXPECTED


def test_write_appends_the_lemmas_and_leaves_the_rest_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "store.rsm"
    before = (PROOFS / "sharded_store.rsm").read_text()
    file.write_text(before)

    assert main(["prove", str(file), "--write"]) == Exit.EXPECTED
    assert file.read_text().startswith(before.rstrip())
    assert main(["check", str(file), "-q"]) == Exit.EXPECTED


def test_a_protocol_that_comes_with_modelcheck_is_not_written_to(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["prove", "two_phase_commit", "--write"]) == Exit.WRONG
    assert "--output" in capsys.readouterr().err


def test_json_has_the_lemmas(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", str(PROOFS / "sharded_store.rsm"), "--json"]) == Exit.EXPECTED
    data = json.loads(capsys.readouterr().out)

    assert data["answer"] == "proved"
    assert {each["text"] for each in data["lemmas"]} == {
        "forall n: Node, m: Move in net. m.key not in n.owns",
        "forall m: Move in net, m2: Move in net. m.key == m2.key implies m.to == m2.to",
    }


# --------------------------------------------------------------------------- no proofs


@pytest.mark.parametrize(
    ("file", "check"),
    [
        ("sharded_store", "two_owners"),
        ("lock_server", "lock_given_twice"),
        ("election", "two_leaders"),
        ("handover", "two_holders"),
        ("synchronous", "one_is_missing"),
    ],
)
def test_a_broken_variant_is_refused_with_a_run(
    file: str, check: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["prove", str(PROOFS / f"{file}.rsm"), "--check", check]) == Exit.VIOLATED
    out = capsys.readouterr().out

    assert "Not proved, since it is false." in out
    assert "the start" in out


def test_too_few_candidates_are_told_with_what_is_missing_and_a_state(
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = str(PROOFS / "sharded_store.rsm")

    assert main(["prove", file, "--literals", "1", "--names", "1"]) == Exit.UNKNOWN
    out = capsys.readouterr().out
    assert "No candidate excludes a state that breaks a claim" in out
    assert "missing: one_owner after take" in out
    assert "All claims and lemmas are true in the first state below" in out


def test_a_search_ends_with_its_time(capsys: pytest.CaptureFixture[str]) -> None:
    file = str(PROOFS / "sharded_store.rsm")

    assert main(["prove", file, "--max-time", "0.01"]) == Exit.UNKNOWN
    assert "The time limit was reached" in capsys.readouterr().out


def test_an_interrupted_search_keeps_its_lemmas() -> None:
    def tell(words: str) -> None:
        if words.startswith("found_1"):
            raise KeyboardInterrupt

    result = found("sharded_store", tell=tell)

    assert result.result is not None
    assert result.result.end is SearchEnd.INTERRUPTED
    assert result.result.missing


def test_a_check_of_no_claim_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "store.rsm"
    text = (PROOFS / "sharded_store.rsm").read_text()
    cut = text.index("invariant one_owner")
    kept = "reachable moved: exists n: Node. n.owns == {}\ncheck c { scope Node = 2, Key = 1, net = 1 }\n"
    file.write_text(text[:cut] + kept)

    assert main(["prove", str(file)]) == Exit.WRONG
    assert "asks about no invariant and no step" in capsys.readouterr().err


# ---------------------------------------------------------------------------- candidates


@pytest.mark.parametrize("seed", range(20))
def test_covers_are_the_minimal_ones(seed: int) -> None:
    random = Random(seed)  # noqa: S311 - no secret
    every = (1 << 12) - 1
    sets = [random.randrange(every) | random.randrange(every) for _ in range(9)]

    def is_cover(chosen: tuple[int, ...]) -> bool:
        union = 0
        for n in chosen:
            union |= sets[n]
        return union == every

    for size in (1, 2, 3):
        expected = {
            chosen
            for chosen in combinations(range(len(sets)), size)
            if is_cover(chosen) and not any(map(is_cover, combinations(chosen, size - 1)))
        }

        assert {tuple(sorted(each)) for each in covers(sets, every, size)} == expected
