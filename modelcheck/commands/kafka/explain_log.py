"""`modelcheck kafka explain-log`: the run of the model that explains the directories and logs of brokers."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from time import process_time

import modelcheck.commands.options.amounts as amounts
from counterexamples.lines import count
from modelcheck.answers.progress import ProgressLine
from modelcheck.commands.kafka.lost_option import add_lost
from modelcheck.commands.options.draw_options import add_draw_options, draw_asked, refuse_unused
from modelcheck.contract.exits import Exit, worst
from modelcheck.contract.result import End
from modelcheck.kafka.files.checkpoints import TopicPartition
from modelcheck.kafka.files.damage import UnreadableError
from modelcheck.kafka.files.partition_log import PartitionLog
from modelcheck.kafka.incident.at_rest.directories import ClusterFiles, read_cluster
from modelcheck.kafka.incident.at_rest.partitions import PartitionFiles
from modelcheck.kafka.incident.at_rest.start_order import judged
from modelcheck.kafka.incident.at_rest.wording import doubts
from modelcheck.kafka.incident.explain_log.configuration import ACKS, setting
from modelcheck.kafka.incident.explain_log.deposed_leaders import deposed
from modelcheck.kafka.incident.explain_log.explanation import likelier, story
from modelcheck.kafka.incident.explain_log.json_report import as_json
from modelcheck.kafka.incident.explain_log.line_observations import lines_of_partition
from modelcheck.kafka.incident.explain_log.log_timeline import spine_of_lines
from modelcheck.kafka.incident.explain_log.logs import LogPaths, Logs, read_logs, split, written
from modelcheck.kafka.incident.explain_log.metadata_timeline import Beginning, Spine, read_spines
from modelcheck.kafka.incident.explain_log.mildest import mildest
from modelcheck.kafka.incident.explain_log.newest_part import assumed, beginnings, epoch_at, newest_part
from modelcheck.kafka.incident.explain_log.observations import Observed
from modelcheck.kafka.incident.explain_log.offsets import observed
from modelcheck.kafka.incident.explain_log.preventing_settings import refusals
from modelcheck.kafka.incident.explain_log.product import ObservationProduct
from modelcheck.kafka.incident.explain_log.report import PartitionAnswer, lines
from modelcheck.kafka.incident.explain_log.run_search import ExplanationLimits, fewest
from modelcheck.kafka.incident.explain_log.stuck import where_stuck
from modelcheck.kafka.incident.explain_log.unexplained import first_unexplained, of_log_alone
from modelcheck.processes.watch import watched
from modelcheck.storage.output import Output
from modelcheck.storage.written import Files
from spec.diagnostics import Diagnostic, SpecError, mistyped, suggest
from spec.reading import Patience
from spec.source import Source

PLACE = re.compile(r"(.+)-(\d{1,10})")
MOST = 100_000  # states of a search
CPU = 60  # seconds for each partition: 50 epochs and a million records take 5
MORE = 10  # times the limit that ended a search
MORE_FAULTS = 2  # that are looked for in addition to those that the directories show


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments and options of `modelcheck kafka explain-log`."""
    parser.set_defaults(refuse=parser.error)
    add = parser.add_argument
    add(
        "directories",
        nargs="+",
        metavar="DIR",
        help="log directories of stopped brokers and controllers, or copies of them; a folder of several; "
        "logs (server.log, state-change.log, controller.log), or folders of them; NODE=DIR or "
        "NODE=FILE names the owner",
    )
    add("--partition", metavar="T-P", help="explain only this partition (default: every one in the metadata)")
    add(
        "--copy",
        action="store_true",
        help="treat the directories as copies, perhaps made while the brokers ran",
    )
    add_lost(parser)
    add(
        "--acks",
        choices=sorted(ACKS),
        default="all",
        help="set the acks of the producers, which no file records (default: all); with all, a record that "
        "would have been refused counts as one of a producer that did not wait",
    )
    add(
        "--gaps",
        action="store_true",
        help="assume gaps in the logs: brokers may have restarted without a trace in them",
    )
    part = parser.add_mutually_exclusive_group()
    part.add_argument(
        "--from-epoch",
        type=int,
        metavar="N",
        help="explain only the newest part: from the last state with all replicas in sync, in leader epoch N "
        "or before",
    )
    part.add_argument(
        "--from-offset",
        type=int,
        metavar="N",
        help="the same, up to the leader epoch of the record at offset N of the partition",
    )
    add("--config", action="append", default=[], metavar="NAME=VALUE", help="set a config entry of the model")
    add(
        "--faults",
        type=int,
        metavar="N",
        help=f"allow at most N faults (default: {MORE_FAULTS} more than the files require)",
    )
    add(
        "--max-states",
        type=amounts.count,
        default=MOST,
        metavar="N",
        help=f"give up after N states ({MOST:,})",
    )
    add(
        "--max-time",
        type=amounts.seconds,
        metavar="T",
        help=f"give up after this time (90, 90s, 5m, 2h; default: {CPU} s of CPU time for each partition)",
    )
    add("--max-memory", type=amounts.bytes_, metavar="M", help="give up above this much memory (800M, 4G)")
    add("--json", action="store_true", help="print JSON")
    add_draw_options(parser, "write each run in these formats")


