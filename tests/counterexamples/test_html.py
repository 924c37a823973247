"""Pages: what stands on them for each step, and that nothing in a run can be more than text."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings

from counterexamples.diff import changes
from counterexamples.explanation import Core, CoreStep, Explanation, FalsePart, NoReturn
from counterexamples.html.followed import Followed, follow
from counterexamples.html.frames import LONGEST, shown
from counterexamples.html.page import Card, PageItem, PageTable, TableCell, Verdict, page
from counterexamples.html.templates import environment
from counterexamples.lines import Role, line
from counterexamples.pictures.depict import picture
from counterexamples.trace import Lasso, Stops, Trace
from spec.load import loads
from spec.meaning.semantics import Machine, Taken
from spec.model.ir import Scope
from spec.model.types import BOOL, Seq
from tests.counterexamples.runs import any_run, divergence, walk
from tests.model_texts import model_texts
from tests.pages import Element, assert_sound, read, shape
from tests.stories import STORIES, story, wandering

NASTY = """</script><script>alert(1)</script>'"><img src=x onerror=alert(2)>&lt;]]>{{ 7 * 7 }}"""


def item(trace: Trace, why: Explanation | None = None, title: str = "a run") -> PageItem:
    return PageItem(
        title, trace.headline(), Role.BAD, trace, why, "modelcheck check it.rsm --check one", "at most 2"
    )


def shown_page(trace: Trace, why: Explanation | None = None) -> Element:
    return assert_sound(page([item(trace, why)], title="a page"))


def frame(root: Element, number: int, at: str = "") -> Element:
    return next(each for each in root.all() if each.attributes.get("id") == f"{at}step-{number}")


# ---------------------------------------------------------------------- each step


@pytest.mark.parametrize("name", STORIES)
def test_every_step_is_a_frame_with_true_guards_and_its_changes(name: str) -> None:
    trace = story(name)
    root = shown_page(trace)

    frames = root.find("section", "frame")
    assert [each.attributes["data-step"] for each in frames] == [*map(str, range(len(trace.steps) + 1))]
    for number, each in enumerate(frames[1:], 1):
        told = [entry for block in each.find("div", "guards") for entry in block.find("li")]
        assert len(told) == len(
            follow(trace.model, trace.scope, trace.states[number - 1], trace.steps[number - 1]).guards
        )
        assert all(entry.words.startswith("✓ true") for entry in told)
        found = changes(trace.model, trace.scope, *trace.states[number - 1 : number + 1])
        assert len(each.find("div", "changed")[0].find("li")) == max(1, len(found))
        cells = {change.place.path for change in found}
        assert len(each.find("td", "changed-cell")) == len(cells)


def test_a_frame_tells_what_happened_who_stands_how_and_what_changed() -> None:
    root = shown_page(story("jepsen"))
    third = frame(root, 3)

    assert (
        third.find("h4")[0].words
        == "Step 3 of 5 every replica that A counts as in sync has record 1: A commits it"
    )
    assert [each.words for each in third.find("ul", "talk")[0].find("li")] == ["A ⟶ to client: ack 1"]
    assert [each.words for each in third.find("div", "changed")[0].find("li")] == [
        "acked +1",
        "committed +1",
        "A.hw 0 → 1",
    ]
    logs = [each.attributes["aria-label"] for each in third.find("svg", "log")]
    assert logs == [
        "log of A: 1 (epoch 1, acknowledged); high watermark 1",
        "log of B: empty; high watermark 0",
    ]
    assert [each.words for each in third.find("span", "membership")] == ["in the ISR", "not in the ISR"]


def test_the_text_of_the_action_shows_which_way_the_step_went() -> None:
    first = frame(shown_page(story("jepsen")), 1)
    code = first.find("pre", "code")[0]

    lines = [
        (each.attributes["class"], each.find("span", "mark")[0].words) for each in code.find("span", "line")
    ]
    assert lines == [
        ("line ", ""),
        ("line guard", "✓"),
        ("line guard", "✓"),
        ("line done", "▶"),
        ("line done", "▶"),
        ("line passed", "–"),
        ("line passed", "–"),
        ("line ", ""),
    ]
    marked = [each.text for each in code.find("span", "done") if "line" not in each.attributes["class"]]
    assert marked == ["sent := sent + 1", "l.log.append(Entry(epoch = l.epoch, id = sent))"]
    assert first.find("p", "given")[0].words == "l = A"


