"""`modelcheck necessity FILE`: which parts of a protocol its checks need, as one table."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Iterator, Sequence

from counterexamples.lines import Line, Piece, Role, count, line, wrapped
from counterexamples.text import story
from counterexamples.trace import Erred
from modelcheck.answers.progress import ProgressLine
from modelcheck.asking.necessity.parts import PartKind, ProtocolPart
from modelcheck.asking.necessity.search import LIMITS, CheckStanding, NecessityRow, NecessitySearch
from modelcheck.asking.necessity.text import as_json
from modelcheck.commands.options.amounts import add_limits
from modelcheck.commands.options.draw_options import add_draw_options, draw_asked, refuse_unused
from modelcheck.commands.options.given import MODEL
from modelcheck.contract.engine import Limits
from modelcheck.contract.exits import Exit, worst
from modelcheck.storage.output import Output
from modelcheck.storage.written import Files
from spec.load import load
from spec.source import Source
from spec.wording import listed

WIDEST = 40  # columns of a name
MOST_NAMED = 3
KINDS = {kind.name.lower(): kind for kind in PartKind}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments and options to its parser."""
    parser.set_defaults(refuse=parser.error)
    add = parser.add_argument
    add("file", metavar="FILE", help=MODEL)
    add("--check", action="append", default=[], metavar="NAME", help="check only this one; repeatable")
    add(
        "--kind",
        action="append",
        default=[],
        choices=KINDS,
        help="try only parts of this kind; repeatable",
    )
    add_limits(parser, LIMITS.states)
    add("-v", "--trace", action="store_true", help="show the run that each part prevents")
    add("--json", action="store_true", help="print JSON")
    add_draw_options(parser, "write the run that each part prevents in these formats (svg, mermaid, …)")


def run(args: argparse.Namespace, output: Output) -> int:
    """Check every mutant; exit 3 if some result is unknown."""
    refuse_unused(args)
    files = Files(output, [args.file], force=args.force)
    models = load(args.file)
    asking = NecessitySearch(models, args.check, [KINDS[name] for name in args.kind] or tuple(PartKind))
    limits = Limits(args.max_states, args.max_time, args.max_memory)
    progress = ProgressLine(output.err, "", columns=shutil.get_terminal_size().columns)
    asked = _asked(asking, limits, progress)
    rows: dict[int, NecessityRow] = {}
    if len(asked) == asking.count:
        rows = _rows(args, output, asking, asked, limits, progress)
    unanswered = len(asking.parts) - len(rows)
    found = [rows[number] for number in sorted(rows)]
    if args.json:
        output.json(as_json(asked, found, unanswered))
    else:
        output.lines(_summary(asked, found, unanswered, asking.count, output.width))
    runs = [row.run for row in found if row.run is not None]
    draw_asked(args, runs, files, output, is_explained=False)
    is_unknown = unanswered or any(row.needed is None for row in found)
    unknown = Exit.UNKNOWN if is_unknown else Exit.EXPECTED
    return files.exit(worst([unknown, *(each.stands.exit for each in asked)]))


def _asked(asking: NecessitySearch, limits: Limits, progress: ProgressLine) -> list[CheckStanding]:
    """The results of the unchanged checks, possibly incomplete after an interrupt."""
    progress.begin("the unchanged checks")
    try:
        found = dict(asking.checks(limits, progress))
    finally:
        progress.clear()
    return [found[number] for number in sorted(found)]


def _rows(
    args: argparse.Namespace,
    output: Output,
    asking: NecessitySearch,
    asked: Sequence[CheckStanding],
    limits: Limits,
    progress: ProgressLine,
) -> dict[int, NecessityRow]:
    """The result for each part, printed in textual order as they are ready."""
    rows: dict[int, NecessityRow] = {}
    table = _NecessityTable(asking.parts, asking.source)
    answers = asking.rows(asked, limits, progress)  # refuses what cannot be asked
    shown = 0
    try:
        for number, row in answers:
            if not rows and not args.json:
                progress.clear()
                output.lines([table.head()])
            rows[number] = row
            while not args.json and shown in rows:
                progress.clear()
                _tell(args, output, table, rows[shown])
                shown += 1
    finally:
        progress.clear()
    for number in range(shown, len(asking.parts)):
        if not args.json and number in rows:
            _tell(args, output, table, rows[number])
    return rows


