"""Kafka's defaults by version, taken from the config entries of the model alone.

NOTE(releases): a default or a behaviour with a config entry in `spec/protocols/kafka.rsm` has its
versions in the `default` lines there, which `check --release` takes too.  The catalogue has its own only
for keys without an entry in the model, or with one that covers less.
"""

from __future__ import annotations

from functools import cache

import spec.library as library
import spec.model.ir as ir
from modelcheck.kafka.settings.keys.versions import ProtocolVersion, Version, protocol, version
from spec.load import loads
from spec.model.types import Enum

Plain = str | int | bool
ACKS = {"zero": "0", "one": "1", "all": "all"}  # what the model calls them → what Kafka does


@cache
def kafka() -> dict[str, ir.Model]:
    """The models of one partition that a review asks, as shipped, by name."""
    models = loads(library.text("kafka"), "kafka.rsm", only=("kafka", "unattended"))
    return {model.name: model for model in models}


def entry(name: str) -> ir.ConfigEntry:
    """The config entry of this name; asking for another is a mistake of ours."""
    return next(each for each in kafka()["kafka"].configs if each.name == name)


def of_key(key: str) -> ir.ConfigEntry:
    """The config entry of a key of Kafka; asking for a key without one is our bug."""
    return next(each for each in kafka()["kafka"].configs if each.key_name == key)


def history(found: ir.ConfigEntry) -> tuple[tuple[Version, Plain], ...]:
    """The defaults of an entry, the oldest first, each with the release that brought it."""
    return tuple((version(first), plain(found, value)) for first, value in found.defaults)


def release_of(name: str, value: Plain) -> Version:
    """The release from which on an entry has this value."""
    return version(_began(name, value))


def protocol_of(name: str, value: Plain) -> ProtocolVersion:
    """The protocol from which on an entry has this value."""
    return protocol(_began(name, value))


def plain(found: ir.ConfigEntry, value: ir.Value) -> Plain:
    """A value of an entry in plain words: a member of an enum by its name."""
    match found.type:
        case Enum(_, members):
            named: str = members[value]
            return named
        case _:
            number: int = value  # or a truth value, which is one
            return number


def value_of(found: ir.ConfigEntry, said: Plain) -> ir.Value:
    """The value of an entry from a plain value: the inverse of `plain`."""
    match found.type:
        case Enum(_, members):
            return members.index(str(said))
        case _:
            return said


def _began(name: str, value: Plain) -> str:
    found = entry(name)
    return next(first for first, each in found.defaults if plain(found, each) == value)
