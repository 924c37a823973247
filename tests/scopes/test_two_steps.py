"""A review says the same where a broker that starts is registered in one step and unfenced in another one.

kafka.rsm does both at once, and kafka_eligible.rsm says why that is enough.  Asked here for what the ELR can
change in 4.1 and later; `python -m tests.scopes.two_steps` asks it of the whole grid.
"""

from __future__ import annotations

from modelcheck.asking.sweep import Axis
from modelcheck.kafka.frontier.configurations import Base, grid
from modelcheck.kafka.frontier.grid import Job, distinct_jobs
from modelcheck.kafka.frontier.limits import FaultLimits
from modelcheck.kafka.questions.question import GUARANTEES
from modelcheck.kafka.questions.search import Asking, Effort, Unwatched
from tests.scopes.grid import FAULTS, RAISED, larger
from tests.scopes.two_steps import differences, in_two_steps


def job(unclean: str, replicas: str) -> Job:
    """The questions of guarantees about records, of replicas with the ELR."""
    axes = (
        Axis("replication.factor", (replicas,)),
        Axis("min.insync.replicas", ("2",)),
        Axis("unclean.leader.election.enable", (unclean,)),
        Axis("eligible.leader.replicas.version", ("1",)),
    )
    asked = grid(Base((), kafka="4.4.0"), axes, GUARANTEES, FaultLimits(FAULTS)).asked
    (found,) = [each for each in distinct_jobs(asked).values() if each.mixture.model.name == "kafka"]
    return found


def test_a_review_answers_the_same_in_two_steps() -> None:
    assert differences(Asking(Effort(threads=1), Unwatched()), job("true", "3")) == ()


def test_with_a_record_and_an_offset_more_it_does_too() -> None:
    asked = larger(job("false", "2"), RAISED[0])

    assert asked is not None
    assert differences(Asking(Effort(threads=1), Unwatched()), asked) == ()


def test_the_questions_are_asked_of_the_larger_model() -> None:
    posed = in_two_steps(job("false", "2")).mixture

    assert {"register", "unfence"} <= {action.name for action in posed.model.actions}
