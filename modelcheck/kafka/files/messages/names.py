"""Log files by their names: which log a file is of, and what comes before what where logs were rotated."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from modelcheck.kafka.files.directories import is_partition_folder
from spec.frozen import frozen

DEEPEST = 3  # folders below what was given
NAME = re.compile(
    r"(?P<stem>server|state-change|controller)\.log"
    r"(?:[.-](?P<rotated>\d[\dT_.-]*?))?(?P<packed>\.(?:gz|zst))?"
    r"|(?P<out>kafkaServer\.out)"
)


@frozen
class LogName:
    """The log that a file is a part of, and the index of the part, the oldest first."""

    path: Path
    stem: str
    order: tuple[int, str]


def log_name(path: Path) -> LogName | None:
    """The log that a file belongs to by its name; None if it is none of Kafka's three logs.

    Of parts with dates (`server.log.2024-05-01-12`) the first date is the oldest; of parts with numbers
    (`server.log.2`) the highest number is, as log4j's RollingFileAppender does it.  The one without either
    is the newest.
    """
    found = NAME.fullmatch(path.name)
    if found is None:
        return None
    rotated = found["rotated"]
    stem = found["stem"] or found["out"]
    if rotated is None:
        return LogName(path, stem, (2, ""))
    if rotated.isdecimal() and len(rotated) <= 3:
        return LogName(path, stem, (1, f"{999 - int(rotated):03}"))
    return LogName(path, stem, (0, rotated))


def logs_below(folder: Path, deepest: int = DEEPEST) -> Iterator[Path]:
    """The log files below a folder, except in folders of partitions.

    `kafkaServer.out` has what `server.log` has, and is one where that is missing.
    """
    try:
        inside = sorted(folder.iterdir())
    except OSError:
        return
    files = [path for path in inside if path.is_file() and log_name(path) is not None]
    has_server_log = any(path.name.startswith("server.log") for path in files)
    yield from (path for path in files if not (has_server_log and path.name == "kafkaServer.out"))
    for path in inside:
        if deepest and path.is_dir() and not is_partition_folder(path):
            yield from logs_below(path, deepest - 1)


def chains(paths: Iterable[Path]) -> dict[tuple[Path, str], list[Path]]:
    """The files of each log, the oldest first, by folder and name of the log."""
    found: dict[tuple[Path, str], list[LogName]] = {}
    for path in dict.fromkeys(paths):
        name = log_name(path) or LogName(path, path.name, (2, ""))
        found.setdefault((path.parent, name.stem), []).append(name)
    return {
        key: [each.path for each in sorted(names, key=lambda name: name.order)]
        for key, names in found.items()
    }
