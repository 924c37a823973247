"""What `modelcheck check` says: the card of each check, the stories, and what all come to."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator, Sequence

from counterexamples.lines import Line, Piece, Role, count, line, wrapped
from counterexamples.text import story
from counterexamples.trace import Trace
from modelcheck.answers.card import brief, card
from modelcheck.answers.matrix import matrix, obstacles
from modelcheck.commands.options.engine_options import engine_again
from modelcheck.commands.options.given import words_of
from modelcheck.contract.assessment import assess, surprises
from modelcheck.contract.coverage import unused_words
from modelcheck.contract.exits import Exit
from modelcheck.contract.result import Holds, Outcome, UnusedPart, Violated
from modelcheck.contract.wording import way_words
from modelcheck.diagnosis.explain import why
from modelcheck.diagnosis.shrink import Shrunk
from modelcheck.diagnosis.shrunk_text import shrunk_lines
from modelcheck.processes.watch import watched
from modelcheck.storage.output import Output

NOT_COMPARED = "the command line changes the check, so what the check expects is not compared"


def tell_card(args: argparse.Namespace, output: Output, found: Outcome, *, first: bool) -> None:
    """Print the result card of a check."""
    if args.quiet:
        output.lines([brief(found, strict=args.strict)])
        _tell_again(args, output, found)
        return
    if not first:
        output.write("\n")
    remarks = [NOT_COMPARED] if _is_changed(found) else []
    output.lines(card(found, width=output.width, strict=args.strict, remarks=remarks))
    if args.trace or args.why:
        output.lines(matrix(found, output.width))
    output.lines(obstacles(found, output.width))
    _tell_again(args, output, found)


def tell_runs(
    args: argparse.Namespace, output: Output, outcome: Outcome, shrunk: Sequence[Shrunk] = ()
) -> None:
    """Print the distinct ways, if asked for, and the stories of runs. Raises Stopped."""
    if args.quiet:
        return
    if args.all is not None:
        _tell_ways(output, outcome)
    for trace in shown_traces(outcome, everything=args.trace or args.why):
        output.write("\n")
        output.lines(_which(outcome, trace))
        for each in shrunk:
            if each.trace is trace:
                output.lines(shrunk_lines(each, output.width))
                output.write("\n")
        with watched(args.max_time, None, output.give_up):  # not while the output is read
            shown = [*story(trace, width=output.width, bounds_shown=not shrunk)]
        output.lines(shown)
        with watched(args.max_time, None, output.give_up):
            reasons = [*why(trace, output.width, in_full=args.why)]
        output.lines(reasons)


def _tell_ways(output: Output, outcome: Outcome) -> None:
    """Print the distinct ways to violate each property."""
    from modelcheck.diagnosis.distinct.text import single_runs, ways_lines  # noqa: PLC0415 - a third search: only for `--all`

    for ways in outcome.distinct:
        output.write("\n")
        output.lines(ways_lines(ways, output.width))
    output.lines(single_runs(outcome, output.width))


def _which(outcome: Outcome, trace: Trace) -> Iterator[Line]:
    """The line on which of several ways a run is."""
    for ways in outcome.distinct:
        for number, run in enumerate(ways.runs, 1):
            if run is trace and len(ways.runs) > 1:
                yield line(Piece(way_words(ways, number), Role.STRONG))


def _tell_again(args: argparse.Namespace, output: Output, outcome: Outcome) -> None:
    """Print the command that repeats the same random runs."""
    sample = outcome.findings.sample
    if sample is not None and sample.runs:
        output.lines([line("    ", Piece(f"{'again':<11}", Role.DIM), command_again(args, outcome))])


def command_again(args: argparse.Namespace, outcome: Outcome) -> str:
    """The command line that repeats this check, or the same random runs."""
    words = ["modelcheck", "check", outcome.model.source.name]
    sample = outcome.findings.sample
    words += words_of(
        ("--check", [outcome.check.name] if outcome.check.span.end else []),  # of the file, or made up
        ("--of", [args.of]),
        ("--property", args.property),
        ("--scope", args.scope),
        ("--config", args.config),
        ("--release", [args.release]),
        ("--faults", [args.faults]),
        ("--simulate", [] if sample is None else [sample.runs]),
        ("--seed", [] if sample is None else [sample.seed]),
        ("--depth", [] if sample is None else [sample.depth]),
        ("--weight", args.weight or ()),
    )
    words += engine_again(args)
    if args.symmetry is not None:
        words.append("--symmetry" if args.symmetry else "--no-symmetry")
    words += ["--partial-order"] * bool(args.partial_order)
    words += ["--shrink"] * args.shrink
    words += [] if args.all is None else ["--all", str(args.all)]
    return shlex.join(words)


def _is_changed(outcome: Outcome) -> bool:
    """Whether the command line changed a check that has expectations."""
    written = next((check for check in outcome.model.checks if check.name == outcome.check.name), None)
    return written is not None and written.expect != outcome.check.expect


def shown_traces(outcome: Outcome, *, everything: bool) -> Iterator[Trace]:
    """The traces to show: violations, or (`everything`) all; distinct ways are shown elsewhere.

    With everything, the last of random runs where none shows anything.
    """
    if outcome.findings.error is not None:
        yield outcome.findings.error
    wrong = surprises(outcome)
    for result in outcome.findings.results:
        ways = outcome.ways(result.property)
        match result.verdict:
            case Violated() if ways is not None:
                yield from ways.runs if everything else ()
            case Violated(_, trace) if trace is not None and (everything or result in wrong):
                yield trace
            case Holds(_, _, example) if example is not None and everything:
                yield example
            case _:
                pass
    sample = outcome.findings.sample
    if everything and sample is not None and sample.run is not None:
        yield sample.run


def summary(outcomes: list[Outcome], *, strict: bool) -> str:
    """The number of checks with each result, in a sentence."""
    codes = [assess(outcome, strict=strict).exit for outcome in outcomes]
    words = {Exit.EXPECTED: "as expected", Exit.VIOLATED: "not as expected", Exit.UNKNOWN: "unknown"}
    parts = [f"{codes.count(code)} {kind}" for code, kind in words.items() if code in codes]
    return f"\n{count(len(outcomes), 'check')}: {', '.join(parts)}\n"


def unused_lines(unused: Sequence[UnusedPart], width: int, *, strict: bool) -> Iterator[Line]:
    """The lines on parts of the model that no check uses; an error if `strict`."""
    role = Role.BAD if strict else Role.UNSURE
    title = "in no check (--strict)" if strict else "in no check"
    for words in unused_words(unused):
        yield from wrapped(line("  ", Piece(f"{title}  ", role)), words, width)
