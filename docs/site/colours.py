"""The colours of model files in pages: the patterns of the TextMate grammar, for Pygments."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from pygments.lexer import RegexLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, String, Text

from spec.editing.textmate import grammar

Token = Any
Rule = tuple[str, Any]
_TOKENS: dict[str, Token] = {  # by the beginnings of the names that TextMate gives
    "comment": Comment.Single,
    "string": String,
    "keyword.declaration": Keyword.Declaration,
    "entity.name": Name.Class,
    "constant.language": Keyword.Constant,
    "constant.numeric": Number,
    "keyword.operator.word": Operator.Word,
    "keyword.operator": Operator,
    "keyword": Keyword,
    "support.function": Name.Builtin,
    "support.type": Keyword.Type,
    "variable": Name.Attribute,
}


def _token(name: str) -> Token:
    """The Pygments token of a TextMate scope. Raises StopIteration where there is none."""
    return next(token for begin, token in _TOKENS.items() if name.startswith(begin))


def _groups(
    names: dict[str, dict[str, str]],
) -> Callable[[Any, re.Match[str]], Iterator[tuple[int, Token, str]]]:
    """The tokens of a match whose groups have names; the text between them has none."""

    def tokens(_: Any, match: re.Match[str]) -> Iterator[tuple[int, Token, str]]:  # noqa: ANN401 - a lexer
        end = match.start()
        for group, name in names.items():
            start = match.start(int(group))
            if start > end:
                yield end, Text, match.string[end:start]
            yield start, _token(name["name"]), match[int(group)]
            end = match.end(int(group))

    return tokens


def _rules() -> list[Rule]:
    found: list[Rule] = []
    for each in json.loads(grammar())["patterns"]:
        if "begin" in each:
            found.append((f'{each["begin"]}[^"\n]*(?:{each["end"]})', _token(each["name"])))
        else:
            found.append(
                (each["match"], _groups(each["captures"]) if "captures" in each else _token(each["name"]))
            )
    return [*found, (r"\w+", Name), (r"\s+", Text), (r".", Text)]


class RsmLexer(RegexLexer):  # type: ignore[misc]  # Pygments says nothing of types
    """A model file as coloured words."""

    name = "rsm"
    aliases = ("rsm",)
    flags = re.MULTILINE
    tokens = {"root": _rules()}  # noqa: RUF012 - so Pygments wants it
