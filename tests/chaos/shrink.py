"""A plan as small as it still fails: topics and events are left out as long as it does."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.chaos.plan import Plan
from tests.modelcheck.kafka.files.make_fixtures import DROPPED, cut_lines


def shrunk(plan: Plan, fails: Callable[[Plan], bool]) -> Plan:
    """The smallest plan found that fails, where no topic or event can be left out any more.

    Costs a round for each attempt: about as many as there are topics and events, and again after a success.
    A failure that depends on timing may not come again; then the plan stays larger than it need be.
    """
    while True:
        smaller = next((each for each in smaller_plans(plan) if fails(each)), None)
        if smaller is None:
            return plan
        plan = smaller


def smaller_plans(plan: Plan) -> Iterator[Plan]:
    """The plan without a topic, then without an event, the last ones first."""
    if len(plan.topics) > 1:
        for topic in plan.topics:
            yield plan.without_topic(topic.name)
    for at in reversed(range(len(plan.events) + len(plan.end))):
        yield plan.without_event(at)


def slim(folder: Path, to: Path) -> None:
    """Copy a kept round as a fixture: without answers, and without files and lines that no reader needs."""
    shutil.rmtree(to, ignore_errors=True)
    to.mkdir(parents=True)
    shutil.copytree(folder / "data", to / "data", ignore=shutil.ignore_patterns(*DROPPED))
    for log in sorted(folder.glob("logs/*/*.log")):
        kept = to / log.relative_to(folder)
        kept.parent.mkdir(parents=True)
        with log.open() as lines:
            kept.write_text("".join(cut_lines(lines, folder)))
    for name in ("truth.json", "seen.json"):
        shutil.copy(folder / name, to / name)
