"""The keys that decide what a Kafka partition may lose, and those that matter outside the model.

They are data: `modelled.toml` and `outside.toml`, with their sources.  Where the model has the defaults
itself, they are not repeated there (NOTE(releases)).
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any

from modelcheck.kafka.settings.keys.irrelevant import IRRELEVANT, IRRELEVANT_PREFIXES
from modelcheck.kafka.settings.keys.key import NEVER, CatalogueKey, Default, Reader, Standing, Type, is_near
from modelcheck.kafka.settings.keys.versions import OLDEST, of, version
from spec.reading import resource

_PLAIN = ("why", "topic_name", "absent", "low", "of_model", "worst")
FACTOR = "default.replication.factor"  # also what the replicas of a created topic are read as
# How long a name was read, where that differs from the key's own time: the Scala
# producer's name went with that producer, and the Java producer came with 0.8.2.
NAME_LIFETIMES = {"request.required.acks": (OLDEST, of(1, 1)), "acks": (of(0, 8, 2), None)}


def _catalogue_key(row: Mapping[str, Any], standing: Standing) -> CatalogueKey:
    """The key in a row of the catalogue; it exists from release `first`, or from its first default, on."""
    plain = {name: row[name] for name in _PLAIN if name in row}
    defaults = tuple(
        Default(version(since), NEVER if value == "never" else value)
        for since, value in row.get("defaults", {}).items()
    )
    begins = defaults[0].since if defaults else OLDEST
    return CatalogueKey(
        row["name"],
        standing,
        Type[row["type"].upper()],
        tuple(map(Reader, row["readers"])),
        row["does"],
        other_names=tuple(row.get("other_names", ())),
        first=version(row["first"]) if "first" in row else begins,
        last=version(row["last"]) if "last" in row else None,
        low_of_topics=version(row["low_of_topics"]) if "low_of_topics" in row else None,
        own_defaults=defaults,
        **plain,
    )


_MODELLED = tomllib.loads(resource(__package__, "modelled.toml"))
_OUTSIDE = tomllib.loads(resource(__package__, "outside.toml"))
MODELLED = tuple(_catalogue_key(row, Standing.MODELLED) for row in _MODELLED["key"])
OUTSIDE = tuple(_catalogue_key(row, Standing.OUTSIDE) for row in _OUTSIDE["key"])
_SLIPS: Mapping[str, str] = _MODELLED["slips"]  # what people write from memory and no spelling rule finds
_KNOWN = {name: key for key in MODELLED + OUTSIDE for name in key.names}


def find(name: str) -> CatalogueKey | None:
    """The key with this name, if the model depends on it or lists it as outside; else None."""
    return _KNOWN.get(name)


def is_modelled(name: str) -> bool:
    """Whether this is a name of a key that the model depends on."""
    key = find(name)
    return key is not None and key.standing is Standing.MODELLED


def known(name: str) -> CatalogueKey:
    """The key with this name, which must exist."""
    return _KNOWN[name]


def is_irrelevant(name: str) -> bool:
    """Whether this is a Kafka key that affects neither durability nor availability here."""
    return name in IRRELEVANT or name.startswith(IRRELEVANT_PREFIXES)


def meant(name: str) -> str:
    """The known key that `name` is probably a misspelling of; empty if there is none.

    Costs one comparison with each key of the catalogue.
    """
    if name in IRRELEVANT or len(name) > _LONGEST:
        return ""
    if name in _SLIPS:
        return _SLIPS[name]
    return next((candidate for candidate in _KNOWN if is_near(name, candidate)), "")


_LONGEST = 2 * max(map(len, _KNOWN))  # no slip is that far off
