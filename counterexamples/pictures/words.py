"""How replicas stand, and what all formats say in the same words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from textwrap import wrap

from counterexamples.lines import clean
from counterexamples.pictures.picture import CLIENT, CONTROLLER, Box, Picture, Row, Standing
from spec.ir import Kind

_IS_PLAIN = re.compile(r"[A-Za-z][0-9]*").fullmatch
NO_RETURN = "▼ point of no return: from here on, no run of actions and repairs avoids it"
UNNEEDED = "number in brackets: it goes wrong without this step too"
KINDS = {Kind.FAULT: ("⚡", "fault"), Kind.REPAIR: ("✚", "repair")}


def badge(standing: Standing) -> str:
    """What a replica is, in a few words: the leader, down, whom it follows."""
    found = ["✕ down"] if not standing.up else []
    if standing.chosen and not standing.up:
        found.append("still the leader")
    elif standing.chosen and not (standing.leads and standing.is_aware):
        found.append("★ chosen, unaware")
    elif standing.chosen or (standing.leads and standing.chosen is None):
        found.append("★ leader")
    elif standing.leads:
        found.append("☆ thinks it leads")
    elif standing.follows:
        found.append(f"follows {standing.follows}")
    if standing.epoch and standing.up:
        found.append(standing.epoch)
    return " · ".join(found)


def entry(box: Box) -> str:
    """An entry of a log: `1·e2✓`, the record and its epoch, and that a client was told it is stored."""
    return (f"{box.text}·{box.under}" if box.under else box.text) + ("✓" if box.told and not box.cut else "")


def stands(standing: Standing, picture: Picture) -> Iterator[str]:
    """How a replica stands, in lines: what it is, its log, what is gone from it."""
    parts = [badge(standing)]
    if picture.membership and standing.member is not None:
        parts.append(f"{'in' if standing.member else 'not in'} {picture.membership}")
    parts += standing.oddities
    if found := " · ".join(filter(None, parts)):
        yield found
    if standing.log is not None:
        stored = [box for box in standing.log if not (box.cut or box.missing)]
        boxes = " ".join(f"✗{entry(box)}" if box.bad else entry(box) for box in stored)
        mark = standing.high_watermark
        yield (f"log [{boxes}]" if boxes else "empty log") + (
            "" if mark is None else f", {standing.mark} {mark}"
        )
        if gone := [entry(box) for box in standing.log if box.cut]:
            yield f"✗ cut off: {', '.join(gone)}"
        if lost := [entry(box) for box in standing.log if box.missing]:
            yield f"✗ LOST: {picture.record}{', '.join(lost)}"


def beside(picture: Picture, index: int) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """What stands in the lanes that a row touched: lanes side by side, and the lines that all of them have.

    A replica is told of where it changed, and at the start and the end.
    """
    row = picture.rows[index]
    group: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    for lane in (*picture.lanes, ""):
        own = told_in(row, lane)
        stands = _stands(picture, index, lane)
        if group and (own or not stands or (*stands, *own) != before):
            yield group, before
            group = ()
        before = (*stands, *own)
        group = (*group, lane) if before else ()


def told_in(row: Row, lane: str) -> tuple[str, ...]:
    """What happened in a lane that no standing shows."""
    decided = row.control if lane == CONTROLLER else ()
    return (*decided, *row.events.get(lane, ()), *row.notes.get(lane, ()))


def _stands(picture: Picture, index: int, lane: str) -> tuple[str, ...]:
    """How a replica stands after a row, where that is told."""
    row = picture.rows[index]
    if lane not in row.standing:
        return ()
    standing = row.standing[lane]
    is_edge = index == 0 or row.is_last or row.skipped
    is_told = is_edge or lane in row.notes or has_changed(standing, picture.rows[index - 1].standing[lane])
    return tuple(stands(standing, picture)) if is_told else ()


def has_changed(now: Standing, before: Standing) -> bool:
    """Whether a replica stands otherwise than before, whatever the step before did to its log."""
    return _bare(now) != _bare(before)


def _bare(standing: Standing) -> Standing:
    if standing.log is None:
        return standing
    kept = (replace(box, fresh=False) for box in standing.log if not box.cut)
    return replace(standing, log=tuple(kept))


def heading(row: Row) -> str:
    """A step in a line: its number, whether it is a fault or a repair, and what was done."""
    told = row.sentence or row.action
    if row.skipped:
        return f"… {told} …"
    number = str(row.number) if row.is_needed else f"({row.number})"
    sign, word = KINDS.get(row.kind, ("", ""))
    return f"{number} · {sign} {word}: {told}" if sign else f"{number} · {told}"


def is_turn(picture: Picture, row: Row) -> bool:
    """Whether nothing avoids what is wrong at the end once a row is done, though it did before."""
    return row.number == picture.no_return and not row.is_last


def repeats_from(picture: Picture) -> int | None:
    """The row that begins what is repeated for ever, one past the last where the run just stays."""
    if picture.loop is None:
        return None
    later = (index for index, row in enumerate(picture.rows) if row.number > picture.loop)
    return next(later, len(picture.rows))


def folded(lines: Sequence[str], width: int) -> Iterator[str]:
    """The lines, the long ones broken between words."""
    for line in lines:
        yield from wrap(clean(line), width, break_on_hyphens=False) or [""]


def ids(picture: Picture) -> dict[str, str]:
    """What each lane is called in a source: its own name where no grammar can mind it; at least one."""
    plain = {CLIENT, CONTROLLER}
    return {
        lane: lane if lane in plain or _IS_PLAIN(lane) else f"lane{number}"
        for number, lane in enumerate(picture.lanes or (CONTROLLER,))
    }
