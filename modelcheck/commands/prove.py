"""`modelcheck prove FILE`: a proof for every scope, with lemmas that are found instead of written."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import modelcheck.commands.options.amounts as amounts
from counterexamples.lines import Line, Piece, Role, count, line, wrapped
from counterexamples.text import story
from modelcheck.answers.card import card
from modelcheck.answers.progress import ProgressLine
from modelcheck.api import Unmet, Unsupported
from modelcheck.asking.lemmas.as_json import proof_json
from modelcheck.asking.lemmas.learning import MOST_LITERALS
from modelcheck.asking.lemmas.proving import MOST_NAMES, LemmaOptions, LemmaProof, ProofSearch, provable
from modelcheck.asking.lemmas.search import SearchEnd
from modelcheck.asking.models import pick_check, pick_model
from modelcheck.asking.overrides import only
from modelcheck.asking.unmet import broken_assumptions, cannot_start
from modelcheck.commands.check.files import certificate_of
from modelcheck.commands.options.given import MODEL
from modelcheck.contract.exits import Exit
from modelcheck.contract.result import Outcome, run_of
from modelcheck.processes.cores import cores
from modelcheck.storage.files import save_text
from modelcheck.storage.output import Output
from modelcheck.storage.written import Files, add_force
from modelcheck.symbolic.process import NoSolver, programs
from modelcheck.symbolic.unbounded.engine import SECONDS
from spec.diagnostics import Diagnostic, SpecError
from spec.library import is_meant
from spec.load import load, read
from spec.model.ir import Check, Model
from spec.model.values import ModelError
from spec.source import Source


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments and options to its parser."""
    parser.set_defaults(refuse=parser.error)
    add = parser.add_argument
    add("file", metavar="FILE", help=MODEL)
    add("--check", metavar="NAME", help="prove what this check asks (default: the first check)")
    add("--of", metavar="MODEL", help="prove it of this protocol or variant (default: that of the check)")
    add(
        "--property", action="append", default=[], metavar="NAME", help="prove only this property; repeatable"
    )
    add(
        "--names",
        type=amounts.count,
        default=MOST_NAMES,
        metavar="N",
        help=f"limit the names that a lemma binds (default: {MOST_NAMES})",
    )
    add(
        "--literals",
        type=amounts.count,
        default=MOST_LITERALS,
        metavar="N",
        help=f"limit the conditions of a lemma (default: {MOST_LITERALS})",
    )
    add(
        "--seconds",
        type=amounts.seconds,
        default=SECONDS,
        metavar="T",
        help="limit each solver query (default: 10s)",
    )
    add("--max-time", type=amounts.seconds, metavar="T", help="limit the search for lemmas, such as 90s, 5m")
    add("--threads", type=amounts.threads, metavar="N", help="use N threads (default: one per core)")
    add(
        "--write", action="store_true", help="append the lemmas to FILE, as a variant with a check of its own"
    )
    add("--output", type=Path, metavar="FILE", help="write the model with the lemmas to another file")
    add("--certificate", type=Path, metavar="FILE", help="write the proof, for `modelcheck certify`")
    add("--json", action="store_true", help="print JSON")
    add_force(parser)


def run(args: argparse.Namespace, output: Output) -> int:
    """Find the lemmas, prove with them, and print and write what was found; exit 3 without a proof."""
    if args.write and is_meant(args.file):
        message = "this protocol comes with modelcheck: there is no file to write to"
        help_ = "--output FILE writes a copy with the lemmas"
        raise SpecError([Diagnostic("R0904", Source(args.file, ""), None, message, help=help_)])
    if args.certificate is not None and args.output is None and not args.write:
        args.refuse("--certificate is about the text with the lemmas: add --output FILE or --write")
    model, check = _asked(args)
    files = Files(output, [args.file], force=args.force)
    files.refuse("rsm", args.output)
    files.refuse("certificate", args.certificate)
    program = next(iter(programs()), None)
    if program is None:
        output.tell(f"modelcheck: {NoSolver()}")
        return Exit.UNKNOWN
    options = LemmaOptions(args.seconds, args.max_time, args.names, args.literals, args.threads or cores())
    progress = ProgressLine(output.err, "", columns=shutil.get_terminal_size().columns)
    text = read(args.file)
    try:
        progress.begin(f"{model.name} · {check.name}")
        found = ProofSearch(
            model, check, text, program=program, options=options, tell=progress.mention
        ).found()
    except Unsupported as unsupported:
        output.tell(f"{model.name} · {check.name}: not answered: {unsupported}")
        return Exit.UNKNOWN
    except Unmet as unmet:
        raise broken_assumptions(model, check, unmet) from None
    except ModelError as error:
        raise cannot_start(model, error) from None
    finally:
        progress.clear()
    return _told(args, output, files, found, text)


