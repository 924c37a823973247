"""Runs for the gallery, searched and drawn anew, and pages to play with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from modelcheck.answers.played import played
from modelcheck.answers.progress import ProgressLine
from modelcheck.asking.models import pick_checks
from modelcheck.python_api import check, draw, load
from modelcheck.storage.files import read_text
from spec.frozen import frozen
from tools.known_bugs import Bug, bugs
from tools.protocol_table import FILE, of_check, read

SOON = "< 1"  # how the tables say that a check takes less than a second
PLAYED: Mapping[str, str] = {  # the check of each protocol that its page to play with is of
    "kafka": "jepsen",
    "quorum": "n3_w2_r1",
    "raft": "log_lost",
    "zab": "committed_alone",
    "paxos": "n3_1_2",
    "primary_backup": "asynchronous",
    "two_phase_commit": "blocking",
}


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
    tables, seen, models = read(read_text(str(FILE))), set(), cache(load)
    for bug in bugs():
        rows = of_check(tables[bug.model], bug.check)
        key = (bug.model, bug.check, bug.property)
        if key in seen or rows[0].seconds != SOON:
            continue
        seen.add(key)
        progress.begin(f"{bug.model} · {bug.check}")
        trace = check(models(bug.model), bug.check).trace(bug.property)
        if trace is not None:
            board, diagram, story = (str(draw(trace, form)) for form in ("storyboard", "svg", "text"))
            yield DrawnRun(bug, board, diagram, story)


def pages_to_play(folder: Path, progress: ProgressLine) -> None:
    """Write the pages to play with, each as `protocol.check.html`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, asked in PLAYED.items():
        progress.begin(f"{name} · {asked}: a page to play with")

        ((model, question),) = pick_checks(load(name), [asked])
        page = played(model, question)
        (folder / f"{name}.{asked}.html").write_text(page, encoding="utf-8")
