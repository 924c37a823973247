"""The rows of a frontier: configurations, what is asked of each, and those that are left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from modelcheck.kafka.questions.question import Guarantee, Posed
from spec.frozen import frozen
from spec.model.ir import Value

NOT_READ = "–"  # in place of the value of a key that a release does not read
SYSTEM = "system"  # the first head of a grid of several systems
SETTING = "setting"  # the head of rows that differ from the first of their system in one setting


@frozen
class Job:
    """The guarantees of a configuration that one search decides together.

    First it is asked of any mixture of the faults, then of each kind alone.
    """

    mixture: Posed
    alone: tuple[Posed, ...]

    @property
    def posed(self) -> tuple[Posed, ...]:
        """Every search that the job may need."""
        return (self.mixture, *self.alone)

    @property
    def key(self) -> str:
        """What the answers depend on: jobs with equal keys are done once."""
        asked = [
            (each.model.name, each.check.scope, each.check.budget, each.check.only) for each in self.posed
        ]
        return repr(asked)


@frozen
class RowCase:
    """A configuration in one of the releases, with one of the controllers, that its files leave open.

    `own` are entries of its configuration that its jobs replace, because no answer depends on them;
    `words` name the release and the controller.
    """

    jobs: tuple[Job, ...]
    own: Mapping[str, Value] = field(default_factory=dict)
    words: str = ""


@frozen
class ConfigurationRow:
    """A configuration of the grid: its value on each axis, its cases, or why it is left out.

    `left_out` is why nothing is asked.  `cost` is what somebody pays for it, such as
    replicas, and `among` what it is compared within.  Of several cases the worst counts, in each cell.
    """

    values: tuple[str, ...]
    cases: tuple[RowCase, ...] = ()
    cost: tuple[int, ...] = ()
    among: tuple[str, ...] = ()
    left_out: str = ""

    @property
    def jobs(self) -> tuple[Job, ...]:
        """The jobs of all cases."""
        return tuple(job for case in self.cases for job in case.jobs)

    @property
    def guarantees(self) -> frozenset[str]:
        """The names of the guarantees that are asked of it."""
        return frozenset(each.name for job in self.jobs for each in job.mixture.question.guarantees)

    @property
    def answers(self) -> int:
        """The number of answers: one for each case, guarantee and kind of fault, and for any mixture."""
        return sum(map(_answers, self.jobs))

    @property
    def cells(self) -> int:
        """The number of cells, each with the worst answer of all cases."""
        return max((sum(map(_answers, case.jobs)) for case in self.cases), default=0)


def _answers(job: Job) -> int:
    """The number of answers of a job."""
    return sum(len(posed.question.guarantees) for posed in job.posed)


@frozen
class Grid:
    """The configurations of a frontier; the last axis varies fastest.

    `title` is what they are of, `heads` name the axes, and `kinds` are the kinds of faults,
    each in a few words; of each there are at most `faults`.  `notes` are shown with the table,
    `peers` names the configurations that are compared.  With `is_star` each row but the first of those
    that are compared is the first one with another value of one setting.
    """

    title: str
    heads: tuple[str, ...]
    rows: tuple[ConfigurationRow, ...]
    guarantees: tuple[Guarantee, ...]
    kinds: Mapping[str, str]
    faults: int
    notes: tuple[str, ...] = ()
    peers: str = ""
    is_star: bool = False

    @property
    def is_of_systems(self) -> bool:
        """Whether the rows are of several systems, each named by the first value of its rows."""
        return self.heads[:1] == (SYSTEM,)

    @property
    def asked(self) -> tuple[ConfigurationRow, ...]:
        """The rows that are searched."""
        return tuple(row for row in self.rows if not row.left_out)

    @property
    def left_out(self) -> tuple[ConfigurationRow, ...]:
        """The rows that are not searched; `left_out` of each gives the reason."""
        return tuple(row for row in self.rows if row.left_out)

    @property
    def answers(self) -> int:
        """The number of answers of all rows."""
        return sum(row.answers for row in self.asked)

    @property
    def cells(self) -> int:
        """The number of cells of all rows."""
        return sum(row.cells for row in self.asked)


def distinct_jobs(rows: Sequence[ConfigurationRow]) -> dict[str, Job]:
    """The distinct jobs of the rows, by key."""
    return {job.key: job for row in rows for job in row.jobs}
