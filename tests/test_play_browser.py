"""The page in which a model is played, in a real browser: steps, undo, addresses, searches, traces."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from counterexamples.itf.read import document
from counterexamples.itf.write import write
from counterexamples.play.page import address as address_of
from modelcheck.answers.notebook import PlayPage
from modelcheck.answers.played import played, played_beforehand
from spec.load import loads
from tests.stories import named, story
from tests.test_drawn_in_a_browser import faults_in

NASTY = "</script><script>document.title='hacked'</script><img src=x onerror=alert(1)>"
TOY = f"""
protocol toy
sort Lamp
process Lamp {{ durable on: bool = false }}
action light(l: Lamp) says "{{l}} goes on {NASTY}" {{
  require dark: not l.on
  l.on := true
}}
fault blow(l: Lamp) says "{{l}} blows" {{
  require shines: l.on
  l.on := false
}}
reachable all_on: forall l: Lamp. l.on
recoverable dark_again: forall l: Lamp. not l.on
check two says "{NASTY}" {{ scope Lamp = 2  faults <= 1 }}
"""
RELAY = """
protocol relay
sort Node
process Node { durable has: bool = false, durable seen: bool = false, durable asks: bool = false }
fair action pass_on(a: Node, b: Node) says "{a} hands the token to {b}" {
  require holds: a.has
  require other: not b.has
  a.has  := false
  b.has  := true
  b.seen := true
}
action ask(a: Node) says "{a} asks for the token" { require not a.asks  a.asks := true }
init { choose first in Node  first.has := true }
always eventually everywhere says "the token comes by everywhere": forall n: Node. n.seen
always eventually somewhere: exists n: Node. n.has
leadsto served: exists n: Node. n.asks and not n.seen ~> forall n: Node. n.asks implies n.seen
check three { scope Node = 3  faults none }
"""
LONG = """
protocol long_words
sort Server, Order
nat Term, Index
record Entry { term: Term, order: Order }
process Server {
  durable log: seq[Entry; Index] = []
  durable commit: Index = 0
}
action append(s: Server, o: Order) {
  require size(s.log) < 7
  s.log.append(Entry(1, o))
}
action commit(s: Server) {
  require s.commit < size(s.log)
  s.commit := s.commit + 1
}
fault cut(s: Server) {
  require size(s.log) > 0
  s.log := []
  s.commit := 0
}
invariant short: forall s: Server. size(s.log) < 7
check words {
  scope Server = {first_of_the_servers, second}, Order = {a_very_long_name_of_an_order, b}
  scope Term = 1, Index = 7
  faults <= 1
}
"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("play")
    model = loads(TOY)[0]
    (folder / "jepsen.html").write_text(played(*named("kafka", "jepsen")), encoding="utf-8")
    relay, long = loads(RELAY)[0], loads(LONG)[0]
    (folder / "long.html").write_text(played(long, long.checks[0]), encoding="utf-8")
    (folder / "toy.html").write_text(played(model, model.checks[0]), encoding="utf-8")
    (folder / "relay.html").write_text(played(relay, relay.checks[0]), encoding="utf-8")
    for name, most in (("whole", 2_000), ("part", 60)):
        page, _ = played_beforehand(*named("kafka", "jepsen"), most)
        (folder / f"{name}.html").write_text(page, encoding="utf-8")
    return folder


Open = Callable[..., Page]