def test_the_end_tells_what_is_wrong_and_who_lost_what() -> None:
    root = shown_page(story("jepsen"))
    last = frame(root, 5)

    assert last.find("p", "verdict")[0].words == " ".join(("✗", *picture(story("jepsen")).verdict))
    assert [each.find("b")[0].words for each in last.find("div", "broken")] == ["B"]
    assert "1 (lost)" in last.find("svg", "log")[1].attributes["aria-label"]
    assert "acked subset ids(l.log)" in root.find("section", "claim")[0].words


def test_the_configuration_and_the_command_stand_on_the_page() -> None:
    root = shown_page(story("jepsen"))
    told = root.find("section", "configuration")[0]

    settings_ = {row.find("th")[0].words: row.find("td")[0].words for row in told.find("tr")[1:]}
    assert settings_["unclean"] == "true"
    assert settings_["truncation"] == "own_high_watermark"
    assert "Broker = 2 (A, B)" in told.words
    assert "at most 2" in told.words
    assert "modelcheck check it.rsm --check one" in told.words


def test_faults_and_repairs_are_told_by_more_than_a_colour() -> None:
    root = shown_page(story("last_replica_standing"))

    kinds = [each.attributes["class"].split()[1] for each in root.find("section", "frame")]
    told = [each.words for each in root.find("nav", "story")[0].find("a")]
    assert kinds.count("fault") == 2
    assert [("⚡ fault" in text, "✚ repair" in text) for text in told] == [
        (kind == "fault", kind == "repair") for kind in kinds
    ]


# ---------------------------------------------------------------------- explanations


def explained(*needed: int, turn: int | None = None) -> Explanation:
    steps = tuple(CoreStep(number, f"step {number}", "nothing is wrong at the end") for number in needed)
    no_return = NoReturn(turn, turn or 0, 7, ("the way out",))
    return Explanation(
        ("First this.", "Then that."), "alone", (FalsePart("a", "x:1:1", (), ()),), Core(steps, 7), no_return
    )


def test_an_explanation_stands_on_top_and_marks_the_steps() -> None:
    why = explained(1, 2, 5, turn=5)
    root = shown_page(divergence(), why)

    assert root.find("p", "summary")[0].words == "First this. Then that."
    told = root.find("div", "why")[0].words
    assert why.no_return is not None
    assert all(sentence in told for sentence in (*why.no_return.sentences, why.core.sentence))
    needed = [each for each in root.find("nav", "story")[0].find("a") if each.find("b", "tag")]
    assert [each.find("span", "number")[0].words for each in needed if "needed" in each.words] == [
        "1",
        "2",
        "5",
    ]
    entries = [each.words for each in root.find("nav", "story")[0].find("li")]
    assert entries.index("point of no return") == 5
    assert frame(root, 2).find("p", "without")[0].words == "Without it, nothing is wrong at the end."
    assert frame(root, 3).find("p", "without") == []
    assert frame(root, 5).find("p", "turn") != []


def test_where_all_steps_are_needed_none_is_marked() -> None:
    root = shown_page(divergence(), explained(*range(1, 8)))

    assert "All 7 steps are needed." in root.find("div", "why")[0].words
    assert [each for each in root.find("b", "tag") if each.words == "needed"] == []


# ---------------------------------------------------------------------- several


