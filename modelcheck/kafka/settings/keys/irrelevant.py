"""Keys of Kafka that have no part in durability or availability: `irrelevant.toml`, by who reads them."""

from __future__ import annotations

import tomllib

from spec.reading import resource

_TABLE = tomllib.loads(resource(__package__, "irrelevant.toml"))

BROKER_ONLY = frozenset(_TABLE["broker_only"])
TOPIC_ONLY = frozenset(_TABLE["topic_only"])
TOPIC_TOO = frozenset(_TABLE["topic_too"])
PRODUCER_ONLY = frozenset(_TABLE["producer_only"])
CONSUMER_ONLY = frozenset(_TABLE["consumer_only"])
PRODUCER_TOO = frozenset(_TABLE["producer_too"])
SHARED = frozenset(_TABLE["shared"])
CONNECT = frozenset(_TABLE["connect"])
ZOOKEEPER = frozenset(_TABLE["zookeeper"])
LOGGING_PREFIXES = tuple(_TABLE["logging_prefixes"])
IRRELEVANT = BROKER_ONLY | TOPIC_ONLY | PRODUCER_ONLY | CONSUMER_ONLY | SHARED
IRRELEVANT_PREFIXES = tuple(_TABLE["prefixes"])
