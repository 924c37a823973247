"""A frontier as tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from counterexamples.lines import Line as Text
from counterexamples.lines import Piece, Role, count, line, wrapped
from modelcheck.kafka.frontier.configurations import RELEASE
from modelcheck.kafka.frontier.findings import Better, Frontier, Line, listed, words
from modelcheck.kafka.frontier.grid import SYSTEM, Grid, distinct_jobs
from modelcheck.kafka.questions.question import ANY, Guarantee
from modelcheck.kafka.report.wording import cell, legend

BEST = "★"
NOT_ASKED = "–"
MOST_LEFT_OUT = 12  # lines on configurations that are none; more are counted


def first_words(grid: Grid, width: int) -> Iterator[Text]:
    """The announcement of a grid: the number of configurations, cells and searches."""
    kinds = f" of {count(len(grid.kinds), 'kind')} and of any mixture" if grid.kinds else ""
    said = (
        f"{count(len(grid.asked), 'configuration')}, {count(grid.faults, 'fault')} at most{kinds}: "
        f"{count(grid.cells, 'cell')}"
    )
    alike = len(distinct_jobs(grid.asked))
    jobs = sum(len(row.jobs) for row in grid.asked)
    if alike < jobs:
        said += f", {alike * 100 // jobs} % of them different questions"
    same = "".join(f", {head} {value}" for head, value in _same(grid))
    yield from wrapped((), f"{grid.title}{same}: {said}", width, Role.STRONG)


def _same(grid: Grid) -> Iterator[tuple[str, str]]:
    """The axes with a single value, which get no column."""
    for number, head in enumerate(grid.heads):
        first, *others = dict.fromkeys(row.values[number] for row in grid.asked)
        if not others and not (head == RELEASE and grid.title != "Kafka"):
            yield head, first


def lines(found: Frontier, width: int) -> Iterator[Text]:
    """The report: the table, one per guarantee by kinds of faults, what is left out, and the limits."""
    yield ()
    yield from _overview(found, width)
    yield from _one_setting(found, width)
    for guarantee in found.grid.guarantees if found.grid.kinds else ():
        yield ()
        yield from _by_kind(found, guarantee, width)
    yield from _legend(found, width)
    yield from _notes(found, width)
    yield ()
    yield from wrapped((), limits(found), width, Role.DIM)


def _overview(found: Frontier, width: int) -> Iterator[Text]:
    """The table of all configurations and guarantees."""
    names = [guarantee.name for guarantee in found.grid.guarantees]
    yield line(Piece("Faults that are survived, of any mixture", Role.STRONG))
    yield line("  ", *_heads(found, names))
    system = ""
    for each in found.lines:
        if found.grid.is_of_systems and each.row.values[0] != system:
            system = each.row.values[0]
            yield line("  ", Piece(system, Role.STRONG))
        cells = [_cell(each, of, ANY, of.name) for of in found.grid.guarantees]
        better = found.better.get(each.number)
        remark = BEST if better is None else _remark(found, better)
        role = Role.GOOD if better is None else Role.DIM
        yield from wrapped(line("  ", *_facts(found, each), *cells), remark, width, role)


def _remark(found: Frontier, better: Better) -> str:
    """What betters a configuration; in short where systems leave little room."""
    if found.grid.is_of_systems:
        return f"{better.number} survives more"
    return words(better, found.grid.guarantees)


def _one_setting(found: Frontier, width: int) -> Iterator[Text]:
    """For each guarantee that is lost, the settings that help; nothing if that is not asked."""
    told = list(one_setting(found))
    if told:
        yield ()
        yield line(Piece("One other setting that survives more", Role.STRONG))
    sizes = [max(map(len, column)) + 2 if any(column) else 0 for column in zip(*told, strict=True)]
    above = ""
    for system, name, said in told:
        heads = ("" if system == above else system, name)
        above = system
        head = "".join(f"{text:<{size}}" for text, size in zip(heads, sizes, strict=False))
        yield from wrapped(line("  ", Piece(head)), said, width)


def one_setting(found: Frontier) -> Iterator[tuple[str, str, str]]:
    """Each guarantee that is lost, with the settings of which one survives more: "w=majority (2+)".

    The first text is the system that loses it; empty where there is one system alone.
    """
    for remedies in found.remedies:
        guarantee, said = remedies.guarantee, []
        for each in remedies.settings:
            less = f", and less for {listed([lost.name for lost in each.less])}" if each.less else ""
            said.append(f"{each.line.row.values[-1]} ({cell(each.line.answer(guarantee))[0]}{less})")
        system = remedies.first.row.values[0] if found.grid.is_of_systems else ""
        yield system, guarantee.name, "; ".join(said) or "none alone"


def _by_kind(found: Frontier, guarantee: Guarantee, width: int) -> Iterator[Text]:
    """The table of one guarantee by kinds of faults; equal rows are merged."""
    alike: dict[tuple[Piece, ...], list[int]] = {}
    for each in found.lines:
        cells = tuple(_cell(each, guarantee, kind, kind) for kind in found.kinds)
        alike.setdefault(cells, []).append(each.number)
    yield from wrapped((), f"{guarantee.name}: how many faults of each kind are survived", width, Role.STRONG)
    heads = (Piece(f"{kind:<{max(len(kind), 3) + 2}}", Role.STRONG) for kind in found.kinds)
    yield line("  ", *heads, Piece("configurations", Role.DIM))
    for cells, numbers in alike.items():
        yield from wrapped(line("  ", *cells), numbers_in_words(numbers), width)


def numbers_in_words(numbers: Sequence[int]) -> str:
    """Numbers in order, with consecutive ones as a range: "1-3 7"."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] + 1 == number:
            runs[-1].append(number)
        else:
            runs.append([number])
    return " ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def _heads(found: Frontier, names: Sequence[str]) -> Iterator[Piece]:
    """The headings of a table."""
    for head, size in zip(("", *found.grid.heads), _widths(found), strict=True):
        yield Piece(f"{head:<{size}}" if size else "", Role.DIM)
    for name in names:
        yield Piece(f"{name:<{max(len(name), 3) + 2}}", Role.STRONG)


