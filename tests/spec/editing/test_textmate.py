"""The grammar that editors colour by is in step with that of the language."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from spec.editing.manual import keywords
from spec.editing.textmate import FILE, grammar
from spec.model.op import FUNCTIONS

ROOT = Path(__file__).parents[3]
PATTERNS = json.loads(grammar())["patterns"]


def test_the_file_is_what_the_grammar_makes() -> None:
    assert (ROOT / FILE).read_text(encoding="utf-8") == grammar(), "run `python -m spec.editing.textmate`"


@pytest.mark.parametrize("word", sorted(keywords()))
def test_every_word_of_the_grammar_is_coloured(word: str) -> None:
    whole = (each["match"] for each in PATTERNS if "match" in each and "name" in each)

    assert any(re.fullmatch(pattern, word) for pattern in whole) or word in FUNCTIONS


def test_a_name_that_begins_like_a_word_is_none() -> None:
    words = [each["match"] for each in PATTERNS if each.get("name", "").startswith("keyword.control")]

    assert not any(re.search(pattern, "actions stepped requires") for pattern in words)


def test_the_extension_names_files_that_are_there() -> None:
    folder = ROOT / "editors" / "vscode"
    package = json.loads((folder / "package.json").read_text(encoding="utf-8"))
    named = [
        package["main"],
        package["contributes"]["grammars"][0]["path"],
        package["contributes"]["languages"][0]["configuration"],
    ]

    assert all((folder / each).is_file() for each in named)
