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
from dataclasses import asdict, replace
from pathlib import Path
from time import monotonic

from modelcheck.kafka.reproduce import client
from modelcheck.kafka.reproduce.installation import Home, find
from modelcheck.kafka.reproduce.settings import ELR_SINCE
from spec.diagnostics import SpecError
from tests.chaos import asking, figures, shrink
from tests.chaos.figures import Line, table, wrong
from tests.chaos.judges import Judge, Judgement, Verdict
from tests.chaos.plan import TOPICS, Plan, as_json, drawn, drawn_shape, from_json
from tests.chaos.playing import judgements, played

LIFE = 6  # rounds of one cluster: old topics and a long metadata log are part of the trial, within limits
RESULTS = "results.jsonl"
RECORDED = Path(__file__).with_name("recorded")  # rounds that the tests judge anew


def main(argv: Sequence[str] | None = None) -> int:
    """The exit code: 1 where an answer was wrong, 2 where there is nothing to play."""
    parser = _parser()
    args = parser.parse_args(argv)
    if not (args.kafka_home or args.judge or args.record or args.figures or args.summary):
        parser.error("--kafka-home has to name a release of Kafka")
    for folder in [*(args.judge or ()), *filter(None, (args.shrink, args.record))]:
        if not (folder / "truth.json").exists():
            parser.error(f"{folder} is no round that --out has kept: there is no truth.json in it")
    if args.record:
        shrink.slim(args.record, RECORDED / args.record.name, args.of, logs=args.logs)
        return 0
    if args.figures:
        figures.publish(args.figures)
        return 0
    if args.summary:
        return _summary(list(figures.lines(args.summary)))
    client.begin()
    try:
        return _shrink(find(args.kafka_home), args.shrink, args.wrong) if args.shrink else _compare(args)
    except SpecError as error:
        _say(str(error))
        return 2


def _compare(args: argparse.Namespace) -> int:
    """Play rounds, or take kept ones, and show what was wrong."""
    with tempfile.TemporaryDirectory() as scratch:
        out = args.out or Path(scratch)
        out.mkdir(parents=True, exist_ok=True)
        lines = judged_again(args.judge) if args.judge else _rounds(find(args.kafka_home), args, out)
        found: list[Line] = []
        with (out / RESULTS).open("a") as file:
            try:
                for line in lines:
                    found.append(line)
                    file.write(json.dumps(line) + "\n")
                    file.flush()
            except KeyboardInterrupt:
                _say("interrupted; what was found so far:")
    return _summary(found)


def _summary(found: Sequence[Line]) -> int:
    """Print what was found; the exit code for it."""
    for text in table(found):
        print(text)  # noqa: T201
    for each in wrong(found):
        print(f"{each['seed']} {each['topic']}: {each['judge']}: {each['reason']}")  # noqa: T201
    return 1 if wrong(found) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--kafka-home", type=Path, metavar="DIR", help="a release of Kafka to play rounds on")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--shrink", type=Path, metavar="ROUND", help="make the plan of this kept round smaller")
    parser.add_argument(
        "--wrong",
        choices=[*map(str, Judge)],
        metavar="JUDGEMENT",
        help="which has to stay wrong, or not known (any wrong one)",
    )
    what.add_argument("--judge", type=Path, nargs="+", metavar="ROUND", help="judge these kept rounds again")
    what.add_argument(
        "--record", type=Path, metavar="ROUND", help=f"keep this kept round among {RECORDED.name}/, in brief"
    )
    parser.add_argument("--of", nargs="+", default=[], metavar="TOPIC", help="record these topics (all)")
    parser.add_argument("--logs", action="store_true", help="record what the nodes wrote, too")
    what.add_argument("--figures", type=Path, nargs="+", metavar="RESULTS", help="write the page of figures")
    what.add_argument("--summary", type=Path, nargs="+", metavar="RESULTS", help="count what was found")
    what.add_argument(
        "--unjudged", action="store_true", help="play rounds, to judge what --out keeps of them later"
    )
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
        shape = drawn_shape(first)
        elr = home.release >= ELR_SINCE and (shape.elr if args.elr is None else args.elr == "on")
        shape = replace(shape, elr=elr, brokers=args.brokers or shape.brokers)
        last = min(first + LIFE, args.seed + args.rounds)
        plans = [drawn(seed, shape, topics=args.topics) for seed in range(first, last)]
        for plan, found in played(home, plans, out, _say, judged=not args.unjudged):
            for each in found:
                yield _line(home.version, plan, each)
            done += 1
            wrongs += sum(each.verdict is Verdict.WRONG for each in found)
            rate = done / (monotonic() - began) * 60
            _say(f"{done} of {args.rounds} rounds, {wrongs} wrong answers, {rate:.2f} rounds a minute")


def judged_again(folders: Sequence[Path]) -> Iterator[Line]:
    """The judgements of kept rounds, of what is said of them today."""
    for number, folder in enumerate(folders, 1):
        truth = json.loads((folder / "truth.json").read_text())
        plan = from_json(truth["plan"])
        for each in judgements(folder, asking.inspect(folder, plan)):
            yield _line(truth["kafka"], plan, each)
        _say(f"{number} of {len(folders)} rounds")


def _shrink(home: Home, folder: Path, judge: str | None) -> int:
    """Make the plan of a round that failed smaller; the last failure is kept beside it.

    Where a judgement is named, it has to be wrong, or not known, since a smaller plan may fail for another
    reason, and a search that shows that there is no run may not end.
    """
    plan = from_json(json.loads((folder / "truth.json").read_text())["plan"])
    tried = 0

    def failing(smaller: Plan) -> set[str]:
        nonlocal tried
        tried += 1
        to = folder.with_name(f"{folder.name}-try")
        found = [each for _, result in played(home, [smaller], to, _say) for each in result]
        named = [each for each in found if each.judge == judge and each.verdict is not Verdict.RIGHT]
        bad = named if judge else [each for each in found if each.verdict is Verdict.WRONG]
        size = f"{len(smaller.topics)} topics, {len(smaller.events) + len(smaller.end)} events"
        _say(f"attempt {tried}: {size}: {'it fails still' if bad else 'it does not fail'}")
        if bad:
            shrink.slim(to / f"r{smaller.seed}", folder.with_name(f"{folder.name}-small"))
        return {each.topic for each in bad}

    small = shrink.shrunk(plan, failing)
    if small is None:
        _say("played again, the round does not fail: that depends on the timing")
        return 0
    print(json.dumps(as_json(small), indent=1))  # noqa: T201
    return 0


def _line(kafka: str, plan: Plan, judgement: Judgement) -> Line:
    """A judgement as a line of the results."""
    return {"seed": plan.seed, "kafka": kafka, **asdict(plan.shape), **judgement.told()}


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