@pytest.fixture
def visit(browser: Browser, pages: Path) -> Iterator[Open]:
    """`visit("jepsen.html", width=360)`: the page, which in the end has not complained, nor asked others."""
    contexts: list[BrowserContext] = []
    told: list[str] = []
    asked: list[str] = []

    def look(where: str, *, width: int = 1280, before: str = "", is_ready: bool = True) -> Page:
        touched = width < 600
        context = browser.new_context(
            viewport={"width": width, "height": 800}, has_touch=touched, is_mobile=touched
        )
        contexts.append(context)
        page = context.new_page()
        page.add_init_script(before)
        page.on("console", lambda message: told.append(message.text))
        page.on("pageerror", lambda error: told.append(str(error)))
        page.on("dialog", lambda dialog: told.append(dialog.message))
        context.on("request", lambda request: asked.append(request.url))
        page.goto(f"{pages.as_uri()}/{where}")
        expect(page.locator("body.ready" if is_ready else "body.refused")).to_be_attached()
        return page

    yield look
    for context in contexts:
        context.close()
    assert told == []
    assert [url for url in asked if not url.startswith((pages.as_uri(), "blob:", "data:"))] == []


def address(page: Page) -> str:
    """The run that the address holds, without the model, its check and its version."""
    return page.url.partition("#")[2].partition("~")[0].partition("/")[2]


def steps(page: Page) -> list[str]:
    """The steps that can follow, by their names."""
    return [each.get_attribute("data-step") or "" for each in page.locator("#next button").all()]


def test_a_step_is_taken_undone_redone_and_another_is_a_branch(visit: Open) -> None:
    page = visit("toy.html")
    assert steps(page) == ["light(lamp1)", "light(lamp2)"]

    page.locator("#next button").first.click()
    assert (address(page), steps(page)) == ("0.0", ["light(lamp2)", "blow(lamp1)"])
    page.get_by_role("button", name="Undo").click()
    assert address(page) == "0"
    page.get_by_role("button", name="Redo").click()
    assert address(page) == "0.0"
    page.keyboard.press("u")
    page.keyboard.press("2")
    assert address(page) == "0.1"
    page.get_by_text("tried here too: 1").click()
    page.locator("a.branch").click()
    assert address(page) == "0.0"


def test_a_page_in_a_frame_of_a_notebook_is_played(visit: Open, pages: Path) -> None:
    toy = PlayPage("toy", (pages / "toy.html").read_text(encoding="utf-8"))
    (pages / "notebook.html").write_text(
        f"<!DOCTYPE html><body class=ready>{toy._repr_html_()}</body>", encoding="utf-8"
    )
    frame = visit("notebook.html").frame_locator("iframe")

    expect(frame.locator("body.ready")).to_be_attached()
    frame.locator("#next button").first.click()
    expect(frame.get_by_role("button", name="Undo")).to_be_enabled()
    expect(frame.locator("#next button").first).to_have_attribute("data-step", "light(lamp2)")


def test_an_address_opens_its_run_and_a_wrong_one_goes_as_far_as_it_can(visit: Open) -> None:
    expect(visit("toy.html#0.1.0").locator("#title")).to_contain_text("After step 2")

    page = visit("toy.html#0.1.77")

    expect(page.locator("#title")).to_contain_text("After step 1")
    expect(page.locator("#status")).to_contain_text("as far as it goes")


@pytest.mark.parametrize(
    ("where", "steps", "width"),
    [("long.html", 9, 1280), ("long.html", 9, 360), ("jepsen.html", 8, 1280), ("jepsen.html", 8, 700)],
)
def test_texts_of_logs_have_room(visit: Open, where: str, steps: int, width: int) -> None:
    page = visit(where, width=width)
    found, drawn = [], page.locator("#picture svg")
    for step in range(steps):
        found += [f"step {step}: {fault}" for each in drawn.all() for fault in faults_in(each)]
        able = page.locator("#next button:not([aria-disabled=true])")
        able.nth(2 * step % able.count()).click()

    assert drawn.count() > 1
    texts = drawn.locator("rect ~ text").all_text_contents()
    assert texts
    assert [each for each in texts if each != "…" and "…" in each] == []
    assert found == []


def test_who_refuses_a_step_is_told_by_name_and_in_words(visit: Open) -> None:
    page = visit("toy.html#0.0")
    page.locator("#why-not summary").click()

    expect(page.locator("#refused")).to_contain_text("refused by dark: not l.on for (lamp1)")
    expect(page.locator("#refused")).to_contain_text("refused by shines: l.on for (lamp2)")


