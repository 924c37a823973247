"""The logs that were given or are next to the directories: each log's node, and its files in order.

Lines are ordered by their place in a file, and files of one log by their names; never by clocks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path

from modelcheck.kafka.files.checkpoints import TopicPartition
from modelcheck.kafka.files.damage import UnreadableError
from modelcheck.kafka.files.directories import is_log_directory
from modelcheck.kafka.files.messages.lines import LogFile, LogLine, read_log_file
from modelcheck.kafka.files.messages.names import chains, log_name, logs_below
from modelcheck.kafka.files.messages.templates import Says
from modelcheck.kafka.incident.at_rest.directories import NAMED as NODE
from modelcheck.kafka.incident.explain_log.observations import Coverage, Observed
from spec.diagnostics import Diagnostic, SpecError
from spec.frozen import frozen
from spec.reading import is_file
from spec.source import Source

OF_ZOOKEEPER = frozenset({Says.CHANGED, Says.LIVE, Says.STALE, Says.EXPIRED})
OnRead = Callable[[str, int], None]


@frozen
class NodeLog:
    """A log of a node: its files, the oldest first; `node` is None if it is unknown."""

    name: str
    stem: str
    node: int | None
    files: tuple[LogFile, ...]

    def lines(self, place: TopicPartition) -> list[LogLine]:
        """The lines about a partition and about the broker, in order."""
        return [line for file in self.files for line in file.matched if line.place in {None, place}]


@frozen
class Logs:
    """All logs, and the problems found in them."""

    logs: tuple[NodeLog, ...]
    problems: tuple[str, ...]

    @property
    def places(self) -> tuple[TopicPartition, ...]:
        """The partitions that the lines name."""
        lines = (line for log in self.logs for file in log.files for line in file.matched)
        return tuple(sorted({line.place for line in lines if line.place is not None}))

    @property
    def release(self) -> str | None:
        """The Kafka release that the last line with one names."""
        said = [
            line.values["release"]
            for log in self.logs
            for file in log.files
            for line in file.matched
            if line.says is Says.VERSION
        ]
        return said[-1] if said else None

    @property
    def config(self) -> tuple[str, ...]:
        """The configuration of the model that lines imply: for clusters with ZooKeeper."""
        kinds = {line.says for log in self.logs for file in log.files for line in file.matched}
        return ("fenced_kept_out=false",) if kinds & OF_ZOOKEEPER else ()


@frozen
class Written:
    """The numbers of lines and files matched for a partition, and the first line of unknown kind."""

    files: int
    lines: Coverage
    first_unknown: str | None


def written(logs: Logs, observed: Observed) -> Written:
    """The counts of lines that became observations of a partition, and of all lines."""
    files = [file for log in logs.logs for file in log.files]
    places = {seen.evidence.place for log in observed.logs for seen in log if seen.evidence is not None}
    total, unknown = sum(file.total for file in files), sum(file.unknown for file in files)
    first = next((file for file in files if file.first_unknown is not None), None)
    return Written(
        len(files),
        Coverage(len(places), total - len(places) - unknown, unknown),
        None if first is None else f"{short_name(first.path)}:{first.first_unknown}",
    )


@frozen
class LogPaths:
    """Paths from the command line that hold logs, with the node named for each."""

    files: Mapping[Path, int | None]
    folders: Mapping[Path, int | None]


def split(given: Sequence[str]) -> tuple[LogPaths, list[str]]:
    """The arguments that may hold logs, and those that hold brokers' log directories.

    A file is a log; a folder is looked through for logs, and is a log directory or has some unless only
    logs are in it.
    """
    files: dict[Path, int | None] = {}
    folders: dict[Path, int | None] = {}
    directories = []
    for text in given:
        named = NODE.fullmatch(text)
        node, path = (int(named[1]), Path(named[2])) if named else (None, Path(text))
        if is_file(path):
            files[path] = node
            continue
        folders[path] = node
        if _has_directories(path) or not any(logs_below(path)):
            directories.append(text)
    return LogPaths(files, folders), directories


def _has_directories(path: Path) -> bool:
    """Whether a path is a log directory or has some directly in it."""
    try:
        return is_log_directory(path) or any(
            is_log_directory(each) for each in path.iterdir() if each.is_dir()
        )
    except (OSError, UnreadableError):
        return True  # read_directory reports what is wrong


def read_logs(
    given: LogPaths, nodes: Mapping[Path, int], places: Collection[TopicPartition] | None, report: OnRead
) -> Logs:
    """The lines of all logs about the partitions (None: any).

    `nodes` has the node of each log directory: a log in one of them is of that node.  Raises `SpecError`
    where a file that was named cannot be read, or one log is there twice.
    """
    problems: list[str] = []
    found: list[NodeLog] = []
    paths = [*given.files, *(path for folder in given.folders for path in logs_below(folder))]
    for (folder, stem), files in chains(paths).items():
        read = list(_read(files, given, places, report, problems))
        if not any(file.total for file in read):
            continue
        named = next((node for path in files if (node := _named(path, given, nodes)) is not None), None)
        node = _whose(folder / files[-1].name, read, named)
        found.append(NodeLog(short_name(files[-1]), stem, node, tuple(read)))
    _refuse_twice(found)
    return Logs(tuple(found), tuple(problems))


def _read(
    files: Sequence[Path],
    given: LogPaths,
    places: Collection[TopicPartition] | None,
    report: OnRead,
    problems: list[str],
) -> Iterable[LogFile]:
    """The contents of the files of one log; problems are added to `problems`."""
    for path in files:
        name = short_name(path)
        try:
            read = read_log_file(path, places, lambda size, name=name: report(name, size))  # type: ignore[misc]
        except UnreadableError as error:
            if path in given.files or len(files) == 1:
                help_ = "Kafka writes lines as `[%d] %p %m (%c)%n`; give its own files"
                raise SpecError(
                    [Diagnostic("R0924", Source(str(path), ""), None, error.what, help=help_)]
                ) from error
            problems.append(str(error))
            continue
        problems.extend(map(str, read.damaged))
        yield read


def _named(path: Path, given: LogPaths, nodes: Mapping[Path, int]) -> int | None:
    """The node of a log, as named with it or by the log directory that it is in; else None."""
    if given.files.get(path) is not None:
        return given.files[path]
    for folder, node in (*given.folders.items(), *nodes.items()):
        if node is not None and folder in path.parents:
            return node
    return None


def _whose(path: Path, files: Sequence[LogFile], named: int | None) -> int | None:
    """The node of a log, as its lines name it. Raises `SpecError` for a contradiction."""
    said: dict[int, LogLine] = {}
    for file in files:
        for line in file.matched:
            if line.node is not None:
                said.setdefault(line.node, line)
    if named is not None:
        said.pop(named, None)
    if len(said) > 1 or (named is not None and said):
        first, *others = said.values()
        other = (
            f"line {others[0].number:,} is of broker {others[0].node}"
            if others
            else f"it is given as broker {named}'s"
        )
        message = f"line {first.number:,} is of broker {first.node}, and {other}"
        help_ = "give the log of each broker in a file of its own"
        raise SpecError([Diagnostic("R0918", Source(str(path), ""), None, message, help=help_)])
    return named if named is not None else next(iter(said), None)


def _refuse_twice(found: Iterable[NodeLog]) -> None:
    """Raise SpecError for two logs of the same kind and node."""
    seen: dict[tuple[int, str], NodeLog] = {}
    for log in found:
        if log.node is None or log_name(Path(log.name)) is None:
            continue
        other = seen.setdefault((log.node, log.stem), log)
        if other is not log:
            message = f"{log.stem}.log of node {log.node} is here and in {other.name}"
            help_ = "leave out the copy, or put all of its parts into one folder"
            raise SpecError([Diagnostic("R0918", Source(log.name, ""), None, message, help=help_)])


def short_name(path: Path) -> str:
    """The last parts of a path, the same wherever its tree is."""
    return "/".join(path.parts[-2:])
