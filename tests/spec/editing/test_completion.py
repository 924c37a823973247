"""What could stand at a place: the grammar's words there, and the names in scope."""

from __future__ import annotations

import pytest

from spec.editing.completion import complete
from spec.load import read
from spec.source import Source

MODEL = """protocol small

sort Node
nat Term
enum Role { leader, follower }
record Vote { node: Node, term: Term }
union Msg { Ask(term: Term), Stop }
config fast: bool = true

state {
  votes: set[Vote] = {}
}

network net[Node]: bag of Msg with drop

process Node {
  volatile role: Role = follower
  durable  past: seq[Term; Term] = []
}

fun high(of: Vote): bool = of.term > 1

action ask(n: Node) {
  require calm: n.role == follower
  votes.add(Vote(node = n, term = 1))
}

fault crash(n: Node) {
  wipe n
}

invariant few: size(votes) <= 3
"""


def suggested(written: str) -> set[str]:
    """What is proposed at the end of a text, where `|` may mark another place."""
    text, _, rest = (MODEL + written).partition("|")
    return {each.text for each in complete(Source("", text + rest), len(text), read).suggestions}


@pytest.mark.parametrize(
    ("written", "some", "none_of"),
    [
        ("", {"action", "invariant", "check"}, {"require", "votes"}),
        ("acti", {"action"}, {"votes"}),
        ("action a(n: ", {"Node", "Vote", "set", "bool"}, {"votes", "action"}),
        ("action a(n: Node) { ", {"require", "n", "votes"}, {"invariant"}),
        ("action a(n: Node) { require ", {"n", "votes", "fast", "follower", "forall", "size"}, {"sort"}),
        ("action a(n: Node) { require n.", {"role", "past"}, {"term", "votes"}),
        ("action a(n: Node) { require n.| n.role := leader }", {"role", "past"}, {"term"}),
        ("action a(n: Node) { n.past.", {"append"}, {"role"}),
        ("action a(n: Node) { votes.", {"add", "remove"}, {"role"}),
        ("action a { choose v in votes require ", set(), {"nothing"}),
        ("invariant i: forall v in votes. ", {"v", "votes"}, {"n"}),
        ("invariant i: forall v in votes. v.", {"node", "term"}, {"role"}),
        ("invariant i: exists m in net[the(Node)]. m is ", {"Ask", "Stop"}, {"Vote"}),
        ("variant v of ", {"small"}, {"Node"}),
        ("variant v of small { drop ", {"ask", "few"}, {"Node", "v"}),
        ("variant v of small { drop ask.", {"calm"}, {"role"}),
        ("variant v of small { durable Node.", {"role", "past"}, {"term"}),
        ("check c { ", {"scope", "expect", "faults", "rates"}, {"action"}),
        ("check c { scope ", {"Node", "Term", "net"}, {"votes", "few"}),
        ("check c { scope Node = 2, ", {"Node", "Term", "net"}, {"votes"}),
        ("check c { config ", {"fast"}, {"few"}),
        ("check c { faults ", {"crash", "net", "none", "any"}, {"few"}),
        ("check c { rates ", {"crash", "net"}, {"few", "none"}),
        ("check c { rates crash = 2/", {"min", "h", "y"}, {"crash", "few"}),
        ("check c { only ", {"few"}, {"Node"}),
        ("check c { expect ", {"few", "states", "taken"}, {"Node"}),
        ("check c { expect few ", {"holds", "violated"}, {"few"}),
        ("network other: ", {"set", "bag", "fifo"}, {"Node"}),
        ("display { ", {"log", "up", "leader"}, {"votes"}),
        ("// no wor", set(), {"action"}),
        ('invariant i says "no wor', set(), {"votes"}),
    ],
)
def test_what_may_stand_there_is_proposed(written: str, some: set[str], none_of: set[str]) -> None:
    found = suggested(written)

    assert some - found == set()
    assert none_of & found == set()


def test_names_are_proposed_although_something_else_is_wrong() -> None:
    text = MODEL.replace("wipe n", "wipe")
    at = text.index("votes) <= 3")

    assert "votes" in {each.text for each in complete(Source("", text), at, read).suggestions}


def test_any_place_of_a_text_has_an_answer() -> None:
    for at in range(0, len(MODEL), 7):
        found = complete(Source("", MODEL), at, read)

        assert found.span.end == at
