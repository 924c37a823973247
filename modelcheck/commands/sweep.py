"""`modelcheck sweep FILE --vary NAME=V,V,…`: many checks or configurations, each searched, as one table."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from time import monotonic

from counterexamples.lines import Line, Piece, Role, count, line, wrapped
from modelcheck.answers.outcome_json import as_json
from modelcheck.answers.progress import ProgressLine
from modelcheck.asking.models import pick_checks
from modelcheck.asking.sweep import Axis, Orders, SweepAnswer, SweepPoint, answers, axis, points
from modelcheck.commands.options.amounts import add_limits
from modelcheck.commands.options.crew_options import add_crew, crew_of
from modelcheck.commands.options.engine_options import add_symmetry
from modelcheck.commands.options.given import MODEL, add_overrides, given_by
from modelcheck.contract.assessment import MARKS, assess
from modelcheck.contract.engine import Limits
from modelcheck.contract.exits import Exit, worst
from modelcheck.contract.report import AnswersDone
from modelcheck.contract.result import Outcome, Violated
from modelcheck.contract.wording import seconds_words
from modelcheck.storage.output import Output
from spec.load import load

UNANSWERED = SweepAnswer(None, "not answered")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments and options to its parser."""
    parser.set_defaults(refuse=parser.error)
    add = parser.add_argument
    add("file", metavar="FILE", help=MODEL)
    add(
        "--vary",
        action="append",
        default=[],
        metavar="NAME=V,…",
        help="vary a name of the scope or configuration over these values; repeatable",
    )
    add("--check", action="append", default=[], metavar="NAME", help="check only this one; repeatable")
    add("--of", metavar="NAME", help="use this protocol or variant of the file")
    add(
        "--property", action="append", default=[], metavar="NAME", help="check only this property; repeatable"
    )
    add_overrides(parser.add_argument_group("overrides"))
    add_symmetry(parser)
    add_limits(parser)
    add_crew(parser)
    add("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace, output: Output) -> int:
    """Check every point; returns the worst exit code."""
    progress = ProgressLine(output.err, "sweep", columns=output.width)
    progress.show(f"sweep: reading {args.file}")
    try:
        return _answered(args, output, progress)
    finally:
        progress.clear()


def _answered(args: argparse.Namespace, output: Output, progress: ProgressLine) -> int:
    """Check every point, printing each row."""
    at_work = crew_of(args)
    models = load(args.file)
    checks = pick_checks(models, args.check) if any(model.checks for model in models) else []
    axes = [axis(text) for text in args.vary]
    asked = points(models, checks, axes, given_by(args), of=args.of, properties=args.property)
    orders = Orders(Limits(args.max_states, args.max_time, args.max_memory), args.symmetry)
    found: dict[int, SweepAnswer] = {}
    table = _SweepTable(axes, asked)
    progress.clear()
    if not args.json:
        output.lines([table.head()])
    progress.show("sweep")
    shown, states, began = 0, 0, monotonic()

    def tell() -> None:
        progress.tell(AnswersDone("point", len(found), len(asked), states, monotonic() - began))

    for number, answer in answers(asked, orders, at_work, tell):
        found[number] = answer
        states += 0 if answer.outcome is None else answer.outcome.findings.stats.states
        progress.clear()
        while not args.json and shown in found:
            output.lines(table.row(asked[shown], found[shown], output.width))
            shown += 1
        tell()
    progress.clear()
    all_answers = [found.get(number, UNANSWERED) for number in range(len(asked))]
    if args.json:
        output.json([_json(axes, point, answer) for point, answer in zip(asked, all_answers, strict=True)])
    else:
        for number in range(shown, len(asked)):
            output.lines(table.row(asked[number], all_answers[number], output.width))
        output.write(_summary(all_answers))
    exits = {answer.exit for answer in all_answers}
    return worst([*exits, Exit.EXPECTED])


class _SweepTable:
    """Prints the table: for each point its check, values, size and result."""

    def __init__(self, axes: Sequence[Axis], asked: Sequence[SweepPoint]) -> None:
        self._axes = axes
        self._names = [_name(point) for point in asked]
        self._is_named = len(set(self._names)) > 1
        heads = [each.name for each in axes]
        columns = [[head, *(p.values[n] for p in asked)] for n, head in enumerate(heads)]
        if self._is_named:
            columns = [["check", *self._names], *columns]
        self._widths = [max(map(len, column)) for column in columns]

    def head(self) -> Line:
        """The headings."""
        names = ["check"] * self._is_named + [each.name for each in self._axes]
        return line(Piece(self._cells(names, "states", "time") + "found", Role.DIM))

    def row(self, point: SweepPoint, answer: SweepAnswer, width: int) -> Iterator[Line]:
        """The lines of a point."""
        values = [_name(point)] * self._is_named + list(point.values)
        if answer.outcome is None:
            label = line(self._cells(values, "", ""), Piece("– ", Role.DIM))
            yield from wrapped(label, answer.problem, width, Role.UNSURE)
            return
        stats, found = answer.outcome.findings.stats, assess(answer.outcome)
        mark, role = MARKS.get(found.exit, MARKS[Exit.UNKNOWN])
        cells = self._cells(values, f"{stats.states:,}", seconds_words(stats.seconds))
        yield from wrapped(line(cells, Piece(f"{mark} ", role)), _found(answer.outcome), width)

    def _cells(self, values: Sequence[str], states: str, time: str) -> str:
        """The cells of a row."""
        first = "".join(f"{value:<{width}}  " for value, width in zip(values, self._widths, strict=True))
        return f"{first}{states:>13}  {time:>8}  "


def _name(point: SweepPoint) -> str:
    """The name of a point's check."""
    return f"{point.model.name} · {point.check.name}"


def _found(outcome: Outcome) -> str:
    """The violated properties with their cost, else the result."""
    results = outcome.findings.results
    violated = [_costs(each.property, each.verdict) for each in results if isinstance(each.verdict, Violated)]
    found = assess(outcome)
    return ", ".join(violated) if violated and found.exit is Exit.VIOLATED else found.words


def _costs(name: str, verdict: Violated) -> str:
    """A violation with its faults and steps, in words."""
    if verdict.unshown is not None:
        return f"{name} (no run shown)"
    if verdict.trace is None:
        return f"{name} (never reached)"
    return f"{name} ({count(verdict.trace.faults, 'fault')}, {count(len(verdict.trace.steps), 'step')})"


def _json(axes: Sequence[Axis], point: SweepPoint, answer: SweepAnswer) -> dict[str, object]:
    """A point and its result as JSON data."""
    values = {each.name: value for each, value in zip(axes, point.values, strict=True)}
    where = {"model": point.model.name, "check": point.check.name, "values": values}
    if answer.outcome is None:
        return {**where, "problem": answer.problem}
    return {**where, "outcome": as_json(answer.outcome)}


def _summary(answers: Sequence[SweepAnswer]) -> str:
    """The number of points with each result."""
    words = {Exit.EXPECTED: "hold", Exit.VIOLATED: "violated", Exit.UNKNOWN: "unknown", Exit.WRONG: "wrong"}
    codes = [answer.exit for answer in answers if answer.outcome is not None]
    parts = [f"{codes.count(code)} {word}" for code, word in words.items() if code in codes]
    if len(codes) < len(answers):
        parts.append(f"{len(answers) - len(codes)} without an answer")
    return f"\n{count(len(answers), 'point')}: {', '.join(parts)}\n"
