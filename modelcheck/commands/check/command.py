"""`modelcheck check FILE…`: the checks of model files, each with its verdict card and its stories."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Sequence
from dataclasses import replace

import modelcheck.commands.check.arguments as arguments
from modelcheck.answers.outcome_json import as_json
from modelcheck.answers.pipelines.outcomes import Unasked, of_outcomes
from modelcheck.answers.pipelines.report import CaseStatus, Report, joined, of_mistakes
from modelcheck.answers.progress import ProgressLine
from modelcheck.answers.timings import Timings
from modelcheck.api import Unmet, Unsupported
from modelcheck.api import check as run_check
from modelcheck.asking.estimate import card as estimate_card
from modelcheck.asking.estimate import estimate
from modelcheck.asking.models import insist_on_actions
from modelcheck.asking.overrides import refuse_unbounded
from modelcheck.asking.unmet import broken_assumptions, cannot_start, refuse_unstartable
from modelcheck.commands.check.cards import summary, tell_card, tell_runs, unused_lines
from modelcheck.commands.check.files import write_files
from modelcheck.commands.check.followups import FollowupProvider
from modelcheck.commands.check.questions import Question, questions
from modelcheck.commands.options.engine_options import engine_by, weights_of
from modelcheck.commands.options.pipeline_options import write_report
from modelcheck.contract.assessment import assess
from modelcheck.contract.coverage import never_read, never_used
from modelcheck.contract.engine import CannotResume, Engine, Family, Limits
from modelcheck.contract.exits import Exit
from modelcheck.contract.families import families
from modelcheck.contract.report import Reporter, Stopped
from modelcheck.contract.result import End, Outcome, UnusedPart
from modelcheck.diagnosis.outcome import smaller
from modelcheck.diagnosis.shrink import Shrunk, shrink
from modelcheck.engines.portfolio import PATIENCE, Disagreement
from modelcheck.processes.watch import watched
from modelcheck.storage.cache import Cache
from modelcheck.storage.output import Output
from modelcheck.storage.written import Files
from spec.diagnostics import Diagnostic, SpecError
from spec.model.ir import Check, Model
from spec.model.values import ModelError

START_UP = 2.0  # seconds that reading may always take

add_arguments = arguments.add_arguments


def run(args: argparse.Namespace, output: Output) -> int:
    """Run the checks in order; returns the worst exit code."""
    engine = engine_by(args)
    if args.next_scope:
        import modelcheck.commands.check.next_scope as next_scope  # noqa: PLC0415 - only for `--next-scope`

        return next_scope.run(args, output)
    arguments.refuse_conflicts(args)
    providers: Sequence[FollowupProvider] = args.followups
    for each in providers:
        each.refuse_conflicts(args)
    files = arguments.files(args, output)
    outcomes: list[Outcome] = []
    unasked: list[Unasked] = []

    def report() -> Report:
        return of_outcomes(outcomes, unasked, strict=args.strict)

    try:
        exits = _run(args, output, engine, files, outcomes, unasked)
    except SpecError as error:
        mistakes = of_mistakes(error)
        write_report(args, files, output, lambda: joined([report(), mistakes]), "check")
        raise
    write_report(args, files, output, report, "check")
    return files.exit(*exits, *(assess(outcome, strict=args.strict).exit for outcome in outcomes))


def _run(
    args: argparse.Namespace,
    output: Output,
    engine: Engine | None,
    files: Files,
    outcomes: list[Outcome],
    unasked: list[Unasked],
) -> set[Exit]:
    """Run the checks and print and write their results; returns exit codes not implied by outcomes.

    What is found is added to `outcomes` and `unasked`, so that it is there too where a mistake ends it.
    """
    timings = Timings()
    to_read = None if args.max_time is None else max(args.max_time, START_UP)
    with timings.phase("read"), watched(to_read, None, output.give_up):
        asked = questions(args)
        insist_on_actions([model for model, _ in asked], "--weight", weights_of(args))
        for model, check in asked if args.all is not None else ():
            refuse_unbounded(model, check, "`--all`")
        providers: Sequence[FollowupProvider] = args.followups
        followups = [each.followup(args, asked) for each in providers]
    if args.estimate:
        return {_estimate(output, asked)}
    exits = set[Exit]()
    try:
        exits |= _all_asked(args, output, engine, asked, outcomes, unasked, timings)
    except KeyboardInterrupt:  # before a search began, or while its runs were printed
        output.tell("modelcheck: interrupted")
        exits.add(Exit.UNKNOWN)
    unasked += _rest(asked[len(outcomes) + len(unasked) :])
    if args.timings:
        output.tell(timings.words())
    added: dict[str, object] = {}
    for followup in filter(None, followups):
        data, exit_ = followup(outcomes, output)
        added |= data
        exits.add(exit_)
    is_part = bool(args.check or args.property or args.of)  # what is not asked may use the rest
    is_told = len(outcomes) > 1 and (args.strict or not (is_part or unasked))
    is_alone = len(outcomes) == 1 and not (is_part or unasked)
    unused = never_used(outcomes) if is_told else never_read(outcomes) if is_alone else ()
    exits |= _tell_all(args, output, outcomes, added, unused)
    write_files(args, files, outcomes, output)
    return exits


def _tell_all(
    args: argparse.Namespace,
    output: Output,
    outcomes: list[Outcome],
    added: dict[str, object],
    unused: tuple[UnusedPart, ...],
) -> set[Exit]:
    """Print the summary, or all results as JSON; returns the exit code of unused parts."""
    if args.json:
        with watched(args.max_time, None, output.give_up):
            answers = [as_json(each, strict=args.strict, explained=args.why) | added for each in outcomes]
        output.json(answers)
        return {Exit.VIOLATED} if args.strict and unused else set()
    if len(outcomes) > 1:
        output.write(summary(outcomes, strict=args.strict))
    if args.strict or not args.quiet:
        output.lines(unused_lines(unused, output.width, strict=args.strict))
    return {Exit.VIOLATED} if args.strict and unused else set()


def _all_asked(
    args: argparse.Namespace,
    output: Output,
    engine: Engine | None,
    asked: list[Question],
    outcomes: list[Outcome],
    unasked: list[Unasked],
    timings: Timings,
) -> set[Exit]:
    """Run the checks up to the first that is interrupted, printing each result."""
    progress, exits = _progress_line(output), set[Exit]()
    timings.inner = progress
    for (model, check), family in zip(asked, families(asked, with_witnesses=True), strict=True):
        try:
            progress.begin(f"{model.name} · {check.name}")
            try:
                found = _ask(args, output, (model, check), engine, family, timings)
            finally:
                progress.clear()
        except Unsupported as unsupported:
            output.tell(f"{model.name} · {check.name}: not answered: {unsupported}")
            unasked.append(Unasked(model, check, CaseStatus.SKIPPED, str(unsupported)))
            exits.add(Exit.UNKNOWN)
            continue
        except Disagreement as disagreement:
            _tell_disagreement(output, model, check, disagreement)
            unasked.append(Unasked(model, check, CaseStatus.ERROR, "two engines contradict each other"))
            exits.add(Exit.BUG)
            continue
        if len(asked) > 1:  # what one of them does not use another may
            found = replace(found, unused=())
        outcome, shrunk = _smaller(args, progress, found)
        if not args.json:
            with timings.phase("tell"):
                tell_card(args, output, found, first=not outcomes)
        with timings.phase("search"):
            outcome = _with_ways(args, progress, outcome)
        outcomes.append(outcome)
        if not args.json and not _tell_runs(args, output, outcome, shrunk, timings):
            exits.add(Exit.UNKNOWN)
        if outcome.is_interrupted or any(each.is_interrupted for each in shrunk):
            exits.add(Exit.UNKNOWN)
            break
    return exits


def _tell_runs(
    args: argparse.Namespace, output: Output, outcome: Outcome, shrunk: list[Shrunk], timings: Timings
) -> bool:
    """Print the runs of an outcome; returns whether all are shown."""
    try:
        with timings.phase("tell"):
            tell_runs(args, output, outcome, shrunk)
    except Stopped as stopped:
        output.tell(f"modelcheck: not everything is shown: {stopped}")
        return False
    return True


def _rest(asked: list[Question]) -> list[Unasked]:
    """The checks that were not run."""
    return [Unasked(*each, CaseStatus.SKIPPED, "not asked: interrupted before") for each in asked]


def _progress_line(output: Output) -> ProgressLine:
    """The line of progress on a terminal."""
    return ProgressLine(output.err, "", columns=shutil.get_terminal_size().columns)


def _estimate(output: Output, asked: list[Question]) -> Exit:
    """Print the size of each check; returns the exit code for unknown, as nothing is decided."""
    progress = _progress_line(output)
    for model, check in asked:
        title = f"{model.name} · {check.name}"
        refuse_unstartable(model, check)
        progress.begin(title)
        try:
            found = estimate(model, check, progress)
        finally:
            progress.clear()
        output.lines(estimate_card(title, found))
    return Exit.UNKNOWN


def _ask(
    args: argparse.Namespace,
    output: Output,
    asked: Question,
    engine: Engine | None,
    family: Family | None,
    reporter: Reporter,
) -> Outcome:
    """Run one check."""
    model, check = asked
    try:
        return run_check(
            model,
            check,
            engine=engine,
            limits=_limits(args),
            reporter=reporter,
            symmetry=args.symmetry,
            partial_order=bool(args.partial_order),
            threads=args.threads,
            keep=arguments.keep(args),
            spill=None if args.no_disk else Cache().folder,
            ways=not args.no_ways,
            family=family,
            beside_after=PATIENCE,
            last_word=output.give_up,
            with_witnesses=True,
        )
    except CannotResume as reason:
        raise SpecError([Diagnostic("R0910", model.source, None, str(reason))]) from None
    except Unmet as unmet:
        raise broken_assumptions(model, check, unmet) from None
    except ModelError as error:
        raise cannot_start(model, error) from None


def _limits(args: argparse.Namespace) -> Limits:
    """The limits in the options."""
    return Limits(args.max_states, args.max_time, args.max_memory, args.max_disk)


def _tell_disagreement(output: Output, model: Model, check: Check, found: Disagreement) -> None:
    """Print that engines disagree, and where the data for a bug report are."""
    from modelcheck.answers.reproducer import save_reproducer  # noqa: PLC0415 - loaded for what should never be

    first, second = found.engines
    output.tell(f"{model.name} · {check.name}: the engines {first} and {second} contradict each other")
    for clash in found.clashes:
        output.tell(f"  {clash}")
    path = save_reproducer(model, check, found)
    output.tell(
        f"modelcheck: this is a bug in modelcheck: trust neither answer; {path} has all it takes"
        f" to see it again (the model too): please report it with that file. Meanwhile, --engine {first}"
        f" and --engine {second} each give the answer of one."
    )


def _smaller(
    args: argparse.Namespace, progress: ProgressLine, outcome: Outcome
) -> tuple[Outcome, list[Shrunk]]:
    """The outcome with minimal runs, if that is asked for."""
    if not args.shrink:
        return outcome, []
    progress.begin(f"{outcome.model.name} · shrinking")
    try:
        return smaller(outcome, lambda trace: shrink(trace, seconds=args.max_time, reporter=progress))
    finally:
        progress.clear()


def _with_ways(args: argparse.Namespace, progress: ProgressLine, outcome: Outcome) -> Outcome:
    """The outcome with the distinct ways to violate each property, if asked for."""
    if args.all is None or outcome.findings.end is End.INTERRUPTED:
        return outcome
    from modelcheck.diagnosis.distinct.search import distinct  # noqa: PLC0415 - only for `--all`

    progress.begin(f"{outcome.model.name} · {outcome.check.name} · distinct ways")
    try:
        return replace(outcome, distinct=distinct(outcome, args.all, _limits(args), progress))
    finally:
        progress.clear()