def run(args: argparse.Namespace, output: Output) -> int:
    """Explain the logs: exit 1 if the run loses acknowledged or committed records, 3 if none is found."""
    refuse_unused(args)
    if args.faults is not None and args.faults < 0:
        args.refuse("--faults: give a number from 0 on")
    if any("=" not in each for each in args.config):
        args.refuse("--config: give NAME=VALUE")
    files = Files(output, (), force=args.force)
    with watched(args.max_time, None, output.give_up):
        return _explained(args, output, files)


def _explained(args: argparse.Namespace, output: Output, files: Files) -> Exit:
    """Explain all partitions asked about, and print the report."""
    progress = _Progress(output, args.max_time)
    found: list[PartitionAnswer] = []
    try:
        given, directories = split(args.directories)
        gathered = read_cluster(
            directories, copies=args.copy, every=False, report=progress.read, lost=args.lost
        )
        spines, logs = _spines(args, gathered, given, progress)
        problems = [*gathered.problems, *doubts(gathered), *logs.problems]
        was_read = {each.place for each in gathered.partitions}
        asked = [each for each in spines if gathered.metadata is None or each[0] in was_read]
        try:
            for place, spine in asked:
                found.append(_answer(args, gathered, logs, place, spine, progress))
                if found[-1].result.end is End.INTERRUPTED:
                    break
        except KeyboardInterrupt:
            left = count(len(asked) - len(found), "partition")
            problems.append(f"Interrupted: {left} of {len(spines):,} have no answer.")
        if len(found) == len(spines):
            _refuse_unmatched(given, logs, found)
    finally:
        progress.clear()
    if args.json:
        output.json(as_json(found, problems))
    for number, each in enumerate(() if args.json else found):
        output.lines([*([()] if number else []), *lines(each, output.width)])
    if not args.json:
        for problem in problems:
            output.tell(f"modelcheck: {problem}")
    draw_asked(args, [each.story.trace for each in found if each.story], files, output, is_explained=False)
    unanswered = [Exit.UNKNOWN] if len(found) < len(spines) else []
    return worst([*map(exit_code, found), *unanswered, *([files.exit()] if args.draw else [])])


def exit_code(answer: PartitionAnswer) -> Exit:
    """The exit code of an answer: violated for a loss, unknown without a run."""
    if answer.story is None:
        return Exit.UNKNOWN
    return Exit.VIOLATED if answer.story.losses else Exit.EXPECTED


# ------------------------------------------------------------------ one partition


def _answer(
    args: argparse.Namespace,
    gathered: ClusterFiles,
    logs: Logs,
    place: TopicPartition,
    spine: Spine,
    progress: _Progress,
) -> PartitionAnswer:
    """The answer for one partition."""
    partition = next((each for each in gathered.partitions if each.place == place), None)
    replicas = {} if partition is None else partition.replicas
    lost = _lost(args, partition, place, spine)
    here = [each.log for each in replicas.values() if not each.absent and not each.lost]
    known = list(beginnings(spine, here))
    begins = _begins(args, place, known, here)
    if begins is not None:
        spine = newest_part(spine, begins)
    partition_lines = [lines_of_partition(log, place, spine, gaps=args.gaps) for log in logs.logs]
    seen = observed(spine, replicas, copies=args.copy, lost=lost, logs=partition_lines)
    given = (*logs.config, *args.config) if gathered.metadata is None else tuple(args.config)
    release = logs.release if gathered.metadata is None else None
    made = setting(seen, spine.image, spine.first, args.acks, given, release)
    product = ObservationProduct(made.model, made.scope, seen)
    progress.begin(str(place), len(seen.events))
    patience = Patience(CPU, process_time) if args.max_time is None else progress.patience
    must = max(map(product.due, product.starts()), default=0)
    most = must + MORE_FAULTS if args.faults is None else args.faults
    limits = ExplanationLimits(args.max_states, patience, args.max_memory, most)
    alone = of_log_alone(made, seen, limits, progress.tell)
    result = alone
    if alone.run is not None:
        result = mildest(product, limits, fewest(product, limits, progress.tell), progress.tell)
    on_progress = other = None
    if result.run is not None:
        on_progress = story(product, made, result.run, str(place))
        other = likelier(product, made, result.run, on_progress, str(place))
    nothing = None
    if result.run is None and result.complete:
        nothing = first_unexplained(made, seen, alone, limits, progress.tell)
    stuck = None
    if result.run is None and not result.complete:
        stuck = where_stuck(product, result, known, _longer(args, result.end))
    refused = (
        ()
        if on_progress is None or not on_progress.losses
        else tuple(
            refusals(
                on_progress.trace,
                tuple(each.property for each in on_progress.losses),
                made.release.partition("-")[0],
            )
        )
    )
    notes = _notes(
        args,
        spine,
        seen,
        begins,
        is_unexplained=nothing is not None,
        is_on_disk=gathered.metadata is not None,
    )
    stakes = judged(partition) if partition is not None and partition.state is not None else None
    if stakes is not None and args.acks == "1":
        stakes = replace(stakes, deposed=deposed(seen))
    return PartitionAnswer(
        place,
        stakes,
        seen,
        made,
        result,
        most,
        on_progress,
        other,
        nothing,
        refused,
        spine.coverage,
        written(logs, seen),
        tuple(notes),
        stuck,
        begins,
    )