def test_faults_end_with_their_budget(visit: Open) -> None:
    page = visit("toy.html#0.0.1.0")
    fault = page.locator("#next button.fault")
    expect(fault).to_contain_text("no fault is left")
    fault.click(force=True)
    assert address(page) == "0.0.1.0"

    page.get_by_label("Faults that a run may have").fill("2")
    page.keyboard.press("Tab")
    fault.click()

    assert address(page) != "0.0.1.0"


def test_the_shortest_way_to_a_loss_is_found(visit: Open) -> None:
    page = visit("jepsen.html")

    page.get_by_role("button", name="Find").click()

    expect(page.locator("#status")).to_contain_text("is broken after 5 steps, 2 faults")
    expect(page.locator("#broken")).to_contain_text("acknowledged_survive")
    expect(page.locator("#run li")).to_have_count(6 + 1)  # the states, and the other start
    expect(page.locator("#run [aria-current]")).to_contain_text("✗ acknowledged_survive")


def test_a_loss_is_found_by_hand_by_the_words_of_the_buttons(visit: Open) -> None:
    page = visit("jepsen.html")

    for words in (
        "the producer sends record 1 to A",
        "B is cut off",
        "A commits it",
        "A runs on but loses its session",
        "breaks acknowledged_survive",
    ):
        page.locator("#next button", has_text=words).click()

    expect(page.locator("#broken")).to_contain_text("acknowledged_survive")
    expect(page.locator("#title")).to_contain_text("After step 5")


def test_no_way_with_too_few_faults_is_said_to_be_none(visit: Open) -> None:
    page = visit("jepsen.html")

    page.locator("#more").fill("1")
    page.get_by_role("button", name="Find").click()

    expect(page.locator("#status")).to_contain_text("There is no way from here with up to 1 more fault")


def test_ways_to_what_can_be_reached_and_back(visit: Open) -> None:
    page = visit("toy.html")
    page.locator("#wanted").select_option("all_on")
    page.get_by_role("button", name="Find").click()
    expect(page.locator("#status")).to_contain_text("all_on is reached after 2 steps, 0 faults")

    page.locator("#wanted").select_option("dark_again")
    page.get_by_role("button", name="Find").click()
    expect(page.locator("#status")).to_contain_text("There is no way from here with up to 1 more fault")
    page.locator("#more").fill("2")
    page.get_by_role("button", name="Find").click()
    expect(page.locator("#status")).to_contain_text("dark_again is true again after 2 steps, 2 faults")


def forever(page: Page, name: str) -> str:
    """What the page says of a property of runs that go on for ever."""
    return page.locator("#properties li").filter(has_text=name).locator(".forever").inner_text()


def test_a_fair_run_that_breaks_a_property_is_shown_and_its_circle_is_told(visit: Open) -> None:
    page = visit("relay.html", width=360)

    assert "a fair run breaks it, without any fault: 4 steps, and then it repeats itself" in forever(
        page, "everywhere"
    )
    assert "no fair run of this scope and its faults breaks it" in forever(page, "somewhere")

    page.locator("#properties li").filter(has_text="everywhere").get_by_role("button").click()

    expect(page.locator("#status")).to_have_text(
        "This is the state after step 2 again, so the run can repeat forever."
    )
    assert len(page.locator("#run > li").all()) == 5
    told = forever(page, "everywhere")
    assert "From here a fair run may go round for ever, and break it" in told
    assert "node1 hands the token to node2" in told
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_a_circle_breaks_a_leadsto_only_where_what_it_waits_for_has_come(visit: Open) -> None:
    page = visit("relay.html")
    page.locator("#properties li").filter(has_text="everywhere").get_by_role("button").click()

    assert "From here" not in forever(page, "served")  # nobody has asked in this run

    page.locator("#properties li").filter(has_text="served").get_by_role("button").click()

    assert "From here a fair run may" in forever(page, "served")


