"""Products that write to Kafka, with their own defaults, and the topics that they make: `products.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any

from modelcheck.kafka.settings.keys.versions import OLDEST, Version, version
from spec.frozen import frozen
from spec.reading import resource

Release = tuple[int, ...]
_STRENGTH = ("0", "1", "all")  # of acks, the weakest first


@frozen
class WritingProduct:
    """A product with its defaults: for each key the first release with each value, in order.

    `of_kafka` is whether its releases are Kafka's; `in_use` is the oldest release to consider where none is
    given.
    """

    name: str
    title: str
    names: tuple[str, ...]
    defaults: Mapping[str, tuple[tuple[Release, str], ...]]
    of_kafka: bool
    in_use: Release
    source: str

    def default(self, key: str, release: Release | None) -> str | None:
        """The default of a key in a release, or the weakest of those in use; None if it is Kafka's own."""
        values = self.defaults.get(key, ())
        if release is not None:
            first = values[0][1] if values else None
            return next((value for since, value in reversed(values) if since <= release), first)
        begun = [place for place, (since, _) in enumerate(values) if since <= self.in_use]
        in_use = [value for _, value in values[begun[-1] if begun else 0 :]]
        return min(in_use, key=_weakness, default=None)


@frozen
class OwnTopic:
    """A topic that a product makes for itself: the keys of its replicas, and what stops without it.

    `default` is the number of replicas without a key, -1 for the brokers' own; `min_isr` is the key of its
    own minimum of in-sync replicas, empty where the brokers' counts.
    """

    name: str
    keys: tuple[str, ...]
    first: Version
    default: int
    stops: str
    min_isr: str
    at_most_brokers: bool


def numbers(text: str) -> Release:
    """The four numbers of a product's release; those not written are 0."""
    parts = [int(part) for part in text.split(".")]
    return tuple([*parts, 0, 0, 0, 0][:4])


def _weakness(value: str) -> int:
    """A sort key for values, the weakest first."""
    return _STRENGTH.index(value) if value in _STRENGTH else 0


def _product(row: Mapping[str, Any]) -> WritingProduct:
    """The product in a row of the table."""
    defaults = {
        key: tuple((numbers(since), value) for since, value in values.items())
        for key, values in row["defaults"].items()
    }
    return WritingProduct(
        row["name"],
        row.get("title", row["name"]),
        (row["name"], *row.get("other_names", ())),
        defaults,
        row.get("of_kafka", False),
        numbers(row.get("in_use", "0.1")),
        row["source"],
    )


def _topic(row: Mapping[str, Any]) -> OwnTopic:
    """The topic in a row of the table."""
    return OwnTopic(
        row["name"],
        tuple(row["keys"]),
        version(row["first"]) if "first" in row else OLDEST,
        row["default"],
        row["stops"],
        row.get("min_isr", ""),
        row.get("at_most_brokers", False),
    )


_TABLE = tomllib.loads(resource(__package__, "products.toml"))
PRODUCTS = tuple(map(_product, _TABLE["product"]))
OWN_TOPICS = tuple(map(_topic, _TABLE["topic"]))
DEBEZIUM_IMAGES: Mapping[str, str] = _TABLE["debezium_images"]  # the releases of Kafka in them
_BY_NAME = {name: product for product in PRODUCTS for name in product.names}


def product(name: str) -> WritingProduct | None:
    """The product with this name; None if none is known."""
    return _BY_NAME.get(name)
