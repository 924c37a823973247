"""`modelcheck kafka review`: what a configuration can lose, and the fewest faults that lose it."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import modelcheck.commands.options.amounts as amounts
import modelcheck.kafka.report.comparison_text as comparison
from counterexamples.itf.write import write
from counterexamples.lines import count
from counterexamples.trace import Trace
from modelcheck.answers.pipelines.report import of_mistakes
from modelcheck.answers.progress import ProgressLine
from modelcheck.answers.timings import Timings
from modelcheck.asking.crew import Crew
from modelcheck.commands.kafka.bootstrap_options import (
    add_bootstrap_options,
    names_of_inputs,
    read_inputs,
    refuse_half_bootstrap,
    written,
)
from modelcheck.commands.kafka.reproduce_options import add_reproduce_options, kafka_home, refuse_half
from modelcheck.commands.kafka.topic_reviews import settings_of_topics, topic_reviews
from modelcheck.commands.options.crew_options import HERE, add_crew, crew_of
from modelcheck.commands.options.given import words_of
from modelcheck.commands.options.pipeline_options import add_pipeline_options, refuse_report, write_report
from modelcheck.contract.exits import Exit
from modelcheck.kafka.policy.policy import Policy, Required
from modelcheck.kafka.policy.read import read_policy
from modelcheck.kafka.policy.starter import BASIS, starter
from modelcheck.kafka.questions.also.findings import ALL, SUBJECTS, Subject
from modelcheck.kafka.questions.comparison import TopicChange, any_worse, compared
from modelcheck.kafka.questions.question import GUARANTEES, MOST_FAULTS, Requirement, requirement
from modelcheck.kafka.questions.review import Review
from modelcheck.kafka.questions.search import Asking, Effort
from modelcheck.kafka.report.json_report import as_json
from modelcheck.kafka.report.overview import TopicRow, overview, overview_json
from modelcheck.kafka.report.pipeline import of_changes, of_reviews
from modelcheck.kafka.report.report import lines
from modelcheck.kafka.report.topics_csv import as_csv
from modelcheck.kafka.settings.keys.versions import Version
from modelcheck.kafka.settings.provenance import ResolutionDiagnostics, Stated
from modelcheck.kafka.settings.readings import Reading
from modelcheck.kafka.settings.resolution.cluster import stated_version
from modelcheck.kafka.settings.resolution.of_topic import ReadingsOfTopics
from modelcheck.kafka.settings.resolution.possible import resolve_possible
from modelcheck.kafka.settings.resolution.settings import Settings, resolve
from modelcheck.storage.files import read_text
from modelcheck.storage.output import Output
from modelcheck.storage.written import Files, add_force
from spec.diagnostics import Diagnostic, SpecError
from spec.source import Source

if TYPE_CHECKING:
    from modelcheck.kafka.reproduce.installation import Home

STATES = 100_000_000  # a minute or two of searching: four faults of three brokers are 43 million


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments and options of `modelcheck kafka review`."""
    parser.set_defaults(refuse=parser.error)
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="server, producer or topic properties; environment variables; what kafka-configs, kafka-topics, "
        "kafka-features or kafka-metadata-quorum describe; the logs in which brokers and clients print their "
        "configuration; resources of Strimzi, of Confluent for Kubernetes and of Kubernetes itself, in YAML "
        "or JSON; Docker Compose; Helm values; Terraform; Ansible; Spring; - for stdin",
    )
    add_bootstrap_options(parser)
    parser.add_argument(
        "--kafka",
        metavar="VERSION",
        help="set the release, 0.8.0 to 4.x, which determines defaults and behaviour (default: as the files "
        "show, else the worst of those that they leave possible)",
    )
    parser.add_argument(
        "--client",
        metavar="CLIENT",
        help="set the producer's release, or its library or product such as librdkafka, sarama, "
        "kafka-connect or spring-cloud-stream, which determines the default of acks",
    )
    parser.add_argument("--brokers", type=int, metavar="N", help="set the number of brokers in the cluster")
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--topic", metavar="NAME", help="review this topic; required if the files configure several"
    )
    which.add_argument(
        "--all-topics",
        action="store_true",
        help="review every topic in the files, as one table with the weakest topics first",
    )
    parser.add_argument(
        "--faults",
        type=_faults,
        default=2,
        metavar="N",
        help=f"try up to N faults, 0 to {MOST_FAULTS} (default: 2)",
    )
    parser.add_argument(
        "--also",
        type=_subjects,
        default=(),
        metavar="WHAT,…",
        help="also analyse these scenarios: "
        + ", ".join(f"{each.name} ({each.title})" for each in SUBJECTS)
        + f"; or `{ALL}`",
    )
    parser.add_argument(
        "--require",
        action="append",
        default=[],
        metavar="GUARANTEE:N[:KIND]",
        help="exit with 1 unless the guarantee survives N faults, from the state that a file shows too; "
        "guarantees: "
        f"{', '.join(g.name for g in GUARANTEES)}",
    )
    parser.add_argument(
        "--against",
        nargs="+",
        metavar="FILE",
        help="compare with these files: what becomes worse, what better, and which setting does it",
    )
    parser.add_argument(
        "--against-revision",
        metavar="REV",
        help="compare with the same files in this revision of git",
    )
    parser.add_argument(
        "--no-worse", action="store_true", help="with --against, exit with 1 if an answer becomes worse"
    )
    parser.add_argument(
        "--markdown", metavar="PATH", help="with --against, write a comment for a pull request (Markdown)"
    )
    parser.add_argument(
        "--policy",
        metavar="PATH",
        help="take the requirements of each topic from this file (TOML)",
    )
    parser.add_argument(
        "--write-policy",
        metavar="PATH",
        help="write a policy to begin with, with an exception for each topic that does not meet it",
    )
    parser.add_argument(
        "--max-states",
        type=amounts.count,
        default=STATES,
        metavar="N",
        help=f"limit the states of all searches together (default: {STATES:,})",
    )
    parser.add_argument(
        "--max-time",
        type=amounts.seconds,
        metavar="T",
        help="limit the time of all searches: 90, 5m, 2h (default: none)",
    )
    add_crew(parser)
    parser.add_argument("--timings", action="store_true", help="print a breakdown of the time at the end")
    parser.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        help="show where each effective setting came from, and which settings were ignored",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_pipeline_options(parser)
    parser.add_argument("--itf", metavar="PATH", help="write the first loss as a trace (ITF JSON)")
    parser.add_argument(
        "--html",
        metavar="PATH",
        help="write an HTML page with the answers and the losses, step by step; it prints as a summary",
    )
    parser.add_argument("--csv", metavar="PATH", help="write a row for each topic")
    add_reproduce_options(parser, "the first loss")
    add_force(parser)


