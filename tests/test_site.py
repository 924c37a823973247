"""The site of the documentation: built whole, every link followed, and searched without a network."""

from __future__ import annotations

import fcntl
import subprocess
import sys
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route

import spec.library as library
from spec.codes import codes
from tests.browsers import installed
from tests.site_pages import SitePage, dead_ends, loaded_from_elsewhere, site_pages

ROOT = Path(__file__).parent.parent

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
    reader.get_by_role("textbox").first.fill("truncate high watermark")
    reader.keyboard.press("Enter")
    reader.wait_for_selector("#search-results li a")
    reader.locator("#search-results li a", has_text="kafka_followers").first.click()

    assert reader.title().startswith("kafka_followers")


def test_no_page_is_wider_than_a_phone(site: Path, reader: Page) -> None:
    wide = {}
    for path in sorted(site.rglob("*.html")):
        reader.goto(path.as_uri())
        wide[path.relative_to(site).as_posix()] = reader.evaluate("document.documentElement.scrollWidth")

    assert len(wide) >= 60
    assert {name: width for name, width in wide.items() if width > 390} == {}


def test_a_folder_of_somebody_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    run = made(tmp_path)

    assert run.returncode == 2
    assert "has something in it that is no such site" in run.stderr
    assert (tmp_path / "mine.txt").read_text() == "mine"
