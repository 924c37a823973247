"""A question that `--also` asks, as a value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from modelcheck.kafka.settings.keys.releases import Plain
from modelcheck.kafka.settings.readings import Given
from modelcheck.kafka.settings.resolution.settings import Settings
from spec.frozen import frozen


@frozen
class Inquiry:
    """A search about a subject: the case to answer, the model, its configuration, properties and faults.

    `members` and `bounds` are of a model that has no brokers: its sorts, and its numbers and networks.
    """

    what: str
    asks: str
    model: tuple[str, str]
    only: tuple[str, ...]
    faults: Mapping[str, int | None]
    given: Mapping[str, Plain]
    spare: int = 0  # brokers without a replica
    beside: str = ""  # the kind of faults of the review's answer to the same without it
    most: int | None = None  # faults, where more would take the majority of controllers
    members: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    bounds: Mapping[str, int] = field(default_factory=dict)


@frozen
class Inquiries:
    """The searches about a subject, the assumptions they make, and questions that do not apply."""

    asked: tuple[Inquiry, ...]
    notes: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()


def outside(settings: Settings) -> Mapping[str, Given]:
    """The settings in files that the model of one partition does not have, by key."""
    return {remark.given.key: remark.given for remark in settings.outside}
