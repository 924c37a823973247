"""The site of the documentation: built whole, every link followed, and searched without a network."""

from __future__ import annotations

import fcntl
import subprocess
import sys
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Page, Route

import spec.library as library
from spec.codes import codes
from tests.browsers import installed
from tests.site_pages import SitePage, dead_ends, loaded_from_elsewhere, site_pages

ROOT = Path(__file__).parent.parent

LOOKED_AT = (
    "index.html",
    "docs/how-to/review-kafka.html",
    "docs/tutorials/first-model.html",
    "famous.html",
    "gallery.html",
    "play.html",
    "spec/protocols/README.html",
    "spec/protocols/quorum.html",
    "search.html",
)
COLOURS = """() => {
  const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (colour) => {
    const [r, g, b] = parts(colour).slice(0, 3).map((value) => value / 255)
      .map((value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {  // the colour of the nearest element that has one
    for (; element; element = element.parentElement) {
      const colour = getComputedStyle(element).backgroundColor;
      if ((parts(colour)[3] ?? 1) > 0) return light(colour);
    }
    return matchMedia("(prefers-color-scheme: dark)").matches ? 0 : 1;
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), faint = [], grounds = [];
  for (let text; text = texts.nextNode();) {
    const element = text.parentElement;
    if (!text.data.trim() || !element.checkVisibility()) continue;
    const ink = light(getComputedStyle(element).color), paper = ground(element);
    const contrast = (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
    grounds.push(paper);
    if (contrast < 4.5) faint.push(`${contrast.toFixed(1)} ${element.className}: ${text.data.trim()}`);
  }
  return { faint, texts: grounds.length, darkest: Math.min(...grounds), lightest: Math.max(...grounds) };
}"""
BROKEN_WORDS = """() => {
  const broken = [];
  let words = 0;
  for (const cell of document.querySelectorAll("td, th")) {
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT), range = document.createRange();
    for (let text; text = texts.nextNode();) {
      for (const word of text.data.matchAll(/\\w+/g)) {
        range.setStart(text, word.index);
        range.setEnd(text, word.index + word[0].length);
        words += 1;
        const lines = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
        if (lines.size > 1) broken.push(word[0]);
      }
    }
  }
  return { words, broken };
}"""

pytestmark = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("sphinx", "myst_parser")),
    reason="the extra `modelcheck[docs]` is not installed",
)


