"""`modelcheck review`: what can this Kafka configuration lose, and how many things must go wrong first?"""

from __future__ import annotations

import argparse
import math
import os
import shlex
import time
from pathlib import Path

from counterexamples.itf.write import write
from modelcheck.exits import Exit
from modelcheck.files import save_text
from modelcheck.output import Output
from modelcheck.progress import CLEAR
from modelcheck.review.answers import Told, ask_all
from modelcheck.review.data import as_json
from modelcheck.review.partition import partition
from modelcheck.review.questions import GUARANTEES, MOST_FAULTS, Requirement, questions, requirement
from modelcheck.review.read import read_files
from modelcheck.review.remedies import Circumstances, remedies
from modelcheck.review.report import lines
from modelcheck.review.review import Review, first_loss
from modelcheck.review.settings import Settings, resolve
from modelcheck.workers import Workers

SECONDS = 40.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `modelcheck review`."""
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="server, producer or topic properties, what kafka-configs or kafka-topics --describe print, "
        "Strimzi YAML; - for stdin",
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
        "--max-time",
        type=_seconds,
        default=SECONDS,
        metavar="SECONDS",
        help=f"time for all of it (default {SECONDS:.0f})",
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="why each setting counts, or does not")
    parser.add_argument("--json", action="store_true", help="the review as JSON")
    parser.add_argument("--itf", metavar="PATH", help="write the first loss as a trace (ITF JSON)")
    parser.add_argument(
        "--html", metavar="PATH", help="write a page with the answers and the losses, step by step"
    )


def run(args: argparse.Namespace, output: Output) -> int:
    """Review the files; exit 1 when a requirement is not met, 3 when that is not known or cut short."""
    required = tuple(map(requirement, args.require))
    for name in filter(None, (args.itf, args.html)):
        if reason := _unwritable(Path(name)):
            return _refuse(name, reason, output)
    settings = resolve(read_files(args.files), kafka=args.kafka, brokers=args.brokers, topic=args.topic)
    faults = max([args.faults, *(each.faults for each in required)])
    review = _review(settings, faults, required, args.max_time, _progress(output))
    if args.json:
        output.json(as_json(review))
    else:
        output.lines(lines(review, output.width, verbose=args.verbose))
    if args.itf and not _written(review, Path(args.itf), output):
        return Exit.WRONG
    if args.html:
        _save_page(review, args, output)
    return _exit(review)


def _review(
    settings: Settings, faults: int, required: tuple[Requirement, ...], seconds: float, told: Told
) -> Review:
    began = time.monotonic()
    subject = partition(settings)
    found = None
    with Workers() as workers:
        answers = ask_all(workers, subject, questions(subject, faults), seconds=seconds, told=told)
        loss, left = first_loss(answers), began + seconds - time.monotonic()
        if loss is not None and not workers.ended:
            about = Circumstances(settings.version.value, settings.brokers.value)
            found = remedies(workers, subject, about, loss, left)
    took = time.monotonic() - began
    return Review(settings, subject, faults, answers, found, required, workers.ended, took)


def _progress(output: Output) -> Told:
    """Tells a person at a terminal how many searches are done; says nothing into a file."""

    def tell(done: int, all_: int) -> None:
        if output.err.isatty():
            output.err.write(CLEAR + (f"{done} of {all_} searches" if done < all_ else ""))
            output.err.flush()

    return tell


def _exit(review: Review) -> int:
    met = [review.met(required) for required in review.required]
    if False in met:
        return Exit.VIOLATED
    return Exit.UNKNOWN if review.ended or None in met else Exit.EXPECTED


# ------------------------------------------------------------------ what is typed


def _faults(text: str) -> int:
    if text not in map(str, range(MOST_FAULTS + 1)):
        raise argparse.ArgumentTypeError(f"from 0 to {MOST_FAULTS}, and not {text!r}")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise argparse.ArgumentTypeError(f"a number of seconds above 0, and not {text!r}")
    return seconds


# ------------------------------------------------------------------ the trace


def _unwritable(path: Path) -> str:
    """Why a file cannot be written, as far as can be told before; it would be a pity to find out after."""
    if path.is_dir():
        return "it is a directory"
    if not path.parent.is_dir():
        return f"there is no directory {path.parent}"
    return "" if os.access(path if path.exists() else path.parent, os.W_OK) else "permission denied"


def _written(review: Review, path: Path, output: Output) -> bool:
    """Whether the trace of the first loss is in the file, or there is none to write."""
    trace = review.loss.loss if review.loss is not None else None
    if trace is None:
        output.tell(f"modelcheck: no loss was found, so {path} is not written")
        return True
    try:
        path.write_text(write(trace), encoding="utf-8")
    except OSError as error:
        _refuse(str(path), error.strerror or str(error), output)
        return False
    return True


def _save_page(review: Review, args: argparse.Namespace, output: Output) -> None:
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
    save_text(Path(args.html), review_page(review, shlex.join(words)))
    output.tell(f"modelcheck: wrote {args.html}")


def _refuse(path: str, reason: str, output: Output) -> int:
    output.tell(f"modelcheck: cannot write {path}: {reason}")
    return Exit.WRONG
