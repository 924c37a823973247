"""Pages in a real browser: stepping, printing, narrow screens, no JavaScript, and no word to the network."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pypdf
import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    expect,
)

from counterexamples.html.page import Card, PageItem, Verdict, page
from counterexamples.html.questions import QuestionScene
from counterexamples.html.tried import FileExcerpt, SeenPart, Tried, TriedStep, tried_page
from counterexamples.lines import Role
from counterexamples.trace import Trace
from tests.stories import story

NASTY = "</script><script>document.title='hacked'</script><img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a page of one run, one of two, and one of hostile names."""
    folder = tmp_path_factory.mktemp("pages")
    one, two = item(story("last_replica_standing")), item(story("two_leaders"))
    nasty = replace(item(renamed(story("jepsen"))), title=NASTY, verdict=NASTY, command=NASTY)
    card = Card("both", "violated", Role.BAD, verdicts=(Verdict("second", "violated", Role.BAD, 1),))
    written = {
        "one.html": page([one], title="one run"),
        "two.html": page([one, two], title="two runs", cards=[card]),
        "folded.html": page([one, two], title="two runs", cards=[card], folded=True),
        "nasty.html": page([nasty], title=NASTY),
        "tried.html": tried_page(tried(renamed(story("jepsen")))),
    }
    for name, text in written.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def item(trace: Trace) -> PageItem:
    return PageItem(
        f"{trace.model.name} {trace.check}", "violated", Role.BAD, trace, None, "modelcheck check", "2"
    )


def tried(trace: Trace) -> Tried:
    """A run that was tried on a system all of whose words are hostile, and long."""
    part = SeenPart(NASTY, NASTY, NASTY, differs=True)
    excerpt = FileExcerpt(NASTY, (NASTY, "x" * 300))
    step = TriedStep("1-2", NASTY, Role.BAD, NASTY, (NASTY,), NASTY, (NASTY,), (part,), (excerpt,))
    facts = (("settings", (NASTY, "y" * 300)),)
    return Tried(NASTY, NASTY, Role.BAD, (NASTY,), facts, NASTY, QuestionScene(NASTY, trace), [step])


def renamed(trace: Trace) -> Trace:
    names = {
        sort: tuple(f"{NASTY}{i}" for i in range(len(given))) for sort, given in trace.scope.sorts.items()
    }
    return replace(trace, scope=replace(trace.scope, sorts=names))


@dataclass
class Visit:
    """A page that is looked at, with all that it complains of and asks for."""

    page: Page
    told: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def shown(self, run: int = 1) -> list[str]:
        """The numbers of the frames that can be seen."""
        frames = self.page.locator(f"#run-{run} section.frame")
        return [each.get_attribute("data-step") or "" for each in frames.all() if each.is_visible()]

    def soon(self, condition: str) -> None:
        """Waits for something to be true; playwright's own way to wait is forbidden by the page's policy."""
        for _ in range(100):
            if self.page.evaluate(condition):
                return
            self.page.wait_for_timeout(20)
        pytest.fail(f"it is never so that {condition}")


Open = Callable[..., Visit]


@pytest.fixture
def visit(browser: Browser, pages: Path) -> Iterator[Open]:
    """`visit("one.html#step-4", width=360)`: the page, which in the end has not complained, nor asked."""
    contexts: list[BrowserContext] = []
    visits: list[Visit] = []

    def look(where: str, *, width: int = 1280, script: bool = True, dark: bool = False) -> Visit:
        context = browser.new_context(
            viewport={"width": width, "height": 800},
            java_script_enabled=script,
            color_scheme="dark" if dark else "light",
        )
        contexts.append(context)
        seen = Visit(context.new_page())
        visits.append(seen)

        def complains(message: ConsoleMessage) -> None:
            seen.told.append(message.text)

        def asks(request: Request) -> None:
            seen.asked.append(request.url)

        seen.page.on("console", complains)
        seen.page.on("pageerror", lambda error: seen.told.append(str(error)))
        seen.page.on("dialog", lambda dialog: seen.told.append(dialog.message))
        context.on("request", asks)
        seen.page.goto(f"{pages.as_uri()}/{where}")
        return seen

    yield look
    for context in contexts:
        context.close()
    for seen in visits:
        assert seen.told == []
        assert [url for url in seen.asked if not url.startswith(pages.as_uri())] == []
        assert len(seen.asked) == 1


