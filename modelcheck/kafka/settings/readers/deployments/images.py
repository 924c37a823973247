"""The release of Kafka that a container image carries, by its name."""

from __future__ import annotations

import re

from modelcheck.kafka.settings.keys.products import DEBEZIUM_IMAGES
from modelcheck.kafka.settings.keys.versions import LINES, platform_release

_IMAGE = re.compile(r"(?:.*/)?(?P<name>[\w.-]+)(?::(?P<tag>[\w.-]+))?(?:@.*)?")
_BROKERS = frozenset("kafka kafka-native cp-kafka cp-server cp-enterprise-kafka confluent-local".split())
_PLATFORM = frozenset("cp-kafka cp-server cp-enterprise-kafka confluent-local".split())
_OTHERS = re.compile(r"zookeeper|connect|registry|kafka-rest|ksql|control-center|exporter|\b(?:ui|init)\b")
_BITNAMI = re.compile(r"(?:.*/)?bitnami\w*/(?:\w+/)*kafka(?:[:@].*)?")
_PLAIN = re.compile(r"(?:.*/)?(?:apache/kafka(?:-native)?|confluentinc/(?:cp|confluent)-[\w-]+)(?:[:@].*)?")
_ALIASES = frozenset(  # the names without CFG_ that Bitnami's image takes too, of before there was CFG_
    "DEFAULT_REPLICATION_FACTOR LOG_FLUSH_INTERVAL_MESSAGES LOG_FLUSH_INTERVAL_MS LOG_MESSAGE_FORMAT_VERSION "
    "OFFSETS_TOPIC_REPLICATION_FACTOR TRANSACTION_STATE_LOG_MIN_ISR TRANSACTION_STATE_LOG_REPLICATION_FACTOR "
    "BROKER_ID NODE_ID PROCESS_ROLES CONTROLLER_QUORUM_VOTERS ZOOKEEPER_CONNECT "
    "ZOOKEEPER_CONNECTION_TIMEOUT_MS".split()
)
_AT_END = re.compile(r"(?:.*kafka-|\d+\.\d+-)(\d+\.\d+(?:\.\d+)+)")  # 0.39.0-kafka-3.6.1, 2.13-2.8.1
_BARE = re.compile(r"v?(\d+\.\d+(?:\.\d+)*)(?:-debian-\d+(?:-r\d+)?)?")  # 3.6.1-debian-12-r0, of Bitnami
_AT_START = re.compile(r"v?(\d+\.\d+(?:\.\d+)*)")


def is_of_a_broker(image: str) -> bool:
    """Whether the image is known to run a broker."""
    found = _IMAGE.fullmatch(image.strip())
    return found is not None and found["name"] in _BROKERS


def is_of_something_else(image: str) -> bool:
    """Whether the image's name shows that it runs no broker."""
    found = _IMAGE.fullmatch(image.strip())
    return found is not None and _OTHERS.search(found["name"]) is not None


def release_of(image: str) -> str | None:
    """The Kafka release in the tag of a broker image; None if it shows none."""
    found = _IMAGE.fullmatch(image.strip())
    if found is None or found["name"] not in _BROKERS or not found["tag"]:
        return None
    tag = found["tag"]
    if is_debezium(image):
        return next((kafka for own, kafka in DEBEZIUM_IMAGES.items() if _is_of_line(tag, own)), None)
    number = _AT_END.match(tag) or _AT_START.match(tag)
    if number is None:
        return None
    return platform_release(number[1]) if found["name"] in _PLATFORM else number[1]


def is_debezium(image: str) -> bool:
    """Whether the image is Debezium's of Kafka, which starts it with ZooKeeper if no CLUSTER_ID is set."""
    return "debezium/kafka" in image


def release_of_tag(tag: str) -> str | None:
    """The Kafka release in the tag of an image without a name, as values of a chart have it; else None."""
    found = _AT_END.match(tag) or _BARE.fullmatch(tag)
    numbers = () if found is None else tuple(map(int, found[1].split(".")))
    return found[1] if found is not None and numbers[:2] in LINES else None


def _is_of_line(tag: str, line: str) -> bool:
    """Whether a tag is of a line of releases: `2.1` has `2.1.4.Final`."""
    return tag == line or tag.startswith(f"{line}.")


def meant_variable(image: str, name: str) -> str:
    """The variable that the image uses for the setting that `name` does not set; empty if none.

    Bitnami's takes `KAFKA_CFG_…`, Apache's and Confluent's `KAFKA_…`; of other images neither is known.
    """
    bare = name.removeprefix("KAFKA_").removeprefix("CFG_")
    if _BITNAMI.fullmatch(image.strip()):
        return "" if name.startswith("KAFKA_CFG_") or bare in _ALIASES else f"KAFKA_CFG_{bare}"
    if _PLAIN.fullmatch(image.strip()):
        return f"KAFKA_{bare}" if name.startswith("KAFKA_CFG_") else ""
    return ""
