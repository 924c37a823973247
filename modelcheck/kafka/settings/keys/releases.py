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
    """The shipped models of one partition that a review uses, by name."""
    models = loads(library.text("kafka"), "kafka.rsm", only=("kafka", "unattended"))
    return {model.name: model for model in models}


def entry(name: str) -> ir.ConfigEntry:
    """The configuration entry of the model with this name, which must exist."""
    return next(each for each in kafka()["kafka"].configs if each.name == name)


def of_key(key: str) -> ir.ConfigEntry:
    """The configuration entry of the model for a Kafka key, which must exist."""
    return next(each for each in kafka()["kafka"].configs if each.key_name == key)


def history(found: ir.ConfigEntry) -> tuple[tuple[Version, Plain], ...]:
    """The defaults of an entry in order, each with its first release."""
    return tuple((version(first), plain(found, value)) for first, value in found.defaults)


@cache
def release_of(name: str, value: Plain) -> Version:
    """The first release in which an entry has this value."""
    return version(_began(name, value))


@cache
def protocol_of(name: str, value: Plain) -> ProtocolVersion:
    """The first protocol version in which an entry has this value."""
    return protocol(_began(name, value))


def plain(found: ir.ConfigEntry, value: ir.Value) -> Plain:
    """A value of an entry as plain data: an enum member by name."""
    match found.type:
        case Enum(_, members):
            named: str = members[value]
            return named
        case _:
            number: int = value  # or a truth value, which is one
            return number


def value_of(found: ir.ConfigEntry, said: Plain) -> ir.Value:
    """The inverse of `plain`."""
    match found.type:
        case Enum(_, members):
            return members.index(str(said))
        case _:
            return said


def _began(name: str, value: Plain) -> str:
    """The first version with a value of an entry, as the model annotates it."""
    found = entry(name)
    return next(first for first, each in found.defaults if plain(found, each) == value)