def test_a_trace_of_ours_is_loaded_and_saved_as_one_that_is_real(visit: Open, tmp_path: Path) -> None:
    trace = story("jepsen")
    given = tmp_path / "given.itf.json"
    given.write_text(write(trace), encoding="utf-8")
    page = visit("jepsen.html")

    page.locator("#load").set_input_files(given)
    expect(page.locator("#status")).to_contain_text("given.itf.json: 5 steps")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save trace").click()
    saved = tmp_path / "saved.itf.json"
    download.value.save_as(saved)

    found = document(saved.read_text(encoding="utf-8"), "saved").replayed(trace.model, None).trace
    assert (found.states, found.steps, found.check) == (trace.states, trace.steps, "jepsen")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("no", "it is no JSON"),
        ("{}", "it has no `states`"),
        ('{"states": [{}]}', "its states have no Lamp.on"),
    ],
)
def test_a_file_that_is_no_trace_of_the_model_is_refused(
    text: str, says: str, visit: Open, tmp_path: Path
) -> None:
    given = tmp_path / "given.json"
    given.write_text(text, encoding="utf-8")
    page = visit("toy.html")

    page.locator("#load").set_input_files(given)

    expect(page.locator("#status")).to_contain_text(says)


def test_a_trace_with_a_step_that_the_model_lacks_is_shown_up_to_there(visit: Open, tmp_path: Path) -> None:
    found = json.loads(write(story("jepsen")))
    del found["states"][2]
    given = tmp_path / "given.json"
    given.write_text(json.dumps(found), encoding="utf-8")
    page = visit("jepsen.html")

    page.locator("#load").set_input_files(given)

    expect(page.locator("#status")).to_contain_text("state 2 is not one step of this model from state 1")
    expect(page.locator("#title")).to_contain_text("After step 1")


@pytest.mark.parametrize("where", ["jepsen.html#0.3.2.0.0.1", "toy.html#0.0"])
def test_a_phone_shows_all_without_scrolling_sideways(where: str, visit: Open) -> None:
    page = visit(where, width=360)
    for summary in page.locator("summary").all():
        if summary.is_visible():
            summary.click()

    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_the_keyboard_alone_takes_a_step_and_stays_with_the_steps(visit: Open) -> None:
    page = visit("toy.html")
    page.locator("#next button").first.focus()

    page.keyboard.press("Enter")

    expect(page.locator("#live")).to_contain_text("Step 1: lamp1 goes on")
    assert address(page) == "0.0"
    assert page.evaluate("document.activeElement.dataset.step") == "light(lamp2)"


def test_texts_of_the_model_are_only_texts(visit: Open) -> None:
    page = visit("toy.html#0.0")

    assert page.title() == "toy · two"
    expect(page.locator("#title")).to_contain_text(NASTY)
    expect(page.locator(".says").first).to_contain_text(NASTY)


# ------------------------------------------------------------------- without a kernel, or without memory

NO_MEMORY = """
  const limit = "WebAssembly.Memory.prototype.grow = () => { throw new RangeError('none is left'); };";
  window.Blob = class extends Blob {
    constructor(parts, options) {
      super(options?.type === "text/javascript" ? [limit, ...parts] : parts, options);
    }
  };
"""


def test_a_page_without_a_kernel_runs_as_one_with_it(visit: Open) -> None:
    page = visit("whole.html", before="delete window.WebAssembly")
    expect(page.locator("#beforehand")).to_contain_text("They are all states of this scope")

    page.get_by_role("button", name="Find").click()

    expect(page.locator("#status")).to_contain_text("is broken after 5 steps, 2 faults. No way has fewer")
    expect(page.locator("#broken")).to_contain_text("acknowledged_survive")


