"""`modelcheck review`: what can this Kafka configuration lose, and how many things must go wrong first?"""

from __future__ import annotations

import argparse
import shlex
import time
from pathlib import Path

import modelcheck.commands.amounts as amounts
from counterexamples.itf.write import write
from modelcheck.exits import Exit
from modelcheck.output import Output
from modelcheck.progress import ProgressLine
from modelcheck.review.answers import ask_all
from modelcheck.review.asking import Asking, Effort, Watch
from modelcheck.review.data import as_json
from modelcheck.review.partition import partition
from modelcheck.review.questions import GUARANTEES, MOST_FAULTS, Requirement, requirement
from modelcheck.review.read import read_files
from modelcheck.review.remedies import Circumstances, remedies
from modelcheck.review.report import lines
from modelcheck.review.review import Review, first_loss
from modelcheck.review.settings import Settings, resolve
from modelcheck.timings import Timings
from modelcheck.written import Files, add_force

STATES = 30_000_000  # some ten seconds of searching, whatever else the machine does


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `modelcheck review`."""
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="server, producer or topic properties; environment variables; what kafka-configs, kafka-topics, "
        "kafka-features or kafka-metadata-quorum describe; the logs in which brokers and clients print their "
        "configuration; resources of Strimzi, of Confluent for Kubernetes and of Kubernetes itself, in YAML "
        "or JSON; Docker Compose; Helm values; Terraform; Ansible; Spring; - for stdin",
    )
    parser.add_argument(
        "--kafka", metavar="VERSION", help="the release, 0.8.0 to 4.x: defaults and behaviour differ"
    )
    parser.add_argument("--brokers", type=int, metavar="N", help="how many brokers the cluster has")
    parser.add_argument(
        "--topic", metavar="NAME", help="the topic to review, where the files tell of several"
    )
    parser.add_argument(
        "--faults",
        type=_faults,
        default=2,
        metavar="N",
        help=f"how many faults to try, 0 to {MOST_FAULTS} (default 2)",
    )
    parser.add_argument(
        "--require",
        action="append",
        default=[],
        metavar="GUARANTEE:N[:KIND]",
        help=f"exit 1 unless N faults are survived; guarantees: {', '.join(g.name for g in GUARANTEES)}",
    )
    parser.add_argument(
        "--max-states",
        type=amounts.count,
        default=STATES,
        metavar="N",
        help=f"states that all searches together may find (default {STATES:,})",
    )
    parser.add_argument(
        "--max-time",
        type=amounts.seconds,
        metavar="T",
        help="time for all searches, such as 90, 5m or 2h (no limit)",
    )
    parser.add_argument("--timings", action="store_true", help="say at the end what the time went into")
    parser.add_argument("-v", "--verbose", action="store_true", help="why each setting counts, or does not")
    parser.add_argument("--json", action="store_true", help="the review as JSON")
    parser.add_argument("--itf", metavar="PATH", help="write the first loss as a trace (ITF JSON)")
    parser.add_argument(
        "--html", metavar="PATH", help="write a page with the answers and the losses, step by step"
    )
    add_force(parser)


def run(args: argparse.Namespace, output: Output) -> int:
    """Review the files; exit 1 when a requirement is not met, 3 when that is not known or cut short."""
    required = tuple(map(requirement, args.require))
    files = Files(output, args.files, force=args.force)
    files.refuse(*map(Path, filter(None, (args.itf, args.html))))
    timings = Timings()
    with timings.phase("read"):
        settings = resolve(read_files(args.files), kafka=args.kafka, brokers=args.brokers, topic=args.topic)
    faults = max([args.faults, *(each.faults for each in required)])
    progress = ProgressLine(output.err, "", columns=output.width)
    try:
        review = _review(
            settings, faults, required, Effort(args.max_states, args.max_time), progress, timings
        )
    finally:
        progress.clear()
    with timings.phase("tell"):
        if args.json:
            output.json(as_json(review))
        else:
            output.lines(lines(review, output.width, verbose=args.verbose))
    if args.itf:
        _save_trace(review, Path(args.itf), files, output)
    if args.html:
        _save_page(review, args, files)
    if args.timings:
        output.tell(timings.words())
    return files.exit(_exit(review))


def _review(
    settings: Settings,
    faults: int,
    required: tuple[Requirement, ...],
    effort: Effort,
    watch: Watch,
    timings: Timings,
) -> Review:
    began = time.monotonic()
    with timings.phase("read"):
        subject = partition(settings)
    found = None
    with Asking(effort, watch, timings) as asking:
        answers = ask_all(asking, subject, faults)
        loss = first_loss(answers)
        if loss is not None:
            about = Circumstances(settings.version.value, settings.brokers.value)
            found = remedies(asking, subject, about, loss)
    took = time.monotonic() - began
    return Review(
        settings, subject, faults, answers, found, required, asking.ended, asking.states, asking.known, took
    )


def _exit(review: Review) -> Exit:
    met = [review.met(required) for required in review.required]
    if False in met:
        return Exit.VIOLATED
    return Exit.EXPECTED if review.complete and None not in met else Exit.UNKNOWN


# ------------------------------------------------------------------ what is typed


def _faults(text: str) -> int:
    if text not in map(str, range(MOST_FAULTS + 1)):
        raise argparse.ArgumentTypeError(f"from 0 to {MOST_FAULTS}, and not {text!r}")
    return int(text)


# ------------------------------------------------------------------ files


def _save_trace(review: Review, path: Path, files: Files, output: Output) -> None:
    """Write the trace of the first loss, if there is one."""
    trace = review.loss.loss if review.loss is not None else None
    if trace is None:
        output.tell(f"modelcheck: no loss was found, so {path} is not written")
    else:
        files.put(path, "itf", write(trace))


def _save_page(review: Review, args: argparse.Namespace, files: Files) -> None:
    """Write the page, with the command that makes it again."""
    from modelcheck.review.page import review_page  # noqa: PLC0415 - jinja2 is loaded only for pages

    words = ["modelcheck", "review", *args.files]
    for option, values in (
        ("--kafka", [args.kafka]),
        ("--brokers", [args.brokers]),
        ("--topic", [args.topic]),
        ("--faults", [args.faults]),
        ("--require", args.require),
    ):
        words += [part for value in values if value is not None for part in (option, str(value))]
    files.put(Path(args.html), "html", review_page(review, shlex.join(words)))
