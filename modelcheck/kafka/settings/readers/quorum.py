"""What `kafka-metadata-quorum describe` prints, with `--status` and with `--replication`."""

from __future__ import annotations

import re

from modelcheck.kafka.settings.readers.gathered import Gathered
from modelcheck.kafka.settings.readings import About, Fact, FileKind, Reading
from spec.source import Source, Span

_STATUS = re.compile(r"^[ \t]*(CurrentVoters|CurrentObservers):[ \t]*\[(.*)\][ \t]*\r?$", re.MULTILINE)
_ROWS = re.compile(r"^[ \t]*(\d+)[ \t].*\b(Leader|Follower|Observer)[ \t]*\r?$", re.MULTILINE)
_HEAD = re.compile(r"^[ \t]*(?:NodeId|ReplicaId)[ \t]+.*\bStatus[ \t]*\r?$", re.MULTILINE)
_NODE = re.compile(r'"id":[ \t]*(\d+)|(?<![\w"-])(\d+)(?=[ \t]*(?:,|$))')


def is_quorum(text: str) -> bool:
    """Whether a text is the output of kafka-metadata-quorum."""
    return "CurrentVoters:" in text or ("LogEndOffset" in text and _HEAD.search(text) is not None)


def read_quorum(source: Source) -> Reading:
    """The facts in that output: KRaft, the voters, and the brokers."""
    gathered = Gathered(source, FileKind.QUORUM)
    found = {m[1]: m for m in _STATUS.finditer(source.text)}
    voters, observers = found.get("CurrentVoters"), found.get("CurrentObservers")
    rows = list(_ROWS.finditer(source.text)) if voters is None else []
    at = Span(*voters.span(1)) if voters else Span(*rows[0].span()) if rows else None
    if at is None:
        return gathered.reading()
    gathered.facts.append(Fact(About.CONTROLLER, "kraft", source, at, "the quorum of KRaft"))
    voting = _ids(voters) if voters else {row[1] for row in rows if row[2] != "Observer"}
    watching = _ids(observers) if observers else {row[1] for row in rows if row[2] == "Observer"}
    if voting:
        words = "the voters of the quorum"
        gathered.facts.append(Fact(About.VOTERS, str(len(voting)), source, at, words))
        both = "no" if watching else "yes"
        gathered.facts.append(Fact(About.COMBINED, both, source, at, "whether somebody observes"))
    if watching:
        words = "the observers of the quorum"
        gathered.facts.append(Fact(About.BROKERS, str(len(watching)), source, at, words))
    elif voting:
        words = "the voters of the quorum, each taken for a broker as well, since there are no observers"
        gathered.facts.append(Fact(About.BROKERS, str(len(voting)), source, at, words))
    return gathered.reading()


def _ids(line: re.Match[str]) -> set[str]:
    """The node ids in a line."""
    return {one[1] or one[2] for one in _NODE.finditer(line[2])}
