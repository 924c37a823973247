"""`python -m tests.scopes.two_steps`: does a review say the same where registration is a step of its own?

Asks the questions of the grid of `kafka.rsm` and of `registered_first` of `kafka_eligible.rsm`.  All jobs
with the ELR take two minutes of CPU, and all others, without `--elr`, some ten more.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import spec.library as library
import spec.model.ir as ir
from modelcheck.kafka.frontier.grid import Job
from modelcheck.kafka.frontier.search import answers_of
from modelcheck.kafka.questions.question import Posed
from modelcheck.kafka.questions.search import Asking, Effort, Unwatched
from spec.load import loads
from tests.scopes.asked import MOST, Cell, compared
from tests.scopes.grid import jobs

KAFKA = "kafka"  # the model in which brokers are started again; in `unattended` none is


@cache
def registered_first() -> ir.Model:
    """The model of a partition in which a broker is registered first and unfenced later."""
    (found,) = loads(library.text("kafka_eligible"), "kafka_eligible.rsm", only=("registered_first",))
    return found


def in_two_steps(job: Job) -> Job:
    """The same questions to the larger model, each with a kernel of its own."""
    return Job(_in_two_steps(job.mixture), tuple(map(_in_two_steps, job.alone)))


def _in_two_steps(posed: Posed) -> Posed:
    assert posed.model.name == KAFKA
    return replace(posed, model=registered_first(), family=None)


def differences(asking: Asking, job: Job) -> tuple[Cell, ...]:
    """What the two models say otherwise; all is known, or this is an error."""
    one, other = (tuple(answers_of(asking, each)) for each in (job, in_two_steps(job)))
    found = compared("two steps", one, other)
    assert not found.unknown, found.unknown
    return found.different


def main(argv: Sequence[str] | None = None) -> int:
    """The exit code: 0 where both models say the same, 1 where they do not."""
    parser = argparse.ArgumentParser(prog="python -m tests.scopes.two_steps", description=__doc__)
    parser.add_argument("--elr", action="store_true", help="only configurations with the ELR")
    args = parser.parse_args(argv)
    asked = [each for each in jobs() if each.mixture.model.name == KAFKA]
    asked = [each for each in asked if each.mixture.check.scope.config["elr"] or not args.elr]
    asking, wrong = Asking(Effort(each=3 * MOST, threads=1), Unwatched()), 0
    for number, job in enumerate(asked):
        if found := differences(asking, job):
            wrong += 1
            print(f"{number}: {job.mixture.check.scope.config}: {found}", flush=True)  # noqa: T201
    print(f"{len(asked)} jobs, {asking.states:,} states, {wrong} differ")  # noqa: T201
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
