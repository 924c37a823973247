"""What a picture shows of a state besides logs in order: sets and maps, votes, calls, messages under way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from counterexamples.lines import plain
from counterexamples.pictures.compact import compact
from counterexamples.pictures.depict import picture
from counterexamples.pictures.drawing import lines, width_of
from counterexamples.pictures.mermaid import mermaid
from counterexamples.pictures.participants import participants
from counterexamples.pictures.picture import SHARED, ArrowKind, Box, Picture
from counterexamples.pictures.plantuml import plantuml
from counterexamples.pictures.storyboard import MOST_LINES, MOST_TOLD, frames, storyboard, told
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


PARTS = """
    protocol p
    sort Node
    nat Term
    process Node {
      durable up: bool = true
      durable term: Term = 0
      durable leads: bool = false
      durable log: seq[Term; Term] = []
      volatile asks: bool = false
    }
    state { holder: Node? = none }
    display { acknowledged: acked  client: the_producer  controller: lock_store  leader: holder }
    ghost { acked: set[Term] = {} }
    action elect(n: Node, voters in subsets(Node)) {
      require enough: size(voters) == 2
      for v in voters { v.term := v.term + 1 }
      n.leads := true
      n.log.append(n.term)
    }
    action write(n: Node) { require leads: n.leads  n.log.append(n.term)  acked.add(n.term) }
    action change(n: Node, to in subsets(Node)) { require some: size(to) == 2  n.asks := true }
    action note(n: Node, other: Node) { require others: n != other  n.asks := true }
    action read(n: Node, other: Node) { require same: n != other and n.term == other.term  n.asks := true }
    action lock(n: Node) { holder := n }
    action mend(n: Node) { n.log := [0, 1] }
    action replace(n: Node) { n.log := [2, 1] }
    fault crash(n: Node) { n.up := false  wipe n }
    action start(n: Node) { n.asks := true }
    invariant never: true
    check c { scope Node = 2, Term = 3  faults any }
"""


def test_only_those_whose_state_a_step_uses_are_of_it() -> None:
    (model,) = loads(PARTS, "p.rsm")

    assert {action.name: participants(action) for action in model.actions} == {
        "elect": {"n", "voters"},
        "write": {"n"},
        "change": {"n"},
        "note": {"n"},
        "read": {"n", "other"},
        "lock": set(),
        "mend": {"n"},
        "replace": {"n"},
        "crash": {"n"},
        "start": {"n"},
    }


def calls(drawn: Picture) -> list[str]:
    """The actions of a picture's calls."""
    return [arrow.text for row in drawn.rows for arrow in row.arrows if arrow.mark is ArrowKind.CALL]


def test_who_is_only_named_is_not_called() -> None:
    assert calls(drawn_run(PARTS, "change", "note", "read")) == ["read"]


def test_no_client_sends_what_a_leader_appends_as_it_begins_to_lead() -> None:
    drawn = drawn_run(PARTS, "elect", "write")
    sent = [[arrow.start for arrow in row.arrows if arrow.mark is ArrowKind.RECORD] for row in drawn.rows]

    assert sent == [[], [], []]
    assert [box.text for box in drawn.rows[1].replicas["node1"].log or ()] == ["t1"]


def test_an_entry_that_stays_where_it_was_is_neither_new_nor_gone() -> None:
    drawn = drawn_run(PARTS, "mend", "replace")

    assert drawn.rows[-1].replicas["node1"].log == (Box("t2", fresh=True), Box("t1"), Box("t0", cut=True))


def test_what_a_replica_does_while_it_is_down_is_told() -> None:
    drawn = drawn_run(PARTS, "start", "crash", "start")

    assert [row.replicas["node1"].oddities for row in drawn.rows] == [(), ("asks: yes",), (), ("asks: yes",)]


def test_a_collection_that_the_claim_reads_and_a_crash_loses_is_told() -> None:
    text = """
    protocol p
    sort Node
    process Node {
      durable  up:   bool     = true
      volatile data: set[1..2] = {}
      volatile seen: set[1..2] = {}
    }
    action store(n: Node) { n.data.add(1)  n.seen.add(1) }
    fault crash(n: Node) { wipe n  n.up := false }
    step kept: forall n: Node. old(n.data) subset n.data
    check one { scope Node = exactly 1  faults <= 1 }
    """
    (model,) = loads(text, "p.rsm")
    shown = check(model, model.checks[0]).verdict("kept")
    assert isinstance(shown, Violated)
    assert shown.trace is not None

    assert picture(shown.trace).rows[-1].events == {"node1": ("forgets data {1}",)}


