"""Terraform's language, as far as configurations are written in it: blocks, attributes, literals.

An expression that is no literal (a reference, a call, a condition) is kept as text, marked as computed.
A block is an entry of the body that contains it, under its type; its labels are in the entry's key.
"""

from __future__ import annotations

import re

from modelcheck.kafka.settings.readers.formats.tree import MappingNode, Node, ScalarNode, SequenceNode
from spec.frozen import frozen
from spec.source import Source, Span

_SPACE = re.compile(r"(?:[ \t]|/\*.*?\*/)*", re.DOTALL)
_BLANK = re.compile(r"(?:\s|#[^\n]*|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_][\w.-]*")
_LABEL = re.compile(r'"([^"\n]*)"|([A-Za-z_][\w-]*)')
_HEREDOC = re.compile(r"<<[-~]?([A-Za-z_]\w*)[ \t]*\r?\n")
_LITERAL = re.compile(r"-?\d+(?:\.\d+)?|true|false|null")
_ENDS = re.compile(r"[ \t]*(?:\r?\n|$|[,}\])]|#|//|/\*)")
_DEEPEST = 100
_CLOSES = {"(": ")", "[": "]", "{": "}"}
_RESOURCE = re.compile(
    r'^[ \t]*(?:(?:resource|data|module|variable|output|provider)[ \t]+"[^"\n]+"[^\n{]*'
    r"|(?:locals|terraform)[ \t]*)\{",
    re.MULTILINE,
)


class HclError(ValueError):
    """Raised for a text that is not HCL; has the place."""

    def __init__(self, at: int, message: str) -> None:
        super().__init__(message)
        self.at = at
        self.message = message


@frozen
class Block:
    """An HCL block: type, labels and body."""

    type: str
    labels: tuple[ScalarNode, ...]
    body: MappingNode


def is_hcl(text: str) -> bool:
    """Whether a text has a Terraform block."""
    return _RESOURCE.search(text) is not None


def read_hcl(source: Source) -> tuple[Block, ...]:
    """The blocks of a text; HclError where it is none.  Costs time linear in the text."""
    parser = _HclParser(source.text)
    _, blocks = parser.body(0, top=True)
    return blocks


