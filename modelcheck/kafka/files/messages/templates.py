"""The messages of `server.log`, `state-change.log` and `controller.log`: `templates.toml`, by release."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from enum import Enum, auto

from spec.frozen import frozen
from spec.reading import resource


class Says(Enum):
    """The subject of a log line."""

    LEADS = auto()
    FOLLOWS = auto()
    TOLD = auto()  # a broker received a state of the partition, which may be the one it has
    SHRINKS = auto()
    EXPANDS = auto()
    ISR = auto()
    STALE = auto()
    LOADED = auto()
    RECOVERED = auto()
    MARK = auto()
    TRUNCATED = auto()
    BELOW_MARK = auto()
    UNFLUSHED = auto()
    CREATED = auto()
    CHANGED = auto()
    ELECTED = auto()
    FENCED = auto()
    UNFENCED = auto()
    LIVE = auto()
    LEAVES = auto()
    STARTS = auto()
    STARTED = auto()
    STOPS = auto()
    STOPPED = auto()
    WAS_CLEAN = auto()
    WAS_UNCLEAN = auto()
    OFFLINE = auto()
    EXPIRED = auto()
    VERSION = auto()


@frozen
class Template:
    """A log message of Kafka: releases, loggers, level, source file, and its text with placeholders.

    `literal` is in every such line, so that a line without it is not matched.  `until` is empty
    where the newest release that was looked at, 4.4, still has it.  A `source` is a file of Kafka's.
    """

    says: Says
    literal: str
    message: str
    since: str
    until: str
    loggers: tuple[str, ...]
    level: str
    source: str

    @property
    def pattern(self) -> re.Pattern[str]:
        """The message as a regular expression."""
        return re.compile(self.message)


def _read_templates() -> Iterator[Template]:
    """The rows of the table of messages, with the parts they refer to inserted."""
    table = tomllib.loads(resource(__package__, "templates.toml"))
    for row in table["template"]:
        message = "".join(row["message"])
        for name, part in reversed(table["parts"].items()):  # a part may name those above it
            message = message.replace(f"{{{name}}}", part)
        yield Template(
            Says[row["says"].upper()],
            row["literal"],
            message,
            row["since"],
            row.get("until", ""),
            tuple(row["loggers"]),
            row["level"],
            row["source"],
        )


TEMPLATES = tuple(_read_templates())