def test_names_of_a_display_are_words() -> None:
    drawn = drawn_run(PARTS, "lock", "elect")

    assert drawn.common == "lock store"
    assert drawn.client == "the producer"


def test_a_field_with_a_time_says_what_it_is_a_number_of() -> None:
    text = PARTS.replace("term: Term", "heard: Term").replace(".term", ".heard")
    text = text.replace("acknowledged:", "epoch: heard  acknowledged:")

    assert drawn_run(PARTS, "elect").rows[-1].replicas["node1"].epoch == "term 1"
    assert drawn_run(text, "elect").rows[-1].replicas["node1"].epoch == "heard term 1"


def test_a_decision_is_explained_where_there_is_one() -> None:
    assert "thick arrow: a decision in the lane lock store" in svg(drawn_run(PARTS, "lock"))
    assert "thick arrow" not in svg(drawn_run(PARTS, "note"))


def test_parts_of_a_line_stay_whole_where_they_fit() -> None:
    room = width_of("★ chosen, unaware · epoch", "strong")

    assert lines("★ chosen, unaware · epoch 12", room, "strong") == ["★ chosen, unaware ·", "epoch 12"]
    assert lines("one two", width_of("one two") - 1) == ["one", "two"]


ENTRIES = """
    protocol p
    sort Copy
    nat Term, Value
    record Entry { term: Term, value: Value? }
    process Copy { durable log: seq[Entry; 3] = []  durable heard: Term = 0 }
    ghost { committed: seq[Entry; 3] = [] }
    action plain(c: Copy) { c.log.append(Entry(1, none)) }
    action valued(c: Copy) { c.log.append(Entry(1, 2)) }
    action commit(c: Copy) { committed := c.log }
    action cut(c: Copy) { c.log := [] }
    invariant kept: forall c: Copy. starts_with(c.log, committed)
    display { epoch: heard }
    check c { scope Copy = exactly 1, Value = 2, Term = 1 }
"""


def test_an_entry_without_a_value_is_its_term_and_not_none() -> None:
    (row,) = drawn_run(ENTRIES, "plain", "valued").rows[-1:]

    assert row.replicas["copy1"].log == (Box("t1"), Box("2", "t1", fresh=True))


def test_of_entries_that_are_the_same_those_are_ticked_that_are_acknowledged() -> None:
    drawn = drawn_run(ENTRIES, "plain", "commit", "plain").rows[-1]

    assert [box.acknowledged for box in drawn.replicas["copy1"].log or ()] == [True, False]


def test_what_is_acknowledged_has_the_words_of_boxes() -> None:
    drawn = drawn_run(ENTRIES, "valued", "plain", "commit")

    assert drawn.record == "entry "
    assert drawn.rows[-1].acknowledged == ("2·t1", "t1")


def test_a_term_that_is_not_named_so_is_called_a_term() -> None:
    assert drawn_run(ENTRIES).rows[0].replicas["copy1"].epoch == "heard term 0"


def test_an_entry_that_is_cut_and_lost_is_drawn_once() -> None:
    drawn = violation("kafka_epochs", "kafka7897", "truncation_spares_committed")
    (lost,) = (box for box in drawn.rows[-1].replicas["B"].log or () if box.cut or box.missing)

    assert (lost.text, lost.cut, lost.missing) == ("1", True, True)


def test_only_what_the_claim_is_about_is_missing_where_entries_do_not_tell() -> None:
    drawn = violation("elasticsearch", "elasticsearch14252", "acked_survive")

    assert drawn.lost == ("1·t1",)
    assert [box for box in drawn.rows[-1].replicas["copy2"].log or () if box.missing] == [
        Box("1", "t1", missing=True)
    ]


def test_what_is_gone_is_not_missing_beside_it_where_entries_do_not_tell() -> None:
    drawn = violation("elasticsearch", "without_terms", "acked_survive")
    log = drawn.rows[-1].replicas["copy2"].log or ()

    assert drawn.lost == ("1·t2",)
    assert [(box.text, box.cut, box.missing) for box in log] == [("t1", False, False), ("t2", True, False)]


@pytest.mark.parametrize("draw", [svg, storyboard, mermaid])
def test_a_frame_around_who_a_claim_is_false_of_has_what_the_claim_reads(
    draw: Callable[[Picture], str],
) -> None:
    of_a_ghost = violation("kafka_epochs", "kafka20961", "truncation_ends")
    as_at_the_start = violation("mysql_semi_sync", "after_commit", "no_dirty_read")

    assert draw(of_a_ghost).count("asked_in_vain: yes") == 1
    assert draw(as_at_the_start).count("linked: yes") == 1


