"""The lines of a log about some partitions or about a broker itself, found in a log of any length.

A file is read in blocks of whole lines.  Only lines with the literal part of a template, or with the name
of a partition, are looked at one by one: a million others cost a search through their bytes.  Memory is a
block, the longest line that is kept, and what is kept.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from modelcheck.kafka.files.checkpoints import TopicPartition
from modelcheck.kafka.files.damage import Damage, UnreadableError
from modelcheck.kafka.files.fields import MOST_DIGITS
from modelcheck.kafka.files.messages.layouts import LineReader, detect
from modelcheck.kafka.files.messages.templates import TEMPLATES, Says, Template
from spec.frozen import frozen
from spec.reading import Bytes, OutOfTime, no_bomb, opened, unpacked

BLOCK = 1 << 20
LONGEST = BLOCK  # bytes of a line that are looked at; of what is longer the rest is skipped
LOOKED_AT = 2_000  # lines of a block by which the layout of a file is known
MOST_STRANGE = 64  # blocks without a known layout, after which no other is looked at
STRANGE = "no line of it is laid out in a way that is known"
FEW = 20  # letters in a text of which one may be none
MOST_NAMES = 64  # partitions whose names are searched for one by one
BEYOND = re.compile(rf"\d{{{MOST_DIGITS + 1}}}")  # more than any number that a broker has
NAME = re.compile(rb"[\w.-]+-\d+|\[[\w.-]+,\d+\]")
ZSTD = b"\x28\xb5\x2f\xfd"
# Words of lines about a partition that have nothing to do with the model.
OF_NO_USE = (
    "Triggering unclean leader election for offline partition ",
    "Added fetcher ",
    "CreateTopics result",
    "Created log for partition",
    "Creating new partition",
    "Deleted log for partition",
    "Deleted segment",
    "Deleting segment",
    "Error in response for fetch request",
    "Error sending fetch request",
    "failed to change state for partition",
    "Found deletable segments",
    "Ignoring LeaderAndIsr request",
    "Incremented log start offset",
    "LeaderEpochCache ",
    "Loading producer state",
    "New partition creation callback",
    "New topics: ",
    "No checkpointed highwatermark",
    "Non-monotonic update of high watermark",
    "Partition is marked as",
    "ProducerStateManager ",
    "Producer state recovery took",
    "Received UNKNOWN_TOPIC_ID",
    "Reloading from producer snapshot",
    "Removed fetcher ",
    "Rolled new log segment",
    "Scheduling segments for deletion",
    "The topic partition ",
    "Truncating partition ",
    " has no effect as the largest offset in the log is ",
    "Deleted producer state snapshot",
    "Stopped fetchers",
    "Started fetchers",
    "Wrote producer snapshot",
)


@frozen
class LogLine:
    """A line that matched: its place, kind, broker, partition (None: about a broker) and values."""

    path: Path
    number: int
    says: Says
    node: int | None
    place: TopicPartition | None
    values: Mapping[str, str]
    text: str

    def value(self, name: str) -> int | None:
        """A number in the line."""
        text = self.values.get(name)
        return None if text is None else int(text)

    def numbers(self, name: str) -> tuple[int, ...] | None:
        """A list of brokers in the line."""
        text = self.values.get(name)
        return None if text is None else tuple(int(each) for each in re.findall(r"\d+", text))


@frozen
class LogFile:
    """The matched lines of a log file, and the counts and damage found in it.

    `matched` are its lines of the partitions that were asked about and of brokers, in order; `total` all its
    lines, of which `entries` begin an entry; `unknown` are those that name such a partition and are like no
    template, and `first_unknown` is the first one's number.
    """

    path: Path
    layout: str
    matched: tuple[LogLine, ...]
    total: int
    entries: int
    unknown: int
    first_unknown: int | None
    damaged: tuple[Damage, ...]


OnRead = Callable[[int], None]


def read_log_file(path: Path, places: Collection[TopicPartition] | None, report: OnRead) -> LogFile:
    """The lines of a log about partitions (None: any) and about brokers. Raises `UnreadableError`.

    That is raised where the file is no text, or no line of it is in a layout that is known.
    `report` is called with the bytes of each block, and may raise OutOfTime: what comes after is damage.
    """
    scan = _Scan(path, places)
    try:
        with _opened(path) as file:
            for block in _blocks(file, scan):
                scan.take(block)
                report(len(block))
    except OutOfTime:
        scan.damage("the time is over; what follows is not read")
    except OSError as error:
        raise UnreadableError.refused(path, error) from error
    return scan.result()


# ------------------------------------------------------------------ bytes


@contextmanager
def _opened(path: Path) -> Iterator[Bytes]:
    """A context with the bytes of a file, decompressed if it is compressed, whatever its name."""
    with opened(path) as file:
        magic = file.read(len(ZSTD))
        file.seek(0)
        if magic == ZSTD:
            yield from _by_zstd(path, file)
        else:
            with unpacked(file) as inside:
                yield inside


def _by_zstd(path: Path, file: BinaryIO) -> Iterator[Bytes]:
    """A context with the output of `zstd` for a file."""
    program = shutil.which("zstd")
    if program is None:
        raise UnreadableError(
            path, "it is packed by zstd, and there is no program `zstd` here; unpack it first"
        )
    os.lseek(file.fileno(), 0, os.SEEK_SET)  # what was looked at is in a buffer that it does not see
    with subprocess.Popen(  # noqa: S603 - the program is `zstd`
        [program, "-dcq"], stdin=file, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        try:
            yield no_bomb(_Unpacked(process), file)
        finally:
            process.kill()


class _Unpacked:
    """The output of a decompressor; raises `EOFError` at the end if it failed."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert isinstance(process.stdout, io.BufferedReader)
        self._process = process
        self._output = process.stdout

    def read1(self, size: int, /) -> bytes:
        """Up to `size` bytes of output."""
        data = self._output.read1(size)
        if not data and self._process.wait() != 0:
            raise EOFError("zstd cannot unpack it to its end")
        return data


