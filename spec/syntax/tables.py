"""The parser's tables: made from the grammar by lark, kept as data.

To make them takes a third of a second, and lark itself to import a tenth, so a run
that finds them kept needs neither.  They carry the hash of the grammar they are of;
with another they are made anew, which is only slower.  `python -m spec.syntax.tables`
writes them again.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spec.frozen import frozen
from spec.reading import resource

if TYPE_CHECKING:
    from lark import Lark
    from lark.grammar import Rule
    from lark.lexer import TerminalDef

FILE = "grammar.tables.json"
STARTS = ("start", "expr")
END = "$END"  # as lark calls it
Row = Mapping[str, int]
# A child that is kept: its place, whether its own children replace it, how many absent ones are before.
Child = tuple[int, bool, int]


@frozen
class Production:
    """A grammar rule: its left side, its size, and how to make its node.

    `builder` is the name of the method that makes the node, from the symbols that
    `children` keeps, followed by `absent` times None for optional parts that are missing; it is None
    where the kept symbols are spliced into the rule around this one.
    With `single`, an only child becomes the node, and nothing is made.
    """

    origin: str
    size: int
    builder: str | None
    children: tuple[Child, ...]
    absent: int
    single: bool


@frozen
class Tables:
    """An LALR(1) automaton and its terminals.

    A row says for a terminal which state it leads to, or which production ends before
    it (`~n` for production `n`); and for another symbol, which state it leads to.
    `token` matches what is not read and then a word, by the name of a terminal;
    `words` has the terminals that are always spelled the same, and that of the end.
    A word is the one or the other: what is allowed where it is, `words` first.
    """

    rows: tuple[Row, ...]
    starts: Mapping[str, int]
    productions: tuple[Production, ...]
    token: str
    words: Mapping[str, str]


def tables() -> Tables:
    """The tables of the modelling language."""
    grammar = _read("grammar.rsm.lark")
    try:
        kept = json.loads(_read(FILE))
        if kept["of"] == _digest(grammar):
            return _restored(kept)
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        pass
    return made(grammar)


def built(grammar: str) -> Lark:
    """The parser that lark builds from a grammar."""
    from lark import Lark  # noqa: PLC0415 - not needed where the tables are kept

    return Lark(grammar, parser="lalr", propagate_positions=True, maybe_placeholders=True, start=list(STARTS))


def made(grammar: str) -> Tables:
    """The tables for a grammar, the same in every run."""
    lark = built(grammar)
    automaton: Any = lark.parser.parser._parse_table  # noqa: SLF001 - lark has no other way to its tables
    numbers = _numbered(automaton)
    rules = {rule: number for number, rule in enumerate(sorted(lark.rules, key=_in_order))}
    rows = [
        {
            symbol: numbers[to] if _is_shift(action) else ~rules[to]
            for symbol, (action, to) in sorted(automaton.states[state].items())
        }
        for state in numbers
    ]
    for state in automaton.end_states.values():
        rows[numbers[state]][END] = numbers[state]
    terminals = [each for each in lark.terminals if each.name not in lark.ignore_tokens]
    ignored = [each for each in lark.terminals if each.name in lark.ignore_tokens]
    words = {each.pattern.value: each.name for each in terminals if each.pattern.type == "str"}
    words[""] = END
    starts = {name: numbers[state] for name, state in automaton.start_states.items()}
    return Tables(tuple(rows), starts, tuple(map(_production, rules)), _token(terminals, ignored), words)


def text(grammar: str) -> str:
    """The tables as text, to be stored."""
    new = made(grammar)
    kept = {
        "of": _digest(grammar),
        "rows": new.rows,
        "starts": new.starts,
        "productions": [
            [each.origin, each.size, each.builder, each.children, each.absent, each.single]
            for each in new.productions
        ],
        "token": new.token,
        "words": new.words,
    }
    return json.dumps(kept, separators=(",", ":")) + "\n"


def _restored(kept: Mapping[str, Any]) -> Tables:
    """The tables from their stored form."""
    productions = tuple(
        Production(origin, size, builder, tuple(map(tuple, children)), absent, single)
        for origin, size, builder, children, absent, single in kept["productions"]
    )
    return Tables(tuple(kept["rows"]), kept["starts"], productions, kept["token"], kept["words"])


# ----------------------------------------------------------------------- from lark


def _numbered(automaton: Any) -> dict[Any, int]:  # noqa: ANN401 - lark's, of any state
    """A number for each of lark's states, stable between runs."""
    found = [automaton.start_states[name] for name in STARTS]
    for state in found:  # grows meanwhile
        actions = sorted(automaton.states[state].items())
        found += {to: None for _, (action, to) in actions if _is_shift(action) and to not in found}
    return {state: number for number, state in enumerate(found)}


def _is_shift(action: Any) -> bool:  # noqa: ANN401
    """Whether an action of lark's automaton is a shift."""
    return str(action) == "Shift"


def _in_order(rule: Rule) -> tuple[str, ...]:
    """A sort key for rules."""
    return rule.origin.name, *(symbol.name for symbol in rule.expansion)


def _production(rule: Rule) -> Production:
    """The production of a rule, without keywords among the children."""
    options, expansion = rule.options, rule.expansion
    if not expansion:
        raise ValueError(f"{rule.origin.name} may be nothing at all, which has no place in a text")
    flags = "".join("1" if flag else "0" for flag in options.empty_indices) or "0" * len(expansion)
    absent = [len(ones) for ones in flags.split("0")]
    children: list[Child] = []
    before = 0
    for place, symbol in enumerate(expansion):
        before += absent[place]
        if options.keep_all_tokens or not (symbol.is_term and symbol.filter_out):  # type: ignore[attr-defined]
            children.append((place, not symbol.is_term and symbol.name.startswith("_"), before))
            before = 0
    name = str(rule.alias or rule.origin.name)
    return Production(
        str(rule.origin.name),
        len(expansion),
        None if name.startswith("_") else name,
        tuple(children),
        before + absent[-1],
        bool(options.expand1 and not rule.alias),
    )


def _token(terminals: Sequence[TerminalDef], ignored: Iterable[TerminalDef]) -> str:
    """A regular expression for a token: skipped text, then a word, the end, or a wrong character."""
    nothing = "|".join(each.pattern.to_regexp() for each in ignored)
    words = [each for each in terminals if not re.fullmatch(r"\w+", each.pattern.value)]
    words.sort(
        key=lambda each: (-each.priority, -each.pattern.max_width, -len(each.pattern.value), each.name)
    )
    named = "|".join(f"(?P<{each.name}>{each.pattern.to_regexp()})" for each in words)
    return f"(?:{nothing})*(?:{named}|(?P<END>\\Z)|(?P<WRONG>[\\s\\S]))"


def _digest(grammar: str) -> str:
    """A hash of a grammar."""
    return hashlib.sha256(grammar.encode()).hexdigest()


def _read(name: str) -> str:
    """The text of a file of this package."""
    return resource("spec.syntax", name)


if __name__ == "__main__":
    Path(__file__).with_name(FILE).write_text(text(_read("grammar.rsm.lark")), encoding="utf-8")
