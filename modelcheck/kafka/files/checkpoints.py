"""The small text files next to the logs: offsets by partition, leader epochs by their first offsets.

A file has its version (0), the number of its lines, and the lines; an empty file is what a broker
leaves that has not written it yet.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from modelcheck.kafka.files.damage import UnreadableError
from modelcheck.kafka.files.fields import is_number
from spec.frozen import frozen
from spec.reading import text_of

VERSION = "0"
LONGEST = 80  # characters of a wrong line that are shown
LARGEST = 1 << 26  # bytes: some lines for a million partitions


class TopicPartition(NamedTuple):
    """A partition of a topic."""

    topic: str
    partition: int

    def __str__(self) -> str:
        """As Kafka writes it: topic, dash, number."""
        return f"{self.topic}-{self.partition}"


@frozen
class EpochStart:
    """A leader epoch, and the offset at which it begins in a log."""

    epoch: int
    start: int


def read_offsets(path: Path) -> Mapping[TopicPartition, int]:
    """Offsets by partition, such as high watermarks; none if there is no file. Raises `UnreadableError`."""
    found = {}
    for line in _lines(path):
        match line:
            case [topic, partition, offset] if is_number(partition) and is_number(offset):
                found[TopicPartition(topic, int(partition))] = int(offset)
            case _:
                raise UnreadableError(path, f"no line of a checkpoint: {' '.join(line)[:LONGEST]!r}")
    return found


def read_epochs(path: Path) -> tuple[EpochStart, ...] | None:
    """The leader epochs of a log, lowest first; None if there is no file. Raises `UnreadableError`."""
    if not path.exists():
        return None
    found = []
    for line in _lines(path):
        match line:
            case [epoch, start] if is_number(epoch) and is_number(start):
                found.append(EpochStart(int(epoch), int(start)))
            case _:
                raise UnreadableError(path, f"no line of a checkpoint: {' '.join(line)[:LONGEST]!r}")
    return tuple(sorted(found, key=lambda each: each.epoch))


def _lines(path: Path) -> list[list[str]]:
    """The entries of a checkpoint file, each as its fields."""
    text = read_text(path)
    if not text.strip():
        return []
    version, _, rest = text.partition("\n")
    number, _, body = rest.partition("\n")
    version, number = version.strip()[:LONGEST], number.strip()[:LONGEST]
    if version != VERSION:
        raise UnreadableError(path, f"version {version!r} of a checkpoint, and only 0 is known")
    lines = [line.split() for line in body.splitlines() if line.strip()]
    if number != str(len(lines)):
        raise UnreadableError(path, f"{number!r} lines are announced, and {len(lines)} are there")
    return lines


def read_text(path: Path) -> str:
    """The text of a small file; empty if there is no file. Raises `UnreadableError`."""
    try:
        return text_of(path, LARGEST)
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise UnreadableError(path, "no text in UTF-8") from error
    except OSError as error:
        raise UnreadableError.refused(path, error) from error


def read_properties(path: Path) -> Mapping[str, str]:
    """The keys and values of a `.properties` file; none if there is no file. Raises `UnreadableError`."""
    found = {}
    for line in read_text(path).splitlines():
        if line.strip() and not line.lstrip().startswith(("#", "!")):
            key, _, value = line.partition("=")
            found[key.strip()] = value.strip()
    return found
