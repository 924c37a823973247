"""The controllers that vote: how many the files name, and whether brokers are controllers as well."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from modelcheck.kafka.settings.provenance import ResolutionDiagnostics, Stated
from modelcheck.kafka.settings.readings import About, Fact, Reading, SettingLayer
from modelcheck.kafka.settings.resolution.cluster import contradiction, facts_about
from modelcheck.kafka.settings.resolution.switches import Controller
from spec.frozen import frozen

VOTERS = "controller.quorum.voters"
BOOTSTRAP = "controller.quorum.bootstrap.servers"
_TEMPLATES = ("${", "{{", "<")  # how many another tool fills in is not known


@frozen
class Voters:
    """The number of voting controllers; `are_brokers` if each node shown is also a broker."""

    count: Stated[int]
    are_brokers: bool

    def as_json(self) -> dict[str, object]:
        """The voters as JSON data."""
        return {**self.count.as_json(), "are_brokers": self.are_brokers}


def stated_voters(
    readings: Sequence[Reading], controller: Controller, findings: ResolutionDiagnostics
) -> Voters | None:
    """The voters that files name; None if none does, or with ZooKeeper.

    Of files that differ the one with the fewest is taken, with a warning (R0736).  Bootstrap servers
    may be only some of them: their number is assumed.
    """
    if controller is not Controller.KRAFT:
        return None
    for key in ("", VOTERS, BOOTSTRAP):
        facts = list(_listed(readings, key)) if key else list(facts_about(readings, About.VOTERS))
        if not facts:
            continue
        first = min(facts, key=lambda fact: int(fact.value))
        number = int(first.value)
        other = next((fact for fact in facts if fact.value != first.value), None)
        if other is not None:
            contradiction(first, f"{number} controllers", other, findings)
        reason = f"{first.words} at {first.place}"
        return Voters(Stated(number, reason, assumed=key == BOOTSTRAP), _are_brokers(readings, key))
    return None


def _listed(readings: Sequence[Reading], key: str) -> Iterator[Fact]:
    """The number of nodes that each setting of this key lists."""
    given = (one for reading in readings for one in reading.given if one.layer is SettingLayer.BROKER_STATIC)
    last = {one.home: one for one in given if one.key == key}
    for one in last.values():
        nodes = {part.strip() for part in one.value.split(",") if part.strip()}
        if nodes and not any(sign in one.value for sign in _TEMPLATES):
            yield Fact(About.VOTERS, str(len(nodes)), one.source, one.span, key)


def _are_brokers(readings: Sequence[Reading], key: str) -> bool:
    """Whether each controller in these files is also a broker."""
    if not key:
        return any(fact.value == "yes" for fact in facts_about(readings, About.COMBINED))
    roles = [one.value for reading in readings for one in reading.given if one.key == "process.roles"]
    controllers = [value for value in roles if "controller" in value]
    return bool(controllers) and all("broker" in value for value in controllers)
