"""A frontier as a page: the tables, and the runs at the edges, each behind its title."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from counterexamples.html.page import Card, PageItem, PageTable, TableCell, page
from counterexamples.lines import Role, count
from counterexamples.trace import Trace
from modelcheck.answers.html_report import item
from modelcheck.kafka.frontier.findings import Frontier, Line, in_short
from modelcheck.kafka.frontier.table import (
    BEST,
    legend_of,
    limits,
    numbers_in_words,
    one_setting,
    open_cases,
    shown,
)
from modelcheck.kafka.questions.answers import Answer
from modelcheck.kafka.questions.question import ANY, Guarantee
from modelcheck.kafka.report.wording import page_legend, sentence

MOST_RUNS = 16  # each is several printed pages, and a second or two of explaining


def frontier_page(found: Frontier, command: str) -> str:
    """The HTML page of a frontier; it does not depend on the time the search took."""
    edges = _edges(found)
    shown = edges[:MOST_RUNS]
    places = {_key(answer): place for place, (_, answer) in enumerate(shown)}
    grid = found.grid
    items = [_item(line, answer, command, grid.faults) for line, answer in shown]
    best = len(found.lines) - len(found.better)
    verdict = f"{best} of {count(len(found.lines), 'configuration')}: none other {grid.peers} survives more"
    more = f"{MOST_RUNS} of {len(edges)} runs are on this page" if len(edges) > MOST_RUNS else ""
    tables = [_overview(found, places)]
    tables += [_by_kind(found, guarantee, places) for guarantee in grid.guarantees if grid.kinds]
    reasons: dict[str, int] = {}
    for row in grid.left_out:
        reasons[row.left_out] = reasons.get(row.left_out, 0) + 1
    left_out = tuple(f"{why} ({many})" for why, many in reasons.items())
    remarks = [
        (
            "One other setting that survives more",
            tuple(": ".join(filter(None, told)) for told in one_setting(found)),
        ),
        ("Left out", left_out),
        ("Notes", (*grid.notes, *open_cases(found), *filter(None, (more,)), limits(found, measured=False))),
    ]
    title = f"{grid.title}: the safety frontier, up to {count(grid.faults, 'fault')}"
    card = Card(
        "How many faults each configuration survives",
        verdict,
        Role.GOOD if found.complete else Role.UNSURE,
        tables=tuple(tables),
        remarks=tuple((heading, text) for heading, text in remarks if text),
        command=command,
    )
    return page(items, title=title, cards=[card], folded=True)


def _edges(found: Frontier) -> list[tuple[Line, Answer]]:
    """Each answer with a run, once, the runs of the best configurations first."""
    edges = [
        (line, answer)
        for line in found.lines
        for _, _, answer in found.cells(line)
        if answer is not None and answer.loss is not None
    ]
    edges.sort(key=lambda pair: (pair[1].kind != ANY, pair[0].number in found.better))
    return list({_key(answer): (line, answer) for line, answer in reversed(edges)}.values())[::-1]


def _key(answer: Answer) -> object:
    """What distinguishes runs: the property they violate, and their steps."""
    loss = answer.loss
    return None if loss is None else (answer.guarantee.name, repr(loss.steps))


def _item(line: Line, answer: Answer, command: str, faults: int) -> PageItem:
    """The page's item for a run."""
    loss = _loss(answer)
    guarantee = answer.guarantee
    title = f"{guarantee.name}: {guarantee.fails}, configuration {line.number} ({' '.join(line.row.values)})"
    under = "" if answer.kind == ANY else f", by {answer.kind} alone"
    return item(loss, title + under, sentence(answer), Role.BAD, command, f"at most {faults}")


def _loss(answer: Answer) -> Trace:
    """The run of an answer that has one."""
    if answer.loss is None:
        raise ValueError("the answer has no loss")
    return answer.loss


def _cell(line: Line, guarantee: Guarantee, kind: str, places: Mapping[object, int]) -> TableCell:
    """The table cell of an answer, linked to its run."""
    answer = line.answer(guarantee, kind)
    text, role = shown(line, guarantee, kind)
    return TableCell(text, role, None if answer is None else places.get(_key(answer)))


def _overview(found: Frontier, places: Mapping[object, int]) -> PageTable:
    """The table of all configurations and guarantees."""
    guarantees = found.grid.guarantees
    rows = []
    for line in found.lines:
        better = found.better.get(line.number)
        remark = TableCell(BEST, Role.GOOD) if better is None else TableCell(in_short(better), Role.DIM)
        cells = (*map(TableCell, line.row.values), *(_cell(line, each, ANY, places) for each in guarantees))
        rows.append((str(line.number), (*cells, remark)))
    heads = (*found.grid.heads, *(guarantee.name for guarantee in guarantees), "compared")
    note = (
        f'{BEST}: none {found.grid.peers} survives more; "12: more durable" means that 12 is so, '
        "and as good otherwise; what is underlined leads to a run"
    )
    used = {shown(line, guarantee)[0] for line in found.lines for guarantee in guarantees}
    notes = "; ".join((note, *_own_signs(used)))
    return PageTable("Faults that are survived, of any mixture", heads, tuple(rows), notes)


def _by_kind(found: Frontier, guarantee: Guarantee, places: Mapping[object, int]) -> PageTable:
    """The table of one guarantee by kinds of faults."""
    alike: dict[tuple[TableCell, ...], list[int]] = {}
    for line in found.lines:
        cells = tuple(_cell(line, guarantee, kind, places) for kind in found.kinds)
        same = next((known for known in alike if _bare(known) == _bare(cells)), cells)
        alike.setdefault(same, []).append(line.number)
    rows = tuple((numbers_in_words(numbers), cells) for cells, numbers in alike.items())
    used = {each.text for cells in alike for each in cells}
    note = "; ".join(_signs(used))
    return PageTable(
        f"{guarantee.name}: how many faults of each kind, by configuration", found.kinds, rows, note
    )


def _bare(cells: tuple[TableCell, ...]) -> tuple[TableCell, ...]:
    """The cells without links."""
    return tuple(replace(each, item=None) for each in cells)


def _signs(used: set[str]) -> Iterator[str]:
    """The explanations of the marks used in cells."""
    yield from page_legend(used)
    yield from _own_signs(used)


def _own_signs(used: set[str]) -> Iterator[str]:
    """The explanations of those marks that a review does not have."""
    yield from (note.replace("` ", ": ").replace("`", "") for note in legend_of(used))
