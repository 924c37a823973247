from __future__ import annotations

from dataclasses import replace

import pytest

from modelcheck.asking.overrides import Overrides, apply, free_check
from spec.diagnostics import SpecError
from spec.load import loads
from spec.model.ir import Budget, Model

TEXT = """
protocol p
sort Replica
nat Epoch
enum Mode { slow, fast }
config mode: Mode = slow {
  default "1.0" = slow
  default "2.0" = fast
}
config on: bool = true
config window: 1..4 = 2 {
  note "seconds"
  default "1.0" = 1
}
config first: Replica? = none
state { x: Epoch = 0, mine: Replica? = none }
network net: bag of Epoch with drop
action go { x := x + 1 }
fault crash { require x > 0  x := 0 }
invariant low: x < 9
check c says "a crash loses nothing" {
  scope Replica = {a, b}, Epoch = 2, net = 1
  faults crash <= 1
  expect low holds
}
"""


def model() -> Model:
    return loads(TEXT, "p.rsm")[0]


def refusal(given: Overrides) -> str:
    with pytest.raises(SpecError) as caught:
        apply(model(), model().checks[0], given)
    return str(caught.value)


def test_nothing_typed_changes_nothing() -> None:
    check = model().checks[0]

    assert apply(model(), check, Overrides()) is check


def test_what_is_typed_replaces_what_the_check_says() -> None:
    given = Overrides(("Replica=3", "Epoch=5,net=0"), ("mode=fast", "on=false,window=4", "first=b"), "any")
    check = apply(model(), model().checks[0], given)

    assert check.scope.sorts["Replica"][:2] == ("a", "b")
    assert len(set(check.scope.sorts["Replica"])) == 3
    assert check.scope.nats == {"Epoch": 5}
    assert check.scope.networks == {"net": 0}
    assert check.scope.config == {"mode": 1, "on": False, "window": 4, "first": 1}
    assert check.budget == Budget(None, {"crash": None})


def test_fewer_members_keep_their_names() -> None:
    assert apply(model(), model().checks[0], Overrides(("Replica=1",))).scope.sorts["Replica"] == ("a",)


def test_what_a_check_says_and_expects_is_of_the_check_as_written() -> None:
    check = model().checks[0]
    same, other = (apply(model(), check, Overrides((text,))) for text in ("Epoch=2", "Epoch=3"))

    assert (same.expect, same.says) == (check.expect, "a crash loses nothing")
    assert (other.expect, other.says) == ((), None)


@pytest.mark.parametrize(
    ("release", "config", "found"),
    [
        ("0.8.2", (), {"mode": 0, "window": 2}),  # older than what the model knows
        ("1.0", (), {"mode": 0, "window": 1}),
        ("1.9.9", (), {"mode": 0, "window": 1}),
        ("2.0-rc1", (), {"mode": 0, "window": 1}),
        ("2.0", (), {"mode": 1, "window": 1}),
        ("2.0.0", (), {"mode": 1, "window": 1}),
        ("2.0.0.1", ("window=4",), {"mode": 1, "window": 4}),
    ],
)
def test_of_a_release_every_config_entry_has_its_default(
    release: str, config: tuple[str, ...], found: dict[str, int]
) -> None:
    given = Overrides(config=config, release=release)
    made = apply(model(), model().checks[0], given).scope.config

    assert {name: made[name] for name in found} == found


def test_a_release_is_refused_where_the_model_knows_of_none() -> None:
    bare = loads(TEXT.replace("default", "// default"))[0]

    with pytest.raises(SpecError, match="declares no defaults for releases"):
        apply(bare, bare.checks[0], Overrides(release="2.0"))


@pytest.mark.parametrize(
    ("text", "budget"),
    [
        ("0", Budget(0)),
        ("2", Budget(2, {"crash": None})),
        ("any", Budget(None, {"crash": None})),
        ("crash=2", Budget(None, {"crash": 2})),
        ("crash=any, net.drop=1", Budget(None, {"crash": None, "net.drop": 1})),
    ],
)
def test_faults_are_a_number_of_the_kinds_that_the_check_has_or_a_list(text: str, budget: Budget) -> None:
    assert apply(model(), model().checks[0], Overrides(faults=text)).budget == budget


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (Overrides(("Replic=3",)), "did you mean `Replica`?"),
        (Overrides(("Replica",)), "not of the form name=value"),
        (Overrides(("Replica=",)), "not of the form name=value"),
        (Overrides(("Replica=0",)), "whole number from 1 to 64"),
        (Overrides(("Epoch=-1",)), "whole number from 0"),
        (Overrides(("Epoch=99999999999999999999999999",)), "whole number from 0"),
        (Overrides(("Epoch=٣x",)), "whole number"),
        (Overrides((), ("mod=fast",)), "did you mean `mode`?"),
        (Overrides((), ("mode=fst",)), "did you mean `fast`?"),
        (Overrides((), ("on=yes",)), "none of false, true"),
        (Overrides((), ("window=5",)), "from 1 to 4"),
        (Overrides((), ("first=c",)), "none of a, b"),
        (Overrides(faults="many"), "whole number"),
        (Overrides(faults="crsh=1"), "did you mean `crash`?"),
        (Overrides(faults="crash=1,"), "not of the form name=value"),
        (Overrides(faults=""), "whole number"),
        (Overrides(release="two"), "is not a version"),
    ],
)
def test_a_slip_is_told_with_what_was_likely_meant(given: Overrides, said: str) -> None:
    assert said in refusal(given)


def test_a_model_without_checks_takes_its_bounds_from_the_command_line() -> None:
    bare = replace(model(), checks=())
    check = free_check(bare, Overrides(("Replica=2,Epoch=1,net=1",), ("on=false",), "1"))

    assert check.scope.config["on"] is False
    assert check.budget == Budget(1)
    with pytest.raises(SpecError, match="Epoch, net"):
        free_check(bare, Overrides(("Replica=2",)))
