"""`modelcheck kafka frontier`: the number of faults that each of many configurations survives, as a table."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from pathlib import Path

import modelcheck.commands.options.amounts as amounts
import modelcheck.kafka.frontier.models as models
import modelcheck.kafka.frontier.systems as systems
from counterexamples.pictures.rendered import NoRenderer, png
from modelcheck.answers.progress import ProgressLine
from modelcheck.asking.sweep import axis
from modelcheck.commands.options.crew_options import add_crew, crew_of
from modelcheck.commands.options.given import words_of
from modelcheck.contract.exits import Exit
from modelcheck.contract.report import AnswersDone
from modelcheck.kafka.frontier.configurations import OVER, USUAL, Base, grid
from modelcheck.kafka.frontier.findings import Frontier
from modelcheck.kafka.frontier.grid import Grid
from modelcheck.kafka.frontier.json_report import as_csv, as_json
from modelcheck.kafka.frontier.limits import FaultLimits, kinds_of, named, wrong
from modelcheck.kafka.frontier.picture import heat_map
from modelcheck.kafka.frontier.search import answered
from modelcheck.kafka.frontier.systems import KAFKA
from modelcheck.kafka.frontier.table import first_words, lines
from modelcheck.kafka.questions.question import GUARANTEES, KINDS, MOST_FAULTS, MOVE
from modelcheck.kafka.questions.search import Effort
from modelcheck.kafka.settings.readers.recognition import read_files
from modelcheck.storage.output import Output
from modelcheck.storage.written import Files, add_force
from spec.library import SUFFIX, is_meant

CONFIGURATION = ("kafka", "client", "brokers", "topic", "guarantee")  # options of a configuration of Kafka
OF_KAFKA = ("kafka", "client")  # of these, what describes Kafka among other systems
MODEL = ("check", "of", "property")  # options of a model file
STATES = 10_000_000  # of one search
USUAL_GUARANTEES = ("durable", "writable")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments and options of `modelcheck kafka frontier`."""
    parser.set_defaults(refuse=parser.error)
    add = parser.add_argument
    add(
        "files",
        nargs="+",
        metavar="FILE",
        help="`kafka`, for the defaults of Kafka; configuration files, as `kafka review` takes them; "
        "a model file, or the name of another protocol; or several of these, and `kafka` among them",
    )
    add(
        "--over",
        action="append",
        default=[],
        metavar="KEY=V,…",
        help="vary a key of Kafka, replication.factor or kafka (the release) over these values; one may be "
        f"`default` (without --over: {' '.join(USUAL)}); for a model: a name of its scope or configuration, "
        "or the key of a setting",
    )
    add(
        "--faults",
        type=int,
        choices=range(MOST_FAULTS + 1),
        default=2,
        metavar="N",
        help=f"try up to N faults, 0 to {MOST_FAULTS} (default: 2)",
    )
    add(
        "--kinds",
        metavar="KIND[:N],…",
        help="allow only these kinds of faults, at most N of each: "
        f"{', '.join(kind.name for kind in KINDS)}, {MOVE}",
    )
    add(
        "--guarantee",
        action="append",
        default=[],
        metavar="NAME,…",
        help=f"check these guarantees, of {', '.join(g.name for g in GUARANTEES)} "
        f"(default: {', '.join(USUAL_GUARANTEES)})",
    )
    of_model = parser.add_argument_group("for a model file").add_argument
    of_model("--check", action="append", default=[], metavar="NAME", help="check only this one; repeatable")
    of_model("--of", metavar="NAME", help="use this protocol or variant of the file")
    of_model(
        "--property", action="append", default=[], metavar="NAME", help="check only this property; repeatable"
    )
    add = parser.add_argument_group("for a configuration of Kafka").add_argument
    add("--kafka", metavar="VERSION", help="set the release, unless --over varies it")
    add("--client", metavar="CLIENT", help="set the producer's release or library; see `kafka review`")
    add("--brokers", type=int, metavar="N", help="set the number of brokers in the cluster")
    add("--topic", metavar="NAME", help="use this topic; required if the files configure several")
    group = parser.add_argument_group("limits and output")
    add_crew(group)
    add = group.add_argument
    add(
        "--max-states",
        type=amounts.count,
        default=STATES,
        metavar="N",
        help=f"limit the states of each search (default: {STATES:,})",
    )
    add("--max-time", type=amounts.seconds, metavar="T", help="limit the time of all searches: 90, 5m, 2h")
    add("--json", action="store_true", help="print JSON, with the counterexample at each edge")
    add("--csv", metavar="PATH", help="write a line per cell")
    add("--draw", metavar="PATH", help="write a heat map: SVG, or PNG where the name ends in .png")
    add(
        "--html",
        metavar="PATH",
        help="write an HTML page with the tables, and the run at each edge step by step",
    )
    add_force(parser)


