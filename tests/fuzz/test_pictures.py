"""Whether all that pictures say of the runs of random models is true, and an untruth is noticed."""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO
from random import Random

import pytest

from counterexamples.messages import Channel, Message, Needs
from counterexamples.pictures.depict import picture
from counterexamples.pictures.picture import SHARED, ArrowKind
from counterexamples.pictures.senders import Senders
from counterexamples.trace import Trace
from docs.site.runs import known_runs
from modelcheck.answers.progress import ProgressLine
from modelcheck.python_api import check, load
from spec.load import loads
from tests.fuzz.cases import Case, TooLarge, case_of, text_of
from tests.fuzz.of_pictures import pictures, random_run, untruths
from tests.message_models import message_model


def talking(seed: int) -> Case:
    """A random model that exchanges messages."""
    return case_of(seed, message_model(Random(seed)))  # noqa: S311 - no secret


@pytest.mark.parametrize("seed", range(30))
def test_all_that_a_picture_says_of_messages_is_true(seed: int) -> None:
    assert untruths(random_run(talking(seed))) == []


@pytest.mark.parametrize("seed", range(30))
def test_all_that_a_picture_says_of_any_model_is_true(seed: int) -> None:
    try:
        found = pictures(case_of(seed, text_of(seed)))
    except TooLarge:
        return

    assert not found


def test_random_models_have_messages_that_are_counted() -> None:
    rows = [row for seed in range(30) for row in picture(random_run(talking(seed))).rows]
    received = [[arrow for arrow in row.arrows if arrow.mark is ArrowKind.MESSAGE] for row in rows]

    assert sum(len(each) > 0 for each in received) > 20
    assert sum(len(each) > 1 for each in received) > 1


def test_most_senders_of_random_models_are_known() -> None:
    rows = [row for seed in range(60) for row in picture(random_run(talking(seed))).rows]
    starts = [arrow.start for row in rows for arrow in row.arrows if arrow.mark is ArrowKind.MESSAGE]

    assert len(starts) > 60
    assert starts.count(SHARED) < len(starts) / 3
    assert "boss" in starts


def run_of(protocol: str, name: str, violated: str) -> Trace:
    run = check(load(protocol), name).trace(violated)
    assert run is not None
    return run


LATE = [
    ("kafka_requests", "kip380_stop", "in_service", 7, "controller"),  # a step that names no other
    ("zab", "proposed_twice", "proposal_is_legal", 12, "server2"),  # one that names the taker first
    ("kafka_fetchers", "late_response", "leader_complete", 7, "A"),  # who asks is answered in one step
]


@pytest.mark.parametrize(("protocol", "name", "violated", "number", "sender"), LATE)
def test_a_message_comes_from_who_sent_it(
    protocol: str, name: str, violated: str, number: int, sender: str
) -> None:
    run = run_of(protocol, name, violated)
    (arrow,) = picture(run).rows[number].arrows

    assert arrow.start == sender
    assert untruths(run) == []


def first_named(self: Senders, number: int, channel: Channel, *_: object) -> str:
    """Whom the parameters of a step name first, as pictures once had it."""
    named = self._cast.named(self._trace.steps[number - 1])
    return self._owner(number, channel) or (named[0] if named else self._cast.common)


@pytest.mark.parametrize(("protocol", "name", "violated", "number", "_"), LATE[:2])
def test_a_wrong_sender_is_noticed(
    protocol: str, name: str, violated: str, number: int, _: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Senders, "of", first_named)
    found = untruths(run_of(protocol, name, violated))

    assert [each for each in found if each.startswith(f"step {number}: the arrow")]


INBOX = """
protocol p
sort Node
state { seen: bool = false }
process Node { durable done: bool = false }
network inbox[Node]: set of bool
action ask(n: Node) says "a client asks {n}" { inbox[n].send(true) }
action look says "somebody looks" { require some: exists n: Node. inbox[n] != {}  seen := true }
invariant never: not seen
check c { scope Node = exactly 1, inbox = 1 }
"""


def test_who_is_asked_by_a_client_is_no_sender(monkeypatch: pytest.MonkeyPatch) -> None:
    (model,) = loads(INBOX, "p.rsm")
    run = check(model, "c").trace("never")
    assert run is not None
    told = untruths(run)
    monkeypatch.setattr(Senders, "of", first_named)

    assert told == []
    assert [each.partition(" Arrow(")[0] for each in untruths(run)] == [
        "step 1: the note sends inbox true at node1",
        "step 2: the arrow",
    ]


def nobody_is_another(self: Senders, number: int, *_: object) -> str:
    return self._cast.replicas[number % len(self._cast.replicas)]


@pytest.mark.parametrize("guess", [first_named, nobody_is_another])
def test_a_guess_of_senders_is_noticed_in_random_models(
    guess: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Senders, "of", guess)

    assert [each for seed in range(20) for each in untruths(random_run(talking(seed))) if "arrow" in each]


@pytest.mark.nightly
def test_all_that_pictures_of_known_mistakes_say_is_true() -> None:
    runs = [*known_runs(ProgressLine(StringIO(), "", columns=80))]
    found = {f"{bug.model} {bug.check}: {each}" for bug, run in runs for each in untruths(run)}

    assert len(runs) > 100
    assert not found


def everything(self: Needs, number: int) -> Iterator[Message]:
    return iter(self._under_way(number))


def nothing(_self: Needs, _number: int) -> Iterator[Message]:
    return iter(())


@pytest.mark.parametrize("needed", [everything, nothing])
def test_an_arrow_too_many_or_too_few_is_noticed(needed: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Needs, "_needed", needed)

    assert [each for seed in range(10) for each in untruths(random_run(talking(seed)))]
