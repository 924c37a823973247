"""What the pages of a site lead to and load: read for a test that every link leads somewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {
    ("script", "src"),
    ("img", "src"),
    ("iframe", "src"),
    ("link", "href"),
    ("source", "src"),
    ("object", "data"),
}
NAMED = {
    "canonical",
    "index",
    "search",
    "author",
    "next",
    "prev",
    "copyright",
    "help",
    "top",
}  # links, not loaded


@dataclass
class SitePage(HTMLParser):
    """The links of a page, what it loads, and the places in it that can be led to."""

    text: str
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    places: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.places |= {given[name] for name in ("id", "name") if name in given}
        for name in ("href", "src", "data"):
            if given.get(name):
                is_named = tag == "link" and given.get("rel", "") in NAMED
                where = self.loads if (tag, name) in LOADED and not is_named else self.links
                where.append(given[name])


def site_pages(folder: Path) -> Mapping[Path, SitePage]:
    """Every page in a folder."""
    return {path: SitePage(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.html"))}


def dead_ends(pages: Mapping[Path, SitePage]) -> Iterator[str]:
    """The links within the site that lead to no file, or to no place in it; runs of pages are none."""
    for path, page in pages.items():
        for link in (*page.links, *page.loads):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            there = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not there.is_file():
                yield f"{path.name} → {link}"
            elif there.parent.name == "play" and "/" in parts.fragment:
                continue  # a run, which the page itself opens: a test of its own looks at that
            elif parts.fragment and there in pages and unquote(parts.fragment) not in pages[there].places:
                yield f"{path.name} → {link}: no such place"


def loaded_from_elsewhere(folder: Path, pages: Mapping[Path, SitePage]) -> Iterator[str]:
    """What a page or a style has a browser fetch from a network."""
    for path, page in pages.items():
        yield from (f"{path.name} ← {link}" for link in page.loads if re.match(r"(?:\w+:)?//", link))
    for path in sorted(folder.rglob("*.css")):
        found = re.findall(
            r"(?:url\(|@import )\s*['\"]?((?:https?:)?//[^'\")]+)", path.read_text(encoding="utf-8")
        )
        yield from (f"{path.name} ← {link}" for link in found)