def _facts(found: Frontier, each: Line) -> Iterator[Piece]:
    """The number and the values of a configuration."""
    number, *sizes = _widths(found)
    yield Piece(f"{each.number:>{number - 2}}  ", Role.DIM)
    for value, size in zip(each.row.values, sizes, strict=True):
        yield Piece(f"{value:<{size}}" if size else "")


def _widths(found: Frontier) -> list[int]:
    """The width of the column of numbers, and of each axis; 0 for one with a single value.

    So it is for systems, each of which is a line above its rows.
    """
    number = len(str(len(found.grid.asked))) + 2
    columns = zip(found.grid.heads, *(row.values for row in found.grid.asked), strict=True)
    return [
        number,
        *(
            max(map(len, column)) + 2 if len(set(column[1:])) > 1 and column[0] != SYSTEM else 0
            for column in columns
        ),
    ]


def _cell(each: Line, guarantee: Guarantee, kind: str, head: str) -> Piece:
    """One cell of a table."""
    text, role = shown(each, guarantee, kind)
    return Piece(f"{text:<{max(len(head), 3) + 2}}", role)


def shown(each: Line, guarantee: Guarantee, kind: str = ANY) -> tuple[str, Role]:
    """The answer for a guarantee and a kind of fault as a table cell."""
    if guarantee.name not in each.row.guarantees:
        return NOT_ASKED, Role.DIM
    return cell(each.answer(guarantee, kind))


def legend_of(cells: set[str]) -> Iterator[str]:
    """The explanations of marks that a frontier has and a review has not."""
    if "-" in cells:
        yield "`-` there are no such faults"
    if NOT_ASKED in cells:
        yield f"`{NOT_ASKED}` its model does not say"


def _legend(found: Frontier, width: int) -> Iterator[Text]:
    """The explanation of the marks in the cells."""
    faults = count(found.grid.faults, "fault")
    used = {shown(each, of, kind)[0] for each in found.lines for of, kind, _ in found.cells(each)}
    notes = [*legend(used), *legend_of(used)]
    if found.lines:
        notes.append(f"`{BEST}` none {found.grid.peers} survives more of up to {faults}")
    yield from wrapped(line("  "), "; ".join(notes), width, Role.DIM)


def _notes(found: Frontier, width: int) -> Iterator[Text]:
    """The notes below the table."""
    grid = found.grid
    if grid.notes or grid.left_out or found.depending:
        yield ()
    for note in (*grid.notes, *open_cases(found)):
        yield from wrapped(line("  "), note, width)
    reasons: dict[str, list[str]] = {}
    for row in grid.left_out:
        reasons.setdefault(row.left_out, []).append(" ".join(row.values))
    if reasons:
        yield line(Piece(f"Left out: {count(len(grid.left_out), 'configuration')}", Role.STRONG))
    for reason, where in list(reasons.items())[:MOST_LEFT_OUT]:
        yield from wrapped(line("  "), f"{reason} ({len(where)})", width)
    if len(reasons) > MOST_LEFT_OUT:
        yield line(f"  and {len(reasons) - MOST_LEFT_OUT} more reasons")


def open_cases(found: Frontier) -> Iterator[str]:
    """A note for the configurations whose answers depend on what no file says; none if there are none."""
    if found.depending:
        yield (
            f"{numbers_in_words(found.depending)}: the answers depend on the release, or on ZooKeeper or"
            " KRaft, which no file says, and the worst count; --kafka names a release, process.roles or"
            " zookeeper.connect in a broker's file the controller"
        )


def limits(found: Frontier, *, measured: bool = True) -> str:
    """What the answers cover, and the limits of the search; without times unless `measured`."""
    said = f"Up to {count(found.grid.faults, 'fault')}, each configuration within its scope"
    if measured:
        known = f", {found.known:,} of them by an earlier run" if found.known else ""
        said += f": {found.states:,} states{known}, in {found.seconds:.0f} s"
    said += "."
    unsure = sorted({answer.why for each in found.lines for answer in each.answers.values() if answer.why})
    if unsure:
        said += f" Partly unknown: {'; '.join(unsure)}; --max-states and --max-time give more."
    if found.missing:
        missing = count(found.missing, "configuration")
        said += f" Not answered: {missing} ({found.ended}); run the same command again to continue."
    return said