def run(args: argparse.Namespace, output: Output) -> int:
    """Compute every cell; exit 3 if some are unknown."""
    files = Files(output, args.files, force=args.force)
    files.refuse("csv", args.csv)
    files.refuse("html", args.html)
    files.refuse("png" if _is_png(args.draw) else "svg", args.draw)
    progress = ProgressLine(output.err, "frontier", columns=output.width)
    progress.show("frontier: reading what is asked")
    try:
        at_work = crew_of(args)
        asked = _grid(args)
    finally:
        progress.clear()
    if not args.json:
        output.lines(first_words(asked, output.width))
        output.out.flush()  # shown before the work begins
    progress.show("frontier")
    total, effort = asked.answers, Effort(None, args.max_time, args.max_states)

    def tell(done: int, states: int, seconds: float) -> None:
        progress.tell(AnswersDone("answer", done, total, states, seconds))

    try:
        found = Frontier(asked, answered(asked, effort, tell, at_work))
    finally:
        progress.clear()
    if args.json:
        output.json(as_json(found))
    else:
        output.lines(lines(found, output.width))
    if args.csv:
        files.put(Path(args.csv), "csv", as_csv(found))
    if args.draw:
        _draw(found, Path(args.draw), files)
    if args.html:
        from modelcheck.kafka.frontier.page import frontier_page  # noqa: PLC0415 - jinja2 only for pages

        progress.begin("the runs of the page are explained")
        page = frontier_page(found, _command(args))
        progress.clear()
        files.put(Path(args.html), "html", page)
    return files.exit(Exit.EXPECTED if found.complete else Exit.UNKNOWN)


def _is_png(path: str | Path | None) -> bool:
    """Whether a path is of a PNG file."""
    return path is not None and Path(path).suffix.lower() == ".png"


def _draw(found: Frontier, path: Path, files: Files) -> None:
    """Write the picture of the frontier."""
    picture = heat_map(found)
    if not _is_png(path):
        files.put(path, "svg", picture)
        return
    try:
        files.put(path, "png", png(picture))
    except (NoRenderer, OSError) as refusal:
        files.fail(path, refusal)


def _command(args: argparse.Namespace) -> str:
    """The command line that makes the page again."""
    words = ["modelcheck", "kafka", "frontier", *args.files]
    words += words_of(
        ("--over", args.over),
        ("--faults", [args.faults]),
        ("--kinds", [args.kinds]),
        ("--guarantee", args.guarantee),
        ("--check", args.check),
        ("--of", [args.of]),
        ("--property", args.property),
        ("--kafka", [args.kafka]),
        ("--client", [args.client]),
        ("--brokers", [args.brokers]),
        ("--topic", [args.topic]),
        ("--max-states", [None if args.max_states == STATES else args.max_states]),
        ("--max-time", [None if args.max_time is None else f"{args.max_time:g}"]),
    )
    return shlex.join(words)


def _grid(args: argparse.Namespace) -> Grid:
    """The grid that the options describe."""
    if _is_model(args.files):
        of_kafka = OF_KAFKA if KAFKA in args.files else ()
        _refuse(args, [name for name in CONFIGURATION if name not in of_kafka], "a configuration of Kafka")
        chosen = models.Chosen(tuple(args.check), args.of, tuple(args.property))
        axes = [axis(text, OVER) for text in args.over]
        if len(args.files) > 1:
            _refuse(args, ["of"], "one model file")
            base = Base(kafka=args.kafka, client=args.client)
            return systems.grid(args.files, axes, chosen, base, args.faults, args.kinds)
        return models.grid(args.files[0], axes, chosen, args.faults, args.kinds)
    _refuse(args, MODEL, "a model file")
    names = [guarantee.name for guarantee in GUARANTEES]
    wanted = named("--guarantee", args.guarantee or USUAL_GUARANTEES, names, "guarantee")
    known = (
        {kind.fault: kind.name for kind in KINDS} | {kind.name: kind.name for kind in KINDS} | {MOVE: MOVE}
    )
    kinds = None if args.kinds is None else kinds_of(args.kinds, known)
    readings = () if args.files == [KAFKA] else read_files(args.files)
    base = Base(readings, args.kafka, args.client, args.brokers, args.topic)
    axes = [axis(text, OVER) for text in args.over or USUAL]
    guarantees = [guarantee for guarantee in GUARANTEES if guarantee.name in wanted]
    return grid(base, axes, guarantees, FaultLimits(args.faults, kinds))


def _is_model(files: list[str]) -> bool:
    """Whether the arguments name a model file or protocol, instead of configuration files."""
    found = [name for name in files if name.endswith(SUFFIX) or (name != KAFKA and is_meant(name))]
    other = next((name for name in files if name not in {KAFKA, *found}), None)
    if found and other is not None:
        message = f"`{found[0]}` is a model, and `{other}` is none"
        wrong("FILE", " ".join(files), other, message, "name models, or files of one configuration of Kafka")
    return bool(found)


def _refuse(args: argparse.Namespace, names: Sequence[str], of: str) -> None:
    """Exit with an error for options that do not apply."""
    for name in names:
        if getattr(args, name):
            wrong(f"--{name}", str(getattr(args, name)), "", f"--{name} is for {of}")