def _lost(
    args: argparse.Namespace, partition: PartitionFiles | None, place: TopicPartition, spine: Spine
) -> frozenset[int]:
    """The brokers whose disk with the partition is lost. Raises SpecError for one without a replica."""
    strange = [each for each in args.lost if each.node not in spine.brokers]
    if strange:
        raise mistyped("--lost", str(strange[0]), f"broker {strange[0].node} has no replica of {place}")
    if partition is None or partition.state is None:  # logs alone, which show who has a replica
        return frozenset(each.node for each in args.lost)
    return frozenset(node for node, replica in partition.replicas.items() if replica.lost)


def _notes(
    args: argparse.Namespace,
    spine: Spine,
    seen: Observed,
    begins: Beginning | None,
    *,
    is_unexplained: bool,
    is_on_disk: bool,
) -> Iterator[str]:
    """What an answer takes for true, and what is not here; `is_on_disk` is the metadata log."""
    yield from spine.notes
    if begins is not None:
        yield assumed(begins)
        if is_unexplained:
            yield "Where brokers had other histories by then, all of the files may have a run."
    elif args.from_epoch is not None or args.from_offset is not None:
        yield (
            "All is explained: there is no later state up to there with all replicas in sync, each with a"
            " session, before which all logs agree."
        )
    if begins is None and not seen.whole and is_on_disk:
        yield "The metadata log does not go back to the beginning of the partition: what was before is free."
    missing = [node for n, node in enumerate(spine.brokers) if n not in seen.ends]
    if missing:
        words = ", ".join(map(str, missing))
        yield f"Not here: broker {words}; its log is free, and what it alone had is not known."
    if seen.starts:
        yield (
            "Logs that tell of one start of their broker are taken to tell of all"
            " (--gaps where parts are missing)."
        )


def _begins(
    args: argparse.Namespace, place: TopicPartition, known: Sequence[Beginning], logs: Sequence[PartitionLog]
) -> Beginning | None:
    """The newest state up to the asked epoch or offset from which on the files can be explained alone.

    None if nothing was asked for, or without such a state.  Raises SpecError for an offset that no log has.
    """
    epoch = args.from_epoch
    if args.from_offset is not None:
        epoch = epoch_at(args.from_offset, logs)
        if epoch is None:
            message = f"no log of {place} here has the record at this offset"
            help_ = f"the longest one ends at {max((each.end for each in logs), default=0):,}"
            source = Source("--from-offset", str(args.from_offset))
            raise SpecError([Diagnostic("R0903", source, None, message, help=help_)])
    if epoch is None:
        return None
    return max((each for each in known if each.epoch <= epoch), key=lambda each: each.index, default=None)


def _longer(args: argparse.Namespace, end: End) -> str | None:
    """The option that lets a search look for longer than the limit that ended it."""
    match end:
        case End.STATES:
            return f"--max-states {MORE * args.max_states}"
        case End.SECONDS:
            return f"--max-time {MORE * (args.max_time or CPU):.0f}s"
        case End.MEMORY:
            return f"--max-memory {MORE * args.max_memory / 1e9:.0f}G"
        case _:
            return None


