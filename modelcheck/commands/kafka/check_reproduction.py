"""`check --reproduce`: the run that was found, driven on a real Kafka."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from modelcheck.commands.check.followups import Followup, Result
from modelcheck.commands.check.questions import Question, refuse_several
from modelcheck.commands.kafka.reproduce_options import add_reproduce_options, kafka_home, refuse_half
from modelcheck.contract.exits import Exit
from modelcheck.contract.result import Outcome, Violated
from modelcheck.storage.output import Output


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add `--reproduce` and `--kafka-home`."""
    group = parser.add_argument_group("a real Kafka")
    add_reproduce_options(group, "the run that loses a record of Kafka's")


def refuse_conflicts(args: argparse.Namespace) -> None:
    """Exit with an error for one of the options alone, or with others that find no run."""
    refuse_half(args, args.refuse)
    if args.reproduce and args.estimate:
        args.refuse("--estimate goes with neither --reproduce nor --kafka-home: it finds no run")


def followup(args: argparse.Namespace, asked: Sequence[Question]) -> Followup | None:
    """Try the first run on the named Kafka. Raises SpecError if none can be tried."""
    if not args.reproduce:
        return None
    from modelcheck.kafka.reproduce.selection import refuse_undriven  # noqa: PLC0415 - only for `--reproduce`

    refuse_several(asked, "what is tried on a real Kafka")
    for model, _ in asked:
        refuse_undriven(model)
    home = kafka_home(args)
    assert home is not None

    def reproduce(outcomes: Sequence[Outcome], output: Output) -> Result:
        from modelcheck.kafka.reproduce.after_check import reproduced  # noqa: PLC0415 - as above
        from modelcheck.kafka.reproduce.selection import losing  # noqa: PLC0415 - as above

        known = [each for each in outcomes if _has_run(each) or not each.findings.end.partial]
        if not known:
            output.tell("modelcheck: nothing is reproduced: no run was found, and not all were looked at")
            return {"reproduced": None}, Exit.UNKNOWN
        found = reproduced(lambda: losing(known[0]), home, output, shown=not args.json)
        return {"reproduced": found.data}, found.exit

    return reproduce


def _has_run(outcome: Outcome) -> bool:
    """Whether an outcome has a run to try."""
    return any(isinstance(each.verdict, Violated) for each in outcome.findings.results)
