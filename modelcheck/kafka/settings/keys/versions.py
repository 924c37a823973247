"""Kafka's releases and protocol versions, in their order.

The lines of releases are those of apache/kafka up to 4.4; the internal
versions (`3.7-IV4`) are those of its class MetadataVersion.
"""

from __future__ import annotations

import re
from functools import lru_cache

from spec.frozen import frozen

_RELEASE = re.compile(r"v?(\d{1,4}(?:\.\d{1,4}){0,3})(?:[-_+.][A-Za-z][\w.+-]*)?")
_PROTOCOL = re.compile(r"(\d{1,4}(?:\.\d{1,4}){1,3})(?:-IV(\d{1,3}))?")
_KEPT = 1024  # texts whose version is remembered: each topic asks for some twenty of them
_LATEST = 1 << 20  # an internal version that was not said: the last of its release


@frozen(order=True)
class Version:
    """A Kafka release such as `0.8.1` or `3.7.1`, ordered by number."""

    numbers: tuple[int, int, int, int]

    @property
    def line(self) -> tuple[int, ...]:
        """The release line: three numbers before 1.0, two from then on."""
        return self.numbers[:3] if self.numbers[0] == 0 else self.numbers[:2]

    def __str__(self) -> str:
        keep = 4 if self.numbers[0] == 0 else 3
        shown = self.numbers[:keep] if self.numbers[keep - 1] else self.line
        return ".".join(map(str, shown))


@frozen(order=True)
class ProtocolVersion:
    """An inter-broker protocol version such as `2.1-IV1`; without `IV` the release's last."""

    release: Version
    internal: int = _LATEST

    def __str__(self) -> str:
        return str(self.release) if self.internal == _LATEST else f"{self.release}-IV{self.internal}"


class BadVersionError(ValueError):
    """Raised for a text that is no Kafka version; has the reason, and advice."""

    def __init__(self, message: str, advice: str) -> None:
        super().__init__(message)
        self.message = message
        self.advice = advice


@lru_cache(maxsize=_KEPT)
def version(text: str) -> Version:
    """The release with this name, known or newer than any known. Raises BadVersionError.

    A patch release does not have to be known.  Raises BadVersionError for what is no
    version, what Kafka never released, and what leaves the line open (`0.8`).
    """
    found = _RELEASE.fullmatch(text.strip())
    if found is None:
        raise BadVersionError(
            f"`{_short(text)}` is not a Kafka version", "write a release such as 0.8.1, 2.8 or 3.7.1"
        )
    numbers = tuple(int(part) for part in found[1].split("."))
    padded = (*numbers, 0, 0, 0)[:4]
    result = Version((padded[0], padded[1], padded[2], padded[3]))
    _reject_open(text.strip(), numbers)
    _reject_unreleased(text.strip(), result)
    return result


def is_newer_than_known(found: Version) -> bool:
    """Whether the release is of a later line than all that are known here."""
    return found.line > LINES[-1]


@lru_cache(maxsize=_KEPT)
def protocol(text: str) -> ProtocolVersion:
    """The inter-broker protocol or metadata version with this name. Raises BadVersionError.

    Raises BadVersionError for what is none.
    """
    found = _PROTOCOL.fullmatch(text.strip())
    if found is None:
        raise BadVersionError(
            f"`{_short(text)}` is not a protocol version",
            "write a version such as 0.11.0-IV2, 2.8 or 3.7-IV4",
        )
    release = version(found[1])
    line = (*release.line, 0, 0)[:4]
    return ProtocolVersion(
        Version((line[0], line[1], line[2], line[3])), int(found[2]) if found[2] else _LATEST
    )


def of(*numbers: int) -> Version:
    """The release with these numbers, for tables: `of(0, 8, 2)`."""
    padded = (*numbers, 0, 0, 0)
    return Version((padded[0], padded[1], padded[2], padded[3]))


LINES: tuple[tuple[int, ...], ...] = (
    *((0, 8, n) for n in range(3)),
    (0, 9, 0),
    *((0, 10, n) for n in range(3)),
    (0, 11, 0),
    *((1, n) for n in range(2)),
    *((2, n) for n in range(9)),
    *((3, n) for n in range(10)),
    *((4, n) for n in range(5)),
)
OLDEST = of(*LINES[0])
NEWEST = of(*LINES[-1])


def _reject_open(text: str, numbers: tuple[int, ...]) -> None:
    """Raise BadVersionError for `0.8` or `3`, which is ambiguous as defaults differ."""
    meant = [line for line in LINES if line[: len(numbers)] == numbers]
    if len(meant) > 1:
        names = [".".join(map(str, line)) for line in meant]
        raise BadVersionError(
            f"Kafka `{text}` may be any of {names[0]} to {names[-1]}, and they differ",
            f"give one of: {', '.join(names)}",
        )


def _reject_unreleased(text: str, found: Version) -> None:
    """Raise BadVersionError for a release that was never made."""
    major, minor = found.numbers[:2]
    if found.line in LINES:
        return
    if found < OLDEST:
        raise BadVersionError(
            f"Kafka {text} has no replication to check", "partitions have replicas since Kafka 0.8.0"
        )
    if found.line < LINES[-1]:
        raise BadVersionError(f"there is no Kafka {text}", f"the nearest releases are {_around(found)}")
    if major > LINES[-1][0]:
        raise BadVersionError(
            f"there is no Kafka {text} that is known here; the newest known is {NEWEST}",
            _confluent(major, minor) or f"write a release between {OLDEST} and {NEWEST}",
        )


def _confluent(major: int, minor: int) -> str:
    """The advice which Kafka release a Confluent Platform of that version has, if it is known."""
    line = _carried(major, minor)
    if line is None:
        return ""
    return f"Confluent Platform {major}.{minor} carries Kafka {'.'.join(map(str, line))}"


def _carried(major: int, minor: int) -> tuple[int, ...] | None:
    """The Kafka release in a Confluent Platform version; None if unknown."""
    older: dict[tuple[int, int], tuple[int, ...]] = {
        (3, 0): (0, 10, 0),
        (3, 1): (0, 10, 1),
        (3, 2): (0, 10, 2),
        (3, 3): (0, 11, 0),
        (4, 0): (1, 0),
        (4, 1): (1, 1),
    }
    later: dict[int, tuple[int, ...]] = {5: (2, minor), 6: (2, minor + 6), 7: (3, minor), 8: (4, minor)}
    line = older.get((major, minor), later.get(major, ()))
    return line if line in LINES else None


def platform_release(text: str) -> str | None:
    """The Kafka release in the Confluent Platform with this version; None if unknown."""
    numbers = re.match(r"(\d{1,4})\.(\d{1,4})", text)
    if numbers is None:
        return None
    major, minor = int(numbers[1]), int(numbers[2])
    line = _carried(major, minor)
    return None if line is None else ".".join(map(str, line))


def _around(found: Version) -> str:
    """The known releases nearest to this one, in words."""
    before = max(line for line in LINES if line < found.line)
    after = min(line for line in LINES if line > found.line)
    return " and ".join(".".join(map(str, line)) for line in (before, after))


def _short(text: str) -> str:
    """A text cut short."""
    return text if len(text) <= 40 else text[:40] + "…"
