"""Every picture of the site in a browser: no text leaves its box or lies over another, none is too wide."""

from __future__ import annotations

import random
from collections.abc import Iterator
from html import escape
from io import StringIO
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page

from counterexamples.pictures.drawing import STYLE, TARGET, width_of
from counterexamples.pictures.widths import PLAIN
from docs.site.runs import drawn_runs, last_frame, play_cards
from modelcheck.answers.progress import ProgressLine
from tests.browsers import installed

ROOT = Path(__file__).parent.parent
DRAWN = (*(ROOT / "counterexamples/gallery").glob("*.svg"), *(ROOT / "examples").glob("*.svg"))
GOLDEN = (*(ROOT / "tests/golden/pictures").glob("*.svg"), ROOT / "tests/golden/frontier/kafka.svg")
SMALLEST = 9  # px of a label
TEXTS = 300  # of which the widths are compared
FAULTS = """(svg, [widest, smallest]) => {
  const found = [], width = svg.viewBox.baseVal.width, whole = svg.getBoundingClientRect();
  if (width > widest) found.push(`is ${width} px wide`);
  const box = (each) => { const b = each.getBoundingClientRect(); return { l: b.left, r: b.right, t: b.top, b: b.bottom }; };
  const shapes = (kinds) => [...svg.querySelectorAll(kinds)].map(box);
  const frames = shapes("rect:not(.halo):not(.member)");
  const texts = [...svg.querySelectorAll("text")].filter((each) => each.textContent.trim()).map((each) => {
    const size = parseFloat(getComputedStyle(each).fontSize) * whole.width / width, around = box(each), text = each.textContent;
    if (size < smallest) found.push(`"${text}" is ${size} px tall`);
    // A card shows one frame of a storyboard: the words of the others are out of it.
    const shown = around.l < whole.right && around.r > whole.left && around.t < whole.bottom && around.b > whole.top;
    if (shown && (around.l < whole.left - 0.5 || around.r > whole.right + 0.5)) found.push(`"${text}" leaves the picture`);
    // Of the line, what letters fill: from the top of capitals to the end of what goes below.
    if (each.parentNode.getAttribute("transform")) return { ...around, l: around.l + 0.2 * size, text };
    return { ...around, t: around.t + 0.2 * size, b: around.b - 0.05 * size, text };
  });
  for (const each of texts) {
    const x = (each.l + each.r) / 2, y = (each.t + each.b) / 2;
    for (const f of frames.filter((f) => f.l <= x && x <= f.r && f.t <= y && y <= f.b)) {
      const leaves = each.l < f.l || each.r > f.r || each.t < f.t - 0.5 || each.b > f.b + 0.5;
      if (leaves) found.push(`"${each.text}" leaves its box`);
    }
  }
  const lap = (a, b, from, to) => Math.min(a[to], b[to]) - Math.max(a[from], b[from]) > 0.5;
  texts.forEach((a, n) => texts.slice(n + 1).forEach((b) => {
    if (lap(a, b, "l", "r") && lap(a, b, "t", "b")) found.push(`"${a.text}" lies over "${b.text}"`);
  }));
  const points = [...svg.querySelectorAll(".point")], halos = [...svg.querySelectorAll("rect.halo")];
  for (const [point, p] of points.map((each) => [each, box(each)])) {
    const over = (b) => lap(p, b, "l", "r") && lap(p, b, "t", "b");
    const later = (halo) => point.compareDocumentPosition(halo) & Node.DOCUMENT_POSITION_FOLLOWING;
    if (halos.some((halo) => later(halo) && over(box(halo)))) found.push("the end of an arrow is hidden");
    for (const each of texts.filter(over)) found.push(`"${each.text}" lies over the end of an arrow`);
  }
  const lanes = shapes(".life,.down").map((each) => (each.l + each.r) / 2);
  for (const each of shapes(".point")) {
    if (!lanes.some((x) => Math.abs(each.l - x) < 7 || Math.abs(each.r - x) < 7)) found.push("an arrow ends in nothing");
  }
  for (const each of svg.querySelectorAll("text.dim")) {
    if (each.textContent !== "▸") continue;
    const end = box(each), next = shapes("g.panel > rect.frame, g.panel > rect.broken");
    if (!next.some((f) => f.l > end.l && f.l - end.r < 20 && f.t <= end.t && end.b <= f.b)) found.push("▸ leads nowhere");
  }
  return found;
}"""  # noqa: E501 - a script


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    """A page of an installed browser."""
    with installed() as browser:
        yield browser.new_page(viewport={"width": int(TARGET), "height": 800})


