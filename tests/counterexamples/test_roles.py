"""Which parts of a state a picture draws: by the names that protocols use, and as a model says itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

import spec.library as library
from counterexamples.pictures.roles import NamedPart, Roles, leads, roles
from spec.load import load, loads
from spec.meaning.semantics import Machine
from spec.model.ir import Model
from tests.protocol_checks import PROTOCOLS, models


def named(found: Roles) -> tuple[dict[str, str], dict[str, str]]:
    """The parts by role, of processes and of the state; by process too where two have one in a role."""
    shared = Counter(role for _, role in found.fields)
    fields = {
        str(role) if shared[role] == 1 else f"{sort}.{role}": part.name
        for (sort, role), part in found.fields.items()
    }
    return fields, {role: part.name for role, part in found.whole.items()}


def model(text: str) -> Model:
    return loads(f"protocol p\nsort Server\nnat Term, Place\n{text}", "p.rsm")[0]


def drawn(found: Roles) -> str:
    """The roles of the parts of processes, then of those of the state, each with the part that has it."""
    fields, whole = named(found)
    return "; ".join(
        ", ".join(f"{role}: {part}" for role, part in parts.items()) for parts in (fields, whole)
    )


@pytest.mark.parametrize("name", library.names())
def test_what_a_shipped_protocol_is_drawn_with(name: str, golden: Callable[[str, str], None]) -> None:
    """A line of the protocol, and one of each variant that is drawn with something else."""
    first, *variants = [(model.name, drawn(roles(model))) for model in models(PROTOCOLS / f"{name}.rsm")]
    lines = [first, *(each for each in variants if each[1] != first[1])]

    golden(f"roles/{name}.txt", "".join(f"{model}: {text}\n" for model, text in lines))


def test_what_a_model_says_wins_over_names() -> None:
    said = model("""
        state { epoch: Term = 0 isr: set[Server] = {} quorum: set[Server] = {} }
        process Server {
          durable log: seq[Term; Place] = [] durable rows: seq[Place; Place] = []
          durable hw: Place = 0 durable seen: Place = 0 durable shut: bool = false
        }
        display { log: rows, high_watermark: seen, membership: quorum, up: shut, flushed: hw }
    """)

    assert named(roles(said)) == (
        {"log": "rows", "high_watermark": "seen", "up": "shut", "flushed": "hw"},
        {"membership": "quorum", "epoch": "epoch"},
    )


def test_what_a_model_does_not_say_is_found_by_name() -> None:
    said = model("""
        state { isr: set[Server] = {} }
        process Server { durable log: seq[Term; Place] = [] durable seen: Place = 0 }
        display { high_watermark: seen }
    """)

    assert named(roles(said)) == ({"log": "log", "high_watermark": "seen"}, {"membership": "isr"})


def test_a_name_is_not_enough_where_the_type_does_not_fit() -> None:
    other = model("""
        enum Mood { up, down }
        state { isr: Term = 0 leader: bool = false }
        process Server { durable log: Term = 0 durable hw: bool = true durable leader: Mood = up }
    """)

    assert named(roles(other)) == ({}, {})


def test_a_field_of_a_record_that_is_named_like_the_record_is_another_part() -> None:
    said = model("""
        record Inner { epoch: Term, isr: set[Server] }
        state { isr: Inner = Inner(epoch = 0, isr = {}) }
        process Server { durable done: bool = false }
        display { membership: isr.isr, epoch: isr.epoch }
    """)
    found = roles(said).whole

    assert [(part.variable, part.path) for part in (found["membership"], found["epoch"])] == [
        (0, (1,)),
        (0, (0,)),
    ]


def test_a_role_may_stand_once_in_each_process_and_in_the_state() -> None:
    said = loads(
        """
        protocol p
        sort Server, Client
        nat Term
        state { turn: Term = 0 }
        process Server { durable mine: Term = 0 }
        process Client { durable mine: Term = 0 }
        display { epoch: turn, epoch: Server.mine, epoch: Client.mine }
        """,
        "p.rsm",
    )[0]
    found = roles(said)

    assert (found.sorts, sorted(found.fields), sorted(found.whole)) == (
        ("Server", "Client"),
        [("Client", "epoch"), ("Server", "epoch")],
        ["epoch"],
    )


def test_the_label_is_a_field_of_the_entries() -> None:
    said = model("""
        record Entry { term: Term, order: Place, size: Place }
        process Server { durable log: seq[Entry; Place] = [] }
        display { log: log, label: order }
    """)

    assert roles(said).label == "order"


def test_entries_have_no_label_unless_the_model_says_so() -> None:
    assert roles(load(PROTOCOLS / "kafka.rsm")[0]).label is None


def test_how_much_of_a_cached_log_is_on_disk_is_known_whatever_the_log_is_called() -> None:
    said = model("""
        process Server { cached rows: seq[Term; Place] = [] }
        display { log: rows }
    """)
    found = roles(said).field("Server", "flushed")

    assert found is not None
    assert found.name == "rows.flushed"


def test_a_part_is_read_from_a_state() -> None:
    said = load(PROTOCOLS / "kafka_log.rsm")[0]
    machine = Machine(said, said.checks[0].scope)
    state = machine.initial()[0]
    found = roles(said)

    assert read(found.whole["leader"], state) is None
    assert read(found.whole["epoch"], state) == 0
    assert read(found.field("Replica", "log"), state, 0) == ()


def read(part: NamedPart | None, state: tuple[object, ...], member: int | None = None) -> object:
    assert part is not None
    return part.of(state, member)


@pytest.mark.parametrize(
    ("of", "first", "does"),
    [
        ("bool", "true", True),
        ("Server?", "none", False),
        ("{ follower, leader }", "leader", True),
        ("{ follower, leader }", "follower", False),
    ],
)
def test_who_takes_itself_for_the_leader(of: str, first: str, does: bool) -> None:  # noqa: FBT001
    named_type = f"enum Role {of}\n" if of.startswith("{") else ""
    of = "Role" if named_type else of
    said = loads(
        f"protocol p\nsort Server\n{named_type}process Server {{ durable leads: {of} = {first} }}\n"
        "check c { scope Server = 2 }",
        "p.rsm",
    )[0]
    state = Machine(said, said.checks[0].scope).initial()[0]
    part = roles(said).field("Server", "leads")

    assert part is not None
    assert [leads(part, part.of(state, member), member) for member in (0, 1)] == [does, does]
