"""Which models are proved for every scope, with which lemmas: `docs/reference/proofs.md`.

`python -m tools.proof_table` finds the lemmas of each model anew, some minutes' work, and writes the page.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from typing import NamedTuple

from modelcheck.api import task_of
from modelcheck.asking.lemmas.proving import LemmaOptions, LemmaProof, ProofSearch
from modelcheck.contract.proof import ObligationStatus
from modelcheck.contract.result import Holds
from modelcheck.storage.files import save_text
from modelcheck.symbolic.process import ProcessAnswer, programs
from modelcheck.symbolic.unbounded.certificate import answers, read, written
from spec.load import load
from spec.load import read as read_model

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "reference" / "proofs.md"
MODELS = (
    *sorted((ROOT / "examples" / "proofs").glob("*.rsm")),
    ROOT / "spec" / "protocols" / "two_phase_commit.rsm",
)
WRITTEN = (("quorum", "any_n"), ("raft", "any_n_elections"))  # lemmas by people
OPTIONS = LemmaOptions(seconds=10.0, max_time=None, names=3, literals=4, threads=2)
SECONDS = 5.0  # for each obligation, when another solver is asked again
ABOUT = """\
# Proofs for every scope

What [`modelcheck prove`](../how-to/prove-a-property.md) proves for any number of members, with lemmas that \
it finds, and what `check --engine prove` proves with lemmas that people wrote.
`python -m tools.proof_table` writes this page; seconds are of processors, and of the search and the proof.
Obligations were proved by z3; the last column is how many of the certificate's cvc5 proves too.

| model | check | lemmas found | written | obligations | seconds | by cvc5 |
| --- | --- | ---: | ---: | ---: | ---: | ---: |
"""


class Row(NamedTuple):
    """A check that is proved for every scope."""

    model: str
    check: str
    found: str
    written: str
    obligations: str
    seconds: str
    again: str

    def __str__(self) -> str:
        return f"| {' | '.join(self)} |"


def found(path: Path) -> LemmaProof:
    """The proof of the first check of a file."""
    model = next(each for each in load(path) if each.checks)
    text = read_model(path)
    return ProofSearch(model, model.checks[0], text, program=programs()[0], options=OPTIONS, tell=len).found()


def row(path: Path) -> Row:
    """The row of a file. Raises ValueError if it is not proved."""
    began = _processor_seconds()
    result = found(path)
    seconds = _processor_seconds() - began
    outcome = result.proof
    if outcome is None or not all(isinstance(each.verdict, Holds) for each in outcome.findings.results):
        raise ValueError(f"{path.name} is not proved")
    proof = outcome.findings.proof
    assert proof is not None
    proved = sum(cell.kept is ObligationStatus.PROVED for cell in proof.cells)
    certificate = written(task_of(outcome.model, outcome.check), proof)
    place = path.relative_to(ROOT)
    return Row(
        f"[`{path.stem}`](../../{place})",
        f"`{result.check.name}`",
        f"{len(result.lemmas)}",
        "0",
        f"{proved} of {len(proof.cells)}",
        f"{seconds:.0f}",
        again(certificate),
    )


def written_row(name: str, check: str) -> Row:
    """The row of a shipped protocol whose lemmas people wrote, from its certificate."""
    text = (ROOT / "tests" / "modelcheck" / "symbolic" / "certificates" / f"{name}.json").read_text()
    certificate = read(text)
    lemmas = sum(each.kind == "lemma" for each in certificate.claims)
    count = len(certificate.obligations)
    return Row(
        f"[`{name}`](../../spec/protocols/{name}.rsm)",
        f"`{check}`",
        "0",
        f"{lemmas}",
        f"{count} of {count}",
        "",
        again(text),
    )


def again(certificate: str) -> str:
    """How many obligations of a certificate cvc5 proves; a dash where it is not installed."""
    other = [each for each in programs() if each.name.startswith("cvc5")]
    if not other:
        return "–"
    said = [answer for _, answer in answers(other[0], read(certificate).obligations, SECONDS)]
    return f"{sum(each is ProcessAnswer.UNSAT for each in said)} of {len(said)}"


def _processor_seconds() -> float:
    """The processor time of this process and of those it started."""
    return sum(used.ru_utime + used.ru_stime for used in (getrusage(RUSAGE_SELF), getrusage(RUSAGE_CHILDREN)))


def rows() -> Iterator[Row]:
    """The rows, each when it is known."""
    yield from map(row, MODELS)
    for each in WRITTEN:
        yield written_row(*each)


def page() -> str:
    """The page."""
    text = ABOUT
    for each in rows():
        print(each, flush=True)  # noqa: T201 - a program for developers, and minutes of work
        text += f"{each}\n"
    return text


def main() -> int:
    """Write the page."""
    save_text(PAGE, page())
    return 0


if __name__ == "__main__":
    sys.exit(main())
