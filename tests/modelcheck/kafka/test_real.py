"""Configurations found in public repositories and documentation: what was expected of each comes out.

`real/manifest.toml` has the origin of each and the answer, written down before the first run.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from modelcheck.kafka.questions.answers import ask_mixed
from modelcheck.kafka.questions.partition import PartitionModel, partition
from modelcheck.kafka.questions.search import Asking, Effort, Unwatched
from modelcheck.kafka.settings.readers.recognition import read_files
from modelcheck.kafka.settings.resolution.settings import Settings, resolve
from spec.diagnostics import SpecError

REAL = Path(__file__).parent / "real"
MANIFEST: dict[str, dict[str, Any]] = tomllib.loads((REAL / "manifest.toml").read_text(encoding="utf-8"))

SEEN: dict[str, Callable[[Settings], object]] = {
    "kafka": lambda found: str(found.version.value),
    "brokers": lambda found: found.brokers.value,
    "replicas": lambda found: found.switches.replication_factor.value,
    "min_insync": lambda found: found.switches.min_insync_replicas.value,
    "unclean": lambda found: found.switches.unclean_election.value,
    "acks": lambda found: found.switches.acks.value,
    "controller": lambda found: str(found.switches.controller.value),
    "storage": lambda found: str(found.switches.storage.value),
    "topics": lambda found: [topic.name for topic in found.topics],
}
ASSUMED: dict[str, Callable[[Settings], bool]] = {
    "kafka": lambda found: found.version.assumed,
    "brokers": lambda found: found.brokers.assumed,
    "replicas": lambda found: (
        found.switches.replication_factor.assumed and found.value("default.replication.factor").origin is None
    ),
    "acks": lambda found: found.switches.acks.assumed,
}
ANSWERED = [name for name, said in MANIFEST.items() if "expected" in said]
REFUSED = [name for name, said in MANIFEST.items() if "refused" in said]


def review(name: str) -> Settings:
    return resolve(read_files([str(REAL / name)]))


@pytest.fixture(scope="module")
def survived() -> Iterator[Callable[[PartitionModel], dict[str, int]]]:
    """How many faults of any kind each guarantee survives, of one at most; equal questions are asked once."""
    known: dict[str, dict[str, int]] = {}
    with Asking(Effort(threads=1), Unwatched()) as asking:

        def found(asked: PartitionModel) -> dict[str, int]:
            key = f"{len(asked.names)} {asked.ephemeral} {sorted(asked.config.items())}"
            if key not in known:
                answers = chain.from_iterable(ask_mixed(asking, asked, 1))
                lost = {a.guarantee.name: a.lost_with for a in answers}
                known[key] = {name: 1 if least is None else least - 1 for name, least in lost.items()}
            return known[key]

        yield found


def test_every_file_has_its_origin_and_its_answer() -> None:
    files = {path.name for path in REAL.iterdir()} - {"manifest.toml"}

    assert set(MANIFEST) == files
    assert len(ANSWERED) >= 40
    assert all(said["origin"] for said in MANIFEST.values())
    assert sorted([*ANSWERED, *REFUSED]) == sorted(files)
    assert all(said.get("why") for name, said in MANIFEST.items() if name in REFUSED)


@pytest.mark.parametrize("name", ANSWERED)
def test_a_configuration_is_read_as_expected(name: str) -> None:
    found = review(name)
    expected: dict[str, object] = MANIFEST[name]["expected"]

    assert {key: SEEN[key](found) for key in expected} == expected
    for key in MANIFEST[name].get("assumed", ()):
        assert ASSUMED[key](found), f"nothing in the file says {key}"


@pytest.mark.parametrize("name", ANSWERED)
def test_what_a_file_says_is_not_assumed(name: str) -> None:
    """Of the release, the brokers and the replicas: whatever is not listed as assumed, the file says."""
    found = review(name)
    told = set(MANIFEST[name]["expected"]) - set(MANIFEST[name].get("assumed", ()))

    assert [key for key in ("kafka", "brokers", "replicas") if key in told and ASSUMED[key](found)] == []


@pytest.mark.parametrize("name", ANSWERED)
def test_a_configuration_survives_what_was_expected(
    name: str, survived: Callable[[PartitionModel], dict[str, int]]
) -> None:
    found = survived(partition(review(name)))
    expected: dict[str, int] = MANIFEST[name]["survives"]

    assert {guarantee: found[guarantee] for guarantee in expected} == expected


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_answered_is_refused_with_its_line(name: str) -> None:
    with pytest.raises(SpecError) as caught:
        review(name)

    assert [problem.code for problem in caught.value.diagnostics] == MANIFEST[name]["refused"]
    assert all(problem.span is not None for problem in caught.value.diagnostics)