def test_an_address_is_of_the_same_run_with_a_kernel_and_without(visit: Open) -> None:
    page = visit("jepsen.html")
    page.get_by_role("button", name="Find").click()
    expect(page.locator("#status")).to_contain_text("is broken after 5 steps")

    other = visit("whole.html#" + page.url.partition("#")[2])

    assert steps(other) == steps(page)
    assert other.locator("#title").text_content() == page.locator("#title").text_content()
    expect(other.locator("#status")).to_be_empty()


def test_a_page_that_has_some_states_says_where_they_end(visit: Open) -> None:
    page = visit("part.html")
    expect(page.locator("#beforehand")).to_contain_text("They are the first")

    page.get_by_role("button", name="Find").click()
    expect(page.locator("#status")).to_contain_text("among the states of this page, which are not all")
    for _ in range(20):
        if not page.locator("#next button:not([aria-disabled])").count():
            break
        page.locator("#next button:not([aria-disabled])").last.click()

    expect(page.locator("#next")).to_contain_text("The states of this page end here")


def test_a_browser_without_webassembly_is_told_what_to_do(visit: Open) -> None:
    page = visit("toy.html", before="delete window.WebAssembly", is_ready=False)

    expect(page.locator("#status")).to_contain_text("It has no WebAssembly")
    expect(page.locator("#status")).to_contain_text("modelcheck trace play --precomputed N")
    assert page.get_by_role("button").count() == 0


def test_a_search_that_runs_out_of_memory_says_so_and_the_page_goes_on(visit: Open) -> None:
    page = visit("jepsen.html", before=NO_MEMORY)

    page.get_by_role("button", name="Find").click()
    expect(page.locator("#status")).to_contain_text("There is no memory left for more states")
    page.keyboard.press("1")

    expect(page.locator("#title")).to_contain_text("After step 1")


def test_an_address_of_another_model_says_so(visit: Open) -> None:
    ours = visit("toy.html#0.0").url.partition("#")[2]
    page = visit("jepsen.html#" + ours)
    status = page.locator("#status")

    name = ours.partition("/")[0]
    expect(status).to_have_text(f"The address is of a run of {name}, and this page is of kafka.jepsen.")
    assert address(page) == "0"
    changed = ours.partition("~")[0] + "~00000000"
    expect(visit("toy.html#" + changed).locator("#status")).to_contain_text("for another model, scope")
    expect(visit("toy.html#" + ours).locator("#status")).to_be_empty()


@pytest.mark.parametrize("page_name", ["jepsen.html", "whole.html"])
def test_a_run_that_was_found_has_an_address_that_opens_it(page_name: str, visit: Open) -> None:
    trace = story("jepsen")
    page = visit(f"{page_name}#{address_of(trace)}")

    expect(page.locator("#status")).to_be_empty()
    expect(page.locator("#title")).to_contain_text(f"After step {len(trace.steps)}")
    expect(page.locator("#broken")).to_contain_text("acknowledged_survive")


def test_fingers_take_steps_undo_them_and_find_a_loss(visit: Open) -> None:
    page = visit("jepsen.html", width=390)
    page.locator("#next button").first.tap()
    expect(page.locator("#title")).to_contain_text("After step 1")
    page.get_by_role("button", name="Undo").tap()
    expect(page.locator("#title")).to_contain_text("The start")

    page.get_by_role("button", name="Find").tap()

    expect(page.locator("#broken")).to_contain_text("acknowledged_survive")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_everything_that_is_used_has_a_name_that_a_screen_reader_says(visit: Open) -> None:
    page = visit("jepsen.html#0.0")

    for each in page.locator("button, input, select, summary, a, [tabindex='0']").all():
        name = each.evaluate(
            "e => e.getAttribute('aria-label') || (e.labels?.[0] ?? e).textContent.trim() || e.title"
        )
        assert name, each.evaluate("e => e.outerHTML")
