"""How a line of a log is laid out: which parts of it are its level, its message and its logger.

Kafka's own configuration has `[%d] %p %m (%c)%n`; people change it, and what carries logs elsewhere puts
words before each line.  Dates are skipped and never read, so their language does not matter.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from spec.frozen import frozen

LEVEL = r"(?P<level>TRACE|DEBUG|INFO|WARN|ERROR|FATAL)"
LOGGER = r"(?P<logger>[\w.$]+)(?::\d+)?"  # some write the line of the source after it


@frozen
class Layout:
    """A layout of log lines, as Log4j patterns give it: its pattern, and a regular expression for it.

    `begins` is how a line begins, as a part of a file that is counted without a look at each line; empty
    where a line has to be matched.
    """

    pattern: str
    line: str
    begins: bytes = b""


LAYOUTS = (
    Layout("[%d] %p %m (%c)", rf"\[[^\]]*\] {LEVEL} +(?P<message>.*) \({LOGGER}\)\s*$", b"["),
    Layout("%d %p %m (%c) [%t]", rf"\S+[ T]\S+ {LEVEL} +(?P<message>.*) \({LOGGER}\) \[[^\[\]]*\]\s*$"),
    Layout("%d %p [%t] %c: %m", rf"\S+[ T]\S+ {LEVEL} +\[[^\]]*\] {LOGGER}[:,] +(?:- )?(?P<message>.*)$"),
    Layout("%d [%t] %p %c - %m", rf"\S+[ T]\S+ \[[^\]]*\] {LEVEL} +{LOGGER} - (?P<message>.*)$"),
)
PREFIXES = (  # what is put before each line: nothing; syslog and journald; Docker Compose
    "",
    r"\w{3} [ \d]\d \d\d:\d\d:\d\d \S+ [\w./-]+(?:\[\d+\])?: ",
    r"[\w.-]+ +\| ",
)


@frozen
class Read:
    """A log line split into time, level, logger and message."""

    level: str
    message: str
    logger: str


@frozen
class LineReader:
    """Splits the lines of a file by its layout."""

    layout: Layout
    expression: re.Pattern[str]
    counted: bytes

    def read(self, line: str) -> Read | None:
        """The parts of a line; None for one that begins no entry, such as one of a stack trace."""
        found = self.expression.match(line)
        return None if found is None else Read(found["level"], found["message"], found["logger"])

    def entries(self, lines: bytes) -> int:
        """The number of lines in a block that begin an entry."""
        if self.counted:
            return lines.count(b"\n" + self.counted) + lines.startswith(self.counted)
        return sum(self.read(each.decode(errors="replace")) is not None for each in lines.splitlines())


def detect(lines: Sequence[str]) -> LineReader | None:
    """The reader for the layout that most of the lines have; None if no line has a known one."""
    best: tuple[int, LineReader | None] = (0, None)
    for prefix in PREFIXES:
        for layout in LAYOUTS:
            expression = re.compile(f"^{prefix}{layout.line}")
            count = sum(expression.match(line) is not None for line in lines)
            if count > best[0]:
                best = (count, LineReader(layout, expression, b"" if prefix else layout.begins))
    return best[1]
