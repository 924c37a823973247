"""Reading a page in a test: its elements, and what must be true of every page."""

from __future__ import annotations

import re
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from html.parser import HTMLParser

VOID = {"meta", "link", "br", "input"}
LINKS = {"href", "src", "action", "data", "srcset", "poster", "xlink:href", "formaction"}


@dataclass
class Element:
    """An element of a page."""

    tag: str
    attributes: dict[str, str]
    children: list[Element | str] = field(default_factory=list)

    def all(self) -> Iterator[Element]:
        """This element and all in it."""
        yield self
        for child in self.children:
            if isinstance(child, Element):
                yield from child.all()

    def find(self, tag: str = "", kind: str = "") -> list[Element]:
        """The elements in it with a tag and a class."""
        return [
            each
            for each in self.all()
            if tag in {"", each.tag} and (not kind or kind in each.attributes.get("class", "").split())
        ]

    @property
    def text(self) -> str:
        """Its words."""
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    @property
    def words(self) -> str:
        """Its words with single blanks between them."""
        return " ".join(self.text.split())


class _Reader(HTMLParser):
    """Reads strictly: every element that is opened is closed, in order."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("", {})
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"<{tag}> has an attribute twice: {names}"
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open[-1].children.append(Element(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"</{tag}> ends <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def read(page: str) -> Element:
    """A page as its elements. Fails where one is not closed, or an attribute stands twice."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == [reader.root], f"never closed: {[each.tag for each in reader.open]}"
    return reader.root


def shape(page: str) -> Counter[tuple[str, ...]]:
    """Which elements with which attributes there are, and how many of each."""
    return Counter((each.tag, *each.attributes) for each in read(page).all())


def assert_sound(page: str) -> Element:
    """What holds of every page: names are there once, links lead somewhere, nothing comes from elsewhere."""
    root = read(page)
    names = Counter(each.attributes["id"] for each in root.all() if "id" in each.attributes)
    assert [name for name, count in names.items() if count > 1] == []
    refers = [
        name
        for each in root.all()
        for key in ("aria-labelledby", "aria-describedby", "for")
        for name in each.attributes.get(key, "").split()
    ]
    assert set(refers) <= set(names)
    for each in root.all():
        for key, value in each.attributes.items():
            assert not key.startswith("on"), f"<{each.tag}> has {key}"
            assert key != "style", f"<{each.tag}> has a style, which the policy forbids"
            if key in LINKS:
                assert value == "data:," or value.removeprefix("#") in names, f"{key}={value}"
    assert not re.search(r"url\((?!#)|@import|https?://(?!www\.w3\.org/2000/svg)", _code(root))
    policy = next(
        each.attributes["content"]
        for each in root.find("meta")
        if each.attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none'; ")
    allowed = {part.split()[0]: part.split()[1:] for part in policy.split(";")}
    for tag in ("style", "script"):
        for each in _run(root, tag):
            assert (
                f"'sha256-{b64encode(sha256(each.text.encode()).digest()).decode()}'" in allowed[f"{tag}-src"]
            )
    assert root.find("html")[0].attributes["lang"] == "en"
    assert root.find("title")[0].words
    return root


def _code(root: Element) -> str:
    return "\n".join(each.text for tag in ("style", "script") for each in _run(root, tag))


def _run(root: Element, tag: str) -> list[Element]:
    """The styles or scripts, but for scripts that are only data."""
    return [each for each in root.find(tag) if "type" not in each.attributes]