DOWN = """
    protocol p
    sort Node
    process Node { volatile up: bool = true  volatile tries: 0..3 = 0 }
    network mail: set of bool
    state { served: bool = false }
    fault crash(n: Node) says "{n} crashes" { require up: n.up  n.up := false }
    action try(n: Node) says "{n} tries" { n.tries := n.tries + 1 }
    action write(n: Node) says "{n} writes" { mail.send(true) }
    action serve(n: Node) says "{n} is down, and another serves" { served := true }
    action meddle(n: Node) says "somebody changes {n}" { n.tries := n.tries + 1 }
    repair start(n: Node) says "{n} starts" { n.tries := 0 }
    check c { scope Node = exactly 1, mail = 1  faults none }
"""


@pytest.mark.parametrize(
    ("action", "event"),
    [
        ("try", ("changes while it is down",)),
        ("write", ("sends while it is down",)),
        ("serve", ()),
        ("meddle", ()),
        ("start", ()),
    ],
)
def test_who_is_down_and_acts_is_pointed_out(action: str, event: tuple[str, ...]) -> None:
    before, after = drawn_run(DOWN, action), drawn_run(DOWN, "crash", action)

    assert before.rows[-1].events.get("node1", ()) == ()
    assert after.rows[-1].events.get("node1", ()) == event


def test_a_broken_assert_says_which_part_is_false_and_for_which_members() -> None:
    in_a_loop = violation("hdfs_qjm", "file_replaced_first", "accepted_is_on_disk")

    assert violation("raft_lease", "tikv1593", "fresh").verdict[1:] == (
        "l.commit >= acked is false for l = server1: l.commit is 1 and acked is 2",
    )
    assert in_a_loop.verdict[-1].endswith(
        "is false for j = journalnode2: j.accepted.end is 4 and size(j.log) is 5"
    )
    assert in_a_loop.broken == ("journalnode2",)


def test_what_the_claim_reads_of_the_state_is_drawn_and_members_with_nothing_are_not() -> None:
    drawn = violation("bookkeeper", "bookkeeper2614", "acked_stays")
    board = storyboard(drawn)

    assert drawn.rows[0].about == ("status: open",)
    assert drawn.rows[-1].about == ("status: closed", "last_entry: 0")
    assert "status: closed" in board
    assert "bookie1" in board
    assert ">writer1<" not in board


def test_a_member_with_nothing_is_drawn_where_another_of_its_sort_has_something() -> None:
    board = storyboard(violation("kafka_registration", "kafka19047", "let_go_may_return"))

    assert ">P<" in board
    assert "refused: yes" in board


def test_messages_under_way_are_those_that_later_steps_need_and_few_lines() -> None:
    drawn = violation("viewstamped", "log_cut_too_early", "acknowledged_survive")
    board = storyboard(drawn)

    assert drawn.rows[5].under_way == ()
    assert drawn.rows[-2].under_way[0].startswith("replica2: DoViewChange(view = 4")
    for panel in board.split('class="panel"'):
        assert sum(panel.count(sign) for sign in ("✉", "last_normal")) <= MOST_LINES


BACK = """
    protocol p
    sort Node
    process Node {
      durable  up:     bool = true
      durable  locked: bool = false
      durable  linked: bool = true
      volatile ready:  bool = false
      durable  leads:  bool = false
    }
    action lock(n: Node) { n.locked := true  n.linked := false  n.ready := true }
    action free(n: Node) { n.locked := false }
    action link(n: Node) { n.linked := true }
    action lead(n: Node) { n.leads := true }
    action resign(n: Node) { n.leads := false }
    action boot(n: Node) { n.up := true }
    fault crash(n: Node) { wipe n  n.up := false }
    fault fence(n: Node) { n.up := false  n.locked := true }
    repair start(n: Node) { n.up := true  n.locked := false }
    check c { scope Node = exactly 1  faults any }
"""
TEXTS = [mermaid, plantuml, svg, storyboard, lambda drawn: plain(compact(drawn))]


def happened(*actions: str) -> list[tuple[str, ...]]:
    """What happened to the node in each step of a run."""
    return [row.events.get("node1", ()) for row in drawn_run(BACK, *actions).rows[1:]]


@pytest.mark.parametrize("draw", TEXTS)
def test_a_flag_that_is_again_as_at_the_start_is_told(draw: Callable[[Picture], str]) -> None:
    set_, back = draw(drawn_run(BACK, "lock")), draw(drawn_run(BACK, "lock", "free"))

    assert "locked: yes" in set_
    assert "locked: no" not in set_
    assert "locked: no" in back