def _blocks(file: Bytes, scan: _Scan) -> Iterator[bytes]:
    """The file in blocks of whole lines; overlong lines are cut.

    What ends in the middle, as a packed file that was cut off, is damage, and what comes before it counts.
    """
    rest = b""
    skipping = False
    while True:
        try:
            data = file.read1(BLOCK)
        except (EOFError, gzip.BadGzipFile, OSError) as error:
            scan.damage(f"it breaks off: {error}")
            data = b""
        if not data:
            break
        if skipping:
            end = data.find(b"\n")
            if end < 0:
                continue
            skipping, data = False, data[end + 1 :]
        data = rest + data
        end = data.rfind(b"\n")
        if end >= 0:
            yield data[: end + 1]
        rest = data[end + 1 :]
        if len(rest) > LONGEST:
            scan.damage(
                f"line {scan.total + 1:,} is longer than {LONGEST:,} bytes; the rest of it is left out"
            )
            yield rest[:LONGEST].replace(b"\n", b" ") + b"\n"
            rest, skipping = b"", True
    if rest:
        yield rest + b"\n"


# ------------------------------------------------------------------ lines


class _Scan:
    """The state of a scan of one log file."""

    def __init__(self, path: Path, places: Collection[TopicPartition] | None) -> None:
        self.path = path
        self.total = 0
        self._places = None if places is None else frozenset(places)
        self._literals = [each.encode() for each in dict.fromkeys(t.literal for t in TEMPLATES)]
        self._names = _written(self._places)
        self._reading: LineReader | None = None
        self._matched: list[LogLine] = []
        self._damaged: list[Damage] = []
        self._counted: Counter[str] = Counter()
        self._first_unknown: int | None = None
        self._read = 0

    def damage(self, what: str) -> None:
        """Record what is wrong with the file, and at which byte."""
        self._damaged.append(Damage(self.path, self._read, what))

    def take(self, block: bytes) -> None:
        """Scan the next block of whole lines."""
        if self._reading is None:
            self._reading = self._layout(block)
            self._counted["strange"] += 1
            if self._reading is None and self._counted["strange"] == MOST_STRANGE:
                raise UnreadableError(self.path, STRANGE)
        if self._reading is not None:
            self._counted["entries"] += self._reading.entries(block)
        if b"\0" in block:
            self._counted["zero"] += sum(b"\0" in line for line in block.splitlines())
        at, number = 0, self.total
        for start, end in self._candidates(block):
            number += block.count(b"\n", at, start)
            at = start
            self._line(block[start:end].decode(errors="replace").rstrip("\r\n"), number + 1)
        self.total += block.count(b"\n")
        self._read += len(block)

    def result(self) -> LogFile:
        """The result of the scan. Raises `UnreadableError` if nothing could be read."""
        if self._counted["zero"]:
            self.damage(f"{self._counted['zero']:,} lines have bytes that are zero")
        if self._reading is None and self.total:
            raise UnreadableError(self.path, STRANGE)
        return LogFile(
            self.path,
            "" if self._reading is None else self._reading.layout.pattern,
            tuple(self._matched),
            self.total,
            self._counted["entries"],
            self._counted["unknown"],
            self._first_unknown,
            tuple(self._damaged),
        )

    def _layout(self, block: bytes) -> LineReader | None:
        """The reader for the file's layout, found from the first lines. Raises `UnreadableError`."""
        if self.total == 0 and block[:2] in {b"\xff\xfe", b"\xfe\xff"}:
            raise UnreadableError(
                self.path, "it is text in UTF-16; write it in UTF-8 (`iconv -f UTF-16 -t UTF-8`)"
            )
        lines = block.split(b"\n", LOOKED_AT)[:LOOKED_AT]
        found = detect([line.decode(errors="replace").rstrip("\r") for line in lines if len(line) < LONGEST])
        text = block[:LONGEST].decode(errors="replace")
        if found is None and text.count("\ufffd") + text.count("\0") > len(text) // FEW:
            raise UnreadableError(self.path, "it is no text")
        return found

    def _candidates(self, block: bytes) -> Iterator[tuple[int, int]]:
        """The start and end of each line in a block that may match a template."""
        found: set[int] = set()
        for literal in self._literals:
            found.update(_places_of(block, literal))
        if self._names is not None and len(self._names) <= MOST_NAMES:
            for name in self._names:
                found.update(_places_of(block, name))
        else:
            found.update(
                each.start() for each in NAME.finditer(block) if self._names is None or each[0] in self._names
            )
        last = -1
        for position in sorted(found):
            if position < last:
                continue
            start = block.rfind(b"\n", 0, position) + 1
            last = block.find(b"\n", position)
            yield start, last

    def _line(self, line: str, number: int) -> None:
        """Match one line with the templates."""
        read = None if self._reading is None else self._reading.read(line)
        if read is None:
            return
        for template in TEMPLATES:
            if template.literal not in read.message:
                continue
            found = template.pattern.search(read.message)
            if found is not None and not BEYOND.search(read.message):
                self._record_match(template, found, number, read.message)
                return
        if self._names_a_place(line) and not any(word in read.message for word in OF_NO_USE):
            self._counted["unknown"] += 1
            self._first_unknown = self._first_unknown or number

    def _record_match(self, template: Template, found: re.Match[str], number: int, message: str) -> None:
        """Record what a line that matches a template says."""
        values = {name.rstrip("_"): text for name, text in found.groupdict().items() if text is not None}
        if "tps" in values:  # a line about several partitions is one about each
            for name in values.pop("tps").split(","):
                self._record(template, {**values, "tp": name}, number, message)
        else:
            self._record(template, values, number, message)

    def _record(self, template: Template, values: dict[str, str], number: int, message: str) -> None:
        """Record that a line says something with these values, if it is about what is wanted."""
        try:
            place = _place(values)
        except ValueError:  # in a list of partitions
            return
        if place is not None and self._places is not None and place not in self._places:
            return
        if "states" in values:  # the ISR as brokers with their epochs
            values["isr"] = ",".join(re.findall(r"brokerId=(\d+)", values.pop("states")))
        node = values.pop("node", None)
        said = LogLine(
            self.path, number, template.says, None if node is None else int(node), place, values, message
        )
        if self._matched and said.says is Says.MARK and _same(self._matched[-1], said):
            self._matched.pop()  # of marks in a row the last is enough
        self._matched.append(said)

    def _names_a_place(self, line: str) -> bool:
        """Whether a line names one of the wanted partitions."""
        if self._places is None:
            return False
        names = (each[0] for each in NAME.finditer(line.encode()))
        return any(name in (self._names or ()) for name in names)


def _same(before: LogLine, after: LogLine) -> bool:
    """Whether two lines are of the same kind, partition and broker."""
    return before.says is after.says and (before.place, before.node) == (after.place, after.node)


def _places_of(block: bytes, literal: bytes) -> Iterator[int]:
    """The positions of a literal in a block, one per line."""
    at = block.find(literal)
    while at >= 0:
        yield at
        end = block.find(b"\n", at)
        at = block.find(literal, end)


def _written(places: Collection[TopicPartition] | None) -> frozenset[bytes] | None:
    """The names of partitions in the spellings of all releases, as bytes; None for any partition."""
    if places is None:
        return None
    names = [f"{each.topic}-{each.partition}" for each in places]
    old = [f"[{each.topic},{each.partition}]" for each in places]
    return frozenset(name.encode() for name in (*names, *old))


def _place(values: dict[str, str]) -> TopicPartition | None:
    """The partition that the values of a line name."""
    if "topic" in values:
        return TopicPartition(values.pop("topic"), int(values.pop("partition")))
    text = values.pop("tp", None)
    if text is None:
        return None
    topic, _, number = text.strip("[]").rpartition("," if text.startswith("[") else "-")
    return TopicPartition(topic, int(number))
