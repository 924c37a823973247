"""The questions of a grid of configurations, and the same questions with one bound larger."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from modelcheck.asking.sweep import Axis
from modelcheck.kafka.frontier.configurations import Base, grid
from modelcheck.kafka.frontier.grid import Job, distinct_jobs
from modelcheck.kafka.frontier.limits import FaultLimits
from modelcheck.kafka.questions.question import ANY, GUARANTEES, MOVE, Posed
from modelcheck.kafka.settings.readers.recognition import read_text
from spec.source import Source

FAULTS = 2
# One release of each set of defaults that the model of a partition knows, and lines of a broker's file that
# make a set of their own.  3.9 with ZooKeeper is left out: its switches lie between those of 3.6 and 3.7.
SETUPS = (
    ("0.8.1.1", ""),
    ("0.8.2.2", ""),
    ("1.0.2", ""),
    ("2.0.0", ""),
    ("2.0.1", ""),
    ("2.8.2", ""),
    ("2.8.2", "inter.broker.protocol.version=0.10.2"),
    ("2.8.2", "inter.broker.protocol.version=1.0"),
    ("3.6.2", ""),
    ("3.7.2", ""),
    ("4.0.1", ""),
    ("4.4.0", ""),
)
AXES = (
    Axis("replication.factor", ("2", "3")),
    Axis("min.insync.replicas", ("1", "2")),
    Axis("acks", ("0", "1", "all")),
    Axis("unclean.leader.election.enable", ("true", "false")),
    Axis("log.flush.interval.messages", ("default", "1")),
    Axis("eligible.leader.replicas.version", ("default", "0", "1")),
)


@dataclass(frozen=True)
class Larger:
    """Bounds that are raised, and by how much.

    `moves` are added to the moves that a question allows, where leadership may be moved at all; at least
    `least` are allowed then.
    """

    name: str
    nats: Mapping[str, int]
    moves: int = 0
    least: int = 0

    def __str__(self) -> str:
        return self.name


# A record alone and an offset alone lie between the scope and both of them: see NOTE(monotone).
RAISED = (
    Larger("a record and an offset more", {"Record": 1, "Offset": 1}),
    Larger("a move more", {}, moves=1),
    Larger("all moves among faults, in logs of one record", {"Offset": -1}, least=2),
)


def jobs() -> tuple[Job, ...]:
    """What the grid comes to: the questions of all configurations, each once."""
    found: dict[str, Job] = {}
    for release, line in SETUPS:
        readings = (read_text(Source("server.properties", f"{line}\n")),) if line else ()
        made = grid(Base(readings, kafka=release), AXES, GUARANTEES, FaultLimits(FAULTS))
        found |= distinct_jobs(made.asked)
    return tuple(found.values())


def larger(job: Job, raised: Larger) -> Job | None:
    """The same questions with bounds raised; None where that changes none of them."""
    moves = any(posed.question.kind == MOVE for posed in job.alone)
    made = Job(
        _larger(job.mixture, raised, moves=moves),
        tuple(_larger(posed, raised, moves=moves) for posed in job.alone),
    )
    return None if made.key == job.key else made


def _larger(posed: Posed, raised: Larger, *, moves: bool) -> Posed:
    """A question with bounds raised; `moves` says that leadership may be moved under this configuration."""
    question, scope = posed.question, posed.check.scope
    most = max(question.moves + raised.moves, raised.least)
    if not moves or question.kind not in {ANY, MOVE}:
        most = question.moves
    if raised.least and most == question.moves:
        return posed  # nothing is raised
    has_records = scope.nats["Record"] > 0
    nats = {name: many + raised.nats.get(name, 0) * has_records for name, many in scope.nats.items()}
    changed = replace(scope, nats=nats, config={**scope.config, "moves": most})
    return replace(posed, question=replace(question, moves=most), check=replace(posed.check, scope=changed))
