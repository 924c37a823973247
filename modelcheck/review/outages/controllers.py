"""Asks how many controllers may be down: of `kafka_controllers.rsm`, where a majority of them decides.

The answers of a review are of a controller that never fails.  Here it is asked with how many
controllers down a partition whose leader crashes has no leader again, and, where brokers are
the controllers, with how many brokers down.  The models are read only where a file names voters;
both questions are so small that no kernel is made for them.
"""

from __future__ import annotations

from functools import cache

import spec.ir as ir
import spec.library as library
from counterexamples.trace import Trace
from modelcheck.contract.result import Violated
from modelcheck.review.asking import Asking
from modelcheck.review.partition import Partition
from modelcheck.review.questions import Posed, Question
from modelcheck.review.releases import value_of
from modelcheck.review.voters import Voters
from spec.frozen import frozen
from spec.load import loads
from spec.source import Span

MOST = 5  # controllers: Kafka's manual advises three or five, and of seven it takes seconds
MOST_COMBINED = 3  # brokers that are controllers: of four it takes longer than a kernel
_LED = "led"


@frozen
class Quorum:
    """What is known of controllers that are down.

    At the end of `run` no replica leads: its faults are a crash of the leader, and controllers that are
    down; None where it was not asked.  `brokers` is the same where brokers
    are the controllers, by crashes alone.
    """

    voters: Voters
    run: Trace | None
    brokers: Trace | None = None

    @property
    def frozen_with(self) -> int | None:
        """The fewest controllers down with which nothing is decided."""
        return None if self.run is None else self.run.faults - 1


def quorum(asking: Asking, partition: Partition, voters: Voters | None) -> Quorum | None:
    """What becomes of a partition while controllers are down; None where the files name no voters.

    Costs some tens of milliseconds to read the model, and one or two searches of some hundred states.
    """
    if voters is None:
        return None
    many = voters.count.value
    run = _asked(asking, _apart(many)) if 1 <= many <= MOST else None
    same = voters.are_brokers and many == partition.replicas <= MOST_COMBINED
    return Quorum(voters, run, _asked(asking, _combined(partition)) if same else None)


@cache
def _model(name: str) -> ir.Model:
    """A model in which nobody repairs anything."""
    (found,) = loads(library.text("kafka_controllers"), "kafka_controllers.rsm", only=(name,))
    return found


def _apart(many: int) -> tuple[ir.Model, ir.Check]:
    """Controllers of their own: one broker of two crashes, so that the other should lead."""
    model = _model("apart_alone")
    sorts = {"Broker": ("broker1", "broker2"), "Controller": tuple(f"{n}" for n in range(1, many + 1))}
    config = {entry.name: entry.default for entry in model.configs}
    budget = ir.Budget(None, {"crash": 1, "stop_controller": None})
    return model, _check("the leader crashes while controllers are down", sorts, 1, config, budget)


def _combined(partition: Partition) -> tuple[ir.Model, ir.Check]:
    """The replicas of the partition, each on a node that is controller as well."""
    model = _model("combined_alone")
    given = {**partition.config, "moves": 0}
    config = {entry.name: value_of(entry, given[entry.name]) for entry in model.configs}
    many = partition.replicas
    budget = ir.Budget(many, {"crash": None})
    return model, _check(
        "brokers that are controllers are down", {"Broker": partition.names}, many, config, budget
    )


def _check(
    says: str,
    sorts: dict[str, tuple[str, ...]],
    crashes: int,
    config: dict[str, ir.Value],
    budget: ir.Budget,
) -> ir.Check:
    scope = ir.Scope(sorts, {"Record": 0, "Offset": 0, "Epoch": 2 + crashes}, {}, config)
    return ir.Check(says, scope, budget, (_LED,), (), None, span=Span(0, 0))


def _asked(asking: Asking, question: tuple[ir.Model, ir.Check]) -> Trace | None:
    """The run with the fewest faults at whose end no replica leads, or ever will."""
    model, check = question
    asked = Posed(Question((), check.name, check.budget), model, check, None)
    found = asking.found(asked, check.name, small=True)
    verdict = None if found is None else found.verdicts[_LED]
    return verdict.trace if isinstance(verdict, Violated) else None
