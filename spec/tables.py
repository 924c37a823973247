"""The parser's tables, kept as data: to build them from the grammar takes a third of a second.

They are lark's own, of the version of lark that they name and the grammar whose
hash they carry.  With another of either the parser is built anew, which is only
slower.  `python -m spec.tables` writes them again.
"""

from __future__ import annotations

import hashlib
import json
from importlib import resources
from pathlib import Path
from typing import Any

import lark
from lark import Lark
from lark.grammar import Rule
from lark.lexer import TerminalDef

FILE = "grammar.tables.json"
STARTS = ["start", "expr"]


def parser() -> Lark:
    """The parser of model files."""
    grammar = _read("grammar.rsm.lark")
    try:
        kept = json.loads(_read(FILE), object_pairs_hook=_with_numbers)
    except (OSError, ValueError):
        return built(grammar)
    if kept["for"] != _made_for(grammar):
        return built(grammar)
    made: Lark = Lark._load_from_dict(kept["data"], kept["memo"])  # type: ignore[no-untyped-call]  # noqa: SLF001 - as lark's standalone parsers do
    return made


def built(grammar: str) -> Lark:
    """The parser made from the grammar."""
    return Lark(grammar, parser="lalr", propagate_positions=True, maybe_placeholders=True, start=STARTS)


def tables(grammar: str) -> str:
    """The tables of a grammar as they are kept."""
    data, memo = built(grammar).memo_serialize([TerminalDef, Rule])
    return json.dumps({"for": _made_for(grammar), "data": data, "memo": memo}, separators=(",", ":")) + "\n"


def _made_for(grammar: str) -> list[str]:
    return [lark.__version__, hashlib.sha256(grammar.encode()).hexdigest()]


def _with_numbers(pairs: list[tuple[str, Any]]) -> dict[str | int, Any]:
    """JSON has no numbers for keys."""
    return {int(key) if key.isdigit() else key: value for key, value in pairs}


def _read(name: str) -> str:
    return resources.files("spec").joinpath(name).read_text(encoding="utf-8")


if __name__ == "__main__":
    Path(__file__).with_name(FILE).write_text(tables(_read("grammar.rsm.lark")), encoding="utf-8")