class _HclParser:
    """A recursive-descent parser of HCL; each method parses at the current position."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def body(self, depth: int, *, top: bool = False) -> tuple[MappingNode, tuple[Block, ...]]:
        """Parse the body of a block up to its closing brace, or the end of the text."""
        start = self._at
        found: list[tuple[ScalarNode, Node]] = []
        blocks: list[Block] = []
        if depth > _DEEPEST:
            raise HclError(self._at, "this is nested too deeply")
        while True:
            self._skip(_BLANK)
            if self._at >= len(self._text):
                if not top:
                    raise HclError(start, "this brace is not closed")
                break
            if not top and self._text[self._at] == "}":
                self._at += 1
                break
            key = self._name()
            self._skip(_SPACE)
            if self._text[self._at : self._at + 1] == "=":
                self._at += 1
                found.append((key, self._value(depth)))
            else:
                block = self._block(key, depth)
                blocks.append(block)
                found.append((key, block.body))
        return MappingNode(tuple(found), Span(start, self._at)), tuple(blocks)

    def _name(self) -> ScalarNode:
        """Parse an identifier or quoted name."""
        match = _NAME.match(self._text, self._at)
        if match is None:
            raise HclError(self._at, "expected a name")
        self._at = match.end()
        return ScalarNode(match[0], Span(*match.span()))

    def _block(self, kind: ScalarNode, depth: int) -> Block:
        """Parse the labels and body of a block."""
        labels: list[ScalarNode] = []
        while (match := _LABEL.match(self._text, self._at)) is not None:
            labels.append(ScalarNode(match[1] if match[1] is not None else match[2], Span(*match.span())))
            self._at = match.end()
            self._skip(_SPACE)
        if self._text[self._at : self._at + 1] != "{":
            raise HclError(self._at, "expected `=` or `{`")
        self._at += 1
        body, _ = self.body(depth + 1)
        return Block(kind.text, tuple(labels), body)

    def _value(self, depth: int) -> Node:
        """Parse an expression: a literal, or else the expression's text."""
        self._skip(_SPACE)
        start = self._at
        if depth > _DEEPEST:
            raise HclError(start, "this is nested too deeply")
        try:
            made = self._literal(depth)
        except HclError:
            made = None  # brackets may also hold a `for`, which only Terraform works out
        if made is not None and _ENDS.match(self._text, self._at):
            return made
        self._at = start
        self._at = self._end_of_expression()
        text = self._text[start : self._at].rstrip()
        if not text:
            raise HclError(start, "expected a value")
        return ScalarNode(text, Span(start, start + len(text)), computed=True)

    def _literal(self, depth: int) -> Node | None:
        """Parse a literal; None if the expression is none."""
        text, start = self._text, self._at
        if heredoc := _HEREDOC.match(text, start):
            return self._heredoc(heredoc)
        if text.startswith('"', start):
            end = _end_of_string(text, start)
            self._at = end
            inner = text[start + 1 : end - 1]
            return ScalarNode(_unescaped(inner), Span(start, end), computed=inner.startswith("${"))
        if literal := _LITERAL.match(text, start):
            self._at = literal.end()
            return ScalarNode(literal[0], Span(*literal.span()))
        if text.startswith("[", start):
            return self._list(depth)
        if text.startswith("{", start):
            return self._object(depth)
        return None

    def _heredoc(self, opened: re.Match[str]) -> ScalarNode:
        """Parse a heredoc."""
        end = re.compile(rf"^[ \t]*{opened[1]}[ \t]*\r?$", re.MULTILINE).search(self._text, opened.end())
        if end is None:
            raise HclError(opened.start(), f"`{opened[1]}` does not end this text")
        self._at = end.end()
        text = self._text[opened.end() : end.start()]
        return ScalarNode(text, Span(opened.start(), end.start()), verbatim=True)

    def _list(self, depth: int) -> SequenceNode:
        """Parse a list."""
        start = self._at
        self._at += 1
        found: list[Node] = []
        while not self._closed("]", start):
            found.append(self._value(depth + 1))
            self._skip(_BLANK)
            self._after(",", "]")
        return SequenceNode(tuple(found), Span(start, self._at))

    def _object(self, depth: int) -> MappingNode:
        """Parse an object."""
        start = self._at
        self._at += 1
        found: list[tuple[ScalarNode, Node]] = []
        while not self._closed("}", start):
            key = self._key()
            self._skip(_SPACE)
            if self._text[self._at : self._at + 1] not in ("=", ":"):
                raise HclError(self._at, "expected `=`")
            self._at += 1
            found.append((key, self._value(depth + 1)))
            self._skip(_BLANK)
            self._after(",", "}", optional=True)
        return MappingNode(tuple(found), Span(start, self._at))

    def _key(self) -> ScalarNode:
        """Parse the key of an object."""
        if self._text.startswith('"', self._at):
            start, end = self._at, _end_of_string(self._text, self._at)
            self._at = end
            return ScalarNode(self._text[start + 1 : end - 1], Span(start + 1, end - 1))
        return self._name()

    def _closed(self, sign: str, opened: int) -> bool:
        """Whether the closing bracket is next, which is consumed."""
        self._skip(_BLANK)
        if self._at >= len(self._text):
            raise HclError(opened, "this bracket is not closed")
        if self._text[self._at] != sign:
            return False
        self._at += 1
        return True

    def _after(self, comma: str, end: str, *, optional: bool = False) -> None:
        """Parse the separator after an item."""
        if self._text[self._at : self._at + 1] == comma:
            self._at += 1
        elif self._text[self._at : self._at + 1] != end and not optional:
            raise HclError(self._at, f"expected `{comma}` or `{end}`")

    def _skip(self, what: re.Pattern[str]) -> None:
        """Skip what a pattern matches."""
        found = what.match(self._text, self._at)
        assert found is not None  # both patterns match the empty text
        self._at = found.end()

    def _end_of_expression(self) -> int:
        """The end of an expression: a comma, closing bracket or line end."""
        text, at = self._text, self._at
        open_: list[str] = []  # what would close the brackets that are open
        while at < len(text):
            char = text[at]
            heredoc = _HEREDOC.match(text, at) if char == "<" else None
            if heredoc is not None:
                self._heredoc(heredoc)
                at = self._at
                continue
            if char == '"':
                at = _end_of_string(text, at)
                continue
            if char in _CLOSES:
                open_.append(_CLOSES[char])
            elif open_ and char == open_[-1]:
                open_.pop()
            elif char in ")]}" or (not open_ and char in ",\n#"):
                break
            at += 1
        if open_:
            raise HclError(self._at, "this bracket is not closed")
        return at


def _end_of_string(text: str, start: int) -> int:
    """The index after a string's closing quote; `${…}` inside may contain quotes."""
    at, open_ = start + 1, 0
    while at < len(text):
        if text[at] == "\\":
            at += 2
            continue
        if text.startswith("${", at) or (open_ and text[at] == "{"):
            open_ += 1
            at += 1 if text[at] == "$" else 0
        elif open_ and text[at] == "}":
            open_ -= 1
        elif text[at] == '"' and not open_:
            return at + 1
        elif text[at] == "\n" and not open_:
            break
        at += 1
    raise HclError(start, "this string is not closed")


def _unescaped(text: str) -> str:
    """The text of a string with escapes resolved."""
    return text.replace("\\n", "\n").replace('\\"', '"').replace("\\\\", "\\")
