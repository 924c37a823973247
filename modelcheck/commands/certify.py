"""`modelcheck certify CERTIFICATE`: whether a proof in a file is one, by other means than made it."""

from __future__ import annotations

import argparse
from dataclasses import replace
from os.path import lexists
from pathlib import Path

import modelcheck.commands.options.amounts as amounts
from counterexamples.lines import Piece, count, line
from modelcheck.api import Unsupported, task_of
from modelcheck.api import check as run_check
from modelcheck.asking.models import pick_check, pick_model
from modelcheck.asking.unmet import refuse_unstartable
from modelcheck.commands.options.given import MODEL
from modelcheck.contract.assessment import MARKS
from modelcheck.contract.exits import Exit
from modelcheck.contract.result import Unknown, Violated
from modelcheck.storage.files import read_text
from modelcheck.storage.output import Output
from modelcheck.symbolic.process import NoSolver, ProcessAnswer, programs
from modelcheck.symbolic.unbounded.certificate import (
    Certificate,
    Unreadable,
    answers,
    differences,
    read,
)
from spec.diagnostics import Diagnostic, SpecError
from spec.library import is_meant
from spec.load import load
from spec.model.ir import Check, Model
from spec.source import Source


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments and options to its parser."""
    add = parser.add_argument
    add("certificate", metavar="CERTIFICATE", help="a file that `check --engine prove --certificate` wrote")
    add("file", nargs="?", metavar="FILE", help=f"{MODEL} (default: the one that the certificate names)")
    add(
        "--seconds",
        type=amounts.seconds,
        default=30,
        metavar="T",
        help="limit each solver query (default: 30s)",
    )


def run(args: argparse.Namespace, output: Output) -> int:
    """Check each part of a certificate and report which of them are proved."""
    certificate = _read(args.certificate)
    model, check = _meant(certificate, args.file or _model_path(certificate, Path(args.certificate).parent))
    refuse_unstartable(model, check)
    wrong = list(differences(certificate, task_of(model, check)))
    claims = count(len(certificate.claims), "claim")
    _tell(
        output,
        Exit.VIOLATED if wrong else Exit.EXPECTED,
        f"{count(len(certificate.obligations), 'obligation')} of {claims}, as the check {check.name} of"
        f" {model.name} asks for them",
    )
    for each in wrong:
        output.tell(f"    {each}")
    if not certificate.is_of(model):
        output.tell(
            f"    It was written for another text of {model.name}{'' if wrong else ', which asks the same'}."
        )
    if wrong:
        return Exit.VIOLATED
    codes = {_solved(certificate, args.seconds, output), _reached(certificate, model, check, output)}
    return next(code for code in (Exit.VIOLATED, Exit.UNKNOWN, Exit.EXPECTED) if code in codes)


def _read(name: str) -> Certificate:
    """The certificate in a file. Raises SpecError."""
    text = read_text(name, largest=200_000_000)
    try:
        return read(text)
    except Unreadable as reason:
        raise SpecError(
            [Diagnostic("R0911", Source(name, ""), None, f"this is no certificate: {reason}")]
        ) from None


def _model_path(certificate: Certificate, folder: Path) -> str:
    """The path of the model that a certificate names: in its folder, else a protocol of the package."""
    beside = str(folder / certificate.file)
    return certificate.file if is_meant(certificate.file) and not lexists(beside) else beside


def _meant(certificate: Certificate, file: str) -> tuple[Model, Check]:
    """The model and check that a certificate names."""
    model = pick_model(load(file), certificate.model)
    return model, pick_check(model, certificate.check)


def _tell(output: Output, exit_: Exit, words: str) -> None:
    """Print a line of the result, with its mark."""
    mark, role = MARKS[exit_]
    output.lines([line("  ", Piece(f"{mark} ", role), words)])


def _solved(certificate: Certificate, seconds: float, output: Output) -> Exit:
    """The result of asking every installed solver each obligation: one must prove it, none refute it."""
    solvers = programs()
    if not solvers:
        _tell(output, Exit.UNKNOWN, str(NoSolver()))
        return Exit.UNKNOWN
    proved, denied = set[str](), set[str]()
    for program in solvers:
        said = [*answers(program, certificate.obligations, seconds)]
        own = {str(each.question) for each, answer in said if answer is ProcessAnswer.UNSAT}
        denied |= {str(each.question) for each, answer in said if answer is ProcessAnswer.SAT}
        proved |= own
        every = len(own) == len(said)
        _tell(
            output,
            Exit.EXPECTED if every else Exit.UNKNOWN,
            f"{len(own)} of {len(said)} proved by {program.version()}",
        )
    for each in sorted(denied):
        output.tell(f"    does not follow: {each}")
    if denied:
        return Exit.VIOLATED
    left = [str(each.question) for each in certificate.obligations if str(each.question) not in proved]
    for each in left:
        output.tell(f"    not proved again: {each}")
    return Exit.UNKNOWN if left else Exit.EXPECTED


def _reached(certificate: Certificate, model: Model, check: Check, output: Output) -> Exit:
    """The result of checking the claims in every reachable state of the check's scope."""
    names = tuple(claim.name for claim in certificate.claims)
    try:
        outcome = run_check(model, replace(check, only=names, expect=()), engine="explicit")
    except Unsupported as unsupported:
        _tell(output, Exit.UNKNOWN, f"the scope of {check.name} was not searched: {unsupported}")
        return Exit.UNKNOWN
    findings, scope = outcome.findings, f"the scope of {check.name}"
    broken = [each.property for each in findings.results if isinstance(each.verdict, Violated)]
    claims = f"{count(len(names), 'claim')} true in"
    if broken:
        exit_, words = Exit.VIOLATED, f"false in a state of {scope}: {', '.join(broken)}"
    elif findings.error is not None:
        exit_, words = (
            Exit.VIOLATED,
            f"the model makes an error in {scope}, so no claim is proved of its runs",
        )
    elif unknown := [each.verdict.reason for each in findings.results if isinstance(each.verdict, Unknown)]:
        states = count(findings.stats.states, "state")
        exit_, words = Exit.UNKNOWN, f"{claims} {states} of {scope}; {unknown[0]}"
    else:
        exit_, words = Exit.EXPECTED, f"{claims} all {count(findings.stats.states, 'state')} of {scope}"
    _tell(output, exit_, words)
    return exit_
