"""The states of replicas, and other texts that all formats share."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from textwrap import wrap

from counterexamples.lines import clean
from counterexamples.pictures.picture import (
    SHARED,
    Box,
    Picture,
    PictureRow,
    ReplicaState,
)
from spec.model.ir import Kind

_IS_PLAIN = re.compile(r"[A-Za-z][0-9]*").fullmatch
NO_RETURN = "▼ point of no return: from here on, no run of actions and repairs avoids it"
UNNEEDED = "number in brackets: it goes wrong without this step too"
KINDS = {Kind.FAULT: ("⚡", "fault"), Kind.REPAIR: ("✚", "repair")}


def badge(replica: ReplicaState) -> str:
    """A replica's role in a few words: leader, down, follower of which leader."""
    found = ["✕ down"] if not replica.up else []
    if replica.chosen and not replica.up:
        found.append("still the leader")
    elif replica.chosen and not (replica.leads and replica.is_aware):
        found.append("★ chosen, unaware")
    elif replica.chosen or (replica.leads and replica.chosen is None):
        found.append("★ leader")
    elif replica.leads:
        found.append("☆ thinks it leads")
    elif replica.follows:
        found.append(f"follows {replica.follows}")
    if replica.epoch and replica.up:
        found.append(replica.epoch)
    return " · ".join(found)


def entry(box: Box) -> str:
    """A log entry as text: `1·e2✓`, the record, its epoch, and a mark if it was acknowledged."""
    return (f"{box.text}·{box.under}" if box.under else box.text) + (
        "✓" if box.acknowledged and not box.cut else ""
    )


def stands(replica: ReplicaState, picture: Picture) -> Iterator[str]:
    """A replica's state in lines: role, log, and lost records."""
    parts = [badge(replica)]
    if picture.membership and replica.member is not None:
        parts.append(f"{'in' if replica.member else 'not in'} {picture.membership}")
    parts += replica.oddities
    if found := " · ".join(filter(None, parts)):
        yield found
    if replica.log is not None:
        stored = [box for box in replica.log if not (box.cut or box.missing)]
        boxes = " ".join(f"✗{entry(box)}" if box.bad else entry(box) for box in stored)
        mark = replica.high_watermark
        yield (f"log [{boxes}]" if boxes else "empty log") + (
            "" if mark is None else f", {replica.mark} {mark}"
        )
        if gone := [entry(box) for box in replica.log if box.cut]:
            yield f"✗ cut off: {', '.join(gone)}"
        if lost := [entry(box) for box in replica.log if box.missing]:
            yield f"✗ LOST: {picture.record}{', '.join(lost)}"


def lane_notes(picture: Picture, index: int) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """The notes for the lanes that a row touched: adjacent lanes with the same lines are joined.

    A replica is described where it changed, and at the start and the end.
    """
    row = picture.rows[index]
    group: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    for lane in (*picture.lanes, ""):
        own = events_in(picture, row, lane)
        stands = _stands(picture, index, lane)
        if group and (own or not stands or (*stands, *own) != before):
            yield group, before
            group = ()
        before = (*stands, *own)
        group = (*group, lane) if before else ()


def events_in(picture: Picture, row: PictureRow, lane: str) -> tuple[str, ...]:
    """The events in a lane that its replica's state does not show."""
    decided = row.control if lane == picture.common else ()
    return (*decided, *row.events.get(lane, ()), *row.notes.get(lane, ()))


def _stands(picture: Picture, index: int, lane: str) -> tuple[str, ...]:
    """A replica's state after a row in lines, if it is shown."""
    row = picture.rows[index]
    if lane not in row.replicas:
        return ()
    replica = row.replicas[lane]
    is_edge = index == 0 or row.is_last or row.skipped
    is_shown = is_edge or lane in row.notes or has_changed(replica, picture.rows[index - 1].replicas[lane])
    return (*stands(replica, picture), *replica.claimed) if is_shown else ()


def has_changed(now: ReplicaState, before: ReplicaState) -> bool:
    """Whether a replica's state differs from before, apart from what happened to its log."""
    return _bare(now) != _bare(before)


def _bare(replica: ReplicaState) -> ReplicaState:
    """The state without what the step did to the log, and without ties, which notes tell."""
    replica = replace(replica, ties=())
    if replica.log is None:
        return replica
    kept = (replace(box, fresh=False) for box in replica.log if not box.cut)
    return replace(replica, log=tuple(kept))


def heading(row: PictureRow) -> str:
    """A step in one line: its number, fault or repair, and its name."""
    sentence = row.sentence or row.action
    if row.skipped:
        return f"… {sentence} …"
    number = str(row.number) if row.is_needed else f"({row.number})"
    sign, word = KINDS.get(row.kind, ("", ""))
    return f"{number} · {sign} {word}: {sentence}" if sign else f"{number} · {sentence}"


def is_turn(picture: Picture, row: PictureRow) -> bool:
    """Whether a row's step makes the violation unavoidable."""
    return row.number == picture.no_return and not row.is_last


def repeats_from(picture: Picture) -> int | None:
    """The index of the row that begins the cycle; one past the last if the run stays there."""
    if picture.loop is None:
        return None
    later = (index for index, row in enumerate(picture.rows) if row.number > picture.loop)
    return next(later, len(picture.rows))


def circle(picture: Picture) -> str:
    """What repeats for ever, in words; empty for a run that ends."""
    if picture.loop is None:
        return ""
    stays = repeats_from(picture) == len(picture.rows)
    return "↻ and here it may stay for ever" if stays else f"↻ from after step {picture.loop} on, for ever"


def folded(lines: Sequence[str], width: int) -> Iterator[str]:
    """The lines, with long ones wrapped."""
    for line in lines:
        yield from wrap(clean(line), width, break_on_hyphens=False) or [""]


def ids(picture: Picture) -> dict[str, str]:
    """An identifier for each lane in a diagram's source: its name if that is safe."""
    known = {picture.client: "client", picture.common: "controller"}
    return {
        lane: known.get(lane) or (lane if _IS_PLAIN(lane) else f"lane{number}")
        for number, lane in enumerate(picture.lanes or (SHARED,))
    }