def _refuse_unmatched(given: LogPaths, logs: Logs, found: Sequence[PartitionAnswer]) -> None:
    """Raise SpecError if logs are given and no line is about a partition."""
    if not (logs.logs or given.files) or any(each.written.lines.matched for each in found):
        return
    name = logs.logs[0].name if logs.logs else str(next(iter(given.files)))
    total = sum(file.total for log in logs.logs for file in log.files)
    places = ", ".join(str(each.place) for each in found)
    message = f"of {count(total, 'line')} in these logs none says anything of {places}"
    help_ = "give logs of this cluster, of the days in question, at level INFO at least"
    raise SpecError([Diagnostic("R0925", Source(name, ""), None, message, help=help_)])


def _spines(
    args: argparse.Namespace, gathered: ClusterFiles, given: LogPaths, progress: _Progress
) -> tuple[list[tuple[TopicPartition, Spine]], Logs]:
    """The metadata timeline of each partition asked about, and all logs.

    Without a metadata log it is the logs that say it.  Raises SpecError where nothing does.
    """
    nodes = {each.read.path: each.node for each in gathered.directories}
    if gathered.metadata is None:
        return _spines_of_logs(args, read_logs(given, nodes, _named(args.partition), progress.read))
    known = sorted(gathered.metadata.image.by_place())
    places = known if args.partition is None else [_place(args.partition, known)]
    try:
        spines = read_spines(
            gathered.metadata.folder, places, progress.read, changes=not _says_settings(args)
        )
    except UnreadableError as error:
        raise SpecError([Diagnostic("R0904", Source(str(error.path), ""), None, error.what)]) from error
    if not spines:
        message = "the metadata log in these directories has nothing of a partition"
        raise SpecError([Diagnostic("R0919", Source(args.directories[0], ""), None, message)])
    return spines, read_logs(given, nodes, [place for place, _ in spines], progress.read)


def _spines_of_logs(args: argparse.Namespace, logs: Logs) -> tuple[list[tuple[TopicPartition, Spine]], Logs]:
    """The timelines from log lines, where there is no metadata log."""
    found = [(place, spine) for place in logs.places if (spine := spine_of_lines(logs, place)) is not None]
    if found:
        return found, logs
    of = f" of {args.partition}" if args.partition else ""
    message = "no metadata log (__cluster_metadata-0) is in these directories"
    if logs.logs:
        message += f", and no line of the logs says what the controller decided{of}"
    help_ = (
        "give a controller's directory, or a broker's of a KRaft cluster; or state-change.log of all brokers"
    )
    raise SpecError([Diagnostic("R0919", Source(args.directories[0], ""), None, message, help=help_)])


def _says_settings(args: argparse.Namespace) -> bool:
    """Whether the options give the topic's settings."""
    return any(each.partition("=")[0] in {"min_isr", "unclean"} for each in args.config)


def _named(text: str | None) -> list[TopicPartition] | None:
    """The partition in `--partition`, for logs without a metadata log."""
    found = None if text is None else PLACE.fullmatch(text)
    return None if found is None else [TopicPartition(found[1], int(found[2]))]


def _place(text: str, known: Sequence[TopicPartition]) -> TopicPartition:
    """The partition that a text names, among the known ones. Raises SpecError."""
    found = PLACE.fullmatch(text)
    place = None if found is None else TopicPartition(found[1], int(found[2]))
    if place is None or place not in known:
        named = ", ".join(map(str, known[:10])) or "none"
        message = f"the metadata log has no partition `{text}`, only: {named}"
        help_ = suggest(text, map(str, known))
        raise SpecError([Diagnostic("R0919", Source("--partition", text), None, message, help=help_)])
    return place


class _Progress:
    """A progress line on a terminal."""

    def __init__(self, output: Output, seconds: float | None) -> None:
        self.patience = Patience(seconds)
        # To explain what was read may take twice as long.
        self._reading = Patience(None if seconds is None else seconds / 3)
        self._line = ProgressLine(output.err, "reading", columns=output.width)
        self._line.show("reading")
        self._of = ("", 0)

    def read(self, what: str, _size: int) -> None:
        """Count bytes read of a file. Raises OutOfTime."""
        self._reading.look()
        self._line.mention(f"reading {what}")

    def begin(self, what: str, events: int) -> None:
        """Begin a partition."""
        self._of = (what, events)

    def tell(self, seen: int, faults: int, reached: int) -> None:
        """Show the progress of the search."""
        what, events = self._of
        self._line.mention(
            f"{what}: {reached} of {events} observations explained, {faults} faults, {seen:,} points"
        )

    def clear(self) -> None:
        """Erase the line."""
        self._line.clear()
