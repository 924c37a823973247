"""`modelcheck library show NAME`: what the checks of a protocol expect; or the file of the protocol."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from counterexamples.lines import Line, Piece, Role, line, wrapped
from modelcheck.commands.library.protocol_card import as_json, head, listed
from modelcheck.contract.exits import Exit
from modelcheck.contract.expected import plural, wish
from modelcheck.storage.output import Output
from spec.diagnostics import mistyped
from spec.library import RecordedCheck, names, near, shipped, text
from spec.model.ir import ExpectCount, ExpectTaken, ExpectVerdict

GOOD, BAD = Piece("✓ ", Role.GOOD), Piece("✗ ", Role.BAD)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments and options to its parser."""
    add = parser.add_argument
    add("name", metavar="NAME", help="A protocol that `modelcheck library list` lists")
    add("--source", action="store_true", help="Print the model file of the protocol")
    add("--json", action="store_true", help="Print JSON")


def run(args: argparse.Namespace, output: Output) -> int:
    """Show a protocol with its checks, or print its file; searches nothing."""
    name = _known(args.name)
    match args.source, args.json:
        case True, True:
            output.json({"name": name, "text": text(name)})
        case True, False:
            output.file(text(name))
        case False, True:
            output.json(as_json(shipped(name)))
        case _:
            found = shipped(name)
            output.lines(head(found, output.width))
            for question in found.questions:
                output.lines(_question(question, output.width))
    return Exit.EXPECTED


def _known(name: str) -> str:
    """The name, if it is a shipped protocol's. Raises SpecError otherwise."""
    if name in names():
        return name
    message = f"no protocol that comes with modelcheck is called `{name}`"
    help_ = near(name) or f"there are {', '.join(names())}"
    raise mistyped("protocols", name, message, help_, "R0902")


def _question(question: RecordedCheck, width: int) -> Iterator[Line]:
    """The lines on a check: name, description, expectations."""
    yield ()
    yield line(Piece(question.name, Role.STRONG), Piece(f" of {question.of}", Role.DIM))
    if question.says is not None:
        yield from wrapped(line("  "), question.says, width)
    for words, properties in _claims(question):
        yield from listed(line("  ", GOOD, f"{words}: "), properties, width)
    for each in question.violations:
        yield from wrapped(line("  ", BAD), wish(each), width)
    counts = [_count(each) for each in question.expect if not isinstance(each, ExpectVerdict)]
    yield from listed(line("  "), counts, width)


def _claims(question: RecordedCheck) -> Iterator[tuple[str, list[str]]]:
    """Expected verdicts in words, each with its properties."""
    hold = [each for each in question.expect if isinstance(each, ExpectVerdict) and each.holds]
    yield "hold for any number of faults", [each.property for each in hold if each.any_faults]
    yield "hold", [each.property for each in hold if not each.any_faults]
    yield "never reached", [each.property for each in question.unreached]
    yield "hold", [] if hold or question.violations else ["all properties"]


def _count(expected: ExpectCount | ExpectTaken) -> str:
    """An expected count in words."""
    match expected:
        case ExpectTaken(action, number):
            return f"taken {action} {number:,}"
        case ExpectCount(what, number, faults):
            within = "" if faults is None else f" within {plural(faults, 'fault')}"
            return f"{what} {number:,}{within}"