def test_a_flag_is_told_where_it_is_set_back_and_not_again() -> None:
    assert happened("free", "lock", "free", "free", "link", "lock", "lock") == [
        (),
        (),
        ("locked: no",),
        (),
        ("linked: yes",),
        (),
        (),
    ]


def test_a_flag_that_a_crash_loses_is_not_told_and_one_that_lasts_is_where_it_was_told_before() -> None:
    assert happened("lock", "crash", "start") == [(), (), ("locked: no",)]
    assert happened("fence", "start") == [(), ()]


def test_a_replica_that_comes_up_is_told_where_no_repair_says_so() -> None:
    assert happened("crash", "boot", "crash", "start") == [(), ("comes up",), (), ()]


def test_a_replica_that_leads_no_longer_is_told_but_not_of_one_that_is_down() -> None:
    assert happened("lead", "resign") == [(), ("stops leading",)]
    assert happened("lead", "crash") == [(), ()]


def test_that_a_chosen_leader_is_another_is_not_told_as_what_a_replica_knows() -> None:
    text = """
    protocol p
    sort Node
    process Node { durable up: bool = true }
    state { leader: Node? = none }
    action elect(n: Node) { leader := n }
    action depose { leader := none }
    check c { scope Node = exactly 1 }
    """

    assert drawn_run(text, "elect", "depose").rows[-1].events == {}


ENDS = """
    protocol p
    sort Node
    enum Stage { idle, busy, done }
    process Node {
      durable stage: Stage     = idle
      durable held:  set[Node] = {}
      durable open:  bool      = false
      durable rest:  0..1      = 0
    }
    action begin(n: Node) { require n.stage == idle  n.stage := busy  n.open := true }
    action finish(n: Node) {
      require n.stage == busy
      n.stage := done
      n.held.add(n)
      n.open := false
      n.rest := 1
    }
    invariant never: forall n: Node. n.stage != done or size(n.held) == 0 or n.open
    check c { scope Node = exactly 1 }
"""


@pytest.mark.parametrize("draw", [mermaid, plantuml])
def test_the_last_step_says_each_thing_once(draw: Callable[[Picture], str]) -> None:
    (model,) = loads(ENDS, "p.rsm")
    shown = check(model, model.checks[0]).verdict("never")
    assert isinstance(shown, Violated)
    assert shown.trace is not None
    last = draw(picture(shown.trace)).partition("2 · ")[2]

    for text in ("stage busy → done", "held {node1}", "open: no", "rest 0 → 1"):
        assert last.count(text) == 1
    assert "stage done" not in last


@pytest.mark.parametrize("draw", [mermaid, svg, storyboard])
def test_the_last_step_of_a_protocol_says_what_the_claim_reads_once(draw: Callable[[Picture], str]) -> None:
    drawn = violation("elasticsearch", "checkpoint_kept", "same_when_resynced")
    last = replace(drawn, rows=drawn.rows[-1:])

    assert draw(last).count("resynced {copy2}") == 1


def test_a_frame_has_a_change_that_the_claim_is_about() -> None:
    drawn = violation("two_phase_commit", "hasty_coordinator", "consistent")
    board = storyboard(drawn)

    assert drawn.rows[-1].replicas["manager2"].claimed == ("stage working → aborted",)
    assert drawn.rows[-1].notes.get("manager2", ()) == ()
    assert board.count("stage working → aborted") == 1


ASKED = """
    protocol p
    sort Node
    process Node { durable done: bool = false }
    network inbox[Node]: set of bool
    action ask(n: Node) says "a client asks {n}" { inbox[n].send(true) }
    action note(n: Node) says "{n} notes down" { inbox[n].send(true) }
    action tell { inbox[the(Node)].send(false) }
    action look says "somebody looks" { require some: exists n: Node. inbox[n] != {} }
    invariant never: true
    check c { scope Node = exactly 1, inbox = 2 }
"""


def test_nobody_sends_what_a_client_puts_into_its_channel() -> None:
    drawn = drawn_run(ASKED, "ask", "look")

    assert [row.notes for row in drawn.rows] == [
        {},
        {SHARED: ("→ node1: inbox true",)},
        {},
    ]


def test_nobody_sends_in_a_step_that_names_nobody() -> None:
    drawn = drawn_run(ASKED, "note", "tell")

    assert [row.notes for row in drawn.rows[1:]] == [
        {"node1": ("sends inbox true, which no step here needs",)},
        {SHARED: ("→ node1: inbox false, which no step here needs",)},
    ]