def test_several_runs_have_places_of_their_own_and_a_table_of_verdicts() -> None:
    runs = [item(story("jepsen"), title="one"), item(story("kip101"), title="two")]
    table = PageTable(
        "faults",
        ("durable",),
        (("crash", (TableCell("1", Role.BAD, 1), TableCell("all", Role.GOOD))),),
        "signs",
    )
    card = Card(
        "kafka · both",
        "violated",
        Role.BAD,
        "what it says",
        verdicts=(Verdict("a", "violated", Role.BAD, 0), Verdict("b", "holds", Role.GOOD)),
        facts=(("within", ("Broker = 2",)),),
        tables=(table,),
        remarks=(("Note", ("this",)),),
        texts=(("Text", (line("a line"),)),),
        command="modelcheck check",
    )
    root = assert_sound(page(runs, title="two runs", cards=[card]))

    verdicts = root.find("table", "verdicts")[0].find("tr")[1:]
    assert [[each.attributes["href"] for each in row.find("a")] for row in verdicts] == [["#run-1"], []]
    assert root.find("table", "cells")[0].find("a")[0].attributes["href"] == "#run-2"
    assert [each.words for each in root.find("nav", "contents")[0].find("a")] == ["one", "two"]
    assert frame(root, 7, "run-2-").find("h4")[0].words.startswith("Step 7 of 9")


def test_an_item_without_a_run_and_a_page_of_nothing_are_pages() -> None:
    root = assert_sound(page([PageItem("never", "never true", Role.BAD)], title="nothing"))

    assert root.find("p", "verdict")[0].words == "✗ never true"
    assert root.find("script") == []
    assert_sound(page([], title="nothing"))


# ---------------------------------------------------------------------- bad input


def renamed(trace: Trace, text: str) -> Trace:
    """The same run, where every name that a user may choose is another."""
    scope = trace.scope
    sorts = {name: tuple(f"{text}{i}" for i in range(len(given))) for name, given in scope.sorts.items()}
    nasty = Scope(sorts, scope.nats, scope.networks, scope.config)
    source = replace(trace.model.source, name=text)
    return replace(trace, model=replace(trace.model, source=source), scope=nasty, check=text)


@pytest.mark.parametrize("name", ["jepsen", "two_leaders"])
def test_markup_in_a_value_stays_text(name: str) -> None:
    def drawn(text: str) -> str:
        trace = renamed(story(name), text)
        why = replace(explained(1, turn=2), summary=(text,))
        card = Card(text, text, Role.BAD, text, verdicts=(Verdict(text, text, Role.BAD, 0),), command=text)
        return page([PageItem(text, text, Role.BAD, trace, why, text, text)], title=text, cards=[card])

    hostile = drawn(NASTY)
    assert_sound(hostile)
    assert set(shape(hostile)) <= set(shape(drawn("name")))
    assert shape(hostile)["script",] == 1
    assert NASTY in read(hostile).find("h1")[0].text


def test_markup_in_the_text_of_the_model_stays_text() -> None:
    text = (
        "protocol p\nstate { n: 0..3 = 0 }\n"
        'action up says "<script>alert({n})</script> & <b>" {\n'
        "  // </pre></style><script>alert(1)</script>\n  require n < 3 and 1 < 2\n  n := n + 1\n}\n"
        'invariant low says "<i>{n}": n < 1\ncheck c { expect low violated }\n'
    )
    (model,) = loads(text, "<b>.rsm")
    machine = Machine(model, model.checks[0].scope)
    (start,) = machine.initial()
    (taken,) = (each for each in machine.steps(start) if isinstance(each, Taken))
    trace = Trace(model, model.checks[0].scope, (start, taken.state), (taken.step,), Stops())
    root = shown_page(trace)

    assert "<script>alert(0)</script> & <b>" in frame(root, 1).find("h4")[0].text
    assert "</pre></style><script>alert(1)</script>" in frame(root, 1).find("pre", "code")[0].text
    assert len(root.find("script")) == 1


def test_text_that_would_hide_or_move_other_text_is_shown_as_such() -> None:
    text = page([item(renamed(story("jepsen"), "a\u202eb\x00\x1b[2J"))], title="\u202e\x07")

    assert not {"\u202e", "\x00", "\x1b", "\x07"} & set(text)


def test_the_same_run_gives_the_same_bytes() -> None:
    first, again = (page([item(divergence(), explained(1))], title="a") for _ in range(2))

    assert first == again


