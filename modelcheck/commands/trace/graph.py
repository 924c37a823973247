"""`modelcheck trace graph FILE`: the states and steps of a check, or those around a run, to be drawn."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from counterexamples.graphs.drawn_graph import FORMATS, DrawnGraph
from counterexamples.graphs.state_graph import StateGraph, drawn, merged
from counterexamples.itf.read import document
from counterexamples.lines import count
from counterexamples.trace import Trace
from modelcheck.answers.progress import ProgressLine
from modelcheck.api import Unsupported, traces
from modelcheck.api import check as run_check
from modelcheck.asking.models import pick_check, pick_model, pick_parts, pick_property
from modelcheck.asking.overrides import Overrides, apply, free_check, one_check
from modelcheck.asking.unmet import refuse_unstartable
from modelcheck.commands.options.given import MODEL, add_overrides, given_by
from modelcheck.contract.engine import Limits, Task
from modelcheck.contract.exits import Exit
from modelcheck.contract.families import looked_at
from modelcheck.contract.report import Reporter, Silent
from modelcheck.contract.wording import scope_words
from modelcheck.engines.registry import engine
from modelcheck.search.explore import BeyondBudget, TooManyStates, around, whole
from modelcheck.storage.files import LARGEST_TRACE, read_text
from modelcheck.storage.ours import SUFFIXES, is_known
from modelcheck.storage.output import Output
from modelcheck.storage.written import Files, add_force
from spec.diagnostics import Diagnostic, SpecError
from spec.load import load
from spec.model.ir import Budget, Check, Model
from spec.source import Span

MOST = 20_000  # states that are explored: some ten seconds
LARGE = 300  # states that Graphviz still draws so that one can read it
PATIENCE = Limits(states=50_000_000, seconds=10)  # to count what is too many


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments and options to its parser."""
    add = parser.add_argument
    add("file", metavar="FILE", help=MODEL)
    what = parser.add_argument_group("selection")
    what.add_argument("--check", metavar="NAME", help="use this check; required if the file has several")
    what.add_argument("--of", metavar="NAME", help="use this protocol or variant of the file")
    add_overrides(what)
    run_ = what.add_mutually_exclusive_group()
    run_.add_argument(
        "--property", metavar="NAME", help="mark the states that violate this property, and a counterexample"
    )
    run_.add_argument("--around", metavar="TRACE", help="draw only the states around this trace (.itf.json)")
    what.add_argument(
        "--distance",
        type=_number,
        metavar="N",
        help="draw only states up to N steps away from the trace (default with --around: 1)",
    )
    what.add_argument(
        "--max-states",
        type=_number,
        default=MOST,
        metavar="N",
        help=f"refuse to draw more states (default: {MOST:,})",
    )
    how = parser.add_argument_group("output")
    how.add_argument(
        "--merge",
        action="append",
        default=[],
        metavar="PART",
        help="merge states that agree on this variable, field (Replica.log) or role (membership); "
        "comma-separated",
    )
    how.add_argument(
        "--fields", action="append", default=[], metavar="PART", help="show only these parts of each state"
    )
    how.add_argument(
        "--as",
        dest="format",
        choices=FORMATS,
        help="select the format (default: by the suffix of --out, else dot)",
    )
    how.add_argument("--out", type=Path, metavar="FILE", help="write to this file (default: stdout)")
    add_force(how)
    parser.set_defaults(refuse=parser.error)


def run(args: argparse.Namespace, output: Output) -> int:
    """Draw the state graph; a summary goes to standard error."""
    if args.distance is not None and args.property is None and args.around is None:
        args.refuse("--distance is from a run: give one with --around, or a property with --property")
    if args.merge and args.fields:
        args.refuse("--merge tells the merged parts of each state, and --fields others: give one of them")
    files = Files(output, filter(None, (args.file, args.around)), force=args.force)
    files.refuse(_format(args), args.out)
    progress = ProgressLine(output.err, "graph", columns=output.width)
    progress.begin("graph")
    try:
        return _drawn(args, output, files, progress)
    finally:
        progress.clear()


def _drawn(args: argparse.Namespace, output: Output, files: Files, progress: ProgressLine) -> int:
    """Explore, merge and write the graph."""
    model, check, trace = _question(args)
    parts = pick_parts(model, "--merge" if args.merge else "--fields", _names(args.merge or args.fields))
    task = Task(model, check.scope, check.budget, looked_at(model, check), check=check.name)
    if args.property is not None and (trace := _shown(model, check, progress)) is None:
        progress.clear()
        output.tell(f"{args.property}: there is no run that shows it, so none is marked")
        if args.distance is not None:
            output.tell("Without --distance every state is drawn.")
            return Exit.WRONG
    try:
        graph = _explored(args, task, trace, progress)
    except TooManyStates:
        progress.clear()
        _tell_too_many(args, output, task)
        return Exit.UNKNOWN
    except BeyondBudget as beyond:
        message = f"{check.name} allows too few faults for this run: {beyond}"
        help_ = "allow more, for example with `--faults any`"
        raise SpecError([Diagnostic("R0903", model.source, None, message, help=help_)]) from None
    title = f"{model.name} · {check.name}"
    made = merged(graph, title, parts) if args.merge else drawn(graph, title, parts)
    text = FORMATS[_format(args)](made)
    progress.clear()
    if args.out is None:
        output.write(text)
    else:
        files.put(args.out, _format(args), text)
    _tell(args, output, graph, made)
    return files.exit()


