"""Two fixed rounds on a real cluster: what is foretold and reconstructed of them is right."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from modelcheck.kafka.reproduce import client
from modelcheck.kafka.reproduce.installation import Home
from tests.chaos.judges import Judge, Verdict
from tests.chaos.plan import Event, Kind, Plan, Producer, Shape, TopicPlan
from tests.chaos.playing import played

RACKED = Shape(3, racks=3)
LATER = 4.0  # seconds: a session is over soon after
LOSES = Plan(
    seed=1,
    shape=RACKED,
    topics=(
        TopicPlan("r1a", (1, 2, 3), acks="all", min_isr=1, unclean=False),
        TopicPlan("r1b", (2, 3), acks="1", min_isr=2, unclean=True),
    ),
    events=(
        Event(Kind.STOP, 3, wait=LATER),
        Event(Kind.KILL, 2, writes=1, wait=2 * LATER),
    ),
    end=(
        Event(Kind.HEAL, writes=0, wait=LATER),  # until the high watermark is written down
        Event(Kind.KILL_ALL, writes=0, wait=0),
        Event(Kind.POWER, 1, writes=0, wait=0),
    ),
)
COMES_BACK = Plan(
    seed=2,
    shape=RACKED,
    topics=(
        TopicPlan("r2a", (3, 1, 2), acks="all", min_isr=2, unclean=False),
        TopicPlan(
            "r2b", (1, 2, 3), "all", min_isr=1, unclean=False, producer=Producer.TRANSACTIONAL, placed=True
        ),
    ),
    events=(
        Event(Kind.HOLD, 1, (3,), wait=2 * LATER),
        Event(Kind.HEAL, wait=LATER),
        Event(Kind.PAUSE, 2, wait=0.2),
    ),
    end=(Event(Kind.KILL_ALL, writes=0, wait=0),),
    again=(3, 1, 2),
)


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")  # kafka-python's, to brokers that were killed
def test_a_real_cluster_does_what_is_foretold(real_home: Home, tmp_path: Path) -> None:
    client.begin()
    found = {plan.seed: each for plan, each in played(real_home, [LOSES, COMES_BACK], tmp_path, print)}
    wrong = [each for one in found.values() for each in one if each.verdict is not Verdict.RIGHT]
    judged = {each.judge for one in found.values() for each in one}
    gc.collect()  # while nobody minds those sockets

    assert wrong == []
    assert set(found) == {1, 2}
    assert judged == set(Judge)