def run(args: argparse.Namespace, output: Output) -> int:
    """Review the files; exit 1 if a requirement is not met or a guarantee is broken today, 3 if unknown."""
    refuse_half(args, args.refuse)
    refuse_half_bootstrap(args)
    if args.reproduce and args.all_topics:
        args.refuse("--reproduce is of one topic: give --topic NAME in place of --all-topics")
    at_work = crew_of(args)
    if args.engine != HERE and not args.all_topics:
        args.refuse(f"--engine {args.engine} is for many topics: add --all-topics")
    _refuse_half_comparison(args)
    required = tuple(map(requirement, args.require))
    inputs = [*args.files, *(args.against or ()), *filter(None, (args.policy, args.bootstrap_config))]
    files = Files(output, inputs, force=args.force)
    files.refuse("itf", args.itf)
    files.refuse("html", args.html)
    files.refuse("csv", args.csv)
    files.refuse("toml", args.write_policy)
    files.refuse("markdown", args.markdown)
    refuse_report(args, files)
    try:
        return _run(args, output, required, files, None if args.engine == HERE else at_work)
    except SpecError as error:
        mistakes = of_mistakes(error)
        write_report(args, files, output, lambda: mistakes, "review")
        raise


def _run(
    args: argparse.Namespace,
    output: Output,
    required: tuple[Requirement, ...],
    files: Files,
    at_work: Crew | None,
) -> int:
    """Run the review, print the report, and write files."""
    timings = Timings()
    with timings.phase("read"):
        home = kafka_home(args)
        inputs = read_inputs(args)
        settings = _settings(inputs.now, args, inputs.topic, home)
        earlier = [] if inputs.earlier is None else _settings(inputs.earlier, args, inputs.topic, None)
        policy = None if args.policy is None else read_policy(Source(args.policy, read_text(args.policy)))
    every = (
        *required,
        *(() if policy is None else policy.requirements),
        *(map(requirement, BASIS) if args.write_policy else ()),
    )
    faults = max([args.faults, *(each.faults for each in every)])
    progress = ProgressLine(output.err, "", columns=output.width)
    effort = Effort(args.max_states, args.max_time)
    try:
        rows = topic_reviews(settings, faults, (every, args.also), effort, progress, timings, at_work)
        changes = _changes(earlier, rows, faults, effort, progress, timings)
    finally:
        progress.clear()
    day = date.today()  # noqa: DTZ011 - a day where the user is
    rows = tuple(_required(row, required, policy, day) for row in rows)
    with timings.phase("tell"):
        data = _report(rows, args, output) if changes is None else _comparison(changes, args, output)
    exits = {Exit.VIOLATED} if args.no_worse and any_worse(changes or ()) else set[Exit]()
    if home is not None:
        data["reproduced"] = _reproduced(rows[0].review, args, output, home, exits)
    if args.json:
        output.json(data)
    if args.itf:
        _save_trace(rows[0].review, Path(args.itf), files, output)
    if args.html:
        _save_page(rows, args, files)
    if args.csv:
        files.put(Path(args.csv), "csv", as_csv(rows))
    if args.write_policy:
        text = starter(((row.topic, row.review) for row in rows), day)
        files.put(Path(args.write_policy), "toml", text)
    if args.markdown:
        files.put(Path(args.markdown), "markdown", comparison.markdown(changes or ()))
    about = of_reviews if changes is None else partial(of_changes, changes)
    write_report(args, files, output, lambda: about(rows, names_of_inputs(args)), "review")
    if args.timings:
        output.tell(timings.words())
    return files.exit(*exits, max((_exit(row.review) for row in rows), key=_SEVERITY.index))


