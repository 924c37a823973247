"""The words of the language as a TextMate grammar, for editors that colour text by one.

`python -m spec.editing.textmate` writes `editors/vscode/syntaxes/rsm.tmLanguage.json` again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

from spec.editing.manual import VERBS, keywords
from spec.elaboration.names import COLLECTIONS
from spec.model.op import FUNCTIONS

FILE = Path("editors") / "vscode" / "syntaxes" / "rsm.tmLanguage.json"
_CONSTANTS = ("true", "false", "none")
_OPERATORS = ("and", "or", "not", "in", "is", "implies", "subset")
_NAMED = (  # words that a declaration begins with, before its name
    "protocol", "import", "sort", "nat", "enum", "type", "record", "union", "config", "process", "network",
    "fun", "action", "fault", "repair", "invariant", "lemma", "step", "reachable", "recoverable", "leadsto",
    "assume", "variant", "check",
)  # fmt: skip


def grammar() -> str:
    """The TextMate grammar of the language as the text of its file."""
    rest = keywords() - {*_CONSTANTS, *_OPERATORS, *FUNCTIONS}
    patterns = [
        {"name": "comment.line.double-slash.rsm", "match": "//.*$"},
        {
            "name": "string.quoted.double.rsm",
            "begin": '"',
            "end": '"|$',
            "patterns": [{"name": "variable.parameter.rsm", "match": r"\{[^{}\"]*\}"}],
        },
        {
            "match": rf"\b({_either(_NAMED)})\s+([A-Za-z_]\w*)",
            "captures": {"1": {"name": "keyword.declaration.rsm"}, "2": {"name": "entity.name.rsm"}},
        },
        {"name": "constant.language.rsm", "match": _word(_CONSTANTS)},
        {"name": "keyword.operator.word.rsm", "match": _word(_OPERATORS)},
        {"name": "support.function.rsm", "match": rf"{_word(FUNCTIONS)}(?=\s*\()"},
        {"name": "support.function.rsm", "match": rf"(?<=\.)({_either(VERBS)})(?=\s*\()"},
        {"name": "variable.other.member.rsm", "match": r"(?<=[\w\])]\.)[A-Za-z_]\w*"},
        {"name": "support.type.rsm", "match": _word((*COLLECTIONS, "bool", "int"))},
        {"name": "keyword.control.rsm", "match": _word(rest)},
        {"name": "constant.numeric.rsm", "match": r"\b[0-9]+\b"},
        {"name": "keyword.operator.rsm", "match": r":=|==|!=|<=|>=|->|~>|\.\.|[<>+*/%&?-]"},
    ]
    made = {"name": "rsm", "scopeName": "source.rsm", "fileTypes": ["rsm"], "patterns": patterns}
    return json.dumps(made, indent=2) + "\n"


def _word(words: Iterable[str]) -> str:
    """A regular expression for whole words."""
    return rf"\b({_either(words)})\b"


def _either(words: Iterable[str]) -> str:
    """A regular expression for alternatives."""
    return "|".join(map(re.escape, sorted(words)))


if __name__ == "__main__":
    FILE.write_text(grammar(), encoding="utf-8")
