"""A plan as small as it still fails: topics and events are left out as long as it does."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path

from modelcheck.kafka.reproduce import cluster
from tests.chaos.plan import NAMES, Plan, as_json, from_json
from tests.modelcheck.kafka.files.make_fixtures import DROPPED, cut_lines

OF_TOPICS = "trail", "values", "cut_back"  # what was seen, by topic
METADATA = "__cluster_metadata"
PLACE = re.compile(r"[\w.-]+-\d+")  # a partition's folder
TOPIC = re.compile(rf"\br\d+[{NAMES}]\b")


def shrunk(plan: Plan, failing: Callable[[Plan], Collection[str]]) -> Plan | None:
    """The smallest plan found that fails, where no topic or event can be left out; None if it does not fail.

    `failing` plays a plan and names the topics that fail; one of these is tried alone first.  Costs a round
    for each attempt: about twice as many as there are events, and as many as there are topics.  A failure
    that depends on timing may not come again; then the plan stays larger than it need be.
    """
    topics = failing(plan)
    if not topics:
        return None
    for name in sorted(topics)[:1] if len(plan.topics) > 1 else ():
        alone = plan.of_topic(name)
        plan = alone if failing(alone) else plan
    while True:
        before = plan
        for topic in plan.topics if len(plan.topics) > 1 else ():
            smaller = plan.without_topic(topic.name)
            plan = smaller if smaller.topics and failing(smaller) else plan
        for at in reversed(range(len(plan.events) + len(plan.end))):
            smaller = plan.without_event(at)
            plan = smaller if failing(smaller) else plan
        if plan == before:
            return plan


def slim(folder: Path, to: Path, topics: Collection[str] = (), *, logs: bool = True) -> None:
    """Copy a kept round as a fixture: without answers, and without files and lines that no reader needs.

    Of some topics, or all of its plan; copies of the metadata log are those of the controllers.
    """
    truth, seen = (json.loads((folder / f"{name}.json").read_text()) for name in ("truth", "seen"))
    plan = from_json(truth["plan"])
    names = {topic.name for topic in plan.topics}
    for name in names - {*(topics or names)}:
        plan = plan.without_topic(name)
    kept = {topic.name for topic in plan.topics}
    truth |= {"plan": as_json(plan), "topics": {name: truth["topics"][name] for name in sorted(kept)}}
    seen |= {what: {name: seen[what][name] for name in sorted(kept)} for what in OF_TOPICS}
    seen["by_hand"] = [name for name in seen["by_hand"] if name in kept]
    shutil.rmtree(to, ignore_errors=True)
    to.mkdir(parents=True)
    voters = {_folder(node) for node in plan.shape.quorum}
    for node in sorted((folder / "data").iterdir()):
        ignored = partial(_of_no_use, kept=kept, votes=node.name in voters)
        shutil.copytree(node, to / "data" / node.name, ignore=ignored)
    for log in sorted(folder.glob("logs/*/*.log") if logs else ()):
        copy = to / log.relative_to(folder)
        copy.parent.mkdir(parents=True)
        with log.open() as lines:
            copy.write_text("".join(line for line in cut_lines(lines, folder) if _is_of(line, kept)))
    for name, data in (("truth", truth), ("seen", seen)):
        (to / f"{name}.json").write_text(json.dumps(data, separators=(",", ":")) + "\n")


def _folder(node: int) -> str:
    """The name of a node's folder."""
    return cluster.name(node).replace(" ", "")


def _of_no_use(folder: str, names: list[str], *, kept: Collection[str], votes: bool) -> set[str]:
    """The entries of a folder that no reader needs: indexes, other partitions, copies of the metadata."""
    found = shutil.ignore_patterns(*DROPPED)(folder, names)
    places = {each: each.rpartition("-")[0] for each in names if PLACE.fullmatch(each)}
    wanted = {*kept, *([METADATA] if votes else [])}
    return found | {each for each, topic in places.items() if topic not in wanted}


def _is_of(line: str, kept: Collection[str]) -> bool:
    """Whether a line is of the log, instead of Java's, and names no topic of a round, or one of some."""
    names = TOPIC.findall(line)
    return line.startswith("[") and (not names or not set(kept).isdisjoint(names))
