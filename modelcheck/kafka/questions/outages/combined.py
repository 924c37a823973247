"""Brokers that are the controllers as well: what a fault takes with a broker.

NOTE(combined): each node is a broker and a controller, so brokers that are down may take the majority with
them, and then nothing is decided: `combined` of `kafka_controllers.rsm`.  That differs from a majority
that is always up where the majority goes before the last replica does.  A broker that is cut off still has
its vote there, and takes part in decisions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import spec.library as library
import spec.model.ir as ir
from modelcheck.contract.result import Violated
from modelcheck.kafka.questions.answers import Answer
from modelcheck.kafka.questions.partition import PartitionModel
from modelcheck.kafka.questions.question import ANY, GUARANTEES, Posed, Question, as_check, fault_kinds
from modelcheck.kafka.questions.search import Asking
from modelcheck.kafka.settings.resolution.voters import Voters
from spec.frozen import frozen
from spec.load import loads

LED = "led"
ACKNOWLEDGES = "acknowledges"  # with acks=all
_TAKES = ("crash", "power", "disk")  # faults that take the controller of a node with its broker
_WRITABLE = next(each for each in GUARANTEES if each.name == "writable")


@frozen
class Combined:
    """A partition whose brokers are also controllers, and how many down cost the majority."""

    partition: PartitionModel
    frozen_with: int


def combined(partition: PartitionModel, voters: Voters | None) -> Combined | None:
    """The partition with its controllers; None if they are not the brokers, or nothing depends on it.

    It is asked where each node of a replica has a vote, and disks outlive a restart.  Costs some
    tens of milliseconds to read the models.
    """
    if voters is None or not voters.are_brokers or partition.ephemeral:
        return None
    others = voters.count.value - partition.replicas
    down = (voters.count.value + 1) // 2
    if not 0 <= others <= 9 or (others and down >= partition.replicas):
        return None
    models = _models()
    config = {**partition.config, "moves": 0, "others": others}
    model, alone = models["combined"], models["combined_alone"]
    return Combined(replace(partition, model=model, unattended=alone, config=config), down)


@cache
def _models() -> dict[str, ir.Model]:
    """The shipped models of brokers that are controllers, by name."""
    text = library.text("kafka_controllers")
    found = loads(text, "kafka_controllers.rsm", only=("combined", "combined_alone"))
    return {model.name: model for model in found}


def with_controllers(
    asking: Asking, partition: PartitionModel, voters: Voters | None, answers: Sequence[Answer]
) -> tuple[Answer, ...]:
    """The answers, corrected for faults that also take controllers down.

    Asks nothing where fewer faults stop writes anyway.
    """
    nodes = combined(partition, voters)
    return tuple(
        _lessened(asking, nodes, each) if nodes is not None and each.guarantee == _WRITABLE else each
        for each in answers
    )


def _lessened(asking: Asking, nodes: Combined, answer: Answer) -> Answer:
    """The answer for a kind of fault, limited by the controllers' majority."""
    down = nodes.frozen_with
    if answer.survives(down) is False or answer.kind not in {*_TAKES, ANY}:
        return answer
    kinds = [kind for kind in fault_kinds(nodes.partition) if kind.name in _TAKES]
    kind = next(each for each in kinds if answer.kind in {each.name, ANY})
    only = replace(_WRITABLE, properties=(LED,))
    question = Question((only,), kind.name, ir.Budget(down, {kind.fault: None}))
    found = asking.found(Posed(question, *as_check(nodes.partition, question), None), small=True)
    verdict = None if found is None else found.verdicts[LED]
    if not isinstance(verdict, Violated) or verdict.trace is None:
        return answer
    known = down - 1 if answer.survived is None else min(answer.survived, verdict.trace.faults - 1)
    return replace(answer, survived=known, loss=verdict.trace, complete=known == verdict.trace.faults - 1)