def test_a_picture_is_seen_whole_on_a_page_700_px_wide(visit: Open) -> None:
    page = visit("one.html", width=700).page
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    hidden = "(svg) => svg.getBoundingClientRect().right - svg.parentElement.getBoundingClientRect().right"

    drawn = page.locator(".storyboard svg, .diagram svg").all()
    assert drawn
    assert max(each.evaluate(hidden) for each in drawn) <= 1


# ------------------------------------------------------------------------- stepping


def test_keys_go_forward_and_back_and_to_a_number(visit: Open) -> None:
    seen = visit("one.html")
    at = [seen.shown()]
    for key in ("ArrowRight", "j", "ArrowLeft", "End", "ArrowRight", "k", "Home", "ArrowLeft", "7"):
        seen.page.keyboard.press(key)
        at.append(seen.shown())

    assert at == [["0"], ["1"], ["2"], ["1"], ["9"], ["9"], ["8"], ["0"], ["0"], ["7"]]


def test_a_number_of_several_digits_goes_to_that_step_or_the_last(visit: Open) -> None:
    seen = visit("two.html#run-2-step-0")
    seen.page.keyboard.type("11")

    assert seen.shown(2) == [seen.page.locator("#run-2 section.frame").last.get_attribute("data-step")]
    seen.page.wait_for_timeout(1000)
    seen.page.keyboard.type("3")
    assert seen.shown(2) == ["3"]


def test_the_mouse_goes_by_buttons_by_the_list_and_by_the_diagram(visit: Open) -> None:
    seen = visit("one.html")
    at = []
    for name in ("Next step", "Next step", "Step before", "Last step", "Next step", "First state"):
        seen.page.get_by_role("button", name=name).click(force=True)  # at the end, "next" stays there
        at.append(seen.shown())
    seen.page.locator(".story a").nth(5).click()
    at.append(seen.shown())
    seen.page.locator(".diagram .row[data-step='3'] text").first.click()
    at.append(seen.shown())
    seen.page.locator(".storyboard .panel text").last.click()
    at.append(seen.shown())

    assert at == [["1"], ["2"], ["1"], ["9"], ["9"], ["0"], ["5"], ["3"], ["9"]]


def test_the_step_is_marked_in_the_list_and_in_the_diagram_and_told_aloud(visit: Open) -> None:
    seen = visit("one.html")
    seen.page.keyboard.press("5")

    current = seen.page.locator(".story [aria-current=step]")
    assert current.count() == 1
    assert "cut off from the other brokers" in (current.text_content() or "")
    assert re.match("5 ⚡ fault . is cut off", seen.page.locator(".live").text_content() or "")
    row, mark = (seen.page.locator(each).bounding_box() for each in (".diagram [data-step='5']", ".here"))
    assert row is not None
    assert mark is not None
    assert abs(row["y"] - mark["y"]) < 6
    assert abs(row["height"] - mark["height"]) < 12
    assert seen.page.get_by_role("spinbutton", name="Step").input_value() == "5"
    expect(seen.page.get_by_role("button", name="Next step")).to_have_attribute("aria-disabled", "false")


def test_keys_are_left_to_a_field_that_is_typed_in_and_to_what_scrolls(visit: Open) -> None:
    seen = visit("one.html", width=500)
    entry = seen.page.get_by_role("spinbutton", name="Step")
    entry.fill("4")
    entry.press("Home")
    assert seen.shown() == ["0"]
    entry.press("Enter")
    assert seen.shown() == ["4"]
    seen.page.locator(".diagram .scroll").focus()
    seen.page.keyboard.press("ArrowRight")
    seen.soon("document.querySelector('.diagram .scroll').scrollLeft > 0")
    assert seen.shown() == ["4"]
    seen.page.keyboard.press("j")
    assert seen.shown() == ["5"]
    seen.page.keyboard.press("Control+k")
    assert seen.shown() == ["5"]


