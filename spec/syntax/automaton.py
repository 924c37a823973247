"""Text to nodes by the parser's tables: each node is made when its text ends, with the span it has there.

What lark does with the same tables, without a tree in between: an LALR(1) automaton
that reads a word when it needs one.  Which terminal a word is depends on what is
allowed there, so most words of the language may be names elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from spec.frozen import frozen
from spec.source import Span
from spec.syntax.tables import Production, Tables

Children = list[Any]
MakeNode = Callable[[Children, Span], Any]
MakeLeaf = Callable[[str, Span], Any]


class Unexpected(Exception):  # noqa: N818 - for the parser, not for a user
    """Raised for a syntax error: the place, the word there (empty at the end), the terminals allowed."""

    def __init__(self, at: Span, found: str, expected: frozenset[str]) -> None:
        super().__init__(at, found, expected)
        self.at, self.found, self.expected = at, found, expected


class TooDeep(Exception):  # noqa: N818
    """Raised for a text with constructs nested too deeply."""

    def __init__(self, at: Span) -> None:
        super().__init__(at)
        self.at = at


@frozen
class Begun:
    """The parser's state after the beginning of a text, which gives the possible continuations.

    `expected` are the terminals that may come next; `ends` the rules, by what they make, that a name
    would be the end of; `words` what was read and is not the whole of anything yet.
    """

    expected: frozenset[str]
    ends: frozenset[str]
    words: tuple[str, ...]


@frozen(eq=False)
class _ParserReduction:
    """A production to reduce by: it makes a node (`keeps` the symbols), or passes one symbol on."""

    origin: str
    size: int
    make: MakeNode | None
    keeps: bool
    passed: int | None
    production: Production


class Automaton:
    """An LALR parser; `nodes` makes tree nodes for rules, `leaves` for words, by name.

    A word without a leaf is its text.  Linear in the length of a text.
    """

    def __init__(
        self, tables: Tables, nodes: Callable[[str], MakeNode], leaves: Mapping[str, MakeLeaf]
    ) -> None:
        self._tables = tables
        self._reductions = [_reduction(each, nodes) for each in tables.productions]
        self._leaves = leaves
        self._next = re.compile(tables.token).match

    def parse(self, text: str, start: str, deepest: int) -> Any:  # noqa: ANN401 - what the start rule makes
        """The syntax tree of a text for the start symbol. Raises Unexpected, TooDeep."""
        rows, words = self._tables.rows, self._tables.words
        leaves, reductions = self._leaves, self._reductions
        states = [self._tables.starts[start]]
        values: list[Any] = []  # of the symbols of these states, and where each begins and ends
        begins: list[int] = []
        ends: list[int] = []
        row, at = rows[states[0]], 0
        while True:
            found = self._next(text, at)
            assert found is not None  # anything is a word, if only a wrong one
            kind = found.lastgroup or ""
            begin, at = found.span(kind)
            word = text[begin:at]
            terminal = words.get(word, kind)
            if terminal not in row:
                terminal = kind
            action = row.get(terminal)
            while action is not None and action < 0:
                done = reductions[~action]
                size = done.size
                if size == 1:  # most by far, and most of these pass their symbol on
                    states.pop()
                    if done.passed is None:
                        values[-1] = _made(done, values[-1:], begins[-1], ends[-1])
                else:
                    del states[-size:]
                    first = len(values) - size
                    node = _made(done, values[first:], begins[first], ends[-1])
                    del values[first:], begins[first + 1 :], ends[first:-1]
                    values.append(node)
                state = rows[states[-1]][done.origin]
                states.append(state)
                row = rows[state]
                action = row.get(terminal)
            if action is None:
                raise Unexpected(Span(begin, at), word, self._expected(states))
            if not word:
                return values[0]
            leaf = leaves.get(terminal)
            values.append(word if leaf is None else leaf(word, Span(begin, at)))
            begins.append(begin)
            ends.append(at)
            states.append(action)
            row = rows[action]
            if len(states) > deepest:
                raise TooDeep(Span(begin, at))

    def begun(self, text: str, start: str) -> Begun | None:
        """The parser's state after the beginning of a text; None if it is none.

        Linear in the length of the text, and makes no nodes.
        """
        rows, at = self._tables.rows, 0
        states, words = [self._tables.starts[start]], [""]
        while True:
            found = self._next(text, at)
            assert found is not None
            kind = found.lastgroup or ""
            begin, at = found.span(kind)
            word = text[begin:at]
            if not word:
                return self._begun(states, words)
            terminal = self._tables.words.get(word, kind)
            if terminal not in rows[states[-1]]:
                terminal = kind
            if not self._shifted(terminal, states, words, word):
                return None

    def _begun(self, states: list[int], words: list[str]) -> Begun:
        """What can follow the parser's stacks of states and words, and the rules that a name would end."""
        after, ends = [*states], frozenset[str]()
        if self._shifted("NAME", after, [*words], ""):
            actions = self._tables.rows[after[-1]].values()
            done = (self._tables.productions[~action] for action in actions if action < 0)
            ends = frozenset(each.builder or each.origin for each in done)
        return Begun(self._expected(states), ends, tuple(word for word in words if word))

    def _shifted(self, terminal: str, states: list[int], words: list[str], word: str) -> bool:
        """Shift a terminal onto the stacks; returns whether that is possible."""
        while (action := self._tables.rows[states[-1]].get(terminal)) is not None:
            if action >= 0:
                states.append(action)
                words.append(word)
                return True
            done = self._reductions[~action]
            if done.size:
                del states[-done.size :], words[-done.size :]
            states.append(self._tables.rows[states[-1]][done.origin])
            words.append("")  # what is read as a whole
        return False

    def _expected(self, states: list[int]) -> frozenset[str]:
        """The terminals that may come next."""
        terminals = [symbol for symbol in self._tables.rows[states[-1]] if symbol.isupper()]
        return frozenset(each for each in terminals if self._takes(each, [*states]))

    def _takes(self, terminal: str, states: list[int]) -> bool:
        """Whether a terminal may come next."""
        while (action := self._tables.rows[states[-1]].get(terminal)) is not None:
            if action >= 0:
                return True
            done = self._reductions[~action]
            del states[-done.size :]
            states.append(self._tables.rows[states[-1]][done.origin])
        return False


def _reduction(production: Production, nodes: Callable[[str], MakeNode]) -> _ParserReduction:
    """The reduction of a production."""
    children = production.children
    plain = not production.absent and not any(inlined or absent for _, inlined, absent in children)
    passes = plain and production.single and len(children) == 1
    return _ParserReduction(
        production.origin,
        production.size,
        None if passes or production.builder is None else nodes(production.builder),
        plain and len(children) == production.size,
        children[0][0] if passes else None,
        production,
    )


def _made(done: _ParserReduction, symbols: Children, begin: int, end: int) -> Any:  # noqa: ANN401
    """The node, or symbol, that a reduction makes."""
    if done.passed is not None:
        return symbols[done.passed]
    children = symbols if done.keeps else _children(done.production, symbols)
    if done.make is None or (done.production.single and len(children) == 1):
        return children if done.make is None else children[0]
    return done.make(children, Span(begin, end))


def _children(production: Production, symbols: Children) -> Children:
    """The node's children: None for each absent symbol; a growing list is not copied."""
    found: Children = []
    for place, inlined, absent in production.children:
        if absent:
            found += [None] * absent
        if not inlined:
            found.append(symbols[place])
        elif found:
            found += symbols[place]
        else:
            found = symbols[place]
    return found + [None] * production.absent if production.absent else found