def made(*words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "docs.site", *map(str, words)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The whole site, built once for all workers, as a reader of the repository builds it."""
    base = tmp_path_factory.getbasetemp()
    shared = base if worker_id == "master" else base.parent
    folder = shared / "site"
    with (shared / "site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # whoever comes later waits, and finds it built
        if not (shared / "site.built").exists():
            run = made(folder)

            assert run.returncode == 0, run.stderr[-4000:]
            (shared / "site.built").touch()
    return folder


@pytest.fixture(scope="session")
def pages(site: Path) -> Mapping[Path, SitePage]:
    return site_pages(site)


@pytest.fixture
def reader(site: Path) -> Iterator[Page]:
    """A page of a browser that has no network and minds every mistake."""
    wrong: list[str] = []

    def only_files(route: Route) -> None:
        if not route.request.url.startswith("file:"):
            wrong.append(route.request.url)
        route.continue_() if route.request.url.startswith("file:") else route.abort()

    with installed() as browser:
        page = browser.new_context(viewport={"width": 390, "height": 800}).new_page()
        page.route("**/*", only_files)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
        yield page
    assert wrong == []


def test_the_site_is_whole(site: Path, pages: Mapping[Path, SitePage]) -> None:
    page = pages[site / "spec" / "codes.html"]
    protocols = {path.stem for path in (site / "spec" / "protocols").glob("*.html")}

    assert protocols == {*library.names(), "README"}
    assert {code.lower() for code in codes()} <= page.places
    assert len(list((site / "_images").glob("*.storyboard.svg"))) >= 50
    assert len(list((site / "play").glob("*.html"))) >= 5


def test_every_link_leads_somewhere(pages: Mapping[Path, SitePage]) -> None:
    assert sum(len(page.links) for page in pages.values()) >= 1000
    assert list(dead_ends(pages)) == []


def test_every_page_is_found_from_the_first(site: Path, pages: Mapping[Path, SitePage]) -> None:
    found, new = set[Path](), [site / "index.html"]
    while new:
        path = new.pop()
        if path in pages and path not in found:
            found.add(path)
            new += [(path.parent / link.partition("#")[0]).resolve() for link in pages[path].links]

    assert pages.keys() - found <= {site / "search.html"}


def test_nothing_is_loaded_from_a_network(site: Path, pages: Mapping[Path, SitePage]) -> None:
    assert list(loaded_from_elsewhere(site, pages)) == []


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ('<a href="none.html">x</a>', "page.html → none.html"),
        ('<a href="#none">x</a>', "page.html → #none: no such place"),
        ('<a href="page.html#none">x</a>', "page.html → page.html#none: no such place"),
        ('<img src="none.svg">', "page.html → none.svg"),
        ('<script src="https://other.example/x.js"></script>', "page.html ← https://other.example/x.js"),
        ('<link rel="stylesheet" href="//other.example/x.css">', "page.html ← //other.example/x.css"),
    ],
)
def test_a_bad_link_is_found(text: str, wrong: str, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(text)
    pages = site_pages(tmp_path)

    assert [*dead_ends(pages), *loaded_from_elsewhere(tmp_path, pages)] == [wrong]


def test_the_search_works_from_a_folder(site: Path, reader: Page) -> None:
    reader.goto((site / "index.html").as_uri())
    reader.get_by_placeholder("Search").fill("truncate high watermark")
    reader.keyboard.press("Enter")
    reader.wait_for_selector("#search-results li a")
    reader.locator("#search-results li a", has_text="kafka_followers").first.click()
    reader.wait_for_url("**/kafka_followers.html*")  # a click returns before the page it leads to is there

    assert reader.title().startswith("kafka_followers")


@pytest.mark.nightly
def test_no_page_is_wider_than_a_phone(site: Path, reader: Page) -> None:
    wide = {}
    for path in sorted(site.rglob("*.html")):
        reader.goto(path.as_uri())
        wide[path.relative_to(site).as_posix()] = reader.evaluate("document.documentElement.scrollWidth")

    assert len(wide) >= 60
    assert {name: width for name, width in wide.items() if width > 390} == {}


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in_light_and_in_dark(
    site: Path, reader: Page, scheme: Literal["light", "dark"], width: int
) -> None:
    reader.set_viewport_size({"width": width, "height": 800})
    reader.emulate_media(color_scheme=scheme)
    for name in LOOKED_AT:
        reader.goto((site / name).as_uri())
        seen = reader.evaluate(COLOURS)

        assert seen["texts"] >= 10, name
        assert seen["faint"] == [], name
        assert seen["darkest"] > 0.9 if scheme == "light" else seen["lightest"] < 0.1, name


@pytest.mark.parametrize("width", [390, 1280])
def test_tables_do_not_break_words(site: Path, reader: Page, width: int) -> None:
    reader.set_viewport_size({"width": width, "height": 800})
    for name in ("README", "kafka", "quorum", "kafka_followers"):
        reader.goto((site / "spec" / "protocols" / f"{name}.html").as_uri())
        seen = reader.evaluate(BROKEN_WORDS)

        assert seen["words"] >= 20, name
        assert seen["broken"] == [], name


def test_the_landing_page_has_at_most_two_screens(site: Path, reader: Page) -> None:
    reader.set_viewport_size({"width": 1280, "height": 800})
    reader.goto((site / "index.html").as_uri())

    assert reader.locator("img").evaluate("picture => picture.naturalWidth") >= 700
    assert reader.evaluate("document.documentElement.scrollHeight") <= 1600


def test_the_command_of_the_landing_page_gives_the_pasted_text_to_a_review(site: Path, reader: Page) -> None:
    pasted = "min.insync.replicas=2\nEND\n# it's $HOME and `date`"
    reader.goto((site / "index.html").as_uri())
    shown = reader.locator(".command pre")
    example = shown.inner_text()
    reader.get_by_label("properties").fill(pasted)
    reader.get_by_label("Kafka").fill("3.7; x")
    reader.get_by_label("brokers").fill("3")
    command = 'modelcheck() { echo "$@"; cat; }\n' + shown.inner_text()
    run = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True)  # noqa: S607 - the shell that readers have

    assert run.stdout == f"kafka review - --brokers 3\n{pasted}\n"
    reader.get_by_label("properties").fill("")
    assert shown.inner_text() == example


@pytest.mark.parametrize(("name", "least"), [("gallery.html", 50), ("play.html", 5), ("famous.html", 6)])
def test_cards_have_a_picture_and_a_title_for_people(site: Path, reader: Page, name: str, least: int) -> None:
    reader.goto((site / name).as_uri())
    titles = reader.locator(".cards li strong").all_inner_texts()
    pictures = reader.locator(".cards li img").evaluate_all("all => all.map(one => one.naturalWidth)")

    assert len(titles) == len(pictures) >= least
    assert [title for title in titles if len(title.split()) < 4] == []
    assert [width for width in pictures if width < 200] == []


def test_a_folder_of_somebody_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    run = made(tmp_path)

    assert run.returncode == 2
    assert "has something in it that is no such site" in run.stderr
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_each_famous_run_opens_at_its_end(site: Path, pages: Mapping[Path, SitePage], reader: Page) -> None:
    famous = [link for link in pages[site / "famous.html"].links if "/play/" in f"/{link}" and "#" in link]
    for link in famous:
        reader.goto(f"{site.as_uri()}/{link}")
        reader.locator("body.ready").wait_for()
        steps = link.count(";")

        assert reader.locator("#status").text_content() == ""
        assert f"After step {steps}" in (reader.locator("#title").text_content() or "")
        assert (reader.locator("#broken").text_content() or "").startswith("✗ broken")
    assert len(famous) >= 6