def test_a_number_that_is_none_is_forgotten(visit: Open) -> None:
    seen = visit("one.html#step-2")
    entry = seen.page.get_by_role("spinbutton", name="Step")
    entry.fill("")
    entry.press("Enter")
    entry.blur()

    assert seen.shown() == ["2"]
    assert entry.input_value() == "2"
    entry.fill("99")
    entry.press("Enter")
    assert seen.shown() == ["9"]
    assert entry.input_value() == "9"


def test_a_link_to_a_step_opens_at_it_and_the_address_follows(visit: Open) -> None:
    seen = visit("one.html#step-4")
    assert seen.shown() == ["4"]
    expect(seen.page.locator("#step-4")).to_be_in_viewport()
    seen.page.keyboard.press("j")
    assert seen.page.url.endswith("#step-5")
    seen.page.evaluate("location.hash = '#step-2'")
    seen.soon("document.querySelector('#step-2').classList.contains('shown')")

    assert seen.shown() == ["2"]


def test_each_run_has_a_stepper_of_its_own(visit: Open) -> None:
    seen = visit("two.html#run-2-step-3")
    assert (seen.shown(1), seen.shown(2)) == (["0"], ["3"])
    seen.page.keyboard.press("j")
    assert (seen.shown(1), seen.shown(2)) == (["0"], ["4"])
    seen.page.locator("#run-1").get_by_role("button", name="Next step").click()
    seen.page.keyboard.press("j")
    assert (seen.shown(1), seen.shown(2)) == (["2"], ["4"])
    seen.page.locator(".verdicts a").click()
    seen.page.keyboard.press("End")

    assert seen.shown(1) == ["2"]
    assert seen.shown(2) == [seen.page.locator("#run-2 section.frame").last.get_attribute("data-step")]


def test_what_has_the_focus_can_be_seen(visit: Open) -> None:
    seen = visit("one.html")
    seen.page.keyboard.press("Tab")
    assert seen.page.evaluate("document.activeElement.className") == "skip"
    styles = set()
    for _ in range(8):
        seen.page.keyboard.press("Tab")
        styles.add(seen.page.evaluate("getComputedStyle(document.activeElement).outlineStyle"))

    assert styles == {"solid"}


# --------------------------------------------------------------- without, narrow, dark


def test_without_javascript_every_step_is_shown_and_nothing_to_press(visit: Open) -> None:
    seen = visit("two.html", script=False)

    for run in (1, 2):
        frames = seen.page.locator(f"#run-{run} section.frame")
        assert len(seen.shown(run)) == frames.count() > 5
    assert not any(each.is_visible() for each in seen.page.get_by_role("button").all())
    seen.page.locator(".story a").nth(4).click()
    expect(seen.page.locator("#step-4")).to_be_in_viewport()


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_a_narrow_screen_need_not_be_moved_sideways(visit: Open, *, script: bool) -> None:
    seen = visit("two.html", width=360, script=script)
    for _ in range(10 if script else 1):
        wide, room = seen.page.locator("html").evaluate("page => [page.scrollWidth, page.clientWidth]")
        assert wide <= room == 360
        seen.page.keyboard.press("j")
    boxes = seen.page.locator(".diagram .scroll")
    assert boxes.first.evaluate("box => box.scrollWidth > box.clientWidth")


def test_on_a_narrow_screen_the_buttons_stand_in_one_line_and_are_large_enough(visit: Open) -> None:
    seen = visit("one.html#step-3", width=360)
    boxes = [each.bounding_box() for each in seen.page.get_by_role("button").all()]

    sizes = [(box["width"] >= 44, box["height"] >= 44) for box in boxes if box is not None]
    assert sizes == [(True, True)] * 4
    assert len({box["y"] for box in boxes if box is not None}) == 1


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_text_stands_out_from_what_is_behind_it(visit: Open, *, dark: bool) -> None:
    seen = visit("one.html#step-9", dark=dark)
    found = seen.page.evaluate(CONTRASTS)

    assert len(found) > 100
    assert [each for each in found if each[1] < 4.5] == []


