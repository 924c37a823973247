"""A variant is its base's text with pieces replaced."""

from __future__ import annotations

from dataclasses import replace

from spec.load import loads
from spec.model import ir
from tests.spec.elaborated import BASE, only, shown

VARIED = BASE + (
    "fun fit(r: Replica): bool = r.ok\n"
    "action elect(r: Replica) { require ok: fit(r)  require new: leader != r  leader := r }\n"
)


def variant(text: str) -> ir.Model:
    base, varied = loads(f"{VARIED}variant v of toy {{ {text} }}")

    assert replace(base, source=only(VARIED).source) == only(VARIED)
    return varied


def test_a_replaced_function_changes_its_callers() -> None:
    model = variant("replace fun fit(r: Replica): bool = r.hw == 0")

    assert shown(model.actions[0].head[0], model) == "require ok: ==(lookup(Replica.hw, $0), 0)"


def test_a_dropped_guard_is_gone() -> None:
    assert [g.name for g in variant("drop elect.ok").actions[0].head if isinstance(g, ir.Guard)] == ["new"]


def test_a_dropped_action_is_gone() -> None:
    assert variant("drop elect").actions == ()


def test_an_added_guard_stands_before_the_first_change() -> None:
    model = variant("require elect.first: epoch == 0")

    assert [g.name for g in model.actions[0].head if isinstance(g, ir.Guard)] == ["ok", "new", "first"]


def test_a_changed_storage_class_changes_what_a_crash_wipes() -> None:
    model = variant("durable Replica.hw  fault crash(r: Replica) { wipe r }")

    assert model.variables[3].storage is ir.Storage.DURABLE
    assert [shown(s, model) for s in model.action("crash").body] == ["Replica.ok[$0] := fit True"]


def test_a_variant_of_a_variant_has_the_changes_of_both() -> None:
    text = f"{VARIED}variant v of toy {{ drop elect.ok }} variant w of v {{ drop elect.new }}"

    assert [len(model.actions[0].head) for model in loads(text)] == [2, 1, 0]


def test_a_replaced_declaration_keeps_its_place() -> None:
    model = variant(
        "action late(r: Replica) { epoch := 1 } replace action elect(r: Replica) { leader := none }".replace(
            "last", "late"
        )
    )

    assert [action.name for action in model.actions] == ["elect", "late"]


def test_a_replaced_init_block_gives_the_first_states() -> None:
    text = f"{VARIED}init {{ epoch := 1 }} variant v of toy {{ replace init {{ epoch := 2 }} }}"
    base, varied = loads(text)

    assert [shown(s, base) for s in base.init] == ["epoch := fit 1"]
    assert [shown(s, varied) for s in varied.init] == ["epoch := fit 2"]
