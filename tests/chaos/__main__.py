"""`python -m tests.chaos`: does a real cluster do what is foretold of it?  Rounds of random faults.

A cluster on loopback runs for some rounds; in each, topics with random settings are written to while
random events befall it, until no node runs.  `inspect` and `explain-log` are asked about copies of the
directories, the cluster is started again, and what they said is compared with what it does.  A seed fixes
the plan of a round, and not its timing.  What was found is written down after each round.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from time import monotonic

from modelcheck.kafka.reproduce import client
from modelcheck.kafka.reproduce.cluster import NotStarted
from modelcheck.kafka.reproduce.installation import Home, find
from modelcheck.kafka.reproduce.settings import ELR_SINCE
from tests.chaos import asking, judges
from tests.chaos.cluster import ChaosCluster
from tests.chaos.figures import Line, table, wrong
from tests.chaos.judges import Judgement
from tests.chaos.plan import TOPICS, Plan, drawn
from tests.chaos.rounds import NotBegun, Round

LIFE = 6  # rounds of one cluster: old topics and a long metadata log are part of the trial, within limits
RESULTS = "results.jsonl"


def main(argv: Sequence[str] | None = None) -> int:
    """The exit code: 1 where an answer was wrong."""
    args = _parser().parse_args(argv)
    client.begin()
    home = find(args.kafka_home)
    with tempfile.TemporaryDirectory() as scratch:
        out = args.out or Path(scratch)
        out.mkdir(parents=True, exist_ok=True)
        found: list[Line] = []
        try:
            found.extend(_rounds(home, args, out))
        except KeyboardInterrupt:
            _say("interrupted; what was found so far:")
        for text in table(found):
            print(text)  # noqa: T201
        for each in wrong(found):
            print(f"{each['seed']} {each['topic']}: {each['judge']}: {each['reason']}")  # noqa: T201
    return 1 if wrong(found) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--kafka-home", type=Path, required=True, metavar="DIR")
    parser.add_argument("--rounds", type=int, default=1, metavar="N")
    parser.add_argument(
        "--seed", type=int, default=1, metavar="S", help="of the first round; the next has S+1"
    )
    parser.add_argument(
        "--topics", type=int, default=TOPICS, metavar="N", help=f"topics of a round ({TOPICS})"
    )
    parser.add_argument("--brokers", type=int, choices=[3, 4], help="brokers of a cluster (either)")
    parser.add_argument("--elr", choices=["on", "off"], help="eligible leader replicas, from 4.0 on (either)")
    parser.add_argument("--out", type=Path, metavar="DIR", help="keep each round and results.jsonl here")
    return parser


def _rounds(home: Home, args: argparse.Namespace, out: Path) -> Iterator[Line]:
    """The judgements of all rounds, of which each cluster has a few."""
    began, done, wrongs = monotonic(), 0, 0
    for first in range(args.seed, args.seed + args.rounds, LIFE):
        rng = Random(f"cluster {first}")  # noqa: S311 - no secret
        brokers, elr = rng.choice([3, 3, 4]), rng.random() < 0.5
        brokers = args.brokers or brokers
        elr = home.release >= ELR_SINCE and (elr if args.elr is None else args.elr == "on")
        last = min(first + LIFE, args.seed + args.rounds)
        plans = [drawn(seed, brokers=brokers, elr=elr, topics=args.topics) for seed in range(first, last)]
        for plan, found in played(home, plans, out):
            for each in found:
                yield _written(out / RESULTS, home, plan, each)
            done += 1
            wrongs += sum(each.right is False for each in found)
            rate = done / (monotonic() - began) * 60
            _say(f"{done} of {args.rounds} rounds, {wrongs} wrong answers, {rate:.2f} rounds a minute")


def played(home: Home, plans: Sequence[Plan], out: Path) -> Iterator[tuple[Plan, list[Judgement]]]:
    """Rounds on one cluster, each with its judgements; a cluster in trouble is replaced by a new one."""
    waiting = list(plans)
    while waiting:
        with tempfile.TemporaryDirectory() as folder:
            first = waiting[0]
            with ChaosCluster(home, Path(folder), first.brokers, elr=first.elr) as cluster:
                cluster.format()
                cluster.start(*cluster.nodes)
                while waiting:
                    plan = waiting.pop(0)
                    try:
                        yield plan, judged(cluster, plan, out / f"r{plan.seed}")
                    except (NotBegun, NotStarted) as error:
                        _say(f"round {plan.seed} is left out: {error}")
                        break


def judged(cluster: ChaosCluster, plan: Plan, folder: Path) -> list[Judgement]:
    """One round on a cluster that runs, and whether the answers about it were right."""
    played = Round(cluster, plan, folder, lambda text: _say(f"  {plan.seed}: {text}"))
    played.begin()
    played.carry_out()
    truth = played.keep()
    foretold = asking.inspect(folder)
    seen = played.start_again(foretold)
    found: list[Judgement] = []
    for topic in plan.topics:
        true = judges.truth(truth, topic.name)
        found += judges.inspected(topic.name, true, foretold, seen)
        lost = truth["topics"][topic.name]["missing"]
        for with_logs in (False, True):
            answer = asking.explain(folder, topic.name, topic.acks, lost, with_logs=with_logs)
            found += judges.explained(topic.name, true, answer, with_logs=with_logs)
    return found


def _written(path: Path, home: Home, plan: Plan, judgement: Judgement) -> Line:
    """A judgement as a line of the results, which are added to."""
    line = {"seed": plan.seed, "kafka": home.version, "elr": plan.elr, "brokers": plan.brokers}
    line |= judgement.told()
    with path.open("a") as file:
        file.write(json.dumps(line) + "\n")
    return line


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