def test_nine_replicas_and_thousands_of_steps_are_a_page_of_some() -> None:
    trace = wandering(
        "kafka", "last_replica_standing", 2_000, 1, "Broker=9", "Epoch=60", "Offset=12", "Record=60"
    )
    text = page([item(trace)], title="long")
    root = assert_sound(text)

    assert len(trace.steps) == 2_000
    assert len(text) < 8_000_000
    numbers = [int(each.attributes["data-step"]) for each in root.find("section", "frame")]
    assert numbers[0] == 0
    assert numbers[-1] == 2_000
    (gap,) = root.find("p", "gap")
    missing = sorted(set(range(2_001)) - set(numbers))
    assert gap.words.startswith(f"Steps {missing[0]:,} to {missing[-1]:,} are left out of this page.")
    assert "modelcheck trace show" in gap.words


def test_a_long_value_is_cut_and_says_so() -> None:
    scope = story("jepsen").scope
    few, many = (shown(Seq(BOOL, None), (True,) * count, scope) for count in (300, 10_000))

    assert len(few) < LONGEST + 40
    assert few.endswith("characters)")
    assert many == "(10,000 entries, too many to be shown here)"


def test_a_run_that_goes_round_says_from_where() -> None:
    trace = walk("elect(a)", "write(a)", ending=Lasso(1))

    assert "↻ from after step 1 on, for ever" in shown_page(trace).find("nav", "story")[0].words


def test_a_template_is_compiled_once_for_all_pages() -> None:
    assert environment().get_template("page.jinja") is environment().get_template("page.jinja")


@settings(max_examples=20)
@given(model_texts())
def test_any_run_of_any_model_is_a_page(text: str) -> None:
    trace = any_run(text, steps=4, which=-1)
    if trace is None:
        return
    root = shown_page(trace)

    assert len(root.find("section", "frame")) == len(trace.steps) + 1


# ---------------------------------------------------------------------- the way of a step

WAYS = """protocol w
sort R
state { n: 0..9 = 0  s: set[R] = {} }
action go(r: R) {
  let two = n + 2
  require small: n < 5
  require n >= 0
  if n == 0 { n := two } else { n := 9 }
  for x in s { n := 1 }
  choose q in R where q != r
  if q in s { s.remove(q) }
  s.add(q)
}
check c { scope R = {a, b} }
"""


def way(taken: int) -> tuple[Followed, dict[str, str], Trace]:
    """How the step after so many others goes: each statement's text, and what became of it."""
    (model,) = loads(WAYS, "w.rsm")
    scope = model.checks[0].scope
    machine = Machine(model, scope)
    states, steps = [machine.initial()[0]], []
    for _ in range(taken + 1):
        first = next(each for each in machine.steps(states[-1]) if isinstance(each, Taken))
        states.append(first.state)
        steps.append(first.step)
    found = follow(model, scope, states[-2], steps[-1])
    told = {model.source.at(span): "done" for span in found.done}
    told |= {model.source.at(span): "passed" for span in found.passed}
    return found, told, Trace(model, scope, tuple(states), tuple(steps), Stops())


def test_a_branch_that_is_not_taken_and_a_loop_over_nobody_are_passed_over() -> None:
    found, told, _ = way(0)

    assert [(guard.name, holds) for guard, holds in found.guards] == [("small", True), (None, True)]
    assert told == {
        "let two = n + 2": "done",
        "n := two": "done",
        "n := 9": "passed",
        "n := 1": "passed",
        "choose q in R where q != r": "done",
        "s.remove(q)": "passed",
        "s.add(q)": "done",
    }


def test_the_other_branch_is_taken_where_the_state_says_so() -> None:
    _, told, _ = way(1)

    assert {text: told[text] for text in ("n := two", "n := 9", "n := 1", "s.remove(q)")} == {
        "n := two": "passed",
        "n := 9": "done",
        "n := 1": "done",
        "s.remove(q)": "done",
    }


def test_a_step_that_is_not_the_models_is_followed_as_far_as_it_goes() -> None:
    _, _, trace = way(0)
    step = replace(trace.steps[0], choices=())
    found = follow(trace.model, trace.scope, trace.states[0], step)

    source = trace.model.source
    assert "n := two" in {source.at(span) for span in found.done}
    assert "s.add(q)" not in {source.at(span) for span in found.done}
    with pytest.raises(KeyError):
        follow(trace.model, trace.scope, trace.states[0], replace(step, action="nobody"))
