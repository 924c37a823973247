"""A plan on a cluster that is only told of: how what is seen is compared, and what comes of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import modelcheck.kafka.reproduce.selection as asking
from counterexamples.lines import plain
from counterexamples.trace import Trace
from modelcheck.asking.models import pick_checks
from modelcheck.kafka.reproduce.attempt import Attempt, Came, ReproductionTask
from modelcheck.kafka.reproduce.client import Unanswered
from modelcheck.kafka.reproduce.driver import Driver, How, Run
from modelcheck.kafka.reproduce.excerpts import Excerpt
from modelcheck.kafka.reproduce.installation import Home
from modelcheck.kafka.reproduce.observed_state import Ending, SeenPartition, View
from modelcheck.kafka.reproduce.page import DID, attempt_page
from modelcheck.kafka.reproduce.plan import DONE, CannotForce, Plan, plan
from modelcheck.kafka.reproduce.prediction import Predicted
from modelcheck.kafka.reproduce.report import as_json, lines
from modelcheck.kafka.reproduce.selection import file_of, wide
from modelcheck.kafka.reproduce.settings import settings
from spec.load import load
from spec.meaning.semantics import Step
from tools.reproduce_table import table_row

Counterexample = Callable[[str], Trace]
HOME = Home(Path("none"), "4.1.0", "java")


class Scripted(Driver):
    """A driver of no cluster: in each phase what is seen is what somebody wrote down."""

    def __init__(
        self,
        asked: ReproductionTask,
        seen: Sequence[SeenPartition],
        given: tuple[int, ...],
        after_asking: SeenPartition | None = None,
    ) -> None:
        self._after_asking = after_asking
        self.marks: dict[int, int] = {}  # high watermarks that are not as the model says, by broker
        predicted = Predicted(asked.model, asked.scope, asked.plan.trace.states[0])
        cluster = _NoCluster()
        super().__init__(
            asked.plan,
            predicted,
            cluster,  # type: ignore[arg-type]
            asked.settings,
            freely=asked.freely,
            tell=lambda _: None,
        )
        self._script = list(seen)
        self._at = -1
        self._shown = given
        self._order_of_steps: list[str] = []

    def _start(self) -> None:
        pass

    def _prepare(self, _steps: object) -> None:
        pass

    def _do(self, step: Step, notes: list[str], *, expects_refusal: bool) -> None:
        notes.extend(["refused"] if expects_refusal else [])
        self._order_of_steps.append(step.action)

    def _have_elected(self, notes: list[str]) -> None:
        notes.append("asked to elect")
        self._script[self._at] = self._after_asking or self._script[self._at]

    def _seen(self) -> SeenPartition:
        return self._script[max(0, min(self._at, len(self._script) - 1))]

    def _high_watermark(self, node: int) -> int:
        known = self._predicted.high_watermarks(self._seen())
        return self.marks.get(node, (known[node - 1] or 0) if known else 0)

    def _given(self, _node: int) -> tuple[int, ...]:
        return self._shown

    def _log(self, node: int) -> tuple[int, ...]:
        return self._seen().logs[node - 1]

    def _hold(self, pairs: object) -> None:
        pass

    def _release(self, _pairs: object) -> None:
        self._at += 1


class Starting(Scripted):
    """One that starts; the topic is there from the first time on that it is asked for and no error comes."""

    def begin(self) -> None:
        Driver._start(self)

    def _unfenced(self) -> frozenset[int]:
        return frozenset()

    def _writes(self, _node: int) -> bool:
        return True


class _NoCluster:
    brokers = ()

    def check(self) -> None:
        pass

    def format(self) -> None:
        pass

    def start(self, *_nodes: int) -> None:
        pass

    def client(self, node: int) -> str:
        return f"127.0.0.1:{node}"

    def folder(self, _node: int) -> Path:
        return Path("none")

    def output(self, _node: int) -> Path:
        return Path("none")

    def is_up(self, _node: int) -> bool:
        return True


@pytest.fixture(autouse=True)
def _hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("modelcheck.kafka.reproduce.driver.PATIENCE", 0.3)
    monkeypatch.setattr("modelcheck.kafka.reproduce.driver.STEADY", 0.1)
    monkeypatch.setattr("modelcheck.kafka.reproduce.driver.LONGEST", 0.1)
    monkeypatch.setattr("modelcheck.kafka.reproduce.driver.EVERY", 0.02)
    monkeypatch.setattr("modelcheck.kafka.reproduce.driver.WRITTEN_DOWN", 0.05)
    monkeypatch.setattr("modelcheck.kafka.reproduce.driver.BETWEEN", 0.0)
    monkeypatch.setattr("modelcheck.kafka.reproduce.client.begin", lambda: None)


def asked_of(trace: Trace, under: str | None = None) -> ReproductionTask:
    model, scope = trace.model, trace.scope
    if under is not None:
        model, check = pick_checks(load(file_of(under)), [under])[0]
        scope = check.scope
    found = plan(trace)
    assert isinstance(found, Plan)
    return ReproductionTask(found, model, wide(scope), settings(model, scope, HOME), under)


def as_in_the_run(asked: ReproductionTask) -> list[SeenPartition]:
    view = View(asked.model, asked.scope)
    return [view.seen(phase.after) for phase in asked.plan.phases]


def attempted(
    asked: ReproductionTask, seen: Sequence[SeenPartition], given: tuple[int, ...], acked: tuple[int, ...]
) -> Attempt:
    run = Scripted(asked, seen, given).run()
    ended = replace(run, acked=acked)
    return Attempt(asked, HOME.version, asked.predicted, (ended,))


def report(found: Attempt) -> str:
    hasty = tuple(replace(end, seconds=0.0) for end in found.runs[0].ends)
    run: Run = replace(found.runs[0], ends=hasty, seconds=0.0)
    return plain(lines(replace(found, runs=(run,)), 100))


def test_a_cluster_that_does_as_the_run_says_reproduces_it(
    counterexample: Counterexample, golden: Callable[[str, str], None]
) -> None:
    asked = asked_of(counterexample("last_replica_standing"))
    found = attempted(asked, as_in_the_run(asked), (), (1,))

    assert found.came is Came.REPRODUCED
    assert found.is_as_predicted
    assert {end.how for end in found.runs[0].ends} == {How.AS_THE_RUN}
    golden("reproduce/reproduced.txt", report(found))


def test_a_cluster_may_stop_where_the_run_goes_on(
    counterexample: Counterexample, golden: Callable[[str, str], None]
) -> None:
    asked = asked_of(counterexample("last_replica_standing"))
    *before, last = as_in_the_run(asked)
    waits = replace(last, leader=None)
    found = attempted(asked, [*before, waits], (), (1,))
    end = found.runs[0].first_otherwise

    assert found.came is Came.NOT_REPRODUCED
    assert not found.is_as_predicted
    assert end is not None
    assert end.how is How.OTHER_WAY
    golden("reproduce/not_reproduced.txt", report(found))


def test_a_page_has_the_storyboard_beside_what_the_files_of_the_cluster_say(
    counterexample: Counterexample, golden: Callable[[str, str], None]
) -> None:
    asked = asked_of(counterexample("last_replica_standing"))
    *before, last = as_in_the_run(asked)
    found = attempted(asked, [*before, replace(last, leader=None)], (), (1,))
    files = (
        Excerpt(100, "__cluster_metadata-0", ("offset 73 · epoch 1 · broker 1 is unfenced", "and 2 others")),
        Excerpt(1, "orders-0", ("offset 0 · epoch 0 · <script>alert(1)</script>",)),
    )
    ends = tuple(replace(end, files=files, seconds=0.0) for end in found.runs[0].ends)
    shown = replace(found, runs=(replace(found.runs[0], ends=ends, seconds=0.0),))
    page = attempt_page(shown, "modelcheck kafka reproduce kafka --kafka-home DIR", Path("kept"))

    assert page.startswith("<!DOCTYPE html>")
    assert "<script" not in page
    assert page.count("&lt;script&gt;") == len(ends)
    assert "Then automatically: the controller makes A, which it counts as in sync, the leader." in page
    assert page.count('<tr class="differs">') == sum(len(end.differences) for end in ends) > 0
    golden("reproduce/not_reproduced.html", page)


def test_a_page_of_what_cannot_be_forced_has_the_run_of_the_model_only(
    counterexample: Counterexample,
) -> None:
    trace = counterexample("acks_one")
    asked = replace(asked_of(trace), plan=Plan(trace, (), ()))
    page = attempt_page(Attempt(asked, "4.1.0", frozenset(), (), CannotForce(1, "no <link>")), "again")

    assert "step 1: no &lt;link&gt;" in page
    assert "The storyboard" in page
    assert "Step by step" not in page


def test_all_that_is_done_to_a_cluster_has_words() -> None:
    assert set(DID) == DONE


def test_a_topic_is_asked_for_until_clients_reach_the_broker(
    counterexample: Counterexample, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = asked_of(counterexample("acks_one"))
    answers = [Unanswered("ECONNREFUSED"), Unanswered("ECONNREFUSED"), None]
    given: list[object] = []

    def create(*_: object) -> None:
        given.append(answers.pop(0))
        if isinstance(given[-1], Unanswered):
            raise given[-1]

    monkeypatch.setattr("modelcheck.kafka.reproduce.client.create", create)
    driver = Starting(asked, as_in_the_run(asked), ())
    monkeypatch.setattr(driver, "_seen", lambda: None)
    driver.begin()

    assert len(given) == 3


def test_a_controller_that_elects_nobody_is_asked_to(counterexample: Counterexample) -> None:
    asked = asked_of(counterexample("empty_leads_later"))
    *before, last = as_in_the_run(asked)
    run = Scripted(asked, [*before, replace(last, leader=None)], (), after_asking=last).run()

    assert [end.how for end in run.ends] == [How.AS_THE_RUN] * len(run.ends)
    assert run.ends[-1].notes == ("asked to elect",)
    assert all(end.notes == () for end in run.ends[:-1])


def test_where_a_release_reads_a_setting_otherwise_the_model_is_asked_of_that(
    counterexample: Counterexample,
) -> None:
    trace = counterexample("last_replica_unclean")
    older, problem = asking.asked(trace, Home(Path("none"), "3.7.2", "java"))
    newer, _ = asking.asked(trace, Home(Path("none"), "3.9.1", "java"))

    assert problem is None
    assert older.predicted == {Ending.NOBODY_LEADS}
    assert newer.predicted == {Ending.LOST}
    assert older.freely
    assert not newer.freely
    assert older.settings.topic["unclean.leader.election.enable"] == "true"
    assert "KAFKA-12670" in report(attempted(older, as_in_the_run(older), (), (1,)))


@pytest.mark.parametrize(
    ("release", "read"), [("3.2.3", {"KIP-841", "KAFKA-15583"}), ("3.3.2", {"KAFKA-15583"}), ("3.7.2", set())]
)
def test_of_an_older_release_the_model_is_asked_as_it_is(
    release: str, read: set[str], counterexample: Counterexample
) -> None:
    asked, _ = asking.asked(counterexample("acks_one"), Home(Path("none"), release, "java"))

    assert set(re.findall(r"KIP-\d+|KAFKA-\d+", asked.read)) == read
    assert asked.scope.config["fenced_kept_out"] is ("KIP-841" not in read)
    assert asked.scope.config["strict_min_isr"] is ("KAFKA-15583" not in read)


def test_with_eligible_replicas_a_brokers_file_has_no_say_in_how_many_must_be_in_sync(
    counterexample: Counterexample,
) -> None:
    trace = counterexample("last_replica")
    name = "two_in_sync_eligible"
    at_topic, _ = asking.asked(trace, HOME, under=name)
    at_brokers, _ = asking.asked(trace, HOME, under=name, at_brokers_only=True)

    assert at_topic.scope.config["min_isr"] == 2
    assert at_topic.read == ""
    assert at_brokers.scope.config["min_isr"] == 1
    assert "KAFKA-16540" in at_brokers.read


def test_what_the_model_does_not_have_is_told_with_both_sides(counterexample: Counterexample) -> None:
    asked = asked_of(counterexample("acks_one"))
    first, second = as_in_the_run(asked)
    strange = replace(second, logs=((), ()))
    found = attempted(asked, [first, strange], (), (1,))
    end = found.runs[0].first_otherwise

    assert end is not None
    assert end.how is How.OTHERWISE
    assert [(each.model, each.cluster) for each in end.differences] == [("1", "empty")]
    assert table_row(found)["cluster"] == "lost"


def test_high_watermarks_are_compared_where_the_model_is_sure_of_them(counterexample: Counterexample) -> None:
    asked = asked_of(counterexample("last_replica_standing"))
    seen = as_in_the_run(asked)
    leader = seen[0].leader
    assert leader is not None
    driver = Scripted(asked, seen, ())
    driver.marks[leader + 1] = 0
    first = driver.run().ends[0]
    name = View(asked.model, asked.scope).names[leader]

    assert first.how is How.AS_THE_RUN
    assert [(mark.model, mark.cluster) for mark in first.marks if mark.differs] == [(1, 0)]
    assert [(each.part, each.model, each.cluster) for each in first.differences] == [
        (f"high watermark of {name}", "1", "0")
    ]


def test_under_another_configuration_only_what_is_done_is_asked_for(counterexample: Counterexample) -> None:
    asked = asked_of(counterexample("acks_one"), "acks_all")
    first, second = as_in_the_run(asked)
    unacked = replace(first, acked=frozenset())
    found = attempted(asked, [unacked, replace(second, acked=frozenset())], (), ())

    assert found.came is Came.SURVIVED
    assert found.is_as_predicted
    assert as_json(found)["foretold"] == ["kept"]
    assert table_row(found) == {"model": "kept", "cluster": "kept"}


def test_under_another_configuration_all_is_done_whatever_the_cluster_does(
    counterexample: Counterexample,
) -> None:
    asked = asked_of(counterexample("last_replica_standing"), "eligible_replicas")
    first, *rest = as_in_the_run(asked)
    strange = replace(first, logs=((), (), ()))
    found = attempted(asked, [strange, *rest], (), (1,))
    hows = [end.how for end in found.runs[0].ends]

    assert hows[0] is How.OTHERWISE
    assert set(hows[1:]) == {How.NOT_COMPARED}
    assert len(hows) == len(asked.plan.phases)
    assert table_row(found)["cluster"] == "lost"


def test_a_record_that_is_lost_where_the_model_keeps_it_is_no_success(counterexample: Counterexample) -> None:
    asked = asked_of(counterexample("acks_one"), "acks_all")
    first, second = as_in_the_run(asked)
    found = attempted(asked, [replace(first, acked=frozenset()), second], (), (1,))

    assert found.came is Came.LOST
    assert not found.is_as_predicted


def test_of_brokers_that_go_down_together_the_leader_goes_last(counterexample: Counterexample) -> None:
    asked = asked_of(counterexample("eligible_all_lost"))
    driver = Scripted(asked, as_in_the_run(asked), ())
    driver.run()

    assert driver._order_of_steps[:3] == ["produce", "crash", "power_loss"]


class _Recorded(_NoCluster):
    """A cluster in which a broker that was started is registered at the second look."""

    def __init__(self) -> None:
        self.did: list[str] = []
        self.looks = 0

    def start(self, *nodes: int) -> None:
        self.did.append(f"start {nodes[0]}")

    def kill(self, node: int) -> None:
        self.did.append(f"kill {node}")

    def hold(self, asking: int, asked: int) -> None:
        self.did.append(f"hold {asking} to {asked} at look {self.looks}")

    def release(self, asking: int, asked: int) -> None:
        self.did.append(f"release {asking} to {asked}")


def test_a_broker_is_cut_off_once_it_is_registered_and_its_next_process_is_not(
    counterexample: Counterexample, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = _Recorded()

    def seen(*_: object) -> int:
        cluster.looks += 1
        return 7 if cluster.looks <= 2 else 8

    monkeypatch.setattr("modelcheck.kafka.reproduce.driver.registration", seen)
    asked = asked_of(counterexample("registered_all_lost"))
    predicted = Predicted(asked.model, asked.scope, asked.plan.trace.states[0])
    driver = Driver(
        asked.plan,
        predicted,
        cluster,  # type: ignore[arg-type]
        asked.settings,
        freely=False,
        tell=lambda _: None,
    )
    for action in ("register", "unfence", "crash"):
        driver._do(Step(action, (0,)), [], expects_refusal=False)

    assert cluster.did == [
        "start 1",
        "hold 1 to 100 at look 3",
        "release 1 to 100",
        "kill 1",
        "release 1 to 100",
    ]
