"""What every name of a text means, and what is known of a text that is half written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from spec.editing.manual import words
from spec.editing.outline import OutlineEntry, outline
from spec.editing.symbols import SymbolKind
from spec.editing.understood import Understood, understand, understood
from spec.load import read
from spec.source import Source
from spec.syntax.parser import parse

ROOT = Path(__file__).parents[3]
TINY = (ROOT / "tests" / "modelcheck" / "tiny.rsm").read_text(encoding="utf-8")
MODEL = """protocol small

sort Node
enum Role { leader, follower }
record Vote { node: Node, term: 0..3 }
union Msg { Ask(term: 0..3), Stop }

state {
  votes: set[Vote] = {}
  recent: Msg?     = none
}

process Node {
  volatile role: Role = follower
}

fun terms(of: set[Vote]): set[0..3] = {v.term for v in of}

fault ask(n: Node) says "{n} asks" {
  require calm: n.role == follower
  let vote = Vote(node = n, term = 1)
  votes.add(vote)
  n.role := leader
}

invariant few: forall t in terms(votes). t <= 3

variant bold of small {
  drop ask.calm
  replace invariant few: size(votes) >= 0
}

check one of bold { scope Node = 2 faults ask <= 1 expect few holds }
"""


def known(text: str) -> Understood:
    return understood(Source("small.rsm", text), read)


def meanings(text: str, word: str) -> list[tuple[SymbolKind, str]]:
    names = known(text).names()
    places = [found.start() for found in re.finditer(rf"\b{word}\b", text)]
    found = [names.at(place) for place in places]
    return [(each.symbol.kind, each.symbol.of) for each in found if each is not None]


@pytest.mark.parametrize("name", ["kisr", "raft", "primary_backup", "kafka_requests", "two_phase_commit"])
def test_every_name_of_a_protocol_has_a_meaning(name: str) -> None:
    text = read(name)
    found = understood(Source(name, text), read)
    meant = {each.span.start for each in found.names().every}
    members = r"(?<==) *\{[A-Z, ]+\}"  # names that a scope gives
    drawn = r"(?:(?<=controller:)|(?<=client:)|(?<=set:)) *\w+"
    plain = re.sub(rf'//[^\n]*|"[^"\n]*"|{members}|{drawn}', lambda part: " " * len(part[0]), text)
    every = re.finditer(r"[A-Za-z_]\w*", plain)

    assert [each[0] for each in every if each.start() not in meant and each[0] not in words()] == []


def test_a_field_is_told_from_others_of_its_name_by_types() -> None:
    assert meanings(MODEL, "term") == [
        (SymbolKind.FIELD, "Vote"),
        (SymbolKind.FIELD, "Ask"),
        (SymbolKind.FIELD, "Vote"),
        (SymbolKind.FIELD, "Vote"),
    ]


def test_a_variant_means_the_same_as_its_base() -> None:
    names = known(MODEL).names()
    (few,) = {each.symbol for each in names.every if each.symbol.name == "few"}

    assert len(names.declared(few)) == 2
    assert len(names.of(few)) == 3
    assert meanings(MODEL, "calm") == [(SymbolKind.GUARD, "ask")] * 2
    assert meanings(MODEL, "bold") == [(SymbolKind.VARIANT, ""), (SymbolKind.VARIANT, "")]


def test_values_in_sentences_and_faults_of_checks_are_names() -> None:
    names = known(MODEL).names()
    (ask,) = {each.symbol for each in names.every if each.symbol.name == "ask"}
    inside = names.at(MODEL.index("{n} asks") + 1)

    assert len(names.of(ask)) == 3  # its declaration, `drop ask.calm` and `faults ask`
    assert inside is not None
    assert inside.symbol.kind is SymbolKind.LOCAL


def test_a_model_is_known_before_all_are() -> None:
    stages = list(understand(Source("", MODEL), read, MODEL.index("drop ask")))

    assert [each.judged for each in stages] == [(), ("bold",), ("small",), ("small", "bold")]
    assert [each.is_last for each in stages] == [False, False, False, True]


def test_what_stands_beside_a_mistake_is_known() -> None:
    broken = MODEL.replace("votes.add(vote)", "votes.add(")
    found = known(broken)
    names = found.names()

    assert [each.code for each in found.diagnostics] == ["R0101"]
    assert {"votes", "few", "bold"} <= {each.name for each in names.symbols()}
    assert names.at(broken.index("few holds")) is not None


def test_a_mistake_of_a_variant_is_known_when_that_is_judged() -> None:
    wrong = MODEL.replace("size(votes) >= 0", "size(vots) >= 0")
    found = [[d.code for d in each.diagnostics] for each in understand(Source("", wrong), read)]

    assert found == [[], [], ["R0208"]]


@pytest.mark.parametrize(
    "text", ["", " \n", "prot", "protocol", "}", "\0", "protocol x {", '"', "import raft x"]
)
def test_any_beginning_of_a_file_is_understood(text: str) -> None:
    found = known(text)

    assert found.is_last
    assert found.diagnostics
    assert found.names().at(0) is None


def test_half_a_file_is_understood_wherever_it_ends() -> None:
    for end in range(0, len(TINY), 61):
        found = known(TINY[:end])
        found.names()

        assert found.is_last


def test_places_are_of_the_file_that_has_them(tmp_path: Path) -> None:
    (tmp_path / "base.rsm").write_text(MODEL, encoding="utf-8")
    text = 'import "base.rsm"\n\ninvariant again: size(votes) >= 0\n'
    found = understood(Source(str(tmp_path / "own.rsm"), text), read)
    votes = found.names().at(found.start + text.index("votes"))

    assert found.files == (str(tmp_path / "base.rsm"), str(tmp_path / "own.rsm"))
    assert votes is not None
    assert found.own(votes.span) is not None
    file, span = found.place(votes.symbol.at)
    assert (file, MODEL[span.start : span.end]) == (str(tmp_path / "base.rsm"), "votes")


def test_the_outline_has_what_is_declared_in_its_order() -> None:
    def told(entry: OutlineEntry) -> str:
        inside = f" ({' '.join(map(told, entry.parts))})" if entry.parts else ""
        return f"{entry.kind.value} {entry.name}{inside}"

    assert [told(entry) for entry in outline(parse(Source("", MODEL)))] == [
        "sort Node",
        "enum Role (member of an enum leader member of an enum follower)",
        "record Vote (field node field term)",
        "union Msg (case of a union Ask (field term) case of a union Stop)",
        "variable votes",
        "variable recent",
        "sort Node (field role)",
        "function terms",
        "action ask",
        "property few",
        "variant bold (property few)",
        "check one",
    ]
