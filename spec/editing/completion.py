"""What can be written at a place: the words that the grammar allows there, and the names in scope."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Literal

import spec.model.types as t
from spec.editing.manual import VERBS, keywords
from spec.editing.positions import word_at
from spec.editing.symbols import Symbol, SymbolKind, SymbolTable
from spec.editing.understood import Understood, model_at, understand
from spec.elaboration.names import COLLECTIONS, MODES, NETWORK_FAULTS
from spec.frozen import frozen
from spec.model.op import FUNCTIONS
from spec.model.rates import UNITS
from spec.model.roles import HIDDEN, LABEL, ROLES, WORDS
from spec.source import Source, Span
from spec.syntax.automaton import Begun
from spec.syntax.items import item_at, without_item
from spec.syntax.parser import begun

Read = Callable[[str], str]
Word = Literal["word", "function of the language", "type of the language"]

_HOLD = "somewhere_here"  # a name in the place where something is still to be written
_TYPES = (
    SymbolKind.SORT,
    SymbolKind.NAT,
    SymbolKind.ENUM,
    SymbolKind.TYPE,
    SymbolKind.RECORD,
    SymbolKind.UNION,
    SymbolKind.CASE,
)
_VALUES = (
    SymbolKind.VARIABLE, SymbolKind.CONFIG, SymbolKind.FUNCTION, SymbolKind.NETWORK, SymbolKind.CASE,
    SymbolKind.RECORD, SymbolKind.SORT, SymbolKind.NAT,
    SymbolKind.ENUM,
)  # fmt: skip
_BOUNDED = (SymbolKind.SORT, SymbolKind.NAT, SymbolKind.NETWORK)
_REPLACED = (
    SymbolKind.FUNCTION, SymbolKind.ACTION, SymbolKind.PROPERTY, SymbolKind.ASSUMPTION,
    SymbolKind.CONFIG, SymbolKind.RECORD, SymbolKind.UNION,
    SymbolKind.ENUM, SymbolKind.TYPE, SymbolKind.NETWORK,
)  # fmt: skip
_AFTER: Mapping[str, tuple[SymbolKind, ...]] = {  # what a name is, by the word that it belongs to
    "scope": _BOUNDED,
    "config": (SymbolKind.CONFIG,),
    "faults": (SymbolKind.ACTION, SymbolKind.NETWORK),
    "rates": (SymbolKind.ACTION, SymbolKind.NETWORK),
    "taken": (SymbolKind.ACTION, SymbolKind.NETWORK),
    "only": (SymbolKind.PROPERTY,),
    "expect": (SymbolKind.PROPERTY,),
    "drop": _REPLACED,
    "process": (SymbolKind.SORT,),
    "require": (SymbolKind.ACTION,),
    "durable": (SymbolKind.SORT,),
    "volatile": (SymbolKind.SORT,),
    "cached": (SymbolKind.SORT,),
    "ghost": (SymbolKind.SORT,),
}


@frozen
class Suggestion:
    """A possible completion: a name with its symbol, or a keyword."""

    text: str
    what: SymbolKind | Word
    symbol: Symbol | None = None


@frozen
class Completion:
    """The completions for a stretch of the text; `known` is the analysis that the symbols are from."""

    span: Span
    suggestions: tuple[Suggestion, ...]
    known: Understood | None


def complete(source: Source, offset: int, read: Read) -> Completion:
    """The completions at an offset of a text, which may have mistakes. Costs one or two parses."""
    text = source.text
    start = word_at(text, offset).start
    if _is_no_code(text, start) or re.match(r"\d", text[start:offset]):
        return Completion(Span(start, offset), (), None)
    found = _CursorPlace(source, start, offset, read)
    made = dict.fromkeys(found.after_dot() if text[:start].endswith(".") else found.alone())
    return Completion(Span(start, offset), tuple(made), found.known)


def _is_no_code(text: str, offset: int) -> bool:
    """Whether an offset is in a comment or string, outside the braces of one."""
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    quoted = 0
    for index, char in enumerate(line):
        if char == '"':
            quoted = 0 if quoted else index + 1
        elif not quoted and line.startswith("//", index):
            return True
    inside = line[quoted:]
    return bool(quoted) and inside.count("{") <= inside.count("}")


class _CursorPlace:
    """The offset at which completions are wanted, with its context."""

    def __init__(self, source: Source, start: int, offset: int, read: Read) -> None:
        self._source, self._start, self._end, self._read = source, start, offset, read
        self.known: Understood | None = None

    # -------------------------------------------------------------- after a dot

    def after_dot(self) -> Iterator[Suggestion]:
        """The fields and methods of the expression before a dot."""
        dot = self._start - 1
        before = _begun(self._source.text, dot)
        is_statement = before is not None and ":=" in before.expected
        hold = f"{_HOLD} := none" if is_statement else _HOLD
        self.known = self._with_placeholder(hold, typed=True) or self._beside(typed=True)
        if self.known is None:
            return
        names = self.known.names()
        owner = word_at(self._source.text, dot)
        led = _begun(self._source.text, owner.start)
        words, name = led.words if led else (), self._source.at(owner)
        if words[-1:] == ("drop",):
            yield from _from(names.guards.get(name, {}).values())
        elif ("display" in words or words[-1:] in _STORAGE) and name in names.fields:
            yield from _from(names.fields[name].values())
        else:
            yield from self._parts(names, self.known.start + dot, is_statement=is_statement)

    def _parts(self, names: SymbolTable, dot: int, *, is_statement: bool) -> Iterator[Suggestion]:
        """The fields and methods of what a name before the dot refers to."""
        assert self.known is not None
        ending = [span for span in self.known.types if span.end == dot]
        of = self.known.types[min(ending, key=lambda span: span.start)] if ending else t.UNKNOWN
        of = of.of if isinstance(of, t.Option) else of
        match of:
            case t.Sort(owner) | t.Record(owner) | t.Case(_, owner):
                yield from _from(names.fields.get(owner, {}).values())
            case t.Union(_, cases):
                shared = set.intersection(*(set(names.fields.get(case.name, {})) for case in cases))
                first = names.fields.get(cases[0].name, {})
                yield from _from(symbol for name, symbol in first.items() if name in shared)
            case t.Set() | t.Bag() | t.Seq() | t.Map() if is_statement:
                yield from (Suggestion(verb, "word") for verb in VERBS)
            case t.UnknownType():
                every = (symbol for own in names.fields.values() for symbol in own.values())
                yield from _from({symbol.name: symbol for symbol in every}.values())
            case _:
                pass

    # -------------------------------------------------------------- elsewhere

    def alone(self) -> Iterator[Suggestion]:
        """The keywords and names allowed without a dot."""
        before = _begun(self._source.text, self._start)
        if before is None or before.ends & {"name_expr", "named_type", "is_case"}:
            self.known = self._with_placeholder(_HOLD, typed=False) or self._beside(typed=False)
            if self.known is not None:
                yield from self._names(before, self.known)
        elif "NAME" in before.expected:
            self.known = self._beside(typed=False)
            if self.known is not None:
                yield from _by_word(before, self.known)
        if before is not None:
            yield from (Suggestion(word, "word") for word in sorted(before.expected & keywords()))

    def _names(self, before: Begun | None, known: Understood) -> Iterator[Suggestion]:
        """The names allowed after the text before the cursor."""
        at = known.start + self._start
        names = known.names_with(at)
        scope = _scope(before, known, names, at)
        if before is None or "name_expr" in before.ends:
            yield from _from(names.bound.get(at, {}).values())
            yield from _from(scope.values(), _VALUES)
            yield from _from(symbol for own in names.members.values() for symbol in own.values())
            yield from (Suggestion(word, "function of the language") for word in FUNCTIONS)
        elif "named_type" in before.ends:
            yield from _from(scope.values(), _TYPES)
            words = ("bool", "int", *COLLECTIONS)
            yield from (Suggestion(word, "type of the language") for word in words)
        else:
            yield from _from(scope.values(), (SymbolKind.CASE,))

    # -------------------------------------------------------------- the text with something there

    def _with_placeholder(self, hold: str, *, typed: bool) -> Understood | None:
        """The analysis of the text with a placeholder name at the cursor; None if it does not parse."""
        text, item = self._source.text, item_at(self._source.text, self._start)
        before = text[: self._start] + hold
        closed = before + _closers(before[item.start :]) + "\n"
        for tried in (before + text[self._end :], closed + text[item.end :]):
            if (found := self._first(tried, typed=typed, whole=True)) is not None:
                return found
        return None

    def _beside(self, *, typed: bool) -> Understood | None:
        """The analysis without the declaration at the cursor, and without others that do not parse."""
        text = self._source.text
        return self._first(without_item(text, self._start), typed=typed, whole=False)

    def _first(self, text: str, *, typed: bool, whole: bool) -> Understood | None:
        """The first useful analysis of a text; None if there is none."""
        for known in understand(Source(self._source.name, text), self._read, self._start):
            if known.protocol is None and whole:
                return None
            if known.protocol is not None and (known.judged or not typed):
                return known
        return None


def _scope(before: Begun | None, known: Understood, names: SymbolTable, at: int) -> Mapping[str, Symbol]:
    """The global names in the model that the cursor is in."""
    assert known.protocol is not None
    words = before.words if before else ()
    if "variant" in words:  # it is not among what is known
        model = words[words.index("variant") + 3 :][:1]
    elif "check" in words:
        model = words[words.index("check") + 2 :][1:2] if "of" in words else ()
    else:
        model = (model_at(known.protocol, at),)
    own = names.scopes.get(known.protocol.name.text, {})
    return names.scopes.get(model[0], own) if model else own


def _by_word(before: Begun, known: Understood) -> Iterator[Suggestion]:
    """The names allowed in a clause or declaration that begins with a keyword."""
    names = known.names()
    scope = _scope(before, known, names, -1)
    *_, last = ("", *before.words)
    word = next((each for each in reversed(before.words) if each in _AFTER or each in _OTHERS), "")
    if last == "of":
        models = {*names.scopes}
        declared = (
            each for each in names.symbols() if each.kind in {SymbolKind.PROTOCOL, SymbolKind.VARIANT}
        )
        yield from _from(each for each in declared if each.name in models)
    elif word == "network" and last == ":":
        yield from (Suggestion(mode, "word") for mode in MODES)
    elif word == "with":
        faults = dict.fromkeys(fault for each in NETWORK_FAULTS.values() for fault in each)
        yield from (Suggestion(fault, "word") for fault in faults)
    elif word == "rates" and last == "/":
        yield from (Suggestion(unit, "word") for unit in UNITS)
    elif word == "display" and last in {"{", ",", "display"}:
        yield from (Suggestion(role, "word") for role in (*ROLES, LABEL, *WORDS, HIDDEN))
    elif word == "display":
        yield from _from(scope.values(), (SymbolKind.VARIABLE, SymbolKind.SORT))
        yield from _from(symbol for own in names.fields.values() for symbol in own.values())
    elif word in _AFTER and last in {word, ","}:
        yield from _from(scope.values(), _AFTER[word])


_OTHERS = frozenset({"network", "with", "display"})
_STORAGE = (("durable",), ("volatile",), ("cached",), ("ghost",))


def _begun(text: str, end: int) -> Begun | None:
    """The parser's state after the text; only its last declaration if that is enough."""
    item = item_at(text, end)
    if item.start and (found := begun("protocol p " + text[item.start : end])) is not None:
        return found
    return begun(text[:end])


def _closers(text: str) -> str:
    """The brackets that close those open at the end of a text."""
    plain = re.sub(r'//[^\n]*|"[^"\n]*"', "", text)
    stack: list[str] = []
    for char in plain:
        if char in "([{":
            stack.append({"(": ")", "[": "]", "{": "}"}[char])
        elif stack and char == stack[-1]:
            stack.pop()
    return " " + " ".join(reversed(stack))


def _from(symbols: Iterable[Symbol], kinds: Collection[SymbolKind] | None = None) -> Iterator[Suggestion]:
    """Suggestions for symbols of some kinds."""
    for symbol in symbols:
        if symbol.name != _HOLD and (kinds is None or symbol.kind in kinds):
            yield Suggestion(symbol.name, symbol.kind, symbol)