def _required(row: TopicRow, asked: tuple[Requirement, ...], policy: Policy | None, today: date) -> TopicRow:
    """A row with what is required of its topic: what the command line asks for, and the policy."""
    of_topic = Required() if policy is None else policy.required(row.topic, today)
    required = (*asked, *of_topic.requirements)
    return replace(row, review=replace(row.review, required=required, exempted=of_topic.exempted))


def _refuse_half_comparison(args: argparse.Namespace) -> None:
    """End with a message where an option lacks the one that it belongs to."""
    others = [args.against, args.against_revision, args.against_bootstrap]
    is_compared = any(others)
    if sum(map(bool, others)) > 1:
        args.refuse(
            "--against, --against-revision and --against-bootstrap name what to compare with: give one"
        )
    if (args.no_worse or args.markdown) and not is_compared:
        option = "--no-worse" if args.no_worse else "--markdown"
        args.refuse(f"{option} is of a comparison: add --against FILE… or --against-revision REV")
    if is_compared and (args.reproduce or args.html or args.itf or args.csv):
        args.refuse("give --html, --csv, --itf and --reproduce without --against, which shows what changes")


def _changes(
    earlier: Sequence[tuple[Settings, ...]],
    rows: Sequence[TopicRow],
    faults: int,
    effort: Effort,
    progress: ProgressLine,
    timings: Timings,
) -> tuple[TopicChange, ...] | None:
    """What differs from the reviews of earlier settings; None where there are none."""
    if not earlier:
        return None
    before = topic_reviews(earlier, faults, ((), ()), effort, progress, timings)
    old, new = ({row.topic: row.review for row in each} for each in (before, rows))
    return compared(old, new, lambda: Asking(effort, progress, timings))


def _comparison(
    changes: Sequence[TopicChange], args: argparse.Namespace, output: Output
) -> dict[str, object]:
    """Print what changes, or return it as JSON data."""
    if args.json:
        return comparison.as_json(changes)
    output.lines(comparison.lines(changes, output.width))
    return {}


def _settings(
    readings: Sequence[Reading], args: argparse.Namespace, topic: str | None, home: Home | None
) -> list[tuple[Settings, ...]]:
    """The settings of the topic asked for, or of each topic, in all cases that the files leave possible.

    Where a run of theirs is to be tried on a release of Kafka, and nothing says which release they are of,
    they are of that one. Raises SpecError where they are of another.
    """
    kafka = args.kafka
    if home is not None and stated_version(readings, kafka, ResolutionDiagnostics()).assumed:
        kafka = home.version
    given = {"client": args.client, "brokers": args.brokers}
    if args.all_topics:
        return settings_of_topics(readings, kafka, **given)
    if home is None:
        of_topic = ReadingsOfTopics(readings).of(topic)
        return [resolve_possible(of_topic, kafka=kafka, topic=topic, **given)]
    found = resolve(readings, kafka=kafka, topic=topic, **given)
    if found.version.value.line != home.release:
        _refuse_other_release(found.version, home)
    return [(found,)]


