"""What else can be asked of a configuration, and what was found, as values."""

from __future__ import annotations

from counterexamples.trace import Trace
from spec.frozen import frozen


@frozen
class Subject:
    """A topic that the model of one partition leaves out, such as racks, and the file that models it.

    `name` is what `--also` takes; `touches` are the guarantees of the review that it bears on; `apart` is
    whether its model has no brokers that fail, so that their number does not matter.
    """

    name: str
    title: str
    file: str
    touches: tuple[str, ...]
    short: str  # in the line that names what was not asked
    apart: bool = False


LINKS = Subject(
    "links", "single links that break", "kafka_partial_partition.rsm", ("durable", "writable"), "links"
)
REASSIGNMENT = Subject(
    "reassignment",
    "replicas that are moved to other brokers",
    "kafka_reassignment.rsm",
    ("durable",),
    "moves",
)
SETTINGS = Subject(
    "settings",
    "settings that are changed while the cluster runs",
    "kafka_changed_settings.rsm",
    ("durable",),
    "settings",
)
RACKS = Subject(
    "racks", "racks and sites that fail as one", "kafka_racks.rsm", ("durable", "writable"), "racks"
)
ROLLING = Subject(
    "rolling", "rolling restarts", "kafka_rolling_restart.rsm", ("durable", "writable"), "rolling"
)
DIRECTORIES = Subject(
    "directories", "log directories that fail alone", "kafka_log_directories.rsm", ("durable",), "directories"
)
TRANSACTIONS = Subject(
    "transactions",
    "transactions, with requests that come late",
    "kafka_transactions.rsm",
    ("read",),
    "transactions",
    apart=True,
)
CONSUMERS = Subject(
    "consumers", "consumers that read from followers", "kafka_follower_reads.rsm", ("read",), "consumers"
)
SUBJECTS = (RACKS, ROLLING, DIRECTORIES, LINKS, REASSIGNMENT, SETTINGS, TRANSACTIONS, CONSUMERS)
ALL = "all"  # what `--also` takes for every one of them


@frozen
class SubjectCase:
    """A question about a subject and its answer: up to `tried` faults of some kinds.

    Up to `survived` faults break nothing (-1: that is not known even without any); `loss` is a run with the
    fewest that do; `what` is what it is about, a guarantee of the review, or another that `text.py` has
    words for.  `without` is how many faults of the same kinds break it where nothing of that happens, as
    far as the review knows.
    """

    what: str
    asks: str
    tried: int
    survived: int
    loss: Trace | None
    without: int | None = None

    @property
    def complete(self) -> bool:
        """Whether the search covered all that was asked."""
        return self.loss is not None or self.survived >= self.tried


@frozen
class SubjectFindings:
    """The answers about a subject.

    `assumed` is what the questions take for granted; `notes` name the questions that were not asked, and why.
    """

    subject: Subject
    cases: tuple[SubjectCase, ...]
    notes: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
