"""The release of Kafka that a container image carries, as its name says."""

from __future__ import annotations

import re

from modelcheck.review.versions import platform_release

_IMAGE = re.compile(r"(?:.*/)?(?P<name>[\w.-]+)(?::(?P<tag>[\w.-]+))?(?:@.*)?")
_BROKERS = frozenset("kafka kafka-native cp-kafka cp-server cp-enterprise-kafka confluent-local".split())
_PLATFORM = frozenset("cp-kafka cp-server cp-enterprise-kafka confluent-local".split())
_AT_END = re.compile(r"(?:.*kafka-|\d+\.\d+-)(\d+\.\d+(?:\.\d+)+)")  # 0.39.0-kafka-3.6.1, 2.13-2.8.1
_AT_START = re.compile(r"v?(\d+\.\d+(?:\.\d+)*)")


def is_of_a_broker(image: str) -> bool:
    """Whether the image is one of those that run a broker."""
    found = _IMAGE.fullmatch(image.strip())
    return found is not None and found["name"] in _BROKERS


def release_of(image: str) -> str | None:
    """The release, where the tag of a broker's image says it."""
    found = _IMAGE.fullmatch(image.strip())
    if found is None or found["name"] not in _BROKERS or not found["tag"]:
        return None
    tag = found["tag"]
    number = _AT_END.match(tag) or _AT_START.match(tag)
    if number is None:
        return None
    return platform_release(number[1]) if found["name"] in _PLATFORM else number[1]
