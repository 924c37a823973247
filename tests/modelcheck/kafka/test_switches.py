"""Every switch that a review names decides something: with another value some check finds other runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

import spec.library as library
from modelcheck.api import check
from modelcheck.cli import main
from modelcheck.kafka.questions.partition import UNASKED, PartitionModel, partition
from modelcheck.kafka.questions.question import fault_kinds
from modelcheck.kafka.settings.keys.releases import kafka
from modelcheck.kafka.settings.readers.recognition import read_bytes
from modelcheck.kafka.settings.resolution.settings import resolve
from modelcheck.kafka.settings.resolution.switches import Switches
from spec.load import loads
from spec.model.ir import Check, ConfigEntry, Model, Value
from spec.model.types import Bool, Enum, Range
from spec.model.versions import default_of

pytestmark = pytest.mark.usefixtures("quickly_compiled")

MODEL = kafka()["kafka"]


@cache
def checks() -> Sequence[Check]:
    """The checks of this model in all files that go on from it, those of few brokers first."""
    found = [
        each
        for name in library.names()
        if library.goes_on_from(name) == MODEL.name
        for model in loads(library.text(name), name, only=(MODEL.name,))
        for each in model.checks
    ]
    return sorted(found, key=lambda each: len(each.scope.sorts["Broker"]) >= 3)


def others(entry: ConfigEntry, now: Value) -> Iterator[Value]:
    """The other values of a switch, as far as they are worth a try."""
    match entry.type:
        case Bool():
            yield not now
        case Enum(_, members):
            yield from (value for value in range(len(members)) if value != now)
        case Range(lo, _):
            yield from (value for value in (lo, lo + 1, lo + 2) if value != now)
        case _:
            pytest.fail(f"{entry.name} has values of a type that is not tried: {entry.type}")


def found(model: Model, asked: Check) -> tuple[object, ...]:
    findings = check(model, asked, engine="explicit").findings
    return findings.stats.states, findings.stats.transitions, findings.end


def changes_something(entry: ConfigEntry, asked: Check) -> bool:
    asked = replace(asked, expect=())
    config, whole = asked.scope.config, found(MODEL, asked)
    for value in others(entry, config[entry.name]):
        scope = replace(asked.scope, config={**config, entry.name: value})
        if found(MODEL, replace(asked, scope=scope)) != whole:
            return True
    return False


@pytest.mark.grid
@pytest.mark.parametrize("entry", MODEL.configs, ids=lambda entry: str(entry.name))
def test_a_switch_of_the_model_changes_what_a_check_finds(entry: ConfigEntry) -> None:
    assert any(changes_something(entry, asked) for asked in checks())


# What a review names, and the switch of the model that it sets; what is none decides the sizes or the faults.
SETS = {
    "acks": "acks",
    "min_insync_replicas": "min_isr",
    "unclean_election": "unclean",
    "controller": None,  # which settings there are, and what they are by default
    "truncation": "truncation",
    "expansion_waits_for_epoch": "epoch_reached",
    "restarts_noticed": "restarts_noticed",
    "fenced_kept_out": "fenced_kept_out",
    "leadership_moves": "moves",
    "flush": "flush",
    "strict_min_isr": "strict_min_isr",
    "eligible_leader_replicas": "elr",
    "directories_known": "directories",
    "replication_factor": None,  # how many brokers there are in the model
    "storage": None,  # which faults there are
}


def test_a_review_names_what_the_model_has_and_nothing_else() -> None:
    names = set(Switches.__dataclass_fields__)
    switches = {entry.name for entry in MODEL.configs}

    assert names == set(SETS)
    assert {name for name in SETS.values() if name is not None} == switches - UNASKED.keys()


def test_every_switch_of_the_model_is_set_by_a_review() -> None:
    reading = read_bytes("server.properties", b"broker.id=1\nzookeeper.connect=z:1\n")
    made = partition(resolve([reading], kafka="2.0.0", brokers=3, topic=None))

    assert set(made.config) == {entry.name for entry in MODEL.configs}


@pytest.mark.parametrize(
    "release",
    "0.8.0 0.8.1 0.8.2.0 0.9.0.0 0.10.0.0 0.11.0.0 1.0.0 1.1.0 2.0.0 2.0.1 2.1.0 2.2.0 2.8.0 "
    "3.0.0 3.2.0 3.3.0 3.6.0 3.7.0 3.9.0 4.0.0 4.1.0".split(),
)
def test_the_model_knows_the_same_defaults_of_a_release_as_a_review(release: str) -> None:
    """A review has them from the model, but what a switch makes of several keys is its own."""
    made = partition(resolve([read_bytes("f", b"default.replication.factor=3\n")], kafka=release, brokers=3))
    known = {entry.name: default_of(entry, release) for entry in MODEL.configs}
    config = made.scope(records=1, moves=made.moves).config

    assert {name: config[name] for name, value in known.items() if value is not None} == {
        name: value for name, value in known.items() if value is not None
    }


def test_verbose_says_of_nothing_that_it_decides_but_of_what_the_model_reads(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "server.properties"
    file.write_text("process.roles=broker\n")
    main(["kafka", "review", str(file), "--kafka", "3.7", "--faults", "0", "-v"])
    _, part = capsys.readouterr().out.split("What decides the answer, and why\n")
    rows = [row[2:28] for row in part.split("\n\n")[0].splitlines() if row[2] != " "]

    assert {row.strip().replace(" ", "_") for row in rows} == {*SETS} - {"controller"}


def test_how_many_replicas_there_are_and_what_keeps_their_logs_is_read_too() -> None:
    def made(text: str) -> PartitionModel:
        return partition(resolve([read_bytes("f", text.encode())], kafka="3.7.0"))

    pods = "kind: Kafka\nspec: {kafka: {version: 3.7.0, replicas: 3, storage: {type: %s}}}\n"

    assert made("default.replication.factor=2\n").names != made("default.replication.factor=3\n").names
    assert fault_kinds(made(pods % "ephemeral")) != fault_kinds(made(pods % "jbod"))


@pytest.mark.parametrize(("release", "possible"), [("2.1.0", True), ("2.2.0", False), ("3.9.0", False)])
def test_a_restart_that_nobody_notices_is_asked_of_releases_before_kip_380(
    release: str, *, possible: bool
) -> None:
    reading = read_bytes("server.properties", b"broker.id=1\nzookeeper.connect=z:1\n")
    kinds = fault_kinds(partition(resolve([reading], kafka=release)))

    assert ("bounce" in {kind.name for kind in kinds}) is possible