CONTRASTS = """() => {
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (colour) => {
    const [r, g, b] = numbers(colour).map((v) => v / 255)
      .map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const colour = getComputedStyle(each).backgroundColor;
      if ((numbers(colour)[3] ?? 1) > 0) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || element.closest("svg, script, [aria-disabled=true]")) continue;
    if (!element.checkVisibility()) continue;
    const [a, b] = [getComputedStyle(element).color, behind(element)].map(light);
    found.push([element.outerHTML.slice(0, 80), (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)]);
  }
  return found;
}"""


# ------------------------------------------------------------------------- folded


@pytest.mark.parametrize("width", [1280, 390])
def test_folded_runs_take_no_room_until_one_is_asked_for(visit: Open, width: int) -> None:
    seen = visit("folded.html", width=width)
    assert seen.page.evaluate("document.documentElement.scrollHeight") < 2500
    seen.page.keyboard.press("j")
    assert (seen.shown(1), seen.shown(2)) == ([], [])
    seen.page.locator(".verdicts a").click()
    expect(seen.page.locator("#run-2 .stepper")).to_be_visible()
    seen.page.locator("#run-2").get_by_role("button", name="Next step").click()

    assert (seen.shown(1), seen.shown(2)) == ([], ["1"])
    wide, room = seen.page.locator("html").evaluate("page => [page.scrollWidth, page.clientWidth]")
    assert wide <= room == width


def test_a_link_to_a_step_of_a_folded_run_opens_it(visit: Open) -> None:
    seen = visit("folded.html#run-2-step-3")

    assert (seen.shown(1), seen.shown(2)) == ([], ["3"])
    expect(seen.page.locator("#run-2-step-3")).to_be_in_viewport()


# -------------------------------------------------------------------------- on paper


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_print_has_every_step_and_no_buttons(visit: Open, *, dark: bool) -> None:
    seen = visit("one.html#step-3", dark=dark)
    printed = pypdf.PdfReader(io.BytesIO(seen.page.pdf(format="A4")))
    texts = [sheet.extract_text() for sheet in printed.pages]

    assert 5 < len(texts) < 20
    whole = " ".join(" ".join(texts).split())
    for number in range(1, 10):
        assert f"Step {number} of 9" in whole
    assert "acked subset ids(l.log)" in whole
    assert "own_high_watermark" in whole or "kip_279" in whole
    assert "Next" not in whole
    assert all(len(text.strip()) > 40 for text in texts), "a page is empty"


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_of_folded_runs_those_are_printed_that_were_opened(visit: Open, *, script: bool) -> None:
    seen = visit("folded.html", script=script)
    before = printed_words(seen)
    seen.page.locator("#run-1 summary").click()
    after = printed_words(seen)

    assert "Step " not in before
    assert "Step 9 of 9" in after
    assert seen.page.locator("#run-2 details").get_attribute("open") is None


def printed_words(seen: Visit) -> str:
    printed = pypdf.PdfReader(io.BytesIO(seen.page.pdf(format="A4")))
    return " ".join(" ".join(sheet.extract_text() for sheet in printed.pages).split())


def test_paper_is_white_even_from_a_dark_screen(visit: Open) -> None:
    seen = visit("one.html", dark=True)
    seen.page.emulate_media(media="print", color_scheme="dark")

    assert seen.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    fills = "element => getComputedStyle(element).fill"
    assert seen.page.locator(".diagram rect.paper").evaluate(fills) == "rgb(255, 255, 255)"


# ------------------------------------------------------------------------- bad input


def test_markup_in_names_is_never_run(visit: Open) -> None:
    seen = visit("nasty.html")
    for _ in range(6):
        seen.page.keyboard.press("j")

    assert seen.shown() == ["5"]
    assert seen.page.title() == NASTY
    assert seen.page.locator("img").count() == 0
    assert seen.page.locator("script").count() == 1


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_a_page_of_what_was_tried_shows_hostile_words_on_a_narrow_screen(
    visit: Open, *, script: bool
) -> None:
    seen = visit("tried.html", width=360, script=script)
    wide, room = seen.page.locator("html").evaluate("page => [page.scrollWidth, page.clientWidth]")

    assert wide <= room == 360
    assert seen.page.title() == NASTY
    assert seen.page.locator("img, script").count() == 0
    assert seen.page.locator("article.tried pre").inner_text().splitlines()[0] == NASTY
