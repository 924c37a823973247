"""A long list on a page, in a real browser: sorting, filtering, links, the keyboard, and many rows."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path

import pypdf
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from counterexamples.html.listing import SHOWN, ListCell, ListFilter, Listing, ListKind
from counterexamples.html.page import Card, page
from counterexamples.lines import Role
from tests.pages import assert_sound

NASTY = "</script><script>document.title='hacked'</script>"
KINDS = (
    ListKind(
        (ListCell("no", Role.BAD, -1), ListCell("NOT met: durable:1", Role.BAD, -1)), ("broken", "unmet")
    ),
    ListKind((ListCell("1", Role.UNSURE, 1), ListCell(NASTY, Role.PLAIN, 3)), ("broken",)),
    ListKind((ListCell("2+", Role.GOOD, 2.5), ListCell("met", Role.GOOD, 3)), ("kept", "met")),
)
FILTERS = (
    ListFilter("guarantee", "Guarantee", (("durable", (("broken", "broken"), ("kept", "kept"))),)),
    ListFilter("policy", "Policy", (("", (("unmet", "NOT met"), ("met", "met"))),)),
)
FEW = tuple(
    (f"{name}-{number}", KINDS[kind]) for kind, name, number in ((0, "b", 10), (1, "a", 9), (2, "b", 9))
)
MANY = tuple((f"t{number:05d}", KINDS[number * 3 // 10_000]) for number in range(10_000))
Open = Callable[..., Page]


def listed(rows: tuple[tuple[str, ListKind], ...]) -> str:
    listing = Listing("Topics", ("topic", "durable", "policy"), rows, "worst first", FILTERS, (1,), "2+: two")
    return page([], title="topics", cards=[Card("All", "", Role.PLAIN, listing=listing)], folded=True)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("listed")
    for name, rows in (("few.html", FEW), ("many.html", MANY), ("one.html", FEW[:1])):
        (folder / name).write_text(listed(rows), encoding="utf-8")
    return folder


@pytest.fixture
def visit(browser: Browser, pages: Path) -> Iterator[Open]:
    """`visit("few.html#sort=topic")`: the page from a file, which in the end has not complained."""
    contexts: list[BrowserContext] = []
    told: list[str] = []

    def look(where: str, *, script: bool = True) -> Page:
        context = browser.new_context(java_script_enabled=script)
        contexts.append(context)
        seen = context.new_page()
        seen.on("console", lambda message: told.append(message.text))
        seen.on("pageerror", lambda error: told.append(str(error)))
        seen.goto(f"{pages.as_uri()}/{where}")
        return seen

    yield look
    for context in contexts:
        context.close()
    assert told == []


def names(seen: Page) -> list[str]:
    return seen.locator(".listing tbody th").all_text_contents()


def sort_of(seen: Page) -> dict[str, str | None]:
    heads = seen.locator(".listing thead th").all()
    found = {each.inner_text(): each.get_attribute("aria-sort") for each in heads}
    return {name: sort for name, sort in found.items() if sort is not None}


@pytest.mark.parametrize("rows", [FEW, MANY[:SHOWN], MANY], ids=["few", "all shown", "many"])
def test_a_list_is_a_sound_page(rows: tuple[tuple[str, ListKind], ...]) -> None:
    root = assert_sound(listed(rows))

    assert len(root.find("tbody")[0].find("tr")) == min(len(rows), SHOWN)


def test_a_column_sorts_up_then_down_then_as_it_was(visit: Open) -> None:
    seen = visit("few.html")
    assert names(seen) == ["b-10", "a-9", "b-9"]
    orders = []
    for _ in range(3):
        seen.get_by_role("button", name="topic").click()
        orders.append((names(seen), sort_of(seen)))
    seen.get_by_role("button", name="durable").click()
    seen.get_by_role("button", name="durable").click()

    assert orders == [
        (["a-9", "b-9", "b-10"], {"topic": "ascending"}),
        (["b-10", "b-9", "a-9"], {"topic": "descending"}),
        (["b-10", "a-9", "b-9"], {}),
    ]
    assert names(seen) == ["b-9", "a-9", "b-10"]


def test_text_guarantee_and_policy_filter_together_and_are_counted(visit: Open) -> None:
    seen = visit("few.html")
    status = seen.get_by_role("status")
    seen.get_by_label("Text").fill("B-")
    assert names(seen) == ["b-10", "b-9"]
    expect(status).to_have_text("2 of 3 rows")
    seen.get_by_label("Guarantee").select_option("kept")
    assert names(seen) == ["b-9"]
    seen.get_by_label("Policy").select_option("NOT met")
    assert names(seen) == []
    expect(status).to_have_text("0 of 3 rows")
    seen.get_by_role("button", name="Show all").click()
    assert names(seen) == ["b-10", "a-9", "b-9"]
    seen.get_by_label("Text").fill("not met durable")
    assert names(seen) == ["b-10"]


def test_a_link_has_the_order_and_the_filters(visit: Open) -> None:
    seen = visit("few.html")
    seen.get_by_role("button", name="durable").click()
    seen.get_by_role("button", name="durable").click()
    seen.get_by_label("Text").fill("b 9&=")
    seen.get_by_label("Text").fill("-")
    seen.get_by_label("Guarantee").select_option("broken")
    again = visit(f"few.html#{seen.url.partition('#')[2]}")

    assert seen.url.partition("#")[2] == "sort=durable&order=descending&text=-&guarantee=broken"
    assert (
        (names(again), sort_of(again))
        == (names(seen), sort_of(seen))
        == (["a-9", "b-10"], {"durable": "descending"})
    )
    assert again.get_by_label("Guarantee").input_value() == "broken"
    again.evaluate("location.hash = 'sort=topic'")
    expect(again.locator(".listing tbody th").first).to_have_text("a-9")
    assert names(again) == ["a-9", "b-9", "b-10"]
    seen.get_by_role("button", name="Show all").click()
    assert "#" not in seen.url


@pytest.mark.parametrize(
    "address", ["%", "sort=nothing&policy=nothing", "list-title", "text=", "order=descending"]
)
def test_an_address_that_is_none_of_ours_shows_all(visit: Open, address: str) -> None:
    assert names(visit(f"few.html#{address}")) == ["b-10", "a-9", "b-9"]


def test_all_can_be_done_from_the_keyboard(visit: Open) -> None:
    seen = visit("few.html")
    reached = []
    for _ in range(8):
        seen.keyboard.press("Tab")
        reached.append(
            seen.evaluate("document.activeElement.name || document.activeElement.textContent.trim()")
        )
    seen.get_by_role("button", name="topic").focus()
    seen.keyboard.press("Enter")

    assert reached[:4] == ["text", "guarantee", "policy", "Show all, worst first"]
    assert reached[5:8] == ["topic", "durable", "policy"]  # after the region that scrolls
    assert sort_of(seen) == {"topic": "ascending"}
    assert seen.evaluate("document.activeElement.textContent") == "topic"


def test_of_ten_thousand_rows_few_are_in_the_page_and_all_are_found(visit: Open) -> None:
    seen = visit("many.html")
    assert len(names(seen)) == SHOWN
    seen.get_by_role("button", name="topic").click()
    seen.get_by_role("button", name="topic").click()
    assert (len(names(seen)), names(seen)[0]) == (SHOWN, "t09999")
    seen.get_by_role("button", name="Show more").click()
    assert names(seen)[-1] == f"t{10_000 - 2 * SHOWN:05d}"
    expect(seen.get_by_role("status")).to_have_text("10,000 rows, of which the first 400 are shown")
    seen.get_by_label("Text").fill("t0777")
    assert sorted(names(seen)) == [f"t{number:05d}" for number in range(7770, 7780)]
    expect(seen.get_by_role("button", name="Show more")).to_be_hidden()


def test_the_last_button_leaves_the_keyboard_at_the_rows_that_it_shows(visit: Open) -> None:
    seen = visit("many.html")
    seen.get_by_label("Text").fill("t000")
    seen.get_by_label("Text").fill("t00 0")
    more = seen.get_by_role("button", name="Show more")
    while more.is_visible():
        more.press("Enter")

    assert seen.evaluate("document.activeElement.tagName") == "TR"


def test_without_javascript_the_first_rows_are_there_and_nothing_to_press(visit: Open) -> None:
    seen = visit("many.html", script=False)

    assert len(names(seen)) == SHOWN
    assert not any(each.is_visible() for each in seen.locator("button, input, select").all())
    expect(seen.get_by_role("status")).to_contain_text("The first 200 of 10,000 rows")
    assert seen.title() == "topics"


def test_markup_in_a_cell_is_text(visit: Open) -> None:
    seen = visit("few.html#sort=topic")

    assert seen.title() == "topics"
    assert seen.locator(".listing tbody td").nth(1).text_content() == NASTY


def test_a_list_prints_its_rows_with_their_heads_and_nothing_to_press(visit: Open) -> None:
    seen = visit("many.html")
    printed = pypdf.PdfReader(io.BytesIO(seen.pdf(format="A4")))
    texts = [sheet.extract_text() for sheet in printed.pages]

    assert 2 <= len(texts) <= 6
    assert all(text.count("topic ") == 1 for text in texts[1:-1])
    assert "t00199" in texts[-1] + texts[-2]
    assert "Guarantee" not in texts[0]
    assert "200 are shown" in texts[0]
