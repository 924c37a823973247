"""The words of a text, one after the other."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
TOKEN = re.compile(
    r'(?:\s|//[^\n]*)*(?:(?P<text>"[^"\n]*")|(?P<number>[0-9]+)|(?P<name>[A-Za-z_]\w*)|(?P<dot>\.(?=\s))'
    r"|(?P<sign>:=|==|!=|<=|>=|~>|->|\.\.|[^\s])|$)"
)


class Refused(Exception):  # noqa: N818 - this interpreter does not cover it
    """What the text has is not covered here, or is no text of the language."""


class Tokens:
    """Where a parser is in a text.  A dot before a blank is a token of another kind than that of `x.f`."""

    def __init__(self, text: str) -> None:
        self.tokens: list[tuple[str, str]] = []
        self.at = 0
        at = 0
        while at < len(text):
            found = TOKEN.match(text, at)
            assert found is not None, text[at:]
            at = found.end()
            if found.lastgroup is not None:
                self.tokens.append((found.lastgroup, found[found.lastgroup]))

    def kind(self, ahead: int = 0) -> str:
        return self.tokens[self.at + ahead][0] if self.at + ahead < len(self.tokens) else "end"

    def see(self, *words: str, ahead: int = 0) -> bool:
        """Whether the next token is one of these; texts of messages are none."""
        return self.kind(ahead) not in {"text", "dot", "end"} and self.tokens[self.at + ahead][1] in words

    def take(self, *words: str) -> bool:
        """Go past the next token if it is one of these."""
        found = self.see(*words)
        self.at += found
        return found

    def need(self, word: str) -> str:
        if not self.take(word):
            near = " ".join(text for _, text in self.tokens[max(0, self.at - 5) : self.at + 3])
            raise Refused(f"{word!r} is missing in: {near}")
        return word

    def name(self) -> str:
        if self.kind() != "name":
            self.need("a name")
        self.at += 1
        return self.tokens[self.at - 1][1]

    def number(self) -> int:
        sign = -1 if self.take("-") else 1
        if self.kind() != "number":
            self.need("a number")
        self.at += 1
        return sign * int(self.tokens[self.at - 1][1])

    def message(self) -> str:
        if self.kind() != "text":
            self.need("a text")
        self.at += 1
        return self.tokens[self.at - 1][1][1:-1]

    def says(self) -> None:
        if self.take("says"):
            self.message()

    def listed(self, one: Callable[[], T], end: str) -> tuple[T, ...]:
        """All up to the end of a bracket; the commas between them may be missing."""
        found: list[T] = []
        while not self.take(end):
            found.append(one())
            self.take(",")
        return tuple(found)

    def commas(self, one: Callable[[], T]) -> list[T]:
        found = [one()]
        while self.take(","):
            found.append(one())
        return found