def _refuse_other_release(version: Stated[Version], home: Home) -> NoReturn:
    """Raise SpecError if the Kafka to try runs on is of another release."""
    message = (
        f"the review is of Kafka {version.value} ({version.reason}), and this is Kafka {home.version}:"
        " another release may do something else"
    )
    help_ = f"name a folder with Kafka {version.value}, or add --kafka {home.version}"
    source = Source("--kafka-home", str(home.libs))
    raise SpecError([Diagnostic("R0931", source, None, message, help=help_)])


def _reproduced(
    review: Review, args: argparse.Namespace, output: Output, home: Home, exits: set[Exit]
) -> dict[str, object] | None:
    """The result of trying the first loss on a real Kafka; its exit code is added to `exits`."""
    from modelcheck.kafka.reproduce.after_check import reproduced  # noqa: PLC0415 - only for `--reproduce`
    from modelcheck.kafka.reproduce.selection import refuse_kept  # noqa: PLC0415 - as above

    def run() -> Trace:
        source = Source(names_of_inputs(args)[0], "")
        if review.loss is None or review.loss.loss is None:
            message = f"no loss was found with up to {count(review.faults, 'fault')}, so there is none to try"
            raise SpecError([Diagnostic("R0931", source, None, message)])
        return refuse_kept(review.loss.loss, source)

    found = reproduced(run, home, output, shown=not args.json)
    exits.add(found.exit)
    return found.data


def _report(rows: Sequence[TopicRow], args: argparse.Namespace, output: Output) -> dict[str, object]:
    """Print the report, or return it as JSON data."""
    if args.json:
        return overview_json(rows) if args.all_topics else as_json(rows[0].review)
    if args.all_topics:
        output.lines(overview(rows, output.width, verbose=args.verbose))
    else:
        output.lines(lines(rows[0].review, output.width, verbose=args.verbose))
    return {}


_SEVERITY = (Exit.EXPECTED, Exit.UNKNOWN, Exit.VIOLATED)  # what a cluster's exit code is by its worst topic


def _exit(review: Review) -> Exit:
    """The exit code of a review."""
    met = [review.met(required) for required in review.required]
    if False in met or review.worse_today:
        return Exit.VIOLATED
    return Exit.EXPECTED if review.complete and None not in met else Exit.UNKNOWN


# ------------------------------------------------------------------ what is typed


def _faults(text: str) -> int:
    """Parse the number of faults."""
    if text not in map(str, range(MOST_FAULTS + 1)):
        raise argparse.ArgumentTypeError(f"from 0 to {MOST_FAULTS}, and not {text!r}")
    return int(text)


def _subjects(text: str) -> tuple[Subject, ...]:
    """Parse the further subjects."""
    known = {each.name: each for each in SUBJECTS}
    asked = list(known) if text == ALL else text.split(",")
    if wrong := [each for each in asked if each not in known]:
        raise argparse.ArgumentTypeError(f"{wrong[0]!r} is none of {', '.join(known)}; {ALL} is all of them")
    return tuple(known[each] for each in dict.fromkeys(asked))


# ------------------------------------------------------------------ files


def _save_trace(review: Review, path: Path, files: Files, output: Output) -> None:
    """Write the trace of the first loss, if there is one."""
    trace = review.loss.loss if review.loss is not None else None
    if trace is None:
        output.tell(f"modelcheck: no loss was found, so {path} is not written")
    else:
        files.put(path, "itf", write(trace))


def _save_page(rows: Sequence[TopicRow], args: argparse.Namespace, files: Files) -> None:
    """Write the HTML page, with the command that makes it again."""
    from modelcheck.kafka.report.page import review_page  # noqa: PLC0415 - jinja2 only for pages
    from modelcheck.kafka.report.topics_page import overview_page  # noqa: PLC0415 - as above

    words = ["modelcheck", "kafka", "review", *args.files, *(["--all-topics"] if args.all_topics else [])]
    words += words_of(
        ("--bootstrap", [written(args.bootstrap)]),
        ("--bootstrap-config", [args.bootstrap_config]),
        ("--kafka", [args.kafka]),
        ("--client", [args.client]),
        ("--brokers", [args.brokers]),
        ("--topic", [args.topic]),
        ("--faults", [args.faults]),
        ("--also", [",".join(each.name for each in args.also) or None]),
        ("--require", args.require),
        ("--policy", [args.policy]),
        ("--max-states", [None if args.max_states == STATES else args.max_states]),
        ("--max-time", [None if args.max_time is None else f"{args.max_time:g}"]),
    )
    command = shlex.join(words)
    text = overview_page(rows, command) if args.all_topics else review_page(rows[0].review, command)
    files.put(Path(args.html), "html", text)
