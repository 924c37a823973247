"""`modelcheck library list`: the protocols that come with modelcheck, and the verdicts of their checks."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from counterexamples.lines import Line, count, wrapped
from modelcheck.commands.library.protocol_card import as_json, head, label, listed
from modelcheck.contract.exits import Exit
from modelcheck.contract.expected import plural
from modelcheck.storage.output import Output
from spec.library import RecordedCheck, Shipped, names, shipped


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments and options to its parser."""
    parser.add_argument("--json", action="store_true", help="Print the list as JSON, with each check")


def run(args: argparse.Namespace, output: Output) -> int:
    """List all protocols in a few lines each; searches nothing."""
    if args.json:
        output.json([as_json(shipped(name)) for name in names()])
        return Exit.EXPECTED
    checks = 0
    for each in map(shipped, names()):  # shown as they are read, which takes a second for all
        output.lines(head(each, output.width))
        output.lines(_verdicts(each, output.width))
        checks += len(each.questions)
    counts = f"{count(len(names()), 'protocol')}, {count(checks, 'check')}."
    more = "`modelcheck library show NAME` shows what each check expects, `modelcheck check NAME` runs them."
    output.lines([(), *wrapped((), f"{counts} {more}", output.width)])
    return Exit.EXPECTED


def _verdicts(found: Shipped, width: int) -> Iterator[Line]:
    """The lines on the checks expected to hold, and on those expected to be violated."""
    hold = [each.name for each in found.questions if not each.violations]
    violated = [each.name + _least(each) for each in found.questions if each.violations]
    for words, checks in (("hold", hold), ("violated", violated)):
        yield from listed(label(words), checks, width)


def _least(question: RecordedCheck) -> str:
    """The fewest faults and steps of an expected violation: " (1 fault, 5 steps)"."""
    costs = [(each.faults or 0, each.steps) for each in question.violations if each.steps is not None]
    if not costs:
        return ""
    faults, steps = min(costs)
    return f" ({plural(faults, 'fault') + ', ' if faults else ''}{plural(steps, 'step')})"
