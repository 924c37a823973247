"""`modelcheck protocols [NAME]`: the protocols that come with the package, and what their checks expect."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

from counterexamples.lines import Line, Piece, Role, count, line, packed, wrapped
from modelcheck.contract.exits import Exit
from modelcheck.contract.expected import plural, wish
from modelcheck.storage.output import Output
from spec.diagnostics import mistyped
from spec.library import RecordedCheck, Shipped, names, near, shipped, text
from spec.model.ir import Expect, ExpectCount, ExpectTaken, ExpectVerdict

LABEL = 13  # columns before what a label is of
GOOD, BAD = Piece("✓ ", Role.GOOD), Piece("✗ ", Role.BAD)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.usage = "modelcheck protocols [NAME | show NAME] [--json]"
    parser.add_argument(
        "words",
        nargs="*",
        metavar="NAME",
        help="show what each check of this protocol expects; `show NAME` prints its file; "
        "without a name, all are listed",
    )
    parser.add_argument("--json", action="store_true", help="the same as JSON")
    parser.set_defaults(refuse=parser.error)


def run(args: argparse.Namespace, output: Output) -> int:
    """List all, tell one, or print its file; nothing is searched."""
    words: list[str] = args.words
    match words:
        case []:
            _list(output, as_data=args.json)
        case ["show"]:
            args.refuse("show prints the file of one protocol: give its name")
        case ["show", name]:
            _show(_known(name), output, as_data=args.json)
        case [name]:
            _tell(shipped(_known(name)), output, as_data=args.json)
        case _:
            args.refuse(f"protocols shows one at a time, and these are {len(words)} words")
    return Exit.EXPECTED


def _known(name: str) -> str:
    """The name, if it is one of a protocol. Raises SpecError where it is not."""
    if name in names():
        return name
    message = f"no protocol that comes with modelcheck is called `{name}`"
    help_ = near(name) or f"there are {', '.join(names())}"
    raise mistyped("protocols", name, message, help_, "R0902")


def _list(output: Output, *, as_data: bool) -> None:
    """All protocols, each in a few lines."""
    if as_data:
        output.json([_json(shipped(name)) for name in names()])
        return
    checks = 0
    for each in map(shipped, names()):  # shown as they are read, which takes a second for all
        output.lines(_head(each, output.width))
        output.lines(_verdicts(each, output.width))
        checks += len(each.questions)
    counts = f"{count(len(names()), 'protocol')}, {count(checks, 'check')}."
    more = "`modelcheck protocols NAME` shows what each check expects, `modelcheck check NAME` runs them."
    output.lines([(), *wrapped((), f"{counts} {more}", output.width)])


def _show(name: str, output: Output, *, as_data: bool) -> None:
    """The file of a protocol."""
    if as_data:
        output.json({"name": name, "text": text(name)})
    else:
        output.file(text(name))


def _tell(found: Shipped, output: Output, *, as_data: bool) -> None:
    """A protocol with each of its checks."""
    if as_data:
        output.json(_json(found))
        return
    output.lines(_head(found, output.width))
    for question in found.questions:
        output.lines(_question(question, output.width))


# ------------------------------------------------------------------------ for people


def _head(found: Shipped, width: int) -> Iterator[Line]:
    """What a protocol is of, and its variants."""
    yield from wrapped(line(Piece(f"{found.name}  ", Role.STRONG)), found.title, width)
    yield from _listed(_label("variants"), found.variants, width)


def _verdicts(found: Shipped, width: int) -> Iterator[Line]:
    """Which checks are expected to find no violation, and which one."""
    hold = [each.name for each in found.questions if not each.violations]
    violated = [each.name + _least(each) for each in found.questions if each.violations]
    for words, checks in (("hold", hold), ("violated", violated)):
        yield from _listed(_label(words), checks, width)


def _least(question: RecordedCheck) -> str:
    """How little it takes to violate a property, where the check says so: " (1 fault, 5 steps)"."""
    costs = [(each.faults or 0, each.steps) for each in question.violations if each.steps is not None]
    if not costs:
        return ""
    faults, steps = min(costs)
    return f" ({plural(faults, 'fault') + ', ' if faults else ''}{plural(steps, 'step')})"


def _question(question: RecordedCheck, width: int) -> Iterator[Line]:
    """A check: its name, what it says of itself, and what it expects."""
    yield ()
    yield line(Piece(question.name, Role.STRONG), Piece(f" of {question.of}", Role.DIM))
    if question.says is not None:
        yield from wrapped(line("  "), question.says, width)
    for words, properties in _claims(question):
        yield from _listed(line("  ", GOOD, f"{words}: "), properties, width)
    for each in question.violations:
        yield from wrapped(line("  ", BAD), wish(each), width)
    counts = [_count(each) for each in question.expect if not isinstance(each, ExpectVerdict)]
    yield from _listed(line("  "), counts, width)


def _claims(question: RecordedCheck) -> Iterator[tuple[str, list[str]]]:
    """What is expected not to go wrong, in words, and the properties of which it is said."""
    hold = [each for each in question.expect if isinstance(each, ExpectVerdict) and each.holds]
    yield "hold for any number of faults", [each.property for each in hold if each.any_faults]
    yield "hold", [each.property for each in hold if not each.any_faults]
    yield "never reached", [each.property for each in question.unreached]
    yield "hold", [] if hold or question.violations else ["all properties"]


def _count(expected: ExpectCount | ExpectTaken) -> str:
    match expected:
        case ExpectTaken(action, number):
            return f"taken {action} {number:,}"
        case ExpectCount(what, number, faults):
            within = "" if faults is None else f" within {plural(faults, 'fault')}"
            return f"{what} {number:,}{within}"


def _listed(label: Line, items: Sequence[str], width: int) -> Iterator[Line]:
    """Items with commas between them behind a label; nothing without items."""
    if items:
        commas = [line(f"{item},") for item in items[:-1]]
        yield from packed(label, [*commas, line(items[-1])], width, Piece(" "))


def _label(words: str) -> Line:
    return line(Piece(f"  {words:<{LABEL - 2}}", Role.DIM))


# ---------------------------------------------------------------------- for programs


def _json(found: Shipped) -> dict[str, object]:
    """A protocol as plain values."""
    return {
        "name": found.name,
        "title": found.title,
        "variants": list(found.variants),
        "checks": [
            {
                "name": each.name,
                "of": each.of,
                "says": each.says,
                "expect": [_expectation(e) for e in each.expect],
            }
            for each in found.questions
        ],
    }


def _expectation(expected: Expect) -> dict[str, object]:
    """What a check expects, as plain values; null stands for what it does not say."""
    match expected:
        case ExpectVerdict(name, holds=True, any_faults=any_faults):
            return {"property": name, "verdict": "holds", "any_faults": any_faults}
        case ExpectVerdict(name, faults=faults, steps=steps):
            return {"property": name, "verdict": "violated", "faults": faults, "steps": steps}
        case ExpectTaken(action, number):
            return {"count": "taken", "action": action, "is": number}
        case ExpectCount(what, number, faults):
            return {"count": what, "within_faults": faults, "is": number}
