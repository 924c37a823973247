"""Runs for the gallery, searched and drawn anew, and pages to play with."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from counterexamples.play.page import address
from counterexamples.trace import Trace
from modelcheck.answers.played import played
from modelcheck.answers.progress import ProgressLine
from modelcheck.asking.models import pick_checks
from modelcheck.python_api import check, draw, load
from modelcheck.storage.files import read_text
from spec.frozen import frozen
from spec.model.ir import Model
from tools.known_bugs import Bug, bugs
from tools.protocol_table import FILE, of_check, read

SOON = "< 1"  # how the tables say that a check takes less than a second
RECT = r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)" [^>]*/>'
FRAME = rf'<g class="panel"[^>]*>\n{RECT}\n{RECT}'  # of a storyboard: its head, and the whole
EDGE = 2.0  # around a frame that is cut out, half of which its border takes
MOST_TALL = 1.2  # a frame's height by its width, on a card


@frozen
class Play:
    """A check with a page to play with, the property that the run on its card violates, and a title.

    A run that is `famous` has a name by which people know it.
    """

    protocol: str
    check: str
    violated: str
    title: str
    famous: str = ""

    @property
    def page(self) -> str:
        """The name of the page's file."""
        return f"{self.protocol}.{self.check}.html"

    @property
    def picture(self) -> str:
        """The name of the picture on its card."""
        return f"{self.protocol}.{self.check}.play.svg"


PLAYS = (
    Play(
        "kafka",
        "jepsen",
        "acknowledged_survive",
        "Two failures, well timed, make Kafka 0.8 with acks=-1 lose a record that it acknowledged",
        "Jepsen 2013",
    ),
    Play(
        "kafka",
        "last_replica_standing",
        "acknowledged_survive",
        "The last replica in sync loses power and its records, and is elected again",
        "Last replica standing (KIP-966)",
    ),
    Play(
        "kafka_followers",
        "kip101_as_told",
        "acknowledged_survive",
        "A follower restarts, cuts its log to its high watermark, and is elected",
        "KIP-101, scenario 1",
    ),
    Play(
        "kafka_followers",
        "kip279",
        "no_divergence",
        "After two fast changes of the leader, a follower keeps what its leader never had",
        "KIP-279",
    ),
    Play(
        "figure8",
        "figure_8",
        "one_committed",
        "A Raft leader counts copies of an entry of an earlier term, and commits what is overwritten",
        "Figure 8 of Raft",
    ),
    Play(
        "raft_membership",
        "two_removes",
        "election_safety",
        "Two leaders remove one server each, and both are elected in the same term",
        "Raft's single-server changes, 2015",
    ),
    Play(
        "zab",
        "zookeeper2845",
        "leader_has_delivered",
        "A ZooKeeper election begins with what was heard to be committed, not with what is logged",
        "ZOOKEEPER-2845",
    ),
    Play(
        "quorum",
        "n3_w2_r1",
        "committed_survives",
        "A leader elected by one node of three lacks a record that two nodes have",
    ),
    Play(
        "raft",
        "log_lost",
        "acknowledged_on_majority",
        "A Raft server loses its log in a crash, and an acknowledged entry is no longer on a majority",
    ),
    Play(
        "zab",
        "committed_alone",
        "leader_has_delivered",
        "A Zab leader commits alone, and the next leader lacks what was delivered",
    ),
    Play("paxos", "n3_1_2", "one_value", "Paxos chooses two values when one promise is enough to propose"),
    Play(
        "primary_backup",
        "asynchronous",
        "acknowledged_survive",
        "A primary that does not wait for its backup crashes, and an acknowledged write is gone",
    ),
    Play(
        "two_phase_commit",
        "blocking",
        "finishes",
        "The coordinator of a two-phase commit is lost, and the transaction never ends",
    ),
)


@frozen
class DrawnRun:
    """A run that shows a known mistake: as key frames and as a sequence diagram (SVG), and as text."""

    bug: Bug
    storyboard: str
    diagram: str
    story: str

    @property
    def name(self) -> str:
        """A name that no other run has."""
        return f"{self.bug.model}.{self.bug.check}.{self.bug.property}"


def drawn_runs(progress: ProgressLine) -> tuple[DrawnRun, ...]:
    """The runs of known mistakes that are found within a second; most of the time goes into compiling."""
    return tuple(_drawn(progress))


def _drawn(progress: ProgressLine) -> Iterator[DrawnRun]:
    for bug, trace in known_runs(progress):
        board, diagram, story = (str(draw(trace, form)) for form in ("storyboard", "svg", "text"))
        yield DrawnRun(bug, board, diagram, story)


def known_runs(progress: ProgressLine) -> Iterator[tuple[Bug, Trace]]:
    """The runs of known mistakes that are found within a second, each once."""
    tables, seen = read(read_text(str(FILE))), set()
    for bug in bugs():
        rows = of_check(tables[bug.model], bug.check)
        key = (bug.model, bug.check, bug.property)
        if key in seen or rows[0].seconds != SOON:
            continue
        seen.add(key)
        progress.begin(f"{bug.model} · {bug.check}")
        trace = check(_models(bug.model), bug.check).trace(bug.property)
        if trace is not None:
            yield bug, trace


@cache
def _models(protocol: str) -> tuple[Model, ...]:
    """The models of a protocol, which several pages and pictures are of."""
    return load(protocol)


def last_frame(storyboard: str) -> str:
    """The last frame of a storyboard as a picture of its own; a tall one without the steps above it."""
    head, x, y, width, height = map(float, re.findall(FRAME, storyboard)[-1][3:])
    if height > MOST_TALL * width:
        y, height = y + head, height - head
    across, down = width + 2 * EDGE, height + 2 * EDGE
    size = f'viewBox="{x - EDGE:g} {y - EDGE:g} {across:g} {down:g}" width="{across:g}" height="{down:g}"'
    return re.sub(r'viewBox="[^"]*" width="[^"]*" height="[^"]*"', size, storyboard, count=1)


@frozen
class PlayCard:
    """What the card of a page to play with has: the last frame of its run, and where the page shows it."""

    picture: str
    address: str


def play_cards(progress: ProgressLine) -> Iterator[tuple[Play, PlayCard]]:
    """Each page to play with, and its card: how the property is violated, in one frame, and a link to it."""
    for play in PLAYS:
        progress.begin(f"{play.protocol} · {play.check}: a picture")
        trace = check(_models(play.protocol), play.check).trace(play.violated)
        if trace is None:
            raise LookupError(f"{play.protocol} · {play.check} does not violate {play.violated}")
        yield play, PlayCard(last_frame(str(draw(trace, "storyboard"))), address(trace))


def pages_to_play(folder: Path, progress: ProgressLine) -> None:
    """Write the pages to play with, each as `protocol.check.html`."""
    folder.mkdir(parents=True, exist_ok=True)
    for play in PLAYS:
        progress.begin(f"{play.protocol} · {play.check}: a page to play with")
        ((model, question),) = pick_checks(_models(play.protocol), [play.check])
        (folder / play.page).write_text(played(model, question), encoding="utf-8")
