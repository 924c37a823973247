"""The block `display`: what pictures show of a model."""

from __future__ import annotations

from dataclasses import replace

from spec.load import loads
from tests.spec.elaborated import BASE, codes, only
from tests.spec.test_variants import VARIED

DRAWN = """
record Config { number: Epoch, members: set[Replica] }
state { config: Config = Config(number = 0, members = {}) }
"""


def drawn(block: str) -> list[tuple[str, str | None, str | None]]:
    model = only(f"{BASE}{DRAWN}display {{ {block} }}")
    return [
        (each.role, None if each.variable is None else model.variables[each.variable].name, each.field)
        for each in model.display
    ]


def test_what_is_shown_is_a_variable_or_a_field_of_one() -> None:
    block = "high_watermark: hw, membership: config.members, log: Replica.log, leader: leader"

    assert drawn(block) == [
        ("high_watermark", "Replica.hw", None),
        ("membership", "config", "members"),
        ("log", "Replica.log", None),
        ("leader", "leader", None),
    ]


def test_a_role_stands_once_in_each_process_and_once_in_the_state() -> None:
    assert len(drawn("epoch: hw  epoch: epoch")) == 2
    assert codes(f"{BASE}display {{ epoch: hw  epoch: Replica.hw }}") == ["R0201"]


def test_a_block_replaces_the_block_of_the_base() -> None:
    base, varied = loads(
        f"{BASE}display {{ log: log, up: ok }} variant v of toy {{ replace display {{ up: ok }} }}"
    )

    assert [[each.role for each in model.display] for model in (base, varied)] == [["log", "up"], ["up"]]


def test_a_variant_keeps_the_block_of_its_base() -> None:
    base, varied = loads(f"{BASE}display {{ log: log }} variant v of toy {{ }}")

    assert varied.display == base.display != ()


def test_a_variant_may_add_a_block() -> None:
    base, varied = loads(f"{BASE}variant v of toy {{ display {{ log: log }} }}")

    assert [len(model.display) for model in (base, varied)] == [0, 1]


def test_a_block_changes_nothing_that_an_engine_sees() -> None:
    plain, with_block = only(VARIED), only(f"{VARIED}display {{ leader: leader, up: ok }}")

    assert len(with_block.display) == 2
    assert replace(with_block, source=plain.source, display=()) == plain


def test_words_of_a_picture_are_names_and_no_parts_of_the_state() -> None:
    assert drawn("controller: leader  client: user  set: ISR") == [
        ("controller", None, "leader"),
        ("client", None, "user"),
        ("set", None, "ISR"),
    ]
    assert codes(f"{BASE}display {{ client: a.b }}") == ["R0412"]
    assert codes(f"{BASE}display {{ client: a  client: b }}") == ["R0201"]