def _asked(args: argparse.Namespace) -> tuple[Model, Check]:
    """The model and the check that the arguments name. Raises SpecError."""
    models = load(args.file)
    if args.check is not None:
        owners = [each for each in models if any(check.name == args.check for check in each.checks)]
        owner = owners[0] if owners else models[0]
    else:
        owner = (
            next((each for each in models if each.checks), models[0])
            if args.of is None
            else pick_model(models, args.of)
        )
    model = pick_model(models, args.of) if args.of is not None else owner
    if not owner.checks:
        message = f"{owner.name} has no check, which says in which scope to look for lemmas"
        raise SpecError(
            [Diagnostic("R0902", owner.source, None, message, help="write a `check` with a small scope")]
        )
    check = pick_check(owner, args.check) if args.check is not None else owner.checks[0]
    check = only(model, check, args.property)
    if not provable(model, check)[0]:
        message = f"{check.name} asks about no invariant and no step, which a proof could be about"
        raise SpecError(
            [Diagnostic("R0902", model.source, check.span, message, help="name a check that does")]
        )
    return model, check


def _told(args: argparse.Namespace, output: Output, files: Files, found: LemmaProof, text: str) -> int:
    """Print and write the result; returns the exit code."""
    if args.json:
        output.json(proof_json(found))
    else:
        output.lines(_lines(found, output.width))
    if found.refuted is not None:
        return files.exit(Exit.VIOLATED)
    if not found.is_proved:
        return files.exit(Exit.UNKNOWN)
    assert found.written is not None
    assert found.proof is not None
    whole = f"{text.rstrip()}\n\n{found.written.text}"
    if args.output is not None:
        files.put(args.output, "rsm", whole)
    if args.write and found.lemmas:
        save_text(Path(args.file), whole)
        output.tell(f"modelcheck: wrote {args.file}")
    if args.certificate is not None:
        outcome = _read_again(found, args.output or args.file)
        if (proof := certificate_of(outcome)) is not None:
            files.put(args.certificate, "certificate", proof)
    return files.exit(Exit.EXPECTED)


def _read_again(found: LemmaProof, file: str | Path) -> Outcome:
    """The outcome of the proof, of the model as it is in the file with the lemmas."""
    assert found.proof is not None
    model = next((each for each in load(file) if each.name == found.proof.model.name), found.proof.model)
    return replace(found.proof, model=model)


def _lines(found: LemmaProof, width: int) -> Iterator[Line]:
    """The result as lines."""
    title = f"{found.model.name} · {found.check.name}"
    if found.refuted is not None:
        yield from card(found.refuted, width=width)
        yield ()
        yield from wrapped(line("  "), "Not proved, since it is false.", width)
        for each in found.refuted.findings.results:
            if (trace := run_of(each.verdict)) is not None:
                yield ()
                yield from story(trace, width=width)
        return
    if found.proof is not None and found.written is not None:
        yield from card(found.proof, width=width)
        yield from _found(found, width)
        return
    yield line(Piece(f"{title}: ", Role.STRONG), "no proof was found")
    yield from _missing(found, width)


def _found(found: LemmaProof, width: int) -> Iterator[Line]:
    """The lines about the lemmas that were found."""
    assert found.written is not None
    states = sum(len(each.states) for each in found.samples)
    told = (
        f"{count(len(found.lemmas), 'lemma')} found, of {count(len(found.result.lemmas), 'candidate')} tried"
        if found.result
        else ""
    )
    yield from wrapped(
        line("    ", Piece(f"{'lemmas':<11}", Role.DIM)),
        f"{told}; {count(found.questions, 'question')} to the solver; true in {count(states, 'state')} of"
        f" {count(len(found.samples), 'small scope')}",
        width,
    )
    if others := found.left_out:
        names = ", ".join(each.name for each in others)
        yield from wrapped(
            line("    ", Piece(f"{'not asked':<11}", Role.DIM)),
            f"{names}: no claims that can be proved so, or not expected to hold",
            width,
        )
    if not found.lemmas:
        return
    yield ()
    for text in found.written.text.splitlines():
        yield line(text)


def _missing(found: LemmaProof, width: int) -> Iterator[Line]:
    """The lines about a search without a proof: what it has, what is missing, and a state that breaks it."""
    result = found.result
    assert result is not None
    yield from wrapped(line("  "), _why(result.end), width)
    for each in result.lemmas:
        yield from wrapped(line("    lemma  "), each.clause.text, width)
    proved = sum(each.is_proved for each in result.replies)
    yield from wrapped(line("    have   "), f"{count(proved, 'obligation')} proved, with these lemmas", width)
    for question in result.missing:
        yield from wrapped(line(Piece("    ? ", Role.UNSURE)), f"missing: {question}", width)
    if result.shown is not None:
        yield ()
        yield from wrapped(
            line("  "),
            "All claims and lemmas are true in the first state below, and a step breaks one. It is not known"
            " whether a run reaches that state. If none does, a lemma that excludes it will help.",
            width,
        )
        yield from story(result.shown, width=width, bounds_shown=True)


def _why(end: SearchEnd) -> str:
    """Why a search ended without a proof, and what to try."""
    match end:
        case SearchEnd.NO_CANDIDATE:
            return (
                "No candidate excludes a state that breaks a claim: try more --names or --literals, or write"
                " a lemma."
            )
        case SearchEnd.UNDECIDED:
            return "The solver does not decide an obligation in time: try more --seconds."
        case SearchEnd.SECONDS:
            return "The time limit was reached: try more --max-time."
        case SearchEnd.INTERRUPTED:
            return "Interrupted."
        case SearchEnd.PROVED:
            return "All obligations were proved, but not again by the check of the text."