def _tell(args: argparse.Namespace, output: Output, table: _NecessityTable, row: NecessityRow) -> None:
    """Print a row."""
    output.lines(table.row(row, output.width))
    if args.trace and row.run is not None:
        output.write("\n")
        output.lines(story(row.run, width=output.width))
        output.write("\n")


class _NecessityTable:
    """Prints the table: for each part its place, mutation and result."""

    def __init__(self, parts: Sequence[ProtocolPart], source: Source) -> None:
        self._part = min(WIDEST, max(4, *(len(part.name) for part in parts)))
        self._line = max(4, *(len(str(source.place(part.span.start)[1])) for part in parts))
        self._mutant = max(6, *(len(part.kind.value) for part in parts))

    def head(self) -> Line:
        """The headings."""
        return line(Piece(self._cells("line", "part", "mutant") + "found", Role.DIM))

    def row(self, row: NecessityRow, width: int) -> Iterator[Line]:
        """The lines of a row."""
        mark, role = {True: ("✓", Role.GOOD), False: ("–", Role.DIM), None: ("?", Role.UNSURE)}[row.needed]
        cells = self._cells(str(row.line), _short(row.part.name), row.part.kind.value)
        yield from wrapped(line(cells, Piece(f"{mark} ", role)), _found(row), width)

    def _cells(self, number: str, part: str, mutant: str) -> str:
        """The first cells of a row."""
        return f"{number:>{self._line}}  {part:<{self._part}}  {mutant:<{self._mutant}}  "


def _short(name: str) -> str:
    """A name cut short."""
    return name if len(name) <= WIDEST else f"{name[: WIDEST - 1]}…"


def _found(row: NecessityRow) -> str:
    """What the checks show about a part, in words."""
    run = row.run
    if run is not None and row.needed_by is not None:
        costs = f"{count(run.faults, 'fault')}, {count(len(run.steps), 'step')}"
        error = run.ending
        what = f"the model makes an error, {error.code}" if isinstance(error, Erred) else f"{run.property}"
        return f"{row.needed_by.check.name}: {what} ({costs})"
    if row.unknown:
        reasons = dict.fromkeys(reason for _, reason in row.unknown)
        names = [each.check.name for each, _ in row.unknown]
        more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        return f"not known: {'; '.join(reasons)} in {', '.join(names[:MOST_NAMED])}{more}"
    holding = [f"{len(row.held)} hold without it"] if row.held else []
    same = [f"{len(row.same)} with the same runs"] if row.same else []
    cut = f"; then the scope cuts runs, at {', '.join(row.cut)}" if row.cut else ""
    asks = "ask" if len(row.by_enabled) > 1 else "asks"
    still = f"; {listed(row.by_enabled)} {asks} it all the same, by `enabled`" if row.by_enabled else ""
    return f"no check needs it: {', '.join([*holding, *same])}{cut}{still}"


def _summary(
    asked: Sequence[CheckStanding], rows: Sequence[NecessityRow], unanswered: int, checks: int, width: int
) -> Iterator[Line]:
    """The number of parts with each result, and the checks that were not run."""
    needed = [row.needed for row in rows]
    words = {True: "needed", False: "that no check needs", None: "not known"}
    parts = [f"{needed.count(known)} {word}" for known, word in words.items() if known in needed]
    parts += [f"{unanswered} not answered"] * bool(unanswered)
    yield ()
    yield from wrapped((), f"{count(len(rows) + unanswered, 'part')}: {', '.join(parts)}", width)
    able = [each for each in asked if not each.stands.why]
    yield line(f"asked {len(able)} of {count(checks, 'check')}")
    for why in dict.fromkeys(each.stands.why for each in asked if each.stands.why):
        names = [each.check.name for each in asked if each.stands.why == why]
        yield from wrapped(line("  "), f"{why}: {', '.join(names)}", width)
    wrong = [each.check.name for each in asked if each.stands.exit is Exit.VIOLATED]
    if wrong:
        yield from wrapped(line("  "), f"not as expected: {', '.join(wrong)}", width, Role.BAD)