# -------------------------------------------------------------------- what is asked


def _question(args: argparse.Namespace) -> tuple[Model, Check, Trace | None]:
    """The model and check, and the run of `--around`, if any."""
    given = given_by(args)
    if args.around is not None:
        return _around(args, given)
    model, check = one_check(load(args.file), args.check, args.of, given, "a graph")
    if args.property is not None:
        check = replace(check, only=(pick_property(model, args.property).name,), expect=())
    refuse_unstartable(model, check)
    return model, check, None


def _around(args: argparse.Namespace, given: Overrides) -> tuple[Model, Check, Trace]:
    """The run and its check; if it names none, with any faults allowed."""
    found = document(read_text(args.around, largest=LARGEST_TRACE), args.around)
    model = pick_model(load(args.file), args.of or found.model)
    bounds = Overrides(given.scope, given.config)
    named = None if args.check is None else apply(model, pick_check(model, args.check), bounds)
    free = free_check(model, bounds) if named is None and bounds else None
    asked = named or free
    trace = found.replayed(model, None if asked is None else asked.scope).trace
    own = named or next((each for each in model.checks if each.name == trace.check), None)
    budget = Budget(None) if own is None else own.budget
    only = None if trace.property is None else (trace.property,)
    check = Check(trace.check or "a run", trace.scope, budget, only, (), None, span=Span(0, 0))
    return model, apply(model, check, Overrides(faults=given.faults)), trace


def _shown(model: Model, check: Check, reporter: Reporter) -> Trace | None:
    """A counterexample or example for the only property of a check."""
    try:
        outcome = run_check(model, check, reporter=reporter)
    except Unsupported:
        return None
    if outcome.is_interrupted:
        raise KeyboardInterrupt
    return next(iter(traces(outcome.findings)), None)


def _names(given: list[str]) -> list[str]:
    """The names in comma-separated options."""
    return [name.strip() for each in given for name in each.split(",") if name.strip()]


def _number(text: str) -> int:
    """Parse a number."""
    if not text.isdecimal() or len(text) > 12:
        message = f"`{text}` is not a whole number"
        raise argparse.ArgumentTypeError(message)
    return int(text)


def _format(args: argparse.Namespace) -> str:
    """The format asked for, or of the file's suffix."""
    suffix = "" if args.out is None else args.out.suffix.lower()
    found = next((form for form in FORMATS if suffix in SUFFIXES[form]), None)
    if args.format is None and found is None and suffix and not is_known(suffix):
        formats = ", ".join(f"{form} ({' or '.join(SUFFIXES[form])})" for form in FORMATS)
        args.refuse(f"--out: the name says no format: give one with --as, or a name for {formats}")
    return str(args.format or found or "dot")


# -------------------------------------------------------------------- what is drawn


def _explored(args: argparse.Namespace, task: Task, trace: Trace | None, reporter: Reporter) -> StateGraph:
    """The state graph."""
    if trace is None or (args.around is None and args.distance is None):
        return whole(task, args.max_states, trace, reporter=reporter)
    return around(task, trace, 1 if args.distance is None else args.distance, args.max_states)


def _tell(args: argparse.Namespace, output: Output, graph: StateGraph, made: DrawnGraph) -> None:
    """Print how much was drawn, with advice if it is too much to read."""
    size = f"{count(len(graph.states), 'state')}, {count(len(graph.edges), 'step')}"
    if args.merge:
        size += f", drawn as {len(made.vertices):,} and {len(made.arcs):,}"
    output.tell(f"modelcheck: {size}")
    if _format(args) == "dot" and len(made.vertices) > LARGE:
        output.tell(
            f"  More than {LARGE} states are hard to look at: merge them (--merge PART), or draw the part "
            "around a run (--property NAME --distance 1)."
        )


def _tell_too_many(args: argparse.Namespace, output: Output, task: Task) -> None:
    """Print how many states there are, with advice."""
    part = args.distance is not None or args.around is not None
    size = f"more than {args.max_states:,}" if part else _size(task, args.max_states)
    place = "around the run" if part else f"in {task.model.name} · {task.check}"
    output.tell(f"modelcheck: there are {size} states {place}, and --max-states allows {args.max_states:,}.")
    first = next(iter(scope_words(task.scope)), "")
    smaller = f" (now {first})" if first else ""
    ways = [f"a smaller scope with --scope{smaller}", "fewer faults with --faults"]
    ways += ["a smaller --distance"] if part else ["the part around a run: --property NAME --distance 1"]
    output.tell(f"  Draw {', '.join(ways)}; or allow more with --max-states.")


def _size(task: Task, most: int) -> str:
    """The number of states in words, counted for a few seconds."""
    counting = replace(task, properties=(), limits=PATIENCE, stop_early=False)
    chosen = engine("explicit")
    if chosen.refusals(counting):
        return f"more than {most:,}"
    findings = chosen.run(counting, Silent())
    least = max(findings.stats.states, most + 1)
    return f"more than {least:,}" if findings.end.partial else f"{findings.stats.states:,}"
