"""Disks that are gone for good, as `--lost NODE[:DIR]` names them."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Sequence
from uuid import UUID

from modelcheck.kafka.files.directories import LogDirectory
from modelcheck.kafka.files.fields import uuid_of, uuid_text
from modelcheck.kafka.files.metadata.image import MetadataImage
from modelcheck.kafka.files.metadata.records import PartitionCreated
from spec.diagnostics import SpecError, mistyped
from spec.frozen import frozen

NAMED = re.compile(r"(\d{1,10})(?::(\S+))?")
RESERVED = 100  # ids below it are of no directory


@frozen
class LostDisk:
    """A log directory of a broker that is lost; without `directory` it is all that are not given."""

    node: int
    directory: UUID | None = None

    def __str__(self) -> str:
        """As on the command line."""
        return f"{self.node}" if self.directory is None else f"{self.node}:{uuid_text(self.directory)}"

    def had(self, assigned: UUID | None) -> bool:
        """Whether a replica of the broker of which nothing is here was on this disk.

        `assigned` is the directory that the metadata has for the replica; where it knows of none, it was.
        """
        return self.directory is None or assigned is None or assigned == self.directory


def lost_disk(text: str) -> LostDisk:
    """Parse a node, or a node and the id of one of its log directories.

    >>> lost_disk("2").node
    2
    """
    found = NAMED.fullmatch(text)
    directory = found and found[2] and uuid_of(found[2])
    if not found or (found[2] and not directory):
        hint = "write NODE, or NODE:ID with a `directory.id` as in meta.properties"
        raise argparse.ArgumentTypeError(f"`{text}` names no disk; {hint}")
    return LostDisk(int(found[1]), directory or None)


def assigned(state: PartitionCreated, node: int) -> UUID | None:
    """The log directory that the metadata has for a node's replica, if any."""
    at = dict(zip(state.replicas, state.directories, strict=False)).get(node)
    return at if at is not None and at.int >= RESERVED else None


def directories_of(node: int, image: MetadataImage) -> tuple[UUID, ...]:
    """The log directories of a broker: those registered, and others in which the metadata has replicas of it.

    A directory that has failed is registered no more.
    """
    registered = image.brokers.get(node)
    found = () if registered is None else registered.directories
    with_replicas = {at for each in image.partitions.values() if (at := assigned(each, node))}
    return (*found, *sorted(with_replicas - {*found}))


def refuse_wrong(
    lost: Sequence[LostDisk], given: Iterable[tuple[int, LogDirectory]], image: MetadataImage
) -> None:
    """Raise SpecError for a disk that is here, or that its broker never had.

    `given` has the directories that are here, each with its node.
    """
    here: dict[int, list[LogDirectory]] = {}
    for node, directory in given:
        here.setdefault(node, []).append(directory)
    for each in lost:
        registered = image.brokers.get(each.node)
        if registered is None:
            brokers = ", ".join(map(str, sorted(image.brokers)))
            raise _wrong(each, f"there is no broker {each.node}", f"the brokers are {brokers}")
        theirs = here.get(each.node, [])
        named = {directory.id for directory in theirs}
        gone = [uuid_text(id_) for id_ in directories_of(each.node, image) if uuid_text(id_) not in named]
        if each.directory is None and theirs and not gone:
            message = f"the directory of broker {each.node} is here ({theirs[0].path})"
            raise _wrong(each, message, "leave it out, or leave out --lost")
        if each.directory is not None and uuid_text(each.directory) not in gone:
            which = f"not here of it: {', '.join(gone)}" if gone else "all of its directories are here"
            raise _wrong(each, f"broker {each.node} has lost no such directory", which)


def refuse_unknown(lost: Sequence[LostDisk]) -> None:
    """Raise SpecError for lost disks without a metadata log, which alone knows of their replicas."""
    for each in lost:
        message = "no metadata log is here, and only that knows which replicas were on a lost disk"
        raise _wrong(each, message, "give a controller's directory too, or a broker's of a KRaft cluster")


def _wrong(each: LostDisk, message: str, help_: str) -> SpecError:
    """The error about a value of `--lost`."""
    return mistyped("--lost", str(each), message, help_)
