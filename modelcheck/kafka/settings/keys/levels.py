"""The levels of the feature `metadata.version`, as brokers number them, and the names of these."""

from __future__ import annotations

from modelcheck.kafka.settings.keys.versions import LINES, protocol

# The level of the feature metadata.version from which on a cluster is of that release: MetadataVersion of
# Kafka 4.4.0, whose last one for production is 33.
RELEASES: tuple[tuple[int, str], ...] = (
    (1, "3.0-IV1"),
    (2, "3.1-IV0"),
    (3, "3.2-IV0"),
    (4, "3.3-IV0"),
    (7, "3.3-IV3"),
    (8, "3.4-IV0"),
    (9, "3.5-IV0"),
    (12, "3.6-IV0"),
    (15, "3.7-IV0"),
    (17, "3.7-IV2"),
    (20, "3.8-IV0"),
    (21, "3.9-IV0"),
    (22, "4.0-IV0"),
    (26, "4.1-IV0"),
    (28, "4.2-IV0"),
    (30, "4.3-IV0"),
    (31, "4.4-IV0"),
    (33, "4.4-IV2"),
)


def named(level: int) -> str:
    """The metadata version of a level, such as `4.1-IV1` for 27.

    One after the newest known is of the release that follows; `3.0-IV1` is the first.

    >>> named(27)
    '4.1-IV1'
    """
    first, name = max((each for each in RELEASES if each[0] <= level), default=RELEASES[0])
    if level > RELEASES[-1][0]:
        major, minor = LINES[-1]
        return f"{major}.{minor + 1}-IV0"
    found = protocol(name)
    return f"{found.release}-IV{found.internal + max(0, level - first)}"
