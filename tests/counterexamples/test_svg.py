"""Pictures in SVG: right as XML, the same every time, and nothing in them but what was meant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given

from counterexamples.certify import certify
from counterexamples.pictures.depict import MOST_STEPS, picture
from counterexamples.pictures.drawing import width_of
from counterexamples.pictures.picture import ArrowKind, Box, Picture, PictureRow, ReplicaState
from counterexamples.pictures.rendered import NoRenderer, png
from counterexamples.pictures.storyboard import MOST_FRAMES, frames, storyboard
from counterexamples.pictures.svg import svg
from counterexamples.trace import Stops, Trace
from modelcheck.api import check
from modelcheck.contract.result import Violated
from spec.load import loads
from spec.meaning.semantics import Machine, Taken
from spec.model.ir import Kind
from tests.counterexamples.runs import any_run, divergence
from tests.cpu_time import cpu_seconds
from tests.model_texts import model_texts
from tests.stories import STORIES, named, story, wandering

SPACE = "{http://www.w3.org/2000/svg}"
DRAWN: dict[str, Callable[[Picture], str]] = {"svg": svg, "storyboard": storyboard}
NASTY = '</text><script>alert("1")</script>&amp;]]> \x00\x1b[31m <!-- \ud800'


def parsed(drawn: str) -> ET.Element:
    """A picture as XML."""
    return ET.fromstring(drawn)  # noqa: S314 - our own


def texts(drawn: str) -> list[str]:
    """The words of a picture, as a reader or a search finds them."""
    return [each.text or "" for each in parsed(drawn).iter(f"{SPACE}text")]


@pytest.mark.parametrize("name", STORIES)
@pytest.mark.parametrize("form", DRAWN)
def test_the_stories_look_as_they_did(name: str, form: str, golden: Callable[[str, str], None]) -> None:
    golden(f"pictures/{name}.{form}.svg", DRAWN[form](picture(story(name))))


@pytest.mark.parametrize("form", DRAWN)
def test_a_picture_has_a_title_and_a_description(form: str) -> None:
    root = parsed(DRAWN[form](picture(story("jepsen"))))

    title, about = root.find(f"{SPACE}title"), root.find(f"{SPACE}desc")
    assert title is not None
    assert about is not None
    assert (title.text or "").startswith("Kafka 0.8 with acks=-1 loses what it acknowledged")
    assert "Acknowledged record 1 is missing from the log of B." in (about.text or "")
    assert root.get("role") == "img"
    assert root.get("aria-labelledby") == f"{title.get('id')} {about.get('id')}"


def test_the_title_is_what_the_check_says_of_the_run_and_what_it_shows_stands_below() -> None:
    trace = story("jepsen")
    shown = "acknowledged_survive is violated in 5 steps, with 2 faults (isolate, session_loss)"
    drawn, other = picture(trace), picture(replace(trace, property="committed_on_leader"))
    config = {**trace.scope.config, "min_isr": 2}
    changed = picture(replace(trace, ending=Stops(), scope=replace(trace.scope, config=config)))

    says = "Kafka 0.8 with acks=-1 loses what it acknowledged: two failures, well timed, are enough"
    assert (drawn.title, drawn.claim, drawn.about[0]) == (says, shown, f"{shown}.")
    assert other.title == says
    assert changed.title == "a run of kafka: 5 steps, with 2 faults (isolate, session_loss)"
    assert changed.claim == ""


def test_settings_have_the_names_of_the_real_system_where_it_has_such_values() -> None:
    bounds = picture(story("jepsen")).bounds.split(" · ")

    assert {"acks=all", "min.insync.replicas=1", "eligible.leader.replicas.version=0"} < {*bounds}
    assert {"truncation = own_high_watermark", "moves = 0", "flush = never"} < {*bounds}


def test_a_key_of_several_settings_names_none_of_them() -> None:
    trace = wandering("kafka_effective_isr", "same_file", 2, 1)

    assert "at_controllers = " in picture(trace).bounds
    assert "min.insync.replicas=" not in picture(trace).bounds


def test_no_arrow_needs_a_marker_that_another_picture_of_a_page_may_hide() -> None:
    drawn = svg(picture(story("jepsen")))

    assert "marker" not in drawn
    assert drawn.count('class="point"') == 3


def test_a_model_without_a_controller_has_no_lane_of_one() -> None:
    drawn = picture(story("two_leaders"))

    assert "controller" not in drawn.lanes


def test_no_name_of_a_variable_conjures_up_anybody() -> None:
    text = """
        protocol p
        sort Copy
        state { leader: Copy? = none  in_sync: set[Copy] = Copy }
        ghost { committed: set[Copy] = {} }
        process Copy { durable log: seq[Copy; 2] = [] }
        action elect(c: Copy) { leader := c  in_sync.remove(c)  committed.add(c)  c.log := [c] }
        invariant none_yet: leader == none
        check c { scope Copy = exactly 2 }
    """
    model = loads(text, "p.rsm")[0]
    machine = Machine(model, model.checks[0].scope)
    start = machine.initial()[0]
    taken = next(each for each in machine.steps(start) if isinstance(each, Taken))
    drawn = picture(Trace(model, machine.scope, (start, taken.state), (taken.step,), Stops()))

    assert drawn.lanes == ("shared state", "copy1", "copy2")
    assert drawn.rows[1].arrows == ()
    assert drawn.rows[1].events == {"copy1": ("leaves in_sync",)}


def test_messages_that_a_guard_counts_take_part() -> None:
    shown = check(*named("viewstamped", "commit_number_goes_back")).verdict("executes_once")
    assert isinstance(shown, Violated)
    assert shown.trace is not None
    rows = picture(shown.trace).rows
    received = {
        row.number: [arrow.start for arrow in row.arrows if arrow.mark is ArrowKind.MESSAGE] for row in rows
    }

    assert received[4] == ["replica2"]  # a PrepareOk
    assert received[8] == ["replica2", "replica3"]  # two DoViewChange


@pytest.mark.parametrize("form", DRAWN)
def test_the_same_trace_gives_the_same_bytes(form: str) -> None:
    first, again = (DRAWN[form](picture(divergence())) for _ in range(2))

    assert first == again


def test_a_small_change_of_a_trace_is_a_small_change_of_its_picture() -> None:
    whole = story("last_replica_standing")
    shorter = replace(whole, states=whole.states[:-1], steps=whole.steps[:-1], ending=Stops())
    rows = [svg(picture(each)).split('<g class="row"') for each in (whole, shorter)]

    count = len(shorter.steps)
    head = rows[0][0].count("\n") - rows[1][0].count("\n")  # a caption of other length moves all that follows
    assert head in {0, 1}
    shapes = [[part.count("<") for part in each[1 : 1 + count]] for each in rows]
    assert shapes[0] == shapes[1]


def test_what_was_lost_is_told_where_it_is_missing() -> None:
    drawn = picture(story("jepsen"))
    last = drawn.rows[-1]

    assert drawn.lost == ("1",)
    assert drawn.broken == ("B",)
    assert last.replicas["B"].log == (Box("1", missing=True),)
    assert last.replicas["A"].log == (Box("1", "e1", acknowledged=True, is_volatile=True),)
    assert [arrow.mark for arrow in drawn.rows[3].arrows] == [ArrowKind.ANSWER]
    assert drawn.rows[2].events == {"B": ("leaves the ISR",)}
    assert drawn.rows[5].events == {"A": ("leaves the ISR",), "B": ("joins the ISR",)}


def test_a_message_is_an_arrow_from_whoever_sent_it_to_whoever_takes_it_up() -> None:
    trace = story("two_leaders")
    rows = picture(trace).rows
    servers = trace.scope.sorts["Server"]
    first, second = (servers[step.args[0]] for step in trace.steps if step.action == "campaign")

    assert [(a.start, a.end, a.mark) for a in rows[2].arrows] == [(first, "server3", ArrowKind.MESSAGE)]
    assert [(a.start, a.end, a.text) for a in rows[8].arrows] == [
        ("server3", second, "Vote(term = 1, from = server3, granted = true)")
    ]


def test_every_step_stands_in_the_diagram() -> None:
    trace = story("kip279")
    root = parsed(svg(picture(trace)))

    rows = [each.get("data-step") for each in root.iter(f"{SPACE}g") if each.get("class") == "row"]
    assert rows == [str(number) for number in range(len(trace.steps) + 1)]


@pytest.mark.parametrize("name", STORIES)
def test_a_storyboard_tells_each_step_once_and_shows_every_fault(name: str) -> None:
    drawn = picture(story(name))
    shown = frames(drawn)

    assert [row.number for frame in shown for row in frame.rows] == [row.number for row in drawn.rows]
    faults = {row.number for row in drawn.rows if row.kind is Kind.FAULT}
    assert faults <= {frame.last.number for frame in shown}
    assert shown[-1].last.is_last


def test_who_is_chosen_leads_where_members_say_nothing_of_it() -> None:
    states = [replica for row in picture(divergence()).rows for replica in row.replicas.values()]
    chosen = [replica for replica in states if replica.chosen]

    assert chosen
    assert all(replica.leads == replica.up for replica in chosen)


def test_a_storyboard_shows_what_the_property_keeps_record_of_and_the_vote_that_was_lost() -> None:
    drawn = picture(story("two_leaders"))

    led = [f"★ leader · {replica.epoch}" for replica in drawn.rows[9].replicas.values() if replica.leads]
    assert [frame.last.number for frame in frames(drawn)] == [0, 4, 5, 9, 11]
    assert led == ["★ leader · term 1"]
    assert drawn.rows[4].events == {"server3": ("forgets voted_for server2",)}


def test_a_commit_that_the_property_counts_has_a_frame_of_its_own() -> None:
    drawn = picture(story("jepsen"))
    rows = [replace(row, is_recorded=row.number == 1, acknowledged=()) for row in drawn.rows]

    assert 1 in {frame.last.number for frame in frames(replace(drawn, rows=tuple(rows)))}


@pytest.mark.parametrize("is_logged", [True, False])
@pytest.mark.parametrize("name", STORIES)
def test_no_words_in_a_frame_lie_over_others(name: str, *, is_logged: bool) -> None:
    drawn = picture(story(name))
    if not is_logged:
        drawn = replace(drawn, rows=tuple(without_logs(row) for row in drawn.rows))

    for panel in parsed(storyboard(drawn)).iter(f"{SPACE}g"):
        placed = [box(each) for each in panel.findall(f"{SPACE}text")]
        over = [(a[0], b[0]) for a, b in combinations(placed, 2) if lie_over(a, b)]
        assert over == []


def without_logs(row: PictureRow) -> PictureRow:
    stands = {name: replace(each, log=None, high_watermark=None) for name, each in row.replicas.items()}
    return replace(row, replicas=stands)


def box(text: ET.Element) -> tuple[str, float, float, float]:
    """The words, where they begin and end, and their line."""
    words, kinds = text.text or "", (text.get("class") or "").split()
    wide = width_of(words, *kinds)
    x = float(text.get("x", "0"))
    left = x - wide * {"middle": 0.5, "end": 1.0}.get(text.get("text-anchor", ""), 0.0)
    return words, left, left + wide, float(text.get("y", "0"))


def lie_over(a: tuple[str, float, float, float], b: tuple[str, float, float, float]) -> bool:
    """Whether two texts stand in about one line, and one begins before the other ends."""
    return abs(a[3] - b[3]) < 7 and min(a[2], b[2]) - max(a[1], b[1]) > 3


# ------------------------------------------------------------------------- bad input


def nasty(drawn: Picture) -> Picture:
    """The same picture, with a script wherever a text from outside may stand."""
    replicas = {
        name: replace(each, epoch=NASTY, log=(*(each.log or ()), Box(NASTY, NASTY), Box(NASTY, missing=True)))
        for name, each in drawn.rows[-1].replicas.items()
    }
    last = replace(
        drawn.rows[-1],
        sentence=NASTY,
        action=NASTY,
        replicas=replicas,
        arrows=tuple(replace(arrow, text=NASTY) for arrow in drawn.rows[-1].arrows),
        notes=dict.fromkeys(drawn.lanes, (NASTY,)),
        events=dict.fromkeys(drawn.lanes, (NASTY,)),
        acknowledged=(NASTY,),
    )
    return replace(
        drawn,
        title=NASTY,
        bounds=NASTY,
        caption=NASTY,
        rows=(*drawn.rows[:-1], last),
        verdict=(NASTY, NASTY),
        lost=(NASTY,),
        membership=NASTY,
    )


@pytest.mark.parametrize("form", DRAWN)
def test_markup_in_a_value_stays_a_text(form: str) -> None:
    usual = parsed(DRAWN[form](picture(story("jepsen"))))
    root = parsed(DRAWN[form](nasty(picture(story("jepsen")))))

    assert {each.tag for each in root.iter()} == {each.tag for each in usual.iter()}
    attributes = {(each.tag, key) for each in root.iter() for key in each.attrib}
    assert attributes <= {(each.tag, key) for each in usual.iter() for key in each.attrib}


@given(model_texts())
def test_any_run_of_any_model_is_a_picture(text: str) -> None:
    trace = any_run(text, steps=6, which=0)
    if trace is None:
        return
    drawn = picture(trace)

    assert [row.number for row in drawn.rows] == [*range(len(trace.steps) + 1)]
    for draw in DRAWN.values():
        parsed(draw(drawn))


def test_nine_replicas_and_ten_thousand_steps_are_a_picture_of_some() -> None:
    bounds = ("Broker=9", "Epoch=60", "Offset=12", "Record=60")
    trace = wandering("kafka", "last_replica_standing", 10_000, 1, *bounds)
    drawn = picture(trace)

    assert len(trace.steps) == 10_000
    gaps = [row for row in drawn.rows if row.skipped]
    assert [row.sentence for row in gaps] == [f"steps {MOST_STEPS // 4} to 9775 are not drawn"]
    assert sum(row.skipped or 1 for row in drawn.rows) == 10_001
    assert len(frames(drawn)) == MOST_FRAMES
    for draw in DRAWN.values():
        assert len(parsed(draw(drawn)).findall(f"{SPACE}g")) > MOST_FRAMES - 1


def test_a_part_of_a_trace_is_drawn_when_asked_for() -> None:
    drawn = picture(story("last_replica_standing"), range(4, 7))

    assert [(row.number, row.skipped) for row in drawn.rows] == [(3, 3), (4, 0), (5, 0), (6, 0), (9, 3)]
    assert "steps 1 to 3 are not drawn" in texts(svg(drawn))


def test_drawing_costs_no_more_than_replaying_some_dozen_times() -> None:
    """Forty steps of five replicas: a ratio, as machines differ."""
    trace = wandering("kafka", "usual", 40, 3, "Broker=5", "Epoch=20", "Offset=10", "Record=10")
    certify(trace)  # whatever is compiled on the way

    replay = cpu_seconds(lambda: certify(trace), times=5)
    drawing = cpu_seconds(lambda: svg(picture(trace)), times=5)

    assert len(trace.steps) == 40
    assert drawing < 100 * replay


# -------------------------------------------------------------------------------- PNG


def test_png_is_drawn_where_something_can_draw_it() -> None:
    try:
        made = png(svg(picture(story("jepsen"))))
    except NoRenderer:
        pytest.skip("no renderer of SVG is installed")

    assert made.startswith(b"\x89PNG\r\n")
    assert len(made) > 10_000


def test_without_a_renderer_png_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")

    with pytest.raises(NoRenderer) as refusal:
        png(svg(picture(story("jepsen"))))
    assert "rsvg-convert" in str(refusal.value)


def test_an_empty_picture_is_one() -> None:
    row = PictureRow(0, Kind.ACTION, "", "the start", (), ("a",), {"a": ReplicaState()})
    drawn = Picture("a run", "", "", ("a",), ("a",), (row,), (), is_bad=False)

    for draw in DRAWN.values():
        assert "a run" in texts(draw(drawn))
