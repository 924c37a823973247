"""A picture as data, before it is drawn: lanes, arrows, logs as boxes, what was lost.

Every format (SVG, Mermaid, PlantUML, a storyboard, text) draws the same picture; `depict` makes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import Enum as PyEnum

from spec.frozen import frozen
from spec.model.ir import Kind

CONTROLLER = "controller"
CLIENT = "client"
SHARED = "shared state"  # what no replica owns, where the model names no one who decides it


class ArrowKind(PyEnum):
    """The kind of event that an arrow shows."""

    MESSAGE = "message"
    COPY = "copy"  # one member's log becomes more like another's
    DECISION = "decision"  # of who decides what no replica owns
    RECORD = "record"  # a client's
    ANSWER = "answer"  # to a client
    CALL = "call"  # a step of both, in which no message is seen
    FAULT = "fault"


@frozen
class Box:
    """A log entry as drawn: `text` names its record, `under` its epoch."""

    text: str
    under: str = ""
    fresh: bool = False  # the step wrote it
    cut: bool = False  # the step removed it
    bad: bool = False  # what is wrong at the end is about it
    missing: bool = False  # it was acknowledged and is not there
    acknowledged: bool = False  # it is among what was acknowledged
    is_volatile: bool = False  # it is not on disk yet, and a loss of power may take it


@frozen
class ReplicaState:
    """A replica's state as drawn; None or empty where the model has no such part."""

    sort: str = ""  # of which it is a member
    up: bool = True
    leads: bool = False  # takes itself for the leader
    chosen: bool | None = None  # the state has it as the leader
    is_aware: bool = True  # if it is chosen, it knows, and for which epoch
    follows: str = ""  # the replica that it takes for the leader
    member: bool | None = None
    epoch: str = ""
    log: tuple[Box, ...] | None = None
    high_watermark: int | None = None
    mark: str = "hw"  # what the model calls it
    ties: tuple[str, ...] = ()  # others of its sort that it holds, "voted_for B"; what the claim reads of it
    claimed: tuple[str, ...] = ()  # at the end, where the claim is false of it: all that this reads of it
    oddities: tuple[str, ...] = ()  # what is not as it was at the start: "linked: no"


@frozen
class Arrow:
    """An arrow between two lanes, or within one."""

    start: str
    end: str
    text: str
    mark: ArrowKind


@frozen
class PictureRow:
    """A row of a picture: a step, and the state of each lane that it touched.

    By lane, `events` are what happened there in words, `notes` the changes that nothing
    else shows.  `acknowledged` is what was acknowledged.  Row 0 is the start; a row
    with `skipped` replaces that many steps, up to its own, which are not drawn.
    """

    number: int
    kind: Kind
    action: str
    sentence: str
    arrows: tuple[Arrow, ...] = ()
    shown: tuple[str, ...] = ()
    replicas: Mapping[str, ReplicaState] = field(default_factory=dict)
    events: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    acknowledged: tuple[str, ...] = ()
    control: tuple[str, ...] = ()  # what is decided for all: "leader: B", where the step changed it
    under_way: tuple[str, ...] = ()  # the messages after it that later steps need, the next first
    about: tuple[
        str, ...
    ] = ()  # parts of the state that the claim reads and nothing else shows: "status: open"
    skipped: int = 0
    is_last: bool = False
    is_needed: bool = True  # unless by an explanation all goes wrong without it too
    is_recorded: bool = False  # it changed a ghost that the property reads: what the claim is about


@frozen
class Picture:
    """The contents of a picture, independent of format; `verdict` is the violation in lines."""

    title: str
    bounds: str
    caption: str
    lanes: tuple[str, ...]
    replicas: tuple[str, ...]
    rows: tuple[PictureRow, ...]
    verdict: tuple[str, ...]
    is_bad: bool
    broken: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    record: str = ""  # the word before the names of records: "record ", or nothing
    membership: str = ""  # what the parts are called that make a replica a member
    common: str = CONTROLLER  # the lane of what no replica owns
    client: str = CLIENT  # the lane of who sends records and gets acknowledgements, if the model names one
    told: str = "acknowledged"  # the word for what must not be lost
    loop: int | None = None  # the row after which the run repeats
    needs: str = ""  # the settings without which this could not happen, in a sentence
    no_return: int | None = None  # the step from which on no action or repair avoids it, if that is known
    is_captioned: bool = True  # whether the caption is drawn; a screen reader has it in any case
    entries: tuple[str, ...] = ()  # what the short names of long entries mean: "C1: Config(…)"
    claim: str = ""  # what the run shows, in a sentence, where the title is another

    @property
    def about(self) -> tuple[str, ...]:
        """The lines under the title: the violation, the caption, and the needed settings."""
        texts = (self.claim and f"{self.claim}.", self.caption, self.needs)
        return tuple(text for text in texts if text) if self.is_captioned else ()
