"""Rounds played on clusters, and judged."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from modelcheck.kafka.reproduce.cluster import NotStarted
from modelcheck.kafka.reproduce.installation import Home
from tests.chaos import asking, faults, judges
from tests.chaos.cluster import ChaosCluster
from tests.chaos.judges import Json, Judge, Judgement
from tests.chaos.plan import Plan, event_from_json, from_json
from tests.chaos.rounds import NotBegun, Round

Say = Callable[[str], None]


def played(
    home: Home, plans: Sequence[Plan], out: Path, say: Say, *, judged: bool = True
) -> Iterator[tuple[Plan, list[Judgement]]]:
    """Rounds on one cluster, each with its judgements; a cluster in trouble is replaced by a new one.

    Rounds that are not to be `judged` have none.
    """
    waiting = list(plans)
    while waiting:
        with tempfile.TemporaryDirectory() as folder:
            first = waiting[0]
            with ChaosCluster(home, Path(folder), first.shape) as cluster:
                cluster.format()
                cluster.start(*cluster.nodes)
                while waiting:
                    plan = waiting.pop(0)
                    try:
                        yield plan, _play(cluster, plan, out / f"r{plan.seed}", say, judged=judged)
                    except (NotBegun, NotStarted) as error:
                        say(f"round {plan.seed} is left out: {error}")
                        break


def _play(cluster: ChaosCluster, plan: Plan, folder: Path, say: Say, *, judged: bool) -> list[Judgement]:
    """One round on a cluster that runs, and whether the answers about it were right."""
    played = Round(cluster, plan, folder, lambda text: say(f"  {plan.seed}: {text}"))
    played.begin()
    played.carry_out()
    played.keep()
    foretold = asking.inspect(folder, plan)
    played.start_again(foretold)
    return list(judgements(folder, foretold)) if judged else []


def judgements(folder: Path, foretold: Json) -> Iterator[Judgement]:
    """Whether what is said of a round that is kept in a folder is right."""
    truth, seen = (json.loads((folder / f"{name}.json").read_text()) for name in ("truth", "seen"))
    plan = from_json(truth["plan"])
    befallen = [event_from_json(each) for each in truth["befallen"]]
    for topic in plan.topics:
        name = topic.name
        true = judges.truth(truth, name)
        yield from judges.inspected(name, true, foretold, seen)
        yield from judges.promised(name, true)
        yield judges.validated(name, asking.steps(folder, plan, topic))
        gone = [disk for node, disk in asking.lost(folder, plan) if node in topic.replicas]
        for with_logs in (False, True) if (folder / "logs").exists() else (False,):
            answer = asking.explain(folder, name, topic.acks, gone, with_logs=with_logs)
            yield from judges.explained(name, true, answer, with_logs=with_logs)
        number = faults.count(befallen)
        for judge, of in ((Judge.REVIEW, set(true.acknowledged)), (Judge.READ, true.read)):
            lost = faults.lost(name, of, true, seen)
            if lost and faults.is_reviewed(name, befallen):
                answer = asking.review(folder, topic, plan, truth["kafka"], number)
                yield faults.reviewed(name, judge, lost, number, answer)
            elif judge is Judge.READ and of and not lost:
                yield judges.judged(name, judge, [])
