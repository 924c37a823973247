"""What a picture shows of a state besides logs in order: sets and maps, votes, calls, messages under way."""

from __future__ import annotations

from dataclasses import replace

from counterexamples.pictures.depict import picture
from counterexamples.pictures.drawing import lines, width_of
from counterexamples.pictures.picture import ArrowKind, Box, Picture
from counterexamples.pictures.storyboard import MOST_TOLD, frames, storyboard, told
from counterexamples.pictures.svg import svg
from counterexamples.trace import Stops, Trace
from modelcheck.api import check
from modelcheck.contract.result import Violated
from spec.load import loads
from spec.meaning.semantics import Machine, Taken
from tests.stories import named, story, wandering

LOGS = """
    protocol p
    sort Copy
    nat Value
    process Copy {
      durable log: LOG
      durable commit: 0..3 = 0
    }
    action change(c: Copy) { CHANGE  c.commit := 1 }
    invariant never: forall c: Copy. c.commit == 0
    check c { scope Copy = exactly 1, Value = 2 }
"""


def drawn_run(text: str, *actions: str) -> Picture:
    """The picture of a run of some actions, each taken in the first way."""
    (model,) = loads(text, "p.rsm")
    machine = Machine(model, model.checks[0].scope)
    states, steps = [machine.initial()[0]], []
    for action in actions:
        taken = next(each for each in machine.steps(states[-1], actions=(action,)) if isinstance(each, Taken))
        states.append(taken.state)
        steps.append(taken.step)
    return picture(Trace(model, machine.scope, tuple(states), tuple(steps), Stops()))


def violation(model: str, check_name: str, prop: str) -> Picture:
    """The picture of the run that violates a property."""
    shown = check(*named(model, check_name)).verdict(prop)
    assert isinstance(shown, Violated)
    assert shown.trace is not None
    return picture(shown.trace)


def test_a_log_that_is_a_set_is_drawn() -> None:
    text = LOGS.replace("LOG", "set[Value] = {}").replace("CHANGE", "c.log.add(1) c.log.add(2)")
    last = drawn_run(text, "change").rows[-1].replicas["copy1"]

    assert last.log == (Box("1", fresh=True), Box("2", fresh=True))
    assert (last.high_watermark, last.epoch) == (None, "commit 1")


def test_a_log_that_is_a_map_has_its_keys_and_what_went() -> None:
    text = LOGS.replace("LOG", "map[1..2, Value?] = [v: 1..2 -> 1]").replace(
        "CHANGE", "c.log[1] := none  c.log[2] := 2"
    )
    drawn = drawn_run(text, "change")

    assert drawn.rows[0].replicas["copy1"].log == (Box("1:1"), Box("2:1"))
    assert drawn.rows[-1].replicas["copy1"].log == (
        Box("2:2", fresh=True),
        Box("1:1", cut=True),
        Box("2:1", cut=True),
    )


def test_a_storyboard_shows_who_votes_for_whom_and_what_is_under_way() -> None:
    drawn = violation("raft", "log_lost", "acknowledged_on_majority")
    board = storyboard(drawn)

    assert drawn.rows[4].replicas["server1"].ties == ("voted_for server1", "votes {server1, server2}")
    assert ">votes {server1, server2}</text>" in board
    assert [len(row.under_way) for row in drawn.rows][8] == 1
    assert "✉ server2 → server1:" in board


def test_a_call_of_a_quorum_joins_all_who_take_part() -> None:
    drawn = violation("hdfs_qjm", "accepted_ignored", "finalized_agree")
    calls = [(arrow.start, arrow.end) for arrow in drawn.rows[1].arrows if arrow.mark is ArrowKind.CALL]

    assert drawn.rows[1].action == "new_epoch(writer1, {journalnode1, journalnode3})"
    assert calls == [("writer1", "journalnode1"), ("writer1", "journalnode3")]
    assert svg(drawn).count(">new_epoch</text>") == 2  # once for each of its two steps
    assert "line with dots: a step of both" in svg(drawn)


def test_a_message_comes_from_whose_channel_it_is_where_channels_are_of_senders() -> None:
    drawn = violation("zab", "zookeeper2845", "leader_has_delivered")
    received = {
        arrow.text.partition("(")[0]: (arrow.start, arrow.end)
        for row in drawn.rows[:14]
        for arrow in row.arrows
        if arrow.mark is ArrowKind.MESSAGE
    }

    assert received["CEPOCH"] == received["ACK"] == ("server3", "server1")
    assert received["NEWEPOCH"] == received["PROPOSE"] == ("server1", "server3")
    assert "sends CEPOCH(accepted = 0)" in drawn.rows[1].notes["server3"]


def test_no_frame_tells_more_than_four_steps() -> None:
    bounds = ("Broker=3", "Epoch=60", "Offset=12", "Record=60")
    long = picture(wandering("kafka", "last_replica_standing", 200, 1, *bounds))
    shown = [violation("zab", "zookeeper2845", "leader_has_delivered"), picture(story("kip279")), long]

    for drawn in shown:
        for frame in frames(drawn):
            told_of = [row for row in told(frame) if not isinstance(row, int)]
            assert len(told_of) <= MOST_TOLD
            assert told_of[-1] == frame.last
            gaps = sum(row for row in told(frame) if isinstance(row, int))
            assert len(told_of) + gaps == sum(row.skipped or 1 for row in frame.rows)
    assert all(len(frame.rows) <= MOST_TOLD for frame in frames(shown[0]))


def test_steps_that_an_explanation_needs_are_told_before_others() -> None:
    (frame,) = (f for f in frames(picture(story("kip279")), 2) if f.last.is_last)
    needed = frame.rows[0]
    rows = [replace(row, is_needed=row.number in {needed.number, frame.last.number}) for row in frame.rows]

    assert len(frame.rows) > MOST_TOLD
    assert needed.number in {
        row.number for row in told(replace(frame, rows=tuple(rows))) if not isinstance(row, int)
    }


def test_a_long_entry_has_a_short_name_that_the_legend_explains() -> None:
    drawn = violation("raft_membership", "two_removes", "election_safety")
    boxes = {box.text for row in drawn.rows for each in row.replicas.values() for box in each.log or ()}

    assert boxes == {"C1", "C2"}
    assert drawn.entries[0].startswith("C1: Config(old = {")
    assert "C1: Config(old =" in svg(drawn)


def test_lines_have_all_of_the_text_and_none_is_too_wide() -> None:
    text = "RequestVote(term = 1, from = server1) averyveryverylongword_with_parts_of_it"
    for room in (30.0, 80.0, 200.0):
        for kind in ("", "strong", "mono"):
            found = lines(text, room, kind)
            assert "".join(found).replace(" ", "") == text.replace(" ", "")
            assert all(width_of(line, kind) <= room for line in found)
