"""A broker's log directory: whose it is, how it was left, and what partitions are in it."""

from __future__ import annotations

import fcntl
import json
import re
from collections.abc import Mapping
from pathlib import Path
from uuid import UUID

from modelcheck.kafka.files.checkpoints import (
    LONGEST,
    TopicPartition,
    read_offsets,
    read_properties,
    read_text,
)
from modelcheck.kafka.files.damage import UnreadableError
from modelcheck.kafka.files.fields import is_number, uuid_of
from modelcheck.kafka.files.metadata.log import FOLDER
from spec.frozen import frozen
from spec.reading import opened

PARTITION = re.compile(r"(.+)-(\d+)")
NOT_IN_USE = re.compile(r".+-(delete|future|stray)")  # what a broker renames a partition's folder to
TOPIC_ID = re.compile(r"^topic_id:\s*(\S+)", re.MULTILINE)
CLEAN = ".kafka_cleanshutdown"
MARKS = (
    "meta.properties",
    "recovery-point-offset-checkpoint",
    "replication-offset-checkpoint",
    "cleaner-offset-checkpoint",
    FOLDER,
)


@frozen
class LogDirectory:
    """The contents of a log directory of a broker; `node` and `cluster` are None if it does not name them.

    `clean_epoch` is the broker epoch that a clean shutdown left, None if it left none.
    """

    path: Path
    node: int | None
    cluster: str | None
    id: str | None
    clean: bool
    clean_epoch: int | None
    partitions: Mapping[TopicPartition, Path]
    high_watermarks: Mapping[TopicPartition, int]
    recovery_points: Mapping[TopicPartition, int]
    starts: Mapping[TopicPartition, int]
    topic_ids: Mapping[TopicPartition, UUID]
    set_aside: tuple[str, ...]
    problems: tuple[str, ...]

    @property
    def metadata(self) -> Path | None:
        """The folder of the metadata log, if there is one."""
        folder = self.path / FOLDER
        return folder if folder.is_dir() else None


def is_log_directory(path: Path) -> bool:
    """Whether a folder has files of a broker directly in it."""
    return any((path / mark).exists() for mark in MARKS) or bool(_partitions(path)[0])


def is_in_use(path: Path) -> bool:
    """Whether a process on this machine holds the directory's lock, as a running broker does."""
    try:
        with opened(path / ".lock", to_change=True) as file:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.lockf(file, fcntl.LOCK_UN)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    except OSError:
        return False  # a copy that cannot be locked is not in use
    return False


def read_directory(path: Path) -> LogDirectory:
    """The contents of a log directory, without reading any log. Raises `UnreadableError`.

    A checkpoint that cannot be read is among the `problems`, and as if it were not there.
    """
    problems: list[str] = []

    def offsets(name: str) -> Mapping[TopicPartition, int]:
        try:
            return read_offsets(path / name)
        except UnreadableError as error:
            problems.append(str(error))
            return {}

    def topic_of(folder: Path) -> UUID | None:
        try:
            return _topic_id(folder)
        except UnreadableError as error:
            problems.append(str(error))
            return None

    meta = read_properties(path / "meta.properties")
    node = meta.get("node.id", meta.get("broker.id"))
    if node is not None and not is_number(node):
        raise UnreadableError(path / "meta.properties", f"{node[:LONGEST]!r} is no number of a node")
    partitions, aside = _partitions(path)
    return LogDirectory(
        path,
        None if node is None else int(node),
        meta.get("cluster.id"),
        meta.get("directory.id"),
        (path / CLEAN).exists(),
        _clean_epoch(path / CLEAN),
        partitions,
        offsets("replication-offset-checkpoint"),
        offsets("recovery-point-offset-checkpoint"),
        offsets("log-start-offset-checkpoint"),
        {place: found for place, folder in partitions.items() if (found := topic_of(folder))},
        aside,
        tuple(problems),
    )


def _partitions(path: Path) -> tuple[dict[TopicPartition, Path], tuple[str, ...]]:
    """The folders of partitions, and the names of those that the broker has marked as deleted or stray."""
    try:
        folders = sorted(each for each in path.iterdir() if each.is_dir())
    except OSError as error:
        raise UnreadableError.refused(path, error) from error
    aside = tuple(each.name for each in folders if NOT_IN_USE.fullmatch(each.name))
    found = {}
    for each in folders:
        name = PARTITION.fullmatch(each.name)
        if name is not None and each.name != FOLDER and is_partition_folder(each):
            found[TopicPartition(name[1], int(name[2]))] = each
    return found, aside


def _clean_epoch(path: Path) -> int | None:
    """The broker epoch in the file of a clean shutdown; None where a broker finds none in it."""
    try:
        found = json.loads(read_text(path))
    except (UnreadableError, ValueError):
        return None
    epoch = found.get("brokerEpoch") if isinstance(found, dict) else None
    return epoch if isinstance(epoch, int) else None


def is_partition_folder(folder: Path) -> bool:
    """Whether a folder has files of a partition's log."""
    names = ("leader-epoch-checkpoint", "partition.metadata")
    return any((folder / name).exists() for name in names) or any(folder.glob("[0-9]*.log"))


def _topic_id(folder: Path) -> UUID | None:
    """The topic's id in a partition's folder; None if it has none. Raises `UnreadableError`."""
    found = TOPIC_ID.search(read_text(folder / "partition.metadata"))
    return None if found is None else uuid_of(found[1])