def faults(page: Page, name: str, drawn: str) -> list[str]:
    """What is wrong in a picture, with its name."""
    page.set_content(f"<!doctype html><body style='margin:0'>{drawn}")
    return [f"{name}: {each}" for each in faults_in(page.locator("svg"))]


def faults_in(drawn: Locator) -> list[str]:
    """What is wrong in a picture that a page shows."""
    found: list[str] = drawn.evaluate(FAULTS, [TARGET, SMALLEST])
    return found


@pytest.mark.nightly
def test_texts_of_every_picture_of_the_site_have_room(page: Page) -> None:
    silent = ProgressLine(StringIO(), "", columns=80)
    pictures = {f"{play.page}, the card": card.picture for play, card in play_cards(silent)}
    for run in drawn_runs(silent):
        pictures |= {f"{run.name}, frames": run.storyboard, f"{run.name}, last": last_frame(run.storyboard)}
        pictures[run.name] = run.diagram
    found = [fault for name, drawn in pictures.items() for fault in faults(page, name, drawn)]

    assert len(pictures) > 200
    assert found == []


@pytest.mark.parametrize("path", [*DRAWN, *GOLDEN], ids=lambda path: path.name)
def test_texts_of_a_picture_in_a_document_have_room(page: Page, path: Path) -> None:
    assert faults(page, path.name, path.read_text(encoding="utf-8")) == []


def test_pictures_in_a_page_need_not_be_moved_sideways_in_a_window_of_their_width(page: Page) -> None:
    page.goto((ROOT / "tests/golden/reproduce/not_reproduced.html").as_uri())
    page.locator("details").evaluate_all("all => all.forEach((each) => { each.open = true; })")
    boxes = page.locator(".scroll:has(svg)")
    found = boxes.evaluate_all("all => all.map((each) => [each.scrollWidth, each.clientWidth])")
    page.goto("about:blank")  # without the page's policy, which forbids the styles of others

    assert len(found) == 2
    assert all(wide <= room for wide, room in found)


@pytest.mark.parametrize(
    ("drawn", "fault"),
    [
        ('<rect x="5" y="5" width="30" height="20"/><text x="8" y="20">abcdef</text>', "leaves its box"),
        ('<text x="8" y="20">abcdef</text><text x="18" y="22">abcdef</text>', "lies over"),
        ('<text x="8" y="20" style="font-size:7px">a</text>', "is 7 px tall"),
        (
            '<line x1="9" y1="0" x2="9" y2="9" class="life"/><path d="M60 5l-9 -4v9z" class="point"/>',
            "ends in",
        ),
        ('<text x="8" y="20" class="dim">▸</text>', "leads nowhere"),
        ('<text x="690" y="20">abcdef</text>', "leaves the picture"),
        (
            (
                '<line x1="60" y1="0" x2="60" y2="9" class="life"/><path d="M60 25l-9 -4v9z" class="point"/>'
                '<rect x="50" y="20" width="9" height="9" class="halo"/>'
            ),
            "is hidden",
        ),
        (
            (
                '<line x1="60" y1="0" x2="60" y2="9" class="life"/><path d="M60 20l-9 -4v9z" class="point"/>'
                '<text x="50" y="24">a</text>'
            ),
            "lies over the end",
        ),
    ],
)
def test_each_fault_is_one_that_the_browser_finds(page: Page, drawn: str, fault: str) -> None:
    style = f"<style>{STYLE}</style>"
    (found,) = faults(
        page, "", f'<svg class="mc" viewBox="0 0 700 100" width="700" height="100">{style}{drawn}</svg>'
    )

    assert fault in found


def test_no_text_is_wider_than_was_thought(page: Page) -> None:
    rng, signs = random.Random(1), "".join(PLAIN.values())  # noqa: S311 - no secrets
    kinds = ((), ("strong",), ("title",), ("small",), ("small", "strong"), ("mono",), ("tick",), ("flash",))
    texts = [
        ("".join(rng.choices(signs, k=rng.randint(1, 60))).strip() or "x", rng.choice(kinds))
        for _ in range(TEXTS)
    ]
    drawn = "".join(f'<text class="{" ".join(kind)}">{escape(text)}</text>' for text, kind in texts)
    page.set_content(f'<svg class="mc"><style>{STYLE}</style>{drawn}</svg>')
    measured = page.evaluate(
        "[...document.querySelectorAll('text')].map((each) => each.getComputedTextLength())"
    )

    thought = [width_of(text, *kind) for text, kind in texts]
    assert [each for each in zip(texts, thought, measured, strict=True) if each[2] > each[1] + 0.05] == []
