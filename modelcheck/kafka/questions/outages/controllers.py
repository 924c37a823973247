"""Asks how many controllers may be down: of `kafka_controllers.rsm`, where a majority of them decides.

The answers of a review are of a controller that never fails.  Here it is asked with how many
controllers down a partition whose leader crashes has no leader again.  The model is read only where a
file names voters; the question is so small that no kernel is made for it.
Where brokers are the controllers NOTE(combined) has the answer.
"""

from __future__ import annotations

from functools import cache

import spec.library as library
import spec.model.ir as ir
from counterexamples.trace import Trace
from modelcheck.contract.result import Violated
from modelcheck.kafka.questions.outages.combined import LED
from modelcheck.kafka.questions.outages.findings import Outage
from modelcheck.kafka.questions.question import Posed, Question
from modelcheck.kafka.questions.search import Asking
from modelcheck.kafka.settings.resolution.voters import Voters
from spec.frozen import frozen
from spec.load import loads
from spec.source import Span

MOST = 5  # controllers: Kafka's manual advises three or five, and of seven it takes seconds


@frozen
class Quorum:
    """The effect of controllers that are down: how many may be, and a run in which none leads.

    At the end of `run` no replica leads: its faults are a crash of the leader, and controllers that are
    down; None where it was not asked.  `brokers` is the same where brokers
    are the controllers, by the crashes of a review's outage.
    """

    voters: Voters
    run: Trace | None
    brokers: Trace | None = None

    @property
    def frozen_with(self) -> int | None:
        """The fewest controllers down with which no decision is possible."""
        return None if self.run is None else self.run.faults - 1


def quorum(asking: Asking, voters: Voters | None, down: Outage | None = None) -> Quorum | None:
    """The effect of controllers being down; None if the files name no voters.

    `down` is what works while brokers are.  Costs some tens of milliseconds to read the model, and a
    search of some hundred states.
    """
    if voters is None:
        return None
    many = voters.count.value
    run = _asked(asking, *_apart(many)) if 1 <= many <= MOST else None
    brokers = None
    if down is not None and down.controllers_too:
        stops = (each.stop for each in down.services if each.name == "electable")
        brokers = next((stop.run for stop in stops if stop is not None), None)
    return Quorum(voters, run, brokers)


@cache
def _model() -> ir.Model:
    """The model of separate controllers, without repairs."""
    (found,) = loads(library.text("kafka_controllers"), "kafka_controllers.rsm", only=("apart_alone",))
    return found


def _apart(many: int) -> tuple[ir.Model, ir.Check]:
    """The model and check of separate controllers, with two brokers of which one crashes."""
    model = _model()
    sorts = {"Broker": ("broker1", "broker2"), "Controller": tuple(f"{n}" for n in range(1, many + 1))}
    config = {entry.name: entry.default for entry in model.configs}
    budget = ir.Budget(None, {"crash": 1, "stop_controller": None})
    scope = ir.Scope(sorts, {"Offset": 0, "Record": 0}, {}, config, frozenset({"Epoch"}))
    says = "the leader crashes while controllers are down"
    return model, ir.Check(says, scope, budget, (LED,), (), None, span=Span(0, 0))


def _asked(asking: Asking, model: ir.Model, check: ir.Check) -> Trace | None:
    """The run with the fewest faults after which no replica leads or will lead; None if none exists."""
    asked = Posed(Question((), check.name, check.budget), model, check, None)
    found = asking.found(asked, check.name, small=True)
    verdict = None if found is None else found.verdicts[LED]
    return verdict.trace if isinstance(verdict, Violated) else None
