"""Representatives that are found by putting members in order, as by trying every renaming."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from modelcheck.api import Unsupported, check
from modelcheck.contract.families import looked_at
from spec.load import loads
from spec.model import ir
from spec.model.kinds import OF_FAIR_RUNS
from tests.protocol_checks import named_check
from tests.representatives import reached, representatives_differ

RELATED = """
protocol related

sort Node
sort Color

union Note { Likes(who: Node, whom: Node)  Seen(by: Node)  Nothing }
record Pair { first: Node, second: Color? }

process Node { durable of: Color? = none  durable next: Node? = none  durable near: set[Node] = {} }
process Color { durable taken: Node? = none }
state {
  notes: set[Note; 3] = {}
  heard: bag[Note; 2] = {}
  line:  seq[Node; 3] = []
  pairs: set[Pair] = {}
  one:   Pair? = none
}

action follow(a: Node, b: Node) { require free: a.next == none and a != b  a.next := b }
action near(a: Node, b: Node) { require few: size(a.near) < 2  a.near.add(b) }
action paint(a: Node, c: Color) { a.of := c  c.taken := a }
action like(a: Node, b: Node) { require room: size(notes) < 3  notes.add(Likes(a, b)) }
action see(a: Node) {
  require room: size(notes) < 3 and size(heard) < 2
  notes.add(Seen(a))  heard.add(Seen(a))
}
action queue(a: Node) { require room: size(line) < 3  line.append(a) }
action pair(a: Node, c: Color) { pairs.add(Pair(a, c))  one := Pair(a, none) }

check all { scope Node = 3, Color = 2 }
"""


def with_sizes(given: ir.Check, sizes: dict[str, int], nets: dict[str, int]) -> ir.Check:
    """A check with sorts of other sizes."""
    sorts = {
        name: tuple(f"{name}{n}" for n in range(sizes[name])) if name in sizes else members
        for name, members in given.scope.sorts.items()
    }
    scope = replace(given.scope, sorts=sorts, networks={**given.scope.networks, **nets})
    return replace(given, scope=scope, expect=())


def searched(protocol: str, name: str, sizes: dict[str, int], nets: dict[str, int], engine: str) -> int:
    """How many states a check has up to renaming."""
    model, given = named_check(protocol, name)
    asked = with_sizes(given, sizes, nets)
    names = tuple(p.name for p in looked_at(model, asked) if p.kind not in OF_FAIR_RUNS)
    found = check(model, replace(asked, only=names), engine=engine, symmetry=True, threads=1).findings
    assert not found.end.partial
    return found.stats.states


Case = tuple[str, str, dict[str, int], dict[str, int], int]
ENGINES = ("explicit", "reference")
# As an engine counts them that tries every renaming of each state.
COUNTS: list[Case] = [
    ("two_phase_commit", "six_managers", {"Manager": 3}, {"net": 5}, 80),
    ("two_phase_commit", "six_managers", {"Manager": 4}, {"net": 6}, 166),
    ("two_phase_commit", "six_managers", {"Manager": 5}, {"net": 7}, 314),
    ("two_phase_commit", "six_managers", {"Manager": 6}, {"net": 8}, 553),
    ("two_phase_commit", "six_managers", {"Manager": 7}, {"net": 9}, 920),
    ("kafka", "usual", {"Broker": 4}, {}, 1356),
]
LARGER: list[Case] = [
    ("kafka", "usual", {"Broker": 6}, {}, 3283),
    ("figure8", "with_the_rule", {"Server": 4}, {}, 6771),
    ("multi_paxos", "one_number", {"Acceptor": 5}, {}, 1117),
    ("raft_membership", "removes", {"Server": 7}, {}, 2415),
]


@pytest.mark.usefixtures("quickly_compiled")
@pytest.mark.parametrize(
    ("case", "engine"),
    [*((case, engine) for case in COUNTS for engine in ENGINES), *((case, "explicit") for case in LARGER)],
    ids=lambda part: part if isinstance(part, str) else f"{part[0]}-{max(part[2].values())}",
)
def test_there_are_as_many_states_as_by_every_renaming(case: Case, engine: str) -> None:
    protocol, name, sizes, nets, count = case

    assert searched(protocol, name, sizes, nets, engine) == count


@pytest.mark.usefixtures("quickly_compiled")
def test_ten_members_that_nothing_relates_are_put_in_order() -> None:
    assert searched("two_phase_commit", "six_managers", {"Manager": 10}, {"net": 12}, "explicit") == 3300


@pytest.mark.parametrize(("nodes", "colors"), [(2, 2), (3, 1), (3, 3), (4, 2), (5, 1)])
def test_states_that_relate_members_have_one_representative_under_all_names(nodes: int, colors: int) -> None:
    (model,) = loads(RELATED)
    scope = with_sizes(model.checks[0], {"Node": nodes, "Color": colors}, {}).scope
    states = reached(model, scope, 3000)
    some = Random(nodes).sample(states, 24)  # noqa: S311 - no secret

    assert representatives_differ(model, scope, some) == ""


@pytest.mark.parametrize("size", [6, 7])
def test_protocols_have_one_representative_under_all_names(size: int) -> None:
    model, given = named_check("two_phase_commit", "six_managers")
    scope = with_sizes(given, {"Manager": size}, {"net": size + 2}).scope
    states = reached(model, scope, 2000)

    assert representatives_differ(model, scope, Random(size).sample(states, 2)) == ""  # noqa: S311 - no secret


CROWD = """
protocol crowd
sort Node
process Node { durable has: 0..2 = 0 }
RELATED
action take(a: Node) { require free: a.has < 2  a.has := a.has + 1 }
check all { scope Node = 12 }
"""


@pytest.mark.usefixtures("quickly_compiled")
def test_many_members_that_nothing_relates_are_put_in_order() -> None:
    (model,) = loads(CROWD.replace("RELATED", ""))

    assert check(model, model.checks[0], engine="explicit", symmetry=True).findings.stats.states == 91


@pytest.mark.parametrize(
    "related",
    [
        "process Node { durable next: Node? = none }",
        "process Node { durable near: set[Node] = {} }",
        "state { pairs: set[(Node, Node)] = {} }",
        "state { groups: set[set[Node; 2]; 2] = {} }",
    ],
)
def test_many_members_that_are_related_are_refused(related: str) -> None:
    (model,) = loads(CROWD.replace("RELATED", related))

    with pytest.raises(Unsupported, match="5,040 renamings of each state, since it relates members of Node"):
        check(model, model.checks[0], engine="explicit", symmetry=True)


ENTRIES = """
protocol entries
sort N
union Entry { A(n: N)  B(n: N)  C(n: N) }
state { logs: set[seq[Entry; 1]] = {} }
action add(n: N) { logs := logs + {[A(n = n)]} }
check all { scope N = 4 }
"""


@pytest.mark.usefixtures("quickly_compiled")
def test_places_of_a_set_that_no_value_has_are_of_no_signature() -> None:
    (model,) = loads(ENTRIES)
    found = [check(model, model.checks[0], engine=each, symmetry=True) for each in ("explicit", "reference")]

    assert [each.findings.stats.states for each in found] == [5, 5]
    assert [each.findings.stats.transitions for each in found] == [20, 20]
